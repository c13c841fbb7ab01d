// The state of an AI call, beside that of every exchange.

import type { Gateway, Token } from '../../store/records/records.ts'
import type { Key, KeyRing } from '../../ai/providers/key-ring.ts'
import type { Call } from '../../ai/plan.ts'
import type { ProviderCalls } from '../../ai/providers/provider-calls.ts'
import type { Dialect } from '../../ai/providers/provider-rows.ts'
import type { Provider } from '../../ai/providers/providers.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import type { AiTarget } from '../../ai/target.ts'
import { type AiFields, aiFieldsOf, misplacedIn } from './ai-fields.ts'
import type { Rewriting } from './rewriting.ts'

export class AiExchange {
  readonly target: AiTarget
  readonly fields: AiFields
  /** Where a credential of this gateway was found in a place where it must not be; null where none was. */
  misplaced: string | null
  /** The gateway that it is for, where there is one: errors are counted there. */
  found: Gateway | null = null
  /** Its gateway, once access is granted. */
  gateway: Gateway | null = null
  /** The token that granted access; null where the gateway requires none. */
  token: Token | null = null
  /** Whether the caller was refused for lack of a valid token: then the call is not logged. */
  isTurnedAway = false
  /** What a caller that was turned away for its token is told of how to get one (RFC 6750 section 3). */
  challenge: string | null = null
  /** The body of a call that cannot be planned without it. */
  body: Buffer | null = null
  /** Bytes of it that count against the shared limit. */
  gathered = 0
  provider: Provider | null = null
  /** Notes the outcome of the call; null before its provider is known. */
  calls: ProviderCalls | null = null
  /** The keys that the call may use in turn; null where its caller brought one, or there is no other. */
  keys: KeyRing | null = null
  /** The configured key that it carries, and how many times it changed. */
  key: Key | null = null
  keyChanges = 0
  /** Keys that the provider refused for this call although they work for others; null for none. */
  doubted: Key[] | null = null
  /** The API of the provider that is called; null where the request is passed on unparsed. */
  asks: Dialect | null = null
  /** Path and query at the provider. */
  path = ''
  /** As far as it is known without parsing the request. */
  model: string | null = null
  /** The call, while it may have to be made again without the request for usage that the gateway added; null otherwise. */
  askingUsage: Call | null = null
  /** Whether it was made again without. */
  isAskedAgain = false
  /** Converts the provider's response into the caller's, where they differ. */
  rewriting: Rewriting | null = null

  constructor(target: AiTarget, head: RequestHead, last: { aiFields: AiFields | null }) {
    this.target = target
    this.fields = aiFieldsOf(head, last)
    this.misplaced = misplacedIn(head, this.fields)
  }
}
