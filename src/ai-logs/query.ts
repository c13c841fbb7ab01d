// Which log entries a caller of the management API requests, parsed from the query of the URL as the published clients write it.

import { fault } from '../errors/api-faults.ts'
import type { Fault } from '../errors/refusal.ts'
import type { LogField, LogFilter, LogPlace, LogQuery } from '../store/store.ts'
import { filterParameters, readFilters } from './query-filters.ts'
import { type Dimension, dimensions } from './sums.ts'
import { readValue, readWhole, type ValueType } from './query-values.ts'

/** Reads the query of a list; by default the newest 20 first. All mistakes are reported at once. */
export function readQuery(params: URLSearchParams): LogQuery | Fault[] {
  const reader = new QueryReader(params)
  reader.refuseStrangers([...Object.keys(comparisons), ...filterParameters, ...listParameters])
  const limit = reader.whole('per_page', 20, 1, 100)
  const page = reader.whole('page', 1, 1, 1e6)
  const after = reader.cursor()
  const descending = reader.isDescending(['order_by_direction', 'direction'], true)
  reader.refuseMetaInfo()
  const filters = [...reader.comparisons(), ...reader.filters()]
  const offset = after === null ? (page - 1) * limit : 0
  const query = { filters, orderBy: reader.order(), descending, offset, limit, ...(after && { after }) }
  return reader.faults.length > 0 ? reader.faults : query
}

/** Encodes a position in a list of log entries as a cursor for the next page. */
export function logCursorOf({ value, createdAt, id }: LogPlace): string {
  return Buffer.from(JSON.stringify([value, createdAt, id])).toString('base64url')
}

/** Reads the query for sums: what is summed, and grouped by what. */
export function readSums(
  params: URLSearchParams,
): { readonly filters: readonly LogFilter[]; readonly groupBy: readonly Dimension[] } | Fault[] {
  const reader = new QueryReader(params)
  reader.refuseStrangers([...Object.keys(comparisons), ...filterParameters, 'group_by'])
  const sums = { filters: [...reader.comparisons(), ...reader.filters()], groupBy: reader.groupBy() }
  return reader.faults.length > 0 ? reader.faults : sums
}

/** Reads the query for a deletion; by default the oldest 10,000 that match. */
export function readRemoval(params: URLSearchParams): LogQuery | Fault[] {
  const reader = new QueryReader(params)
  reader.refuseStrangers([...filterParameters, ...removalParameters])
  const limit = reader.whole('limit', mostRemoved, 1, mostRemoved)
  const descending = reader.isDescending(['order_by_direction'], false)
  const query = { filters: reader.filters(), orderBy: reader.order(), descending, offset: 0, limit }
  return reader.faults.length > 0 ? reader.faults : query
}

interface Comparison {
  readonly field: LogField
  readonly operator: LogFilter['operator']
  readonly type: ValueType
}

/** Parameters that are filters of their own. */
const comparisons: Readonly<Record<string, Comparison>> = {
  status: { field: 'status', operator: 'eq', type: 'number' },
  success: { field: 'success', operator: 'eq', type: 'truth' },
  cached: { field: 'cached', operator: 'eq', type: 'truth' },
  provider: { field: 'provider', operator: 'eq', type: 'text' },
  model: { field: 'model', operator: 'eq', type: 'text' },
  token_id: { field: 'token_id', operator: 'eq', type: 'text' },
  user_id: { field: 'user_id', operator: 'eq', type: 'text' },
  client_id: { field: 'client_id', operator: 'eq', type: 'text' },
  request_content_type: { field: 'request_content_type', operator: 'eq', type: 'text' },
  response_content_type: { field: 'response_content_type', operator: 'eq', type: 'text' },
  search: { field: 'metadata', operator: 'contains', type: 'text' },
  start_date: { field: 'created_at', operator: 'gt', type: 'time' },
  end_date: { field: 'created_at', operator: 'lt', type: 'time' },
  min_cost: { field: 'cost', operator: 'gt', type: 'number' },
  max_cost: { field: 'cost', operator: 'lt', type: 'number' },
  min_duration: { field: 'duration', operator: 'gt', type: 'number' },
  max_duration: { field: 'duration', operator: 'lt', type: 'number' },
  min_tokens_in: { field: 'tokens_in', operator: 'gt', type: 'number' },
  max_tokens_in: { field: 'tokens_in', operator: 'lt', type: 'number' },
  min_tokens_out: { field: 'tokens_out', operator: 'gt', type: 'number' },
  max_tokens_out: { field: 'tokens_out', operator: 'lt', type: 'number' },
  min_total_tokens: { field: 'tokens', operator: 'gt', type: 'number' },
  max_total_tokens: { field: 'tokens', operator: 'lt', type: 'number' },
}

const orderParameters = ['order_by', 'order_by_direction'] as const
const listParameters = ['page', 'per_page', 'cursor', ...orderParameters, 'direction', 'meta_info'] as const
const removalParameters = ['limit', ...orderParameters] as const

const orders = [
  'created_at',
  'provider',
  'model',
  'status',
  'success',
  'cached',
  'cost',
  'tokens_in',
  'tokens_out',
  'duration',
] as const satisfies readonly LogField[]

const mostRemoved = 10_000
const mostFaults = 20

class QueryReader {
  readonly faults: Fault[] = []
  readonly #params: URLSearchParams

  constructor(params: URLSearchParams) {
    this.#params = params
  }

  refuseStrangers(known: readonly string[]): void {
    for (const name of new Set(this.#params.keys())) {
      if (!known.includes(name)) this.#refuse(name, 'is an unknown query parameter', 'unknown')
      else if (!name.startsWith('filters.') && this.#params.getAll(name).length > 1) {
        this.#refuse(name, 'must be given once', 'repeated')
      }
    }
  }

  whole(name: string, usual: number, least: number, most: number): number {
    const text = this.#params.get(name)
    if (text === null) return usual
    const reading = readWhole(text, least, most)
    if ('value' in reading) return reading.value
    this.#refuse(name, reading.flaw)
    return usual
  }

  /** Reads the cursor that a list returned; it cannot be combined with a page. */
  cursor(): LogPlace | null {
    const text = this.#params.get('cursor')
    if (text === null) return null
    const place = readCursor(text)
    if (this.#params.has('page')) this.#refuse('cursor', 'cannot be combined with page')
    else if (place === null) this.#refuse('cursor', 'must be a cursor from an earlier page of this list')
    return place
  }

  order(): LogField {
    const text = this.#params.get('order_by')
    const order = text === null ? 'created_at' : orders.find(order => order === text)
    if (order === undefined) this.#refuse('order_by', `must be one of ${orders.join(', ')}`)
    return order ?? 'created_at'
  }

  /** Takes the direction from the first of the names that is given. */
  isDescending(names: readonly string[], usual: boolean): boolean {
    for (const name of names) {
      const text = this.#params.get(name)
      if (text === 'asc' || text === 'desc') return text === 'desc'
      if (text !== null) this.#refuse(name, 'must be asc or desc')
    }
    return usual
  }

  /** Reads the parameters that are filters of their own. */
  comparisons(): LogFilter[] {
    return Object.entries(comparisons).flatMap(([name, { field, operator, type }]) => {
      const text = this.#params.get(name)
      if (text === null) return []
      const reading = readValue(type, text)
      if ('value' in reading) return { field, operator, values: [reading.value] }
      this.#refuse(name, reading.flaw)
      return []
    })
  }

  groupBy(): readonly Dimension[] {
    const names = this.#params.get('group_by')?.split(',') ?? []
    const known = dimensions.filter(dimension => names.includes(dimension))
    if (known.length !== names.length)
      this.#refuse(
        'group_by',
        `must be a comma-separated list of ${dimensions.join(', ')}, each at most once`,
      )
    return known
  }

  filters(): LogFilter[] {
    return readFilters(this.#params).flatMap(reading => {
      if ('value' in reading) return reading.value
      this.#refuse('filters', reading.flaw)
      return []
    })
  }

  /** The published clients can request sums over the whole list; they are not computed. */
  refuseMetaInfo(): void {
    const text = this.#params.get('meta_info')
    if (text !== null && text !== 'false') this.#refuse('meta_info', 'can only be false')
  }

  #refuse(name: string, rule: string, kind: 'invalid' | 'unknown' | 'repeated' = 'invalid'): void {
    if (this.faults.length === mostFaults) return
    this.faults.push(fault(kind, name.slice(0, 100), rule))
  }
}

function readCursor(text: string): LogPlace | null {
  try {
    const [value, createdAt, id] = JSON.parse(Buffer.from(text, 'base64url').toString())
    const isPlace = typeof createdAt === 'number' && typeof id === 'string' && /^[0-9a-f]{16}$/.test(id)
    return isPlace && (value === null || typeof value !== 'object') ? { value, createdAt, id } : null
  } catch {
    return null
  }
}
