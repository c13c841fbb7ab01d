// The contract of budgets, which all processes spend together.

import type { BucketAccount } from '../budget-ledger/ledger.ts'
import type { BudgetBucket, BudgetReply, BudgetStep, BudgetSum } from '../records/budget.ts'

/**
 * What is spent and leased, by account and bucket and by the clock of the store. A step is atomic over all
 * its lines, as `store/budget-ledger` says. Buckets that are over are forgotten. In a power cut the last
 * second may be lost, unless Redis syncs each write; living processes report their part of it again, if the
 * store still has their shares. A step that arrives more than ten minutes late may count once more.
 */
export interface Budgets {
  readonly isUnreachable: boolean
  step(step: BudgetStep): Promise<BudgetReply>
  /** In the order of the buckets; one that was never used has nothing spent. */
  read(account: string, buckets: readonly BudgetBucket[]): Promise<readonly BudgetSum[]>
  /** Forgets what was spent, so that a bucket starts over; leases stay. */
  reset(account: string, bucket: BudgetBucket): Promise<void>
  /** Yields everything about the buckets of an account, for a copy of the store. */
  entries(account: string): AsyncIterable<readonly BudgetEntry[]>
  /** Stores buckets as another store had them, instead of those with the same keys. */
  restore(account: string, entries: readonly BudgetEntry[]): Promise<void>
}

/** What a store has about one bucket. */
export interface BudgetEntry extends BucketAccount {
  readonly bucket: string
  /** When it is forgotten, in ms since the epoch. */
  readonly endsAt: number
}
