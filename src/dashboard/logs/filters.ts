// What narrows logs down: the parameters of the address of a page, as the management API takes them, and their form.

import { type Html, html } from '../../base/text/html.ts'
import { notice } from '../../pages/components.ts'
import type { Failure } from '../api.ts'
import { Draft } from '../parts/draft.ts'
import { selectField, textField } from '../parts/fields.ts'

/** The filters; each is a parameter of the API of the same name. */
const filterNames = [
  'success',
  'model',
  'provider',
  'token_id',
  'client_id',
  'status',
  'search',
  'min_cost',
  'min_duration',
  'start_date',
  'end_date',
] as const

type Filters = Readonly<Record<string, string>>

/** Returns the filters of an address that hold something. */
export function filtersOf(query: URLSearchParams): Filters {
  const given = filterNames.map(name => [name, query.get(name)?.trim() ?? ''] as const)
  return Object.fromEntries(given.filter(([, value]) => value !== ''))
}

/** Makes the form of the filters, sent with GET, so that what it finds can be kept and sent to others. */
export function filterForm(path: string, filters: Filters, failure: Failure | null = null): Html {
  const draft = new Draft(filters, failure === null ? {} : faultsOf(failure))
  const rare = ['provider', 'token_id', 'client_id', 'status', 'min_cost', 'min_duration']
  const isOpen = rare.some(name => filters[name] !== undefined || draft.fault(name) !== undefined)
  const text = (name: (typeof filterNames)[number], label: string, hint?: string) =>
    textField(draft, { name, label, ...(hint !== undefined && { hint }), isOptional: true, most: 1_000 })
  return html`<form class="card filters" role="search" aria-label="Filters" method="get" action="${path}">
${draft.fault('') !== undefined && notice(draft.fault('')!, 'bad')}<div class="pair">${selectField(draft, {
    name: 'success',
    label: 'Outcome',
    options: [
      { value: '', label: 'All' },
      { value: 'true', label: 'Successes' },
      { value: 'false', label: 'Errors' },
    ],
  })}${text('model', 'Model')}${text('search', 'In the metadata')}${text('start_date', 'From', 'As 2026-01-31, UTC')}${text('end_date', 'To', 'As 2026-01-31T12:00Z')}</div>
<details class="more"${isOpen && html` open`}><summary>More filters</summary><div class="pair">${text('provider', 'Provider')}${text('status', 'Status')}${text('token_id', 'Token id')}${text('client_id', 'App id')}${text('min_cost', 'Cost above, $')}${text('min_duration', 'Took longer than, ms')}</div></details>
<div class="actions"><button class="plain small">Filter</button>${Object.keys(filters).length > 0 && html`<a href="${path}">Clear the filters</a>`}</div></form>`
}

/** Puts what the API said of parameters, each in a sentence that begins with its name, at their fields. */
function faultsOf({ faults }: Failure): Record<string, string> {
  const result: Record<string, string> = {}
  for (const sentence of Object.values(faults).flatMap(text => text.split(nextName))) {
    const [, name, rule] = /^(\w+) (.*)$/s.exec(sentence) ?? []
    const field = filterNames.find(one => one === name?.toLowerCase())
    if (field === undefined) result[''] = [result[''], sentence].filter(Boolean).join(' ')
    else result[`/${field}`] = `${rule!.charAt(0).toUpperCase()}${rule!.slice(1)}`
  }
  return result
}

const nextName = new RegExp(`(?<=\\.) (?=(?:${filterNames.join('|')}) )`, 'i')
