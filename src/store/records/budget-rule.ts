// The spend limits of AI gateways and API tokens, with their rules: what calls may cost, use, and hold open.

/** The output tokens of a call that names no maximum, unless its gateway has another default. */
export const usualMaxTokens = 4096

export interface SpendLimits {
  readonly isEnabled: boolean
  readonly rules: readonly SpendRule[]
}

/** A limit of what the calls that match all of its criteria may spend together. */
export interface SpendRule {
  /** Chosen by its owner or generated; unique in its list. The bucket of what is spent belongs to it. */
  readonly id: string
  readonly isEnabled: boolean
  readonly unit: BudgetUnit
  /** USD with up to 9 decimals, tokens, or calls at a time. */
  readonly limit: number
  /** Seconds, or a period of the calendar; null for `concurrency`, which has none. */
  readonly window: number | CalendarPeriod | null
  /** IANA; only of a period of the calendar. Absent for UTC. */
  readonly timeZone?: string
  /** Calendar periods are always fixed. */
  readonly technique: 'fixed' | 'sliding'
  /** Values are `provider/model` as the log names them, or the model alone. */
  readonly model?: Criterion
  readonly provider?: Criterion
  /** By the name of the metadata; values as text. */
  readonly metadata?: Readonly<Record<string, Criterion>>
  /** The id of the API token. */
  readonly token?: Criterion
  /** The id of the OAuth client. */
  readonly app?: Criterion
  /** The id of the user for whom an app or an own token calls. */
  readonly person?: Criterion
  /** Whether calls are refused or admitted while the store is unreachable. */
  readonly whenUnreachable: 'closed' | 'open'
}

export type BudgetUnit = 'cost' | 'tokens' | 'concurrency'

/** In its time zone; weeks begin on Monday. */
export type CalendarPeriod = 'day' | 'week' | 'month'

/** `partition`: each value has a budget of its own. `filter`: only calls with one of the values count. */
export type Criterion =
  | { readonly mode: 'partition' }
  | { readonly mode: 'filter'; readonly values: readonly string[] }
