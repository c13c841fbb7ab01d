// The form of a dynamic route: a list of up to five models, from which elements are made, or the elements.

import { type Html, html } from '../../../base/text/html.ts'
import { isJson } from '../../../base/text/json.ts'
import type { RouteElement } from '../../../store/records/model-route.ts'
import type { Failure } from '../../page/api-client.ts'
import { layOut } from '../../parts/body.ts'
import type { Draft } from '../../parts/draft.ts'
import { areaField, selectField, textField } from '../../parts/fields.ts'

const maxRows = 5
const rowNumbers = Array.from({ length: maxRows }, (_, i) => i)
const shownRows = 2
const defaultTimeout = '30'

/** One model of the list. */
interface Row {
  readonly provider: string
  readonly model: string
  /** Ms. */
  readonly timeout: number
  readonly retries: number
  /** Percent of the calls that begin with it; null: those that are left begin with the first of these. */
  readonly share: number | null
}

const rowLabels = {
  model: 'Provider and model',
  timeout: 'Timeout in s',
  retries: 'Retries',
  share: 'Share in %',
} as const

/** The names of the fields in the summary of faults. */
export const routeLabels: Readonly<Record<string, string>> = {
  name: 'Name',
  kind: 'Where calls go',
  ...Object.fromEntries(
    rowNumbers.flatMap(i =>
      Object.entries(rowLabels).map(([name, label]) => [`${name}.${i}`, `${label} of model ${i + 1}`]),
    ),
  ),
  elements: 'Elements',
}

export const newValues: Readonly<Record<string, string>> = { kind: 'list' }

export function routeFields(draft: Draft): Html {
  return html`${textField(draft, {
    name: 'name',
    label: routeLabels.name!,
    hint: 'Callers send dynamic/NAME as the model.',
    maxLength: 64,
    hasFocus: true,
  })}<div class="kinds">${selectField(draft, {
    name: 'kind',
    label: routeLabels.kind!,
    options: [
      { value: 'list', label: 'To a list of models' },
      { value: 'elements', label: 'By elements in JSON: conditions, rates and all else' },
    ],
  })}<div class="kind models"><p class="hint">They are tried in this order. With a share, that part of the calls begins with the model, and goes on to the others.</p>${rowsOf(draft)}</div><div class="kind elements">${areaField(
    draft,
    {
      name: 'elements',
      label: routeLabels.elements!,
      hint: 'A list of objects with id, type, properties and outputs, as the API takes it.',
      rows: 16,
      isDependent: true,
      isCode: true,
    },
  )}</div></div>`
}

/** Shows the first rows, and the others if they are in use; else they are a click away. */
function rowsOf(draft: Draft): Html {
  const rows = rowNumbers.map(i => rowFields(draft, i))
  const isLong = filledRows(draft).some(i => i >= shownRows)
  return html`${rows.slice(0, shownRows)}<details${isLong && html` open`}><summary>More models</summary>${rows.slice(shownRows)}</details>`
}

function rowFields(draft: Draft, i: number): Html {
  return html`<fieldset class="part"><legend>Model ${i + 1}</legend>${textField(draft, {
    name: `model.${i}`,
    label: rowLabels.model,
    placeholder: 'PROVIDER/MODEL',
    isDependent: true,
  })}<div class="pair">${textField(draft, {
    name: `timeout.${i}`,
    label: rowLabels.timeout,
    placeholder: defaultTimeout,
    isDependent: true,
  })}${textField(draft, {
    name: `retries.${i}`,
    label: rowLabels.retries,
    type: 'number',
    minimum: 0,
    maximum: 4,
    placeholder: '0',
    isDependent: true,
  })}${textField(draft, {
    name: `share.${i}`,
    label: rowLabels.share,
    isDependent: true,
  })}</div></fieldset>`
}

/** Returns the values of the form for a route: a list of models if its elements are one. */
export function valuesOfRoute(name: string, elements: readonly RouteElement[]): Record<string, string> {
  const values = { name, elements: layOut(JSON.stringify(elements)) }
  const rows = rowsIn(elements)
  if (rows === null) return { ...values, kind: 'elements' }
  const fields = rows.flatMap(({ provider, model, timeout, retries, share }, i) => [
    [`model.${i}`, `${provider}/${model}`],
    [`timeout.${i}`, String(timeout / 1000)],
    [`retries.${i}`, String(retries)],
    [`share.${i}`, share === null ? '' : String(share)],
  ])
  return { ...values, kind: 'list', ...Object.fromEntries(fields) }
}

/** Reads the elements that a form is about; the draft has faults if it makes none. */
export function elementsOf(draft: Draft): { readonly elements: unknown } | { readonly draft: Draft } {
  if (draft.value('kind') === 'elements') {
    const text = draft.value('elements')
    return isJson(text)
      ? { elements: JSON.parse(text) }
      : { draft: draft.withFault('elements', 'Must be JSON: a list of elements.') }
  }
  const numbers = filledRows(draft)
  let next = numbers.length === 0 ? draft.withFault('model.0', 'Enter at least one model.') : draft
  const rows = numbers.map(i => {
    const row = rowOf(draft, i)
    if (row.model === '' || row.provider === '')
      next = next.withFault(`model.${i}`, 'Must be PROVIDER/MODEL, such as openai/gpt-4o-mini.')
    if (!(row.timeout >= 1 && row.timeout <= 3_600_000))
      next = next.withFault(`timeout.${i}`, 'Must be seconds, from 0.001 to 3600.')
    if (!(Number.isInteger(row.retries) && row.retries >= 0 && row.retries <= 4))
      next = next.withFault(`retries.${i}`, 'Must be a whole number from 0 to 4.')
    if (row.share !== null && !(row.share > 0 && row.share <= 100))
      next = next.withFault(`share.${i}`, 'Must be a percentage above 0, with two decimals at most.')
    return row
  })
  if (next.status !== 422) next = withSumFault(next, rows, numbers)
  return next.status === 422 ? { draft: next } : { elements: elementsFrom(rows) }
}

function withSumFault(draft: Draft, rows: readonly Row[], numbers: readonly number[]): Draft {
  const last = rows.findLastIndex(({ share }) => share !== null)
  if (last < 0) return draft
  const sum = sumOf(rows)
  const hasRest = rows.some(({ share }) => share === null)
  if (sum === 100 || (sum < 100 && hasRest)) return draft
  const rule = hasRest ? 'at most 100' : '100, or one model must be without a share'
  return draft.withFault(
    `share.${numbers[last]}`,
    `The shares must add up to ${rule}: they add up to ${sum}.`,
  )
}

/** Adds up shares of two decimals, without errors of rounding. */
function sumOf(rows: readonly Row[]): number {
  return rows.reduce((sum, { share }) => sum + Math.round((share ?? 0) * 100), 0) / 100
}

function filledRows(draft: Draft): readonly number[] {
  return rowNumbers.filter(i =>
    Object.keys(rowLabels).some(name => draft.value(`${name}.${i}`).trim() !== ''),
  )
}

function rowOf(draft: Draft, i: number): Row {
  const value = (name: keyof typeof rowLabels) => draft.value(`${name}.${i}`).trim()
  const [, provider = '', model = ''] = /^([^/]+)\/(.+)$/.exec(value('model')) ?? []
  return {
    provider,
    model,
    timeout: Math.round(numberIn(value('timeout') || defaultTimeout) * 1000),
    retries: numberIn(value('retries') || '0'),
    share: value('share') === '' ? null : numberIn(value('share').replace(/ ?%$/, '')),
  }
}

function numberIn(text: string): number {
  return /^\d{1,7}(?:\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN
}

/** Returns the draft with the faults of the API, at the rows of a list or at the elements. */
export function refusedRoute(draft: Draft, failure: Failure): Draft {
  if (draft.value('kind') === 'elements') return draft.refused(failure, { '/elements': 'elements' })
  const made = elementsOf(draft)
  const elements = 'elements' in made ? (made.elements as readonly RouteElement[]) : []
  const numbers = filledRows(draft)
  const faults: Record<string, string> = {}
  for (const [pointer, sentence] of Object.entries(failure.faults)) {
    const [, element, member = ''] = /^\/elements\/(\d+)(?:\/properties\/(\w+))?/.exec(pointer) ?? []
    const row = element === undefined ? null : rowNumberOf(elements[Number(element)])
    const field = Object.hasOwn(rowLabels, member) ? member : 'model'
    const place = row === null ? pointer : `/${field}/${numbers[row]}`
    // A model is in as many elements as there are shares.
    faults[place] = row === null ? sentence : sentence.replace(/^.*? of element "[^"]*" /i, 'This ')
  }
  return draft.refused({ ...failure, faults }, { '/elements': 'kind' })
}

/**
 * Makes the elements of a list: a chain of models, and with shares one for each model that calls begin with,
 * which goes on to the others in their order.
 */
export function elementsFrom(rows: readonly Row[]): readonly RouteElement[] {
  const rest = rows.findIndex(({ share }) => share === null)
  const firsts = rows.flatMap(({ share }, i) => (share === null ? [] : i))
  const end = { id: 'end', type: 'end', outputs: {} } as const
  const hasShares = firsts.length > 0
  const hasRest = rest >= 0 && sumOf(rows) < 100
  const start = {
    id: 'start',
    type: 'start',
    outputs: { next: { elementId: hasShares ? 'shares' : idOf(0) } },
  } as const
  if (!hasShares) return [start, ...chainFrom(rows, 0), end]
  const outputs = Object.fromEntries([
    ...firsts.map(i => [`${rows[i]!.share}% model ${i + 1}`, { elementId: idOf(i) }]),
    ...(hasRest ? [['else', { elementId: idOf(rest) }]] : []),
  ])
  const heads = hasRest ? [...firsts, rest] : firsts
  return [
    start,
    { id: 'shares', type: 'percentage', outputs },
    ...heads.flatMap(head => chainFrom(rows, head)),
    end,
  ]
}

function chainFrom(rows: readonly Row[], head: number): readonly RouteElement[] {
  const order = [head, ...rows.keys().filter(i => i !== head)]
  return order.map((i, at) => {
    const next = order[at + 1]
    const { provider, model, timeout, retries } = rows[i]!
    return {
      id: idOf(head, i),
      type: 'model',
      properties: { provider, model, timeout, retries },
      outputs: {
        success: { elementId: 'end' },
        fallback: { elementId: next === undefined ? 'end' : idOf(head, next) },
      },
    }
  })
}

function idOf(head: number, row = head): string {
  return head === row ? `model ${head + 1}` : `model ${head + 1}, then ${row + 1}`
}

/** Returns the row of an element, from its id; null for other elements. */
function rowNumberOf(element: RouteElement | undefined): number | null {
  const [, row] = /^model (?:\d, then )?(\d)$/.exec(element?.id ?? '') ?? []
  return row === undefined ? null : Number(row) - 1
}

/** Returns the list from which elements were made; null for any others. */
export function rowsIn(elements: readonly RouteElement[]): readonly Row[] | null {
  const shares = new Map<string, number>()
  for (const element of elements)
    if (element.type === 'percentage')
      for (const [name, { elementId }] of Object.entries(element.outputs))
        if (name !== 'else') shares.set(elementId, Number.parseFloat(name))
  const rows: Row[] = []
  for (const element of elements) {
    const row = rowNumberOf(element)
    if (element.type !== 'model' || row === null || row < 0 || row >= maxRows) continue
    rows[row] = { ...element.properties, share: shares.get(idOf(row)) ?? null }
  }
  // Elements of others may have such ids.
  if (rows.length === 0 || Object.keys(rows).length !== rows.length) return null
  return JSON.stringify(sorted(elementsFrom(rows))) === JSON.stringify(sorted(elements)) ? rows : null
}

/** Puts the members of all objects into one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const)
  return Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
