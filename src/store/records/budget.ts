// What the processes of a gateway tell the store about budgets. Amounts are safe integers: nanodollars,
// tokens, or calls at a time.

/**
 * When a bucket starts over: `fixed` at a time (ms since the epoch) that its key includes, `sliding` all the
 * time, counting the last `period` ms and up to a sixtieth more. In `none`, nothing is spent, only held.
 */
export type BudgetWindow =
  | { readonly kind: 'fixed'; readonly until: number }
  | { readonly kind: 'sliding'; readonly period: number }
  | { readonly kind: 'none' }

/** The bucket of a budget, with no text of clients in its key. */
export interface BudgetBucket {
  readonly bucket: string
  readonly window: BudgetWindow
}

/** What a process says about its share of one bucket. */
export interface BudgetLine extends BudgetBucket {
  readonly limit: number
  /** Unique: a share that was given up entirely never comes back under the same name. */
  readonly share: string
  /** All that was ever spent from the share, so that a step that is repeated changes nothing. */
  readonly total: number
  /** What of it the store has confirmed: it was counted, although the store may no longer know the share. */
  readonly confirmed: number
  /** Remains leased whatever the limit: it is promised to calls already. */
  readonly keep: number
  /** At most `keep`: what is charged of it if the lease expires. */
  readonly ifLost: number
  /** For a new call; of one step, all needs are granted, or none. */
  readonly need: number
  /** For calls to come, as far as there is plenty left; granted only with all needs. */
  readonly want: number
}

/** What one process says about its shares of an account, in one atomic step. */
export interface BudgetStep {
  readonly account: string
  /** Higher in each later step of the process: what arrives late changes nothing. */
  readonly sequence: number
  /** Ms for which the shares are leased. */
  readonly lease: number
  /** Of different buckets. */
  readonly lines: readonly BudgetLine[]
}

export interface BudgetReply {
  /** Whether all needs were granted; false also for a step that arrived late. */
  readonly isGranted: boolean
  /** In the order of the lines. */
  readonly states: readonly BudgetState[]
}

export interface BudgetState {
  /** Whether the need of this line fits. */
  readonly fits: boolean
  /** Leased to the share of this line, and to all. */
  readonly amount: number
  readonly leased: number
  readonly spent: number
  /** Ms until time alone lets the need fit, but for what is leased; 0 for now, null for never. */
  readonly wait: number | null
  /** Of a sliding window in which the need does not fit: what leaves it, the oldest first. */
  readonly leaving?: readonly Leaving[]
}

/** An amount that was spent, and the ms until it leaves its window. */
export type Leaving = readonly [amount: number, wait: number]

export interface BudgetSum extends Pick<BudgetBucket, 'bucket'> {
  readonly spent: number
  readonly leased: number
}
