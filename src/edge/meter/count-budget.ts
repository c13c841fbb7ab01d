// Counts how budgets decide about the attempts of AI calls.

import type { BudgetRefusal } from '../../budgets/charge.ts'
import type { Reservation } from '../../budgets/reservation.ts'
import type { BudgetOutcome } from '../../metrics/counters/budget-metrics.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** `isAtOnce`: without a step of the store. */
export function countDecision(
  { plane }: Exchange,
  verdict: Reservation | BudgetRefusal,
  isAtOnce: boolean,
): void {
  const { atOnce, afterStep } = plane.metrics.budgets
  ;(isAtOnce ? atOnce : afterStep)[outcomeOf(verdict)].inc()
}

function outcomeOf(verdict: Reservation | BudgetRefusal): BudgetOutcome {
  if ('charges' in verdict) return verdict.isGranted ? 'granted' : 'granted_without_store'
  return verdict.reason === 'never' ? 'never_fits' : verdict.reason
}
