// Filters of logs: the parameters in the address of a page, and their form.

import { type Html, html } from '../../base/text/html.ts'
import { parseMoment } from '../../base/text/moment.ts'
import { notice } from '../../pages/parts/components.ts'
import type { Failure } from '../page/api-client.ts'
import { Draft } from '../parts/draft.ts'
import { selectField, textField } from '../parts/fields.ts'
import { withQuery } from '../page/paths.ts'
import { isRange, ranges } from './ranges.ts'

/** The filters; each is a parameter of the API of the same name. */
const filterNames = [
  'success',
  'cached',
  'model',
  'provider',
  'token_id',
  'client_id',
  'event_id',
  'status',
  'search',
  'min_cost',
  'min_duration',
  'start_date',
  'end_date',
] as const

const moments: readonly string[] = ['start_date', 'end_date']

/** As in the address of a page; instead of dates it may have a `range`, which ends now. */
export type Filters = Readonly<Record<string, string>>

/** Returns the non-empty filters of an address; dates win over a range. */
export function filtersOf(query: URLSearchParams): Filters {
  const given = filterNames.map(name => [name, query.get(name)?.trim() ?? ''] as const)
  const filters: Record<string, string> = {}
  for (const [name, value] of given)
    if (value !== '') filters[name] = moments.includes(name) ? withZone(value) : value
  const range = query.get('range') ?? ''
  const isDated = moments.some(name => filters[name] !== undefined)
  return isRange(range) && !isDated ? { ...filters, range } : filters
}

/** Returns the filters without those of time: live pages, and charts, have their own. */
export function withoutTime({ start_date, end_date, range, ...filters }: Filters): Filters {
  return filters
}

/** Returns the API parameters for filters. */
export function askedBy({ range, ...filters }: Filters, now: number): Filters {
  if (!isRange(range)) return filters
  return { ...filters, start_date: new Date(now - ranges[range].length).toISOString() }
}

/** Makes the links to the calls of the last hour, day and so on, which keep the other filters. */
export function rangeLinks(path: string, filters: Filters): Html {
  const { start_date, end_date } = filters
  const others = withoutTime(filters)
  const isDated = start_date !== undefined || end_date !== undefined
  const link = (label: string, range: string | undefined) =>
    html`<li><a href="${withQuery(path, { ...others, range: range ?? null })}"${!isDated && filters.range === range && html` aria-current="true"`}>${label}</a></li>`
  return html`<nav class="tabs" aria-label="Time"><ul>${link('Any time', undefined)}${Object.entries(
    ranges,
  ).map(([name, { label }]) => link(label, name))}</ul></nav>`
}

interface FilterForm {
  readonly path: string
  readonly filters: Filters
  /** The refusal of the API. */
  readonly failure?: Failure | null
  /** Whether it has fields for the time. */
  readonly hasTime: boolean
}

/** Makes the form of the filters, sent with GET, so that the result can be bookmarked and shared. */
export function filterForm({ path, filters, failure = null, hasTime }: FilterForm): Html {
  const draft = new Draft(
    { ...filters, start_date: inField(filters.start_date), end_date: inField(filters.end_date) },
    failure === null ? {} : faultsOf(failure),
  )
  const rare = [
    'cached',
    'provider',
    'token_id',
    'client_id',
    'event_id',
    'status',
    'min_cost',
    'min_duration',
  ]
  const isOpen = rare.some(name => filters[name] !== undefined || draft.fault(name) !== undefined)
  const field = (name: (typeof filterNames)[number], label: string, type: 'text' | 'datetime-local') =>
    textField(draft, { name, label, type, isDependent: true, maxLength: 1_000 })
  const text = (name: (typeof filterNames)[number], label: string) => field(name, label, 'text')
  return html`<form class="card filters" role="search" aria-label="Filters" method="get" action="${path}">
${filters.range !== undefined && html`<input type="hidden" name="range" value="${filters.range}">`}${draft.fault('') !== undefined && notice(draft.fault('')!, 'bad')}<div class="pair">${selectField(
    draft,
    {
      name: 'success',
      label: 'Outcome',
      options: [
        { value: '', label: 'All' },
        { value: 'true', label: 'Successes' },
        { value: 'false', label: 'Errors' },
      ],
    },
  )}${text('model', 'Model')}${text('search', 'In metadata')}${hasTime && [field('start_date', 'From (UTC)', 'datetime-local'), field('end_date', 'To (UTC)', 'datetime-local')]}</div>
<details class="more"${isOpen && html` open`}><summary>More filters</summary><div class="pair">${text('provider', 'Provider')}${text('status', 'Status')}${text('token_id', 'Token id')}${text('client_id', 'App id')}${text('event_id', 'Event id')}${text('min_cost', 'Cost above, $')}${text('min_duration', 'Took over, ms')}${selectField(
    draft,
    {
      name: 'cached',
      label: 'Response',
      options: [
        { value: '', label: 'All' },
        { value: 'true', label: 'Reused' },
        { value: 'false', label: 'Of a provider' },
      ],
    },
  )}</div></details>
<div class="actions"><button class="plain small">Filter</button>${Object.keys(filters).length > 0 && html`<a href="${path}">Clear the filters</a>`}</div></form>`
}

/** Adds UTC to a date and time of a browser's field, which has no zone. */
function withZone(value: string): string {
  const [time, seconds] = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(?:\.\d{1,3})?)?$/.exec(value) ?? []
  if (time === undefined) return value
  return `${value}${seconds === undefined ? ':00' : ''}Z`
}

/** Returns a time for a browser's field, in UTC; an invalid one is returned as it is. */
function inField(value = ''): string {
  const at = parseMoment(value, { allowsDay: true })
  return at === null ? value : new Date(at).toISOString().replace(/(?::00)?\.000Z$|Z$/, '')
}

/** Assigns the API's faults of parameters, each in a sentence that begins with its name, to their fields. */
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
