// The state of an AI call, beyond that of every exchange.

import type { LedgerAttempt, Metadata, Token } from '../../store/records/records.ts'
import type { PolicedGateway } from '../../store/records/policy.ts'
import type { AnswerUse } from '../../answers/answer.ts'
import type { CacheControls } from '../../answers/controls.ts'
import type { HeldClaim } from '../../answers/claimed-calls.ts'
import type { Flight } from '../../answers/flight.ts'
import type { CallBudget } from '../../budgets/call-budget.ts'
import type { PolicyDecision } from '../../budgets/policies/decide.ts'
import type { Key, KeyRing } from '../../ai/providers/key-ring.ts'
import type { Call } from '../../ai/plan.ts'
import type { Controls } from '../../ai/failover/controls.ts'
import type { ProviderCalls } from '../../ai/providers/provider-calls.ts'
import type { Dialect } from '../../ai/providers/provider-rows.ts'
import type { OwnKeys } from '../../ai/providers/gateway-keys.ts'
import type { Provider, Providers } from '../../ai/providers/providers.ts'
import type { MadeKey } from '../cloud-keys/made-key.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import type { AiTarget } from '../../ai/target.ts'
import type { HeaderChanges } from '../rewrite/headers.ts'
import { type AiFields, aiFieldsOf, findMisplaced } from './request-fields.ts'
import type { CompiledGuard } from '../../guard/compiled-guard.ts'
import type { GuardReport } from '../../guard/report.ts'
import type { Course } from './course.ts'
import type { Rewriting } from './rewriting.ts'

/** What policies let pass, and the limits in which it counts. */
export type Allowance = Extract<PolicyDecision, { type: 'allow' }>

export class AiExchange {
  readonly target: AiTarget
  /** Null on a short route, until its token is verified. */
  account: string | null
  readonly fields: AiFields
  misplacedAt: string | null
  /** Errors are counted there. */
  namedGateway: PolicedGateway | null = null
  gateway: PolicedGateway | null = null
  token: Token | null = null
  /** What its caller says about the call. */
  metadata: Metadata | null = null
  isDenied = false
  /** RFC 6750 section 3. */
  challenge: string | null = null
  body: Buffer | null = null
  /** As its caller sent it, if that matters and it was parsed; null for a native call. */
  received: Buffer | null = null
  /** Null if the gateway has none that is on. */
  guard: CompiledGuard | null = null
  /** Null before the guard has looked at anything. */
  findings: GuardReport | null = null
  /** Whether the guard kept something of the response from the caller. */
  isGuarded = false
  /** The response fields about them. */
  findingLines = ''
  /** Counted against the shared limit. */
  gatheredBytes = 0
  provider: Provider | null = null
  /** Removes what callers must not send to the provider; null for nothing. */
  withheld: HeaderChanges | null = null
  calls: ProviderCalls | null = null
  /** All providers that the call may name, if the account has any of its own and they matter. */
  ownProviders: Providers | null = null
  /** Of which the call takes a key, unless its caller brought one. */
  ring: KeyRing | null = null
  /** The same as those of the gateway's own; null for those of the configuration. */
  ownKeys: OwnKeys | null = null
  /** Null if the caller brought a key, or there is only one. */
  keys: KeyRing | null = null
  key: Key | null = null
  /** The key of the provider, if it is made from an identity and the caller brought none. */
  made: MadeKey | null = null
  keyChanges = 0
  /** Refused for this call although they work for others. */
  doubtedKeys: Key[] | null = null
  providerDialect: Dialect | null = null
  path = ''
  model: string | null = null
  /** Null unless the call may have to be retried without the request for usage that the gateway added. */
  callWithUsage: Call | null = null
  isRetriedWithoutUsage = false
  controls: Controls | null = null
  /** Null unless responses may be reused. */
  cacheControls: CacheControls | null = null
  /** Whether the response may be reused, or an earlier one for this call. */
  isReusable = false
  /** Of which this call is the first, and others may get the response. */
  flight: Flight | null = null
  /** What the provider took for the response that this call reused; null if it reused none. */
  reused: AnswerUse | null = null
  /** Null unless its gateway makes calls with such a key once. */
  idempotencyKey: string | null = null
  /** The right to make the call with its key. */
  claim: HeldClaim | null = null
  course: Course | null = null
  isRouted = false
  /** The token is limited to some models, and names the alias or the route of the call. */
  isAllowedByName = false
  attempts: readonly LedgerAttempt[] = noAttempts
  /** Of the present attempt; null if the gateway has no policies. */
  allowance: Allowance | null = null
  /** The first decision of policies against a model of the call. */
  denial: Exclude<PolicyDecision, Allowance> | null = null
  /** Whether the provider may have worked for the present attempt. */
  mayHaveWorked = false
  /** Whether that holds for an earlier attempt. */
  mayHaveWorkedBefore = false
  /** What the present attempt has reserved of its spend limits; null if none governs it. */
  budget: CallBudget | null = null
  /** The response fields about it. */
  budgetLines = ''
  /** Further attempts were in vain, so its caller should not begin again. */
  isExhausted = false
  /** Attempts that the gateway itself made necessary, which do not count towards the maximum. */
  uncounted = 0
  /** Members of the request that were left out. */
  dropped: readonly string[] = []
  rewriting: Rewriting | null = null

  constructor(target: AiTarget, head: RequestHead, last: { aiFields: AiFields | null }) {
    this.target = target
    this.account = target.account
    this.fields = aiFieldsOf(head, last)
    this.misplacedAt = findMisplaced(head, this.fields, target)
  }

  /** Whether the gateway reads the response, so that it must not be encoded. */
  get readsResponse(): boolean {
    if (this.rewriting !== null || this.isReusable || this.idempotencyKey !== null) return true
    return this.guard?.looksAtResponses === true
  }
}

const noAttempts: readonly LedgerAttempt[] = []
