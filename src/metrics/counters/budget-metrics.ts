// Counts of the budgets of AI calls: how calls were decided, and the steps that took.

import { Tally, tallies } from './distribution.ts'

/** Closed: neither rules nor values of callers are labels. */
const budgetOutcomes = [
  'granted',
  'granted_without_store',
  'over',
  'never_fits',
  'without_price',
  'without_bound',
  'store_unreachable',
] as const
export type BudgetOutcome = (typeof budgetOutcomes)[number]

export class BudgetMetrics {
  /** Attempts of calls that were decided without waiting for the store, and those that waited. */
  readonly atOnce = tallies(budgetOutcomes)
  readonly afterStep = tallies(budgetOutcomes)
  readonly steps = tallies(['granted', 'refused', 'failed'])
  /** Accounts whose last step failed. */
  readonly uncounted = new Tally()
  /** Budgets whose use has reached this share of their limits, as last heard. */
  readonly reached = tallies(['0.8', '1'])
}
