// What the edge saw of an AI call, raw: nothing is parsed or copied while the request is served.

import type { CallBudget } from '../budgets/call-budget.ts'
import type { SessionUsage } from '../ai/usage/session.ts'
import type {
  Gateway,
  GuardFinding,
  LedgerAttempt,
  Metadata,
  SavedUse,
  Token,
} from '../store/records/records.ts'
import type { Capture } from './capture.ts'
import type { CustomCost } from './custom-cost.ts'

interface HeadCounts {
  readonly tokensIn: number
  readonly tokensOut: number
}

export interface Observation {
  readonly gateway: Gateway
  readonly ray: string
  /** Ms since the epoch. */
  readonly startedAt: number
  readonly provider: string
  /** Null if the request was passed on unparsed. */
  readonly model: string | null
  /** The path at the provider, without query. */
  readonly path: string
  readonly status: number
  /** The name of the error record if the gateway itself responded. */
  readonly error: string | null
  /** Whether the client got the whole response. */
  readonly isWhole: boolean
  /** Whether the provider may have worked, although its response is not known. */
  readonly isAbandoned: boolean
  /** Whether the provider has finished without its client. */
  readonly isReadToEnd: boolean
  /** Ms. */
  readonly duration: number
  readonly timeToFirstByte: number | null
  readonly authenticated: boolean
  /** Null if the route requires no token. */
  readonly token: Pick<Token, 'id' | 'name' | 'actor' | 'person'> | null
  readonly metadata: Metadata | null
  /** What the caller says that the call belongs to and costs; null for nothing. */
  readonly eventId: string | null
  readonly customCost: CustomCost | null
  readonly attempts: readonly LedgerAttempt[]
  /** The number of the model on its route. */
  readonly step: number
  readonly requestContentType: string | null
  readonly responseContentType: string | null
  readonly requestEncoding: string | null
  readonly responseEncoding: string | null
  /** Whether the bodies are stored with the entry; if not, they are only read for model and usage. */
  readonly keepsPayloads: boolean
  /** Null if there is no body, or it is unreadable. */
  readonly request: Capture | null
  readonly response: Capture | null
  /** The usage reported by the events of a WebSocket; null for any other call. */
  readonly session: SessionUsage | null
  /** What the head of the response says of tokens, for bodies that do not. */
  readonly headCounts?: HeadCounts | null
  /** The body sent to the client; null if it is the provider's. */
  readonly relayed: Capture | null
  /** The members of the request that were removed for the provider. */
  readonly dropped: readonly string[]
  /** What the guard found; null for nothing. */
  readonly findings: readonly GuardFinding[] | null
  /** What the reused response took once; null for a call that went to its provider. */
  readonly saved: SavedUse | null
  /** Whether the guard kept something of the response from its caller, which is then not stored either. */
  readonly isGuarded: boolean
  /** Whether it got the response to another call, which is paid for. */
  readonly isReused?: boolean
  /** Whether it gets an entry; if not, it is only measured. */
  readonly isStored: boolean
  /** What waits for the measure; null for a call without spend limits. */
  readonly budget: CallBudget | null
}
