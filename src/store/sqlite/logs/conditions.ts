// Filters and orders of log entries as SQL; log-match defines them.

import type { SQLInputValue } from 'node:sqlite'
import { rowMembers } from '../../log-batch/row.ts'
import type { LogField, LogFilter, LogPlace, LogTime } from '../../contract/store.ts'

/** Part of a statement, and the values of its question marks. */
export interface Condition {
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

interface Term {
  readonly sql: string
  readonly type: 'string' | 'number' | 'boolean'
}

/** A place in the order of creation. */
export type Moment = Pick<LogPlace, 'createdAt' | 'id'>
type Value = LogFilter['values'][number]

const terms: Readonly<Record<LogField, Term>> = {
  id: { sql: 'id', type: 'string' },
  // The index is for the range.
  created_at: { sql: '+at', type: 'number' },
  provider: member('provider', 'string'),
  model: member('model', 'string'),
  path: member('path', 'string'),
  status: member('status', 'number'),
  success: member('success', 'boolean'),
  cached: member('cached', 'boolean'),
  authenticated: member('authenticated', 'boolean'),
  token_id: member('token_id', 'string'),
  user_id: member('user_id', 'string'),
  client_id: member('client_id', 'string'),
  event_id: member('event_id', 'string'),
  duration: member('duration', 'number'),
  tokens_in: member('tokens_in', 'number'),
  tokens_out: member('tokens_out', 'number'),
  tokens: {
    sql: `coalesce(${sqlOf('tokens_in')} + ${sqlOf('tokens_out')}, ${sqlOf('tokens_in')}, ${sqlOf('tokens_out')})`,
    type: 'number',
  },
  cost: member('cost', 'number'),
  feedback: member('feedback', 'number'),
  request_content_type: member('request_content_type', 'string'),
  response_content_type: member('response_content_type', 'string'),
  metadata: member('metadata', 'string'),
}

function member(name: (typeof rowMembers)[number], type: Term['type']): Term {
  return { sql: sqlOf(name), type }
}

function sqlOf(name: (typeof rowMembers)[number]): string {
  return `(row ->> ${rowMembers.indexOf(name)})`
}

/** Returns the condition that all filters match. */
export function conditionOf(filters: readonly LogFilter[]): Condition {
  return joined(filters.map(condition), 'AND')
}

/** Returns the SQL of an order. */
export function orderOf(field: LogField, descending: boolean): string {
  const direction = descending ? 'DESC' : 'ASC'
  const first = field === 'created_at' ? '' : `${terms[field].sql} ${direction}, `
  return `${first}at ${direction}, id ${direction}`
}

/** Returns the condition that entries follow a place in an order other than that of creation. */
export function behind({ value, createdAt, id }: LogPlace, field: LogField, descending: boolean): Condition {
  const { sql } = terms[field]
  const sign = descending ? '<' : '>'
  const moment = bound(sign, { createdAt, id })
  // NULL comes before all values.
  if (value === null)
    return descending
      ? { sql: `(${sql} IS NULL AND ${moment.sql})`, values: moment.values }
      : { sql: `(${sql} IS NOT NULL OR ${moment.sql})`, values: moment.values }
  const rest = descending ? ` OR ${sql} IS NULL` : ''
  return { sql: `((${sql}, at, id) ${sign} (?, ?, ?)${rest})`, values: [sqlValue(value), createdAt, id] }
}

/** Where a search by time begins and ends: one bound each, since an index is used for no more. */
export interface TimeRange {
  readonly lower: Condition
  readonly upper: Condition
}

/** Returns the range of a time that follows a place, if any. */
export function rangeOf(
  { since, before }: LogTime,
  after: Moment | null | undefined,
  descending: boolean,
): TimeRange {
  const lower = { sql: 'at >= ?', values: [since] }
  const upper = { sql: 'at < ?', values: [before] }
  if (!after) return { lower, upper }
  return descending
    ? { lower, upper: after.createdAt < before ? bound('<', after) : upper }
    : { lower: after.createdAt >= since ? bound('>', after) : lower, upper }
}

/** Returns the part of a range up to a place, which is included. */
export function upTo(range: TimeRange, place: Moment, descending: boolean): TimeRange {
  return descending ? { ...range, lower: bound('>=', place) } : { ...range, upper: bound('<=', place) }
}

function bound(sign: string, { createdAt, id }: Moment): Condition {
  return { sql: `(at, id) ${sign} (?, ?)`, values: [createdAt, id] }
}

/** By halves: SQLite rejects expressions that are nested a thousand deep, as a long chain is. */
function joined(conditions: readonly Condition[], word: 'AND' | 'OR'): Condition {
  if (conditions.length === 0) return { sql: word === 'AND' ? '1' : '0', values: [] }
  if (conditions.length === 1) return conditions[0]!
  const middle = conditions.length >> 1
  const first = joined(conditions.slice(0, middle), word)
  const second = joined(conditions.slice(middle), word)
  return { sql: `(${first.sql} ${word} ${second.sql})`, values: [...first.values, ...second.values] }
}

function condition({ field, operator, values }: LogFilter): Condition {
  const { sql, type } = terms[field]
  // SQL would convert a value of another type, and find it equal.
  const typedValues = values.filter(value => typeof value === type && !Number.isNaN(value))
  const isOne = isIn(sql, typedValues.map(sqlValue))
  const isNull = values.includes(null) ? [{ sql: `${sql} IS NULL`, values: [] }] : []
  switch (operator) {
    case 'eq':
      return joined([isOne, ...isNull], 'OR')
    case 'neq': {
      const { sql: test, values } = joined([isOne, ...isNull], 'OR')
      return { sql: `(${test}) IS NOT TRUE`, values }
    }
    case 'contains':
      return joined(
        (type === 'string' ? typedValues : []).map(text => ({
          sql: `instr(lower(${sql}), lower(?)) > 0`,
          values: [text as string],
        })),
        'OR',
      )
    case 'lt':
    case 'gt': {
      const sign = operator === 'lt' ? '<=' : '>='
      return joined(
        typedValues.map(value => ({ sql: `${sql} ${sign} ?`, values: [sqlValue(value)] })),
        'OR',
      )
    }
  }
}

function isIn(sql: string, values: readonly SQLInputValue[]): Condition {
  return values.length === 1
    ? { sql: `${sql} = ?`, values }
    : { sql: `${sql} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(values)] }
}

function sqlValue(value: Value): SQLInputValue {
  return typeof value === 'boolean' ? Number(value) : value
}
