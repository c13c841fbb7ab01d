// The contract of budgets, which all processes spend together.

import type { BudgetBucket, BudgetReply, BudgetStep, BudgetSum } from '../records/budget.ts'

/**
 * What is spent and leased, by account and bucket and by the clock of the store. A step is atomic over all
 * its lines, as `store/budget-ledger` says. The last second may be lost in a power cut, not by kill -9.
 */
export interface Budgets {
  readonly isUnreachable: boolean
  step(step: BudgetStep): Promise<BudgetReply>
  /** In the order of the buckets; one that was never used has nothing spent. */
  read(account: string, buckets: readonly BudgetBucket[]): Promise<readonly BudgetSum[]>
  /** Forgets what was spent, so that a bucket starts over; leases stay. */
  reset(account: string, bucket: BudgetBucket): Promise<void>
}
