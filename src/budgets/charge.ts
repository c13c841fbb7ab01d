// What a call charges, and what becomes of that.

import type { BudgetBucket } from '../store/records/budget.ts'

/** The most that a call can spend in one bucket. */
export interface Charge extends BudgetBucket {
  readonly limit: number
  readonly amount: number
  /** Whether the call is refused or admitted while the store is unreachable. */
  readonly whenUnreachable: 'closed' | 'open'
}

export interface BudgetRefusal {
  /** `never`: more than the whole limit. */
  readonly reason: 'over' | 'never' | 'store_unreachable'
  /** The number of the charge that does not fit. */
  readonly charge: number
  readonly limit: number
  /** Including what is reserved for other calls. */
  readonly spent: number
  /** Ms until such a call fits, as far as is known. */
  readonly wait: number
  /** Whether that depends on when calls under way end. */
  readonly isEstimate?: boolean
}
