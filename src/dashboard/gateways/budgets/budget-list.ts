// The budgets of a gateway, with what is spent of them, live.

import { type Html, html } from '../../../base/text/html.ts'
import { facts, notice } from '../../../pages/parts/components.ts'
import { rulesOf } from '../../budgets/rule-editing.ts'
import { ruleCards } from '../../budgets/rule-cards.ts'
import type { Handler, PageRequest } from '../../page/page-request.ts'
import { paths } from '../../page/paths.ts'
import { emptyState } from '../../parts/lists.ts'
import { nextStep, stepLink } from '../../parts/next-step.ts'
import { dollars, grouped } from '../../parts/numbers.ts'
import type { Gateway } from '../gateway.ts'
import { crumbsOf, findGateway } from '../page-data.ts'
import { budgetsPath, findBudgets } from './owner.ts'

export const showBudgets: Handler = async request => {
  const [{ result: gateway }, { result: budgets }] = await Promise.all([
    findGateway(request),
    findBudgets(request),
  ])
  const rules = rulesOf(gateway)
  const mayEdit = request.may('AI Gateway Edit')
  const add = stepLink(budgetsPath(request, '~new'), 'Add a budget')
  const guide = html`<a href="${paths.guide(request.account.id, 'budgets')}">Budgets</a>`
  const isOff = gateway.spend_limits?.enabled === false
  const path = (...below: readonly string[]) => budgetsPath(request, ...below)
  return {
    title: 'Budgets',
    crumbs: crumbsOf(request, true),
    ...(rules.length > 0 && mayEdit && { actions: add }),
    content: html`${
      rules.length === 0
        ? emptyState(
            'No budgets yet',
            html`A budget limits what calls may spend: dollars, tokens, or calls at a time, together or for each token, app, person or model. Calls that do not fit are refused before a provider is asked. ${guide} has the details.`,
            nextStep(request, 'AI Gateway Edit', add),
          )
        : html`${isOff && notice('Budgets are switched off: calls are not held to any of them.', 'bad')}<div id="budgets" data-live="5">${ruleCards(
            {
              rules,
              budgets,
              now: request.now,
              change: mayEdit ? path : null,
              all: ({ id }) => path(id),
            },
          )}</div>`
    }${settingsCard(request, gateway, mayEdit)}`,
  }
}

function settingsCard(request: PageRequest, gateway: Gateway, mayEdit: boolean): Html {
  const { spend_limits: limits, default_max_tokens: maxTokens, unpriced_cost: cost } = gateway
  return html`<section class="card" aria-labelledby="settings"><h2 id="settings">For all budgets</h2>${facts([
    ['State', limits?.enabled === false ? 'Switched off' : 'In effect'],
    ['Calls without a maximum', `${grouped(maxTokens)} output tokens`],
    [
      'Models without a price',
      cost === null ? 'Refused under budgets in dollars' : `${dollars(cost)} a call`,
    ],
  ])}${mayEdit && html`<p><a class="button plain small" href="${budgetsPath(request, '~settings')}">Change these</a></p>`}</section>`
}
