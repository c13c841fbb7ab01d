// What calls may spend from, and what becomes of a call that does not fit.

import type { BudgetBucket } from '../store/records/budget.ts'

export interface LimitedBucket extends BudgetBucket {
  readonly limit: number
  /** Whether calls are refused or admitted while the store is unreachable. */
  readonly whenUnreachable: 'closed' | 'open'
}

export interface BudgetRefusal {
  /** `never`: more than the whole limit. */
  readonly reason: 'over' | 'never' | 'store_unreachable'
  /** The number of the bucket that it does not fit in. */
  readonly charge: number
  readonly limit: number
  /** Including what is reserved for other calls. */
  readonly spent: number
  /** Ms until such a call fits, as far as is known. */
  readonly wait: number
  /** Whether that depends on when calls under way end. */
  readonly isEstimate?: boolean
}
