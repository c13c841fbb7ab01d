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
  const conditions = filters.map(condition)
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(' AND ') || '1',
    values: conditions.flatMap(({ values }) => values),
  }
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
      return anyOf(comparable.map(bound), `${sql} IS ?`)
    case 'neq':
      return allOf(comparable.map(bound), `${sql} IS NOT ?`)
    case 'contains':
      return anyOf(type === 'string' ? known.map(String).map(asciiLower) : [], `instr(lower(${sql}), ?) > 0`)
    case 'lt':
      return anyOf(known.map(bound), `${sql} <= ?`)
    case 'gt':
      return anyOf(known.map(bound), `${sql} >= ?`)
  }
}

/** A value of another type is left out here: SQL would convert it and find it equal. */
function isOf(type: Term['type'], value: LogValue): boolean {
  return value === null || (typeof value === type && !Number.isNaN(value))
}

function bound(value: LogValue): Value {
  return typeof value === 'boolean' ? Number(value) : value
}

function anyOf(values: readonly Value[], sql: string): Condition {
  return { sql: values.map(() => sql).join(' OR ') || '0', values }
}

function allOf(values: readonly Value[], sql: string): Condition {
  return { sql: values.map(() => sql).join(' AND ') || '1', values }
}
