// Parses the `filters` of a log query: only the order of the parameters shows which belong together.

import type { Reading } from '../base/text/quantity.ts'
import type { LogField, LogFilter } from '../store/contract/store.ts'
import { readValue, type ValueType } from './query-values.ts'

export const filterParameters = ['filters.key', 'filters.operator', 'filters.value'] as const
type FilterParameter = (typeof filterParameters)[number]

const maxFilters = 20
const maxValues = 100

/** What can be filtered by: where it is stored, and its type. */
const keys: ReadonlyMap<string, { readonly field: LogField; readonly type: ValueType }> = new Map([
  ['id', { field: 'id', type: 'text' }],
  ['created_at', { field: 'created_at', type: 'time' }],
  ['provider', { field: 'provider', type: 'text' }],
  ['model', { field: 'model', type: 'text' }],
  ['path', { field: 'path', type: 'text' }],
  ['status', { field: 'status', type: 'number' }],
  ['success', { field: 'success', type: 'truth' }],
  ['cached', { field: 'cached', type: 'truth' }],
  ['authentication', { field: 'authenticated', type: 'truth' }],
  ['token_id', { field: 'token_id', type: 'text' }],
  ['user_id', { field: 'user_id', type: 'text' }],
  ['client_id', { field: 'client_id', type: 'text' }],
  ['event_id', { field: 'event_id', type: 'text' }],
  ['duration', { field: 'duration', type: 'number' }],
  ['tokens_in', { field: 'tokens_in', type: 'number' }],
  ['tokens_out', { field: 'tokens_out', type: 'number' }],
  ['tokens', { field: 'tokens', type: 'number' }],
  ['cost', { field: 'cost', type: 'number' }],
  ['feedback', { field: 'feedback', type: 'number' }],
  ['request_content_type', { field: 'request_content_type', type: 'text' }],
  ['response_content_type', { field: 'response_content_type', type: 'text' }],
  ['metadata', { field: 'metadata', type: 'text' }],
])

/** Which operators apply to which type. */
const operators: ReadonlyMap<string, readonly ValueType[]> = new Map([
  ['eq', ['text', 'number', 'truth', 'time']],
  ['neq', ['text', 'number', 'truth', 'time']],
  ['contains', ['text']],
  ['lt', ['number', 'time']],
  ['gt', ['number', 'time']],
])

/** Reads the filters, or the first rule that each breaks; published clients write null as an empty value. */
export function readFilters(params: URLSearchParams): readonly Reading<LogFilter>[] {
  const drafts = draftsOf(params)
  if (drafts.length > maxFilters) return [{ flaw: `must have at most ${maxFilters} filters` }]
  return drafts.map(readFilter)
}

interface Draft {
  key: string | null
  operator: string | null
  readonly values: string[]
}

/** Starts another filter where the current one already has that part; the values of one are adjacent. */
function draftsOf(params: URLSearchParams): readonly Draft[] {
  const drafts: Draft[] = []
  let before: FilterParameter | null = null
  for (const [name, text] of params) {
    if (!isFilterParameter(name)) continue
    const current = drafts.at(-1)
    if (current === undefined || has(current, name, before))
      drafts.push({ key: null, operator: null, values: [] })
    fill(drafts.at(-1)!, name, text)
    before = name
  }
  return drafts
}

function has(draft: Draft, name: FilterParameter, before: FilterParameter | null): boolean {
  if (name === 'filters.key') return draft.key !== null
  if (name === 'filters.operator') return draft.operator !== null
  return draft.values.length > 0 && before !== 'filters.value'
}

function fill(draft: Draft, name: FilterParameter, text: string): void {
  if (name === 'filters.key') draft.key = text
  else if (name === 'filters.operator') draft.operator = text
  else draft.values.push(text)
}

function readFilter({ key, operator, values: texts }: Draft): Reading<LogFilter> {
  const filterKey = keys.get(key ?? '')
  const types = operators.get(operator ?? '')
  if (filterKey === undefined) return { flaw: keyRule(key) }
  if (types === undefined) return { flaw: `${key}: the operator must be ${[...operators.keys()].join(', ')}` }
  const { field, type } = filterKey
  const isComparable = field === 'metadata' ? operator === 'contains' : types.includes(type)
  if (!isComparable) return { flaw: `${key} cannot be compared with ${operator}` }
  if (texts.length === 0 || texts.length > maxValues)
    return { flaw: `${key}: there must be 1 to ${maxValues} values` }
  const values: LogFilter['values'][number][] = []
  for (const text of texts) {
    const reading = readMember(type, text, operator === 'eq' || operator === 'neq')
    if ('flaw' in reading) return { flaw: `${key}: a value ${reading.flaw}` }
    values.push(reading.value)
  }
  return { value: { field, operator: operator as LogFilter['operator'], values } }
}

function readMember(type: ValueType, text: string, mayBeNull: boolean): Reading<LogFilter['values'][number]> {
  return text === '' && mayBeNull ? { value: null } : readValue(type, text)
}

function keyRule(key: string | null): string {
  const rule = `the key must be one of ${[...keys.keys()].join(', ')}`
  return key?.startsWith('metadata.')
    ? `${rule}: use metadata with contains, which searches names and values`
    : rule
}

function isFilterParameter(name: string): name is FilterParameter {
  return (filterParameters as readonly string[]).includes(name)
}
