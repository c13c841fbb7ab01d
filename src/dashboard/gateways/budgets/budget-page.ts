// One rule of a gateway, with all its budgets.

import { html } from '../../../base/text/html.ts'
import { budgetTable, startOf } from '../../budgets/bars.ts'
import { filterHint, refusedLately } from '../../budgets/rule-cards.ts'
import { rulesOf } from '../../budgets/rule-editing.ts'
import { ruleInWords } from '../../budgets/rule.ts'
import { missing } from '../../page/api-client.ts'
import type { Handler } from '../../page/page-request.ts'
import { dangerZone } from '../../parts/forms.ts'
import { cutPage, pager } from '../../parts/lists.ts'
import { findGateway } from '../page-data.ts'
import { budgetsPath, crumbsOfBudgets, findBudgets } from './owner.ts'

export const showBudget: Handler = async request => {
  const [{ result: gateway }, { result: all }] = await Promise.all([
    findGateway(request),
    findBudgets(request),
  ])
  const rule = rulesOf(gateway).find(({ id }) => id === request.params.budget) ?? missing()
  const { budgets = [], refused_last_day = 0 } = all.find(one => one.rule.id === rule.id) ?? {}
  const { items, info } = cutPage(budgets, request.query)
  const mayEdit = request.may('AI Gateway Edit')
  const path = (...below: readonly string[]) => budgetsPath(request, ...below)
  const reset = {
    title: 'Start over',
    text: 'Lets all its budgets begin at 0.',
    path: path(rule.id, 'reset'),
    link: 'Reset…',
  }
  const removal = {
    title: 'Remove',
    text: 'Calls are not held to it any more.',
    path: path(rule.id, 'delete'),
    link: 'Remove…',
  }
  return {
    title: ruleInWords(rule),
    crumbs: crumbsOfBudgets(request),
    isWide: true,
    ...(mayEdit && { actions: html`<a class="button" href="${path(rule.id, 'edit')}">Edit</a>` }),
    content: html`${filterHint(rule)}${refusedLately(refused_last_day)}<div id="budgets" data-live="5"><p class="aside">${startOf(rule, budgets, request.now)}</p>${
      items.length === 0
        ? html`<p class="aside">Nothing is spent yet.</p>`
        : budgetTable(rule, items, mayEdit ? ({ id }) => path(id, 'reset') : null)
    }</div>${pager(path(rule.id), request.query, info)}${dangerZone(mayEdit ? [...(budgets.length > 0 ? [reset] : []), removal] : [])}`,
  }
}
