// Filters and orders of log entries as SQL; log-match says the same in JavaScript.
import { asciiLower, type LogValue, metadataText } from '../log-match.ts'
import type { LogField, LogFilter } from '../store.ts'
import type { Database, Value } from './database.ts'

/** Part of a statement, and what its question marks stand for. */
export interface Condition {
  readonly sql: string
  readonly values: readonly Value[]
}

interface Term {
  readonly sql: string
  readonly type: 'string' | 'number' | 'boolean'
}

const terms: Readonly<Record<LogField, Term>> = {
  id: { sql: 'id', type: 'string' },
  created_at: { sql: 'created_at', type: 'number' },
  provider: { sql: 'provider', type: 'string' },
  model: { sql: 'model', type: 'string' },
  path: { sql: 'path', type: 'string' },
  status: { sql: 'status', type: 'number' },
  success: { sql: 'success', type: 'boolean' },
  cached: { sql: 'cached', type: 'boolean' },
  authenticated: { sql: 'authenticated', type: 'boolean' },
  duration: { sql: 'duration', type: 'number' },
  tokens_in: { sql: 'tokens_in', type: 'number' },
  tokens_out: { sql: 'tokens_out', type: 'number' },
  tokens: { sql: 'coalesce(tokens_in + tokens_out, tokens_in, tokens_out)', type: 'number' },
  cost: { sql: 'cost', type: 'number' },
  request_content_type: { sql: 'request_content_type', type: 'string' },
  response_content_type: { sql: 'response_content_type', type: 'string' },
  metadata: { sql: 'metadata_text(metadata)', type: 'string' },
}

/** Gives the SQL of what a field holds. */
export function termOf(field: LogField): string {
  return terms[field].sql
}

/** Gives the SQL of all filters together. */
export function conditionOf(filters: readonly LogFilter[]): Condition {
  return joined(filters.map(condition), 'AND', '1')
}

/** Makes known to a connection what the terms need. */
export function defineTerms(db: Database): void {
  db.define('metadata_text', json => metadataText(JSON.parse(json)))
}

function condition({ field, operator, values }: LogFilter): Condition {
  const { sql, type } = terms[field]
  const comparable = values.filter(value => isOf(type, value))
  const known = comparable.filter(value => value !== null)
  switch (operator) {
    case 'eq':
      return anyOf(comparable, value => one(`${sql} IS ?`, value))
    case 'neq':
      return joined(
        comparable.map(value => one(`${sql} IS NOT ?`, value)),
        'AND',
        '1',
      )
    case 'contains':
      return anyOf(type === 'string' ? known : [], value => within(field, asciiLower(String(value))))
    case 'lt':
      return anyOf(known, value => one(`${sql} <= ?`, value))
    case 'gt':
      return anyOf(known, value => one(`${sql} >= ?`, value))
  }
}

/** A value of another type is left out: SQL would convert it and find it equal. */
function isOf(type: Term['type'], value: LogValue): boolean {
  return value === null || (typeof value === type && !Number.isNaN(value))
}

function within(field: LogField, text: string): Condition {
  const test = one(`instr(lower(${terms[field].sql}), ?) > 0`, text)
  if (field !== 'metadata') return test
  // Reading JSON costs most: what can't be in it isn't looked for in what it says.
  return joined([one('instr(lower(metadata), ?) > 0', verbatimPart(text)), test], 'AND', '1')
}

/** Gives the longest part of a text that JSON writes as it is, and that no end of a key or value runs through. */
function verbatimPart(text: string): string {
  const parts = text.split(/[\0- "\\\x7f\ud800-\udfff]/)
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest))
}

function one(sql: string, value: LogValue): Condition {
  return { sql, values: [typeof value === 'boolean' ? Number(value) : value] }
}

function anyOf(values: readonly LogValue[], make: (value: LogValue) => Condition): Condition {
  return joined(values.map(make), 'OR', '0')
}

/** Joins by halves: SQLite refuses expressions that are nested a thousand deep, as a long chain is. */
function joined(conditions: readonly Condition[], word: 'AND' | 'OR', otherwise: '0' | '1'): Condition {
  if (conditions.length === 0) return { sql: otherwise, values: [] }
  if (conditions.length === 1) return conditions[0]!
  const middle = conditions.length >> 1
  const first = joined(conditions.slice(0, middle), word, otherwise)
  const second = joined(conditions.slice(middle), word, otherwise)
  return { sql: `(${first.sql} ${word} ${second.sql})`, values: [...first.values, ...second.values] }
}
