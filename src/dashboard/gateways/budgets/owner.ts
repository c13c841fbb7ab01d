// The budgets of the gateway of a page.

import type { BudgetOwner } from '../../budgets/rule-editing.ts'
import type { RuleBudgets } from '../../budgets/rule.ts'
import type { PageRequest } from '../../page/page-request.ts'
import { paths } from '../../page/paths.ts'
import { crumbsOf, gatewayOf } from '../page-data.ts'

export const gatewayBudgets: BudgetOwner = {
  kind: 'gateway',
  resourceOf: request => gatewayOf(request),
  pageOf: request => budgetsPath(request),
  pathOf: budgetsPath,
  crumbsOf: request => crumbsOfBudgets(request),
}

export function findBudgets(request: PageRequest) {
  return request.api.get<readonly RuleBudgets[]>(gatewayOf(request, 'budgets'))
}

export function budgetsPath({ account, params }: PageRequest, ...below: readonly string[]): string {
  return paths.budgets(account.id, params.gateway!, ...below)
}

/** Returns the pages above one below the list of budgets. */
export function crumbsOfBudgets(request: PageRequest) {
  return [...crumbsOf(request, true), { title: 'Budgets', path: budgetsPath(request) }]
}
