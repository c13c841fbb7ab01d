// What holds for all budgets of a gateway: whether they are in effect, and what calls are counted as.

import { html } from '../../../base/text/html.ts'
import { rulesOf } from '../../budgets/rule-editing.ts'
import { redirectWith } from '../../page/flash-messages.ts'
import type { Handler, PageRequest, View } from '../../page/page-request.ts'
import { Draft, etagField } from '../../parts/draft.ts'
import { checkbox, textField } from '../../parts/fields.ts'
import { draftForm } from '../../parts/forms.ts'
import type { Gateway } from '../gateway.ts'
import { findGateway, gatewayOf } from '../page-data.ts'
import { budgetsPath, crumbsOfBudgets } from './owner.ts'

const labels = {
  enabled: 'Budgets are in effect',
  default_max_tokens: 'Output tokens of calls without a maximum',
  unpriced_cost: 'Dollars for a call of a model without a price',
} as const

export const showBudgetSettings: Handler = async request => {
  const { result, etag } = await findGateway(request)
  return settingsView(request, new Draft({ ...valuesOf(result), [etagField]: etag ?? '' }))
}

export const changeBudgetSettings: Handler = async request => {
  const { result: gateway, etag } = await findGateway(request)
  const draft = Draft.of(request.form)
  const cost = draft.value('unpriced_cost').trim()
  const body = {
    ...gateway,
    spend_limits: { enabled: draft.has('enabled'), rules: rulesOf(gateway) },
    default_max_tokens: numberIn(draft.value('default_max_tokens').trim()),
    unpriced_cost: cost === '' ? null : numberIn(cost),
  }
  const changed = await request.api.put<Gateway>(gatewayOf(request), body, { ifMatch: draft.etag })
  if (changed.ok) return redirectWith(budgetsPath(request), 'budgets-changed')
  if (changed.status === 404) return changed
  const shown = { enabled: '', ...valuesOf(gateway) }
  return settingsView(request, changed.status === 412 ? draft.overtaken(shown, etag) : draft.refused(changed))
}

function valuesOf({ spend_limits, default_max_tokens, unpriced_cost }: Gateway): Record<string, string> {
  return {
    ...(spend_limits?.enabled !== false && { enabled: 'on' }),
    default_max_tokens: String(default_max_tokens),
    unpriced_cost: unpriced_cost === null ? '' : unpriced_cost.toFixed(9).replace(/\.?0+$/, ''),
  }
}

/** Returns the text where it is no number: the API says what is wrong with it. */
function numberIn(text: string): number | string {
  return /^\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : text
}

function settingsView(request: PageRequest, draft: Draft): View {
  return {
    title: 'Settings of budgets',
    crumbs: crumbsOfBudgets(request),
    status: draft.status,
    content: draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels,
        send: 'Save',
        cancel: budgetsPath(request),
      },
      html`${checkbox(draft, {
        name: 'enabled',
        label: labels.enabled,
        hint: 'Without this, calls are held to none of them. Those of tokens stay in effect.',
      })}${textField(draft, {
        name: 'default_max_tokens',
        label: labels.default_max_tokens,
        type: 'number',
        minimum: 1,
        hint: 'What such calls reserve; the provider is sent it as their maximum.',
      })}${textField(draft, {
        name: 'unpriced_cost',
        label: labels.unpriced_cost,
        hint: 'Without it, such calls are refused while a budget in dollars governs them.',
        maxLength: 20,
        isOptional: true,
      })}`,
    ),
  }
}
