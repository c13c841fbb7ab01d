// The budgets of an API token.

import { type Html, html } from '../../base/text/html.ts'
import { budgetBar } from '../budgets/bars.ts'
import { ruleCards } from '../budgets/rule-cards.ts'
import { type BudgetOwner, rulesOf } from '../budgets/rule-editing.ts'
import { type RuleBudgets, ruleInWords } from '../budgets/rule.ts'
import { apiPath } from '../page/api-client.ts'
import type { PageRequest } from '../page/page-request.ts'
import { paths } from '../page/paths.ts'
import { badge } from '../parts/lists.ts'
import { tokenOf } from './page-data.ts'
import type { Token } from './token.ts'

export const tokenBudgets: BudgetOwner = {
  kind: 'token',
  resourceOf: tokenOf,
  pageOf: ({ account, params }) => paths.token(account.id, params.token!),
  pathOf: pathBelow,
  crumbsOf: ({ account, params }, { name = '' }) => [
    { title: 'API tokens', path: paths.tokens(account.id) },
    { title: name, path: paths.token(account.id, params.token!) },
  ],
}

function pathBelow({ account, params }: PageRequest, ...below: readonly string[]): string {
  return paths.tokenBudgets(account.id, params.token!, ...below)
}

/** Makes the part of a token's page with what its calls have spent, live. */
export async function budgetsPart(request: PageRequest, token: Token): Promise<Html | null> {
  const rules = rulesOf(token)
  const mayWrite = request.may('API Tokens Write')
  if (rules.length === 0 && !mayWrite) return null
  const { result } =
    rules.length === 0
      ? { result: [] }
      : await request.api.get<readonly RuleBudgets[]>(`${tokenOf(request)}/budgets`)
  const change = (...below: readonly string[]) => pathBelow(request, ...below)
  return html`<h2 class="over">Budgets${token.spend_limits?.enabled === false && html` ${badge('switched off')}`}</h2><p class="aside">What its calls may spend on all gateways together, besides the budgets of the gateways.</p><div id="budgets" data-live="5">${ruleCards(
    { rules, budgets: result, now: request.now, change: mayWrite ? change : null },
  )}</div>${mayWrite && html`<p class="aside"><a class="button plain small" href="${change('~new')}">Add a budget</a></p>`}`
}

/** Makes the bars of a person's own token; null if it has no budgets. */
export async function ownBudgets({ api }: PageRequest, token: Token): Promise<Html | null> {
  if (rulesOf(token).length === 0) return null
  const { result } = await api.get<readonly RuleBudgets[]>(apiPath('user', 'tokens', token.id, 'budgets'))
  return html`${result.map(({ rule, budgets: [bucket] }) => html`<p>${ruleInWords(rule)}</p>${budgetBar(rule, bucket!, ruleInWords(rule))}`)}`
}
