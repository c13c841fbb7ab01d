// The state of an AI call, beyond that of every exchange.

import type { Gateway, Token } from '../../store/records/records.ts'
import type { Key, KeyRing } from '../../ai/providers/key-ring.ts'
import type { Call } from '../../ai/plan.ts'
import type { Controls } from '../../ai/failover/controls.ts'
import type { LedgerAttempt } from '../../ai/failover/ledger.ts'
import type { ProviderCalls } from '../../ai/providers/provider-calls.ts'
import type { Dialect } from '../../ai/providers/provider-rows.ts'
import type { Provider } from '../../ai/providers/providers.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import type { AiTarget } from '../../ai/target.ts'
import { type AiFields, aiFieldsOf, findMisplaced } from './ai-fields.ts'
import type { Course } from './course.ts'
import type { Rewriting } from './rewriting.ts'

export class AiExchange {
  readonly target: AiTarget
  readonly fields: AiFields
  /** The place of a credential of this gateway that must not be there; null for none. */
  misplacedAt: string | null
  /** The gateway that the call names, if it exists: errors are counted there. */
  namedGateway: Gateway | null = null
  /** The gateway, once access is granted. */
  gateway: Gateway | null = null
  /** The token that granted access; null if the gateway requires none. */
  token: Token | null = null
  /** Whether the call was refused for lack of a valid token; such calls are not logged. */
  isDenied = false
  /** The challenge for a caller without a valid token (RFC 6750 section 3). */
  challenge: string | null = null
  /** The body of a call that cannot be planned without it. */
  body: Buffer | null = null
  /** Bytes of the body that count against the shared limit. */
  gatheredBytes = 0
  provider: Provider | null = null
  /** Counts the outcome of the call; null until its provider is known. */
  calls: ProviderCalls | null = null
  /** The keys that the call may use in turn; null if its caller brought one, or there is only one. */
  keys: KeyRing | null = null
  /** The configured key of the call, and how many times it was changed. */
  key: Key | null = null
  keyChanges = 0
  /** Keys that the provider refused for this call although they work for others; null for none. */
  doubtedKeys: Key[] | null = null
  /** The API of the provider; null if the request is passed on unparsed. */
  providerDialect: Dialect | null = null
  /** Path and query at the provider. */
  path = ''
  /** Null if unknown without parsing the request. */
  model: string | null = null
  /**
   * The call, while it may have to be retried without the request for usage that the gateway added; null
   * otherwise.
   */
  callWithUsage: Call | null = null
  /** Whether it was retried without. */
  isRetriedWithoutUsage = false
  /** What the caller says about attempts; null before that is read. */
  controls: Controls | null = null
  /** The course of a call that may take more than one attempt; null for any other. */
  course: Course | null = null
  /** Whether an alias chose the provider. */
  isRouted = false
  /** The attempts so far. */
  readonly attempts: LedgerAttempt[] = []
  /** Whether the gateway has made further attempts in vain, so that its caller should not begin anew. */
  isExhausted = false
  /** Members of the request that the translation left out. */
  dropped: readonly string[] = []
  /** Converts the provider's response into the caller's, if they differ. */
  rewriting: Rewriting | null = null

  constructor(target: AiTarget, head: RequestHead, last: { aiFields: AiFields | null }) {
    this.target = target
    this.fields = aiFieldsOf(head, last)
    this.misplacedAt = findMisplaced(head, this.fields)
  }
}
