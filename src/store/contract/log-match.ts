// The filters and orders of log entries, for backends that evaluate them in JavaScript.

import { metadataText } from '../log-batch/row.ts'
import type { LogSummary } from '../records/records.ts'
import type { LogField, LogFilter, LogPlace, LogTime } from './store.ts'

type LogValue = string | number | boolean | null

export function matches(entry: LogSummary, filters: readonly LogFilter[]): boolean {
  return filters.every(filter => holds(filter, logValue(entry, filter.field)))
}

/** Returns the place of an entry in lists that are ordered by a field. */
export function placeOf(entry: LogSummary, orderBy: LogField): LogPlace {
  return { value: logValue(entry, orderBy), createdAt: entry.createdAt, id: entry.id }
}

export function comparePlaces(descending: boolean): (a: LogPlace, b: LogPlace) => number {
  const turn = descending ? -1 : 1
  return (a, b) =>
    turn * (compareLogValues(a.value, b.value) || a.createdAt - b.createdAt || compareLogValues(a.id, b.id))
}

/** Compares values of one field: the absent before all others, text by its code points. */
function compareLogValues(a: LogValue, b: LogValue): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? -1 : 1
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  return a < b ? -1 : 1
}

/** Returns the time that filters leave, ms since the epoch, its bounds included. */
export function timeOf(filters: readonly LogFilter[]): LogTime {
  let [since, last] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (const { field, operator, values } of filters) {
    const times = values.filter(value => typeof value === 'number')
    if (field !== 'created_at' || times.length !== values.length) continue
    if (operator === 'gt') since = Math.max(since, Math.min(...times))
    if (operator === 'lt') last = Math.min(last, Math.max(...times))
  }
  // Times may have fractions, but none as small as this.
  return { since, before: last + 1 }
}

function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, letters => letters.toLowerCase())
}

function logValue(entry: LogSummary, field: LogField): LogValue {
  switch (field) {
    case 'id':
      return entry.id
    case 'created_at':
      return entry.createdAt
    case 'tokens_in':
      return entry.tokensIn
    case 'tokens_out':
      return entry.tokensOut
    case 'tokens':
      return sum(entry.tokensIn, entry.tokensOut)
    case 'request_content_type':
      return entry.requestContentType
    case 'response_content_type':
      return entry.responseContentType
    case 'token_id':
      // What Redis kept before has none.
      return entry.tokenId ?? null
    case 'user_id':
      return entry.app?.user ?? null
    case 'client_id':
      return entry.app?.client ?? null
    case 'event_id':
      return entry.eventId ?? null
    case 'feedback':
      return entry.feedback ?? null
    case 'metadata':
      return entry.metadata && metadataText(entry.metadata)
    default:
      return entry[field]
  }
}

function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : a + b
}

function holds({ operator, values }: LogFilter, held: LogValue): boolean {
  switch (operator) {
    case 'eq':
      return values.some(value => value === held)
    case 'neq':
      return values.every(value => value !== held)
    case 'contains':
      return typeof held === 'string' && values.some(value => isWithin(value, asciiLower(held)))
    case 'lt':
      return values.some(value => isOrdered(value, held) && compareLogValues(held, value) <= 0)
    case 'gt':
      return values.some(value => isOrdered(value, held) && compareLogValues(held, value) >= 0)
  }
}

function isWithin(value: LogValue, text: string): boolean {
  return typeof value === 'string' && text.includes(asciiLower(value))
}

function isOrdered(value: LogValue, held: LogValue): boolean {
  return held !== null && typeof value === typeof held && !Number.isNaN(value)
}

/** Compares by code points, as UTF-8 bytes do: UTF-16 units put surrogates before U+E000 to U+FFFF. */
function compareText(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  if (at === a.length || at === b.length) return a.length - b.length
  return rank(a.charCodeAt(at)) - rank(b.charCodeAt(at))
}

function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
