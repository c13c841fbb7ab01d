// Counts how budgets decide about the attempts of AI calls.

import { budgetHits, budgetsScope } from '../../activity/tally-scopes.ts'
import type { BudgetRefusal } from '../../budgets/charge.ts'
import type { Reservation } from '../../budgets/reservation.ts'
import type { BudgetRule } from '../../budgets/rule-buckets.ts'
import type { BudgetOutcome } from '../../metrics/counters/budget-metrics.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
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

/** Counts a refusal for the rule that made it: nothing else keeps what was refused. */
export function countRefused({ plane }: Exchange, { gateway, token }: AiExchange, rule: BudgetRule): void {
  const { account, id } = gateway!
  const name = budgetHits(rule.owner, rule.owner === 'token' ? token!.id : id, rule.id)
  plane.tallies.scope(budgetsScope(account)).counter('budget', name).inc()
}

/** Counts a call that policies refused: for the one that blocks it, or for none that allows it. */
export function countDenied({ plane }: Exchange, { gateway, denial }: AiExchange): void {
  const { account, id } = gateway!
  const policy = denial!.type === 'block' ? denial!.policy.id : 'none'
  plane.tallies
    .scope(budgetsScope(account))
    .counter('budget', budgetHits('policy', id, policy))
    .inc()
}

function outcomeOf(verdict: Reservation | BudgetRefusal): BudgetOutcome {
  if ('buckets' in verdict) return verdict.isGranted ? 'granted' : 'granted_without_store'
  return verdict.reason === 'never' ? 'never_fits' : verdict.reason
}
