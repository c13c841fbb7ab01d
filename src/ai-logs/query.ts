// Parses queries of log entries, as the published clients write them.

import { fault } from '../errors/catalogue/api-faults.ts'
import type { Fault } from '../errors/catalogue/refusal.ts'
import type { LogField, LogFilter, LogPlace, LogQuery, LogWindows } from '../store/contract/store.ts'
import { filterParameters, readFilters } from './query-filters.ts'
import { type Dimension, dimensions } from './sums.ts'
import { readValue, readWhole, type ValueType } from './query-values.ts'

/** What a list shows, and how many entries are looked at for it; all where that is left out. */
interface ListQuery extends LogQuery {
  readonly maxScanned?: number
}

/** Reads the query of a list; by default the newest 20 first. All mistakes are reported at once. */
export function readQuery(params: URLSearchParams): ListQuery | Fault[] {
  const reader = new QueryReader(params)
  reader.refuseStrangers([...Object.keys(comparisons), ...filterParameters, ...listParameters])
  const limit = reader.whole('per_page', 20, 1, 100)
  const page = reader.whole('page', 1, 1, 1e6)
  const after = reader.cursor()
  const descending = reader.isDescending(['order_by_direction', 'direction'], true)
  reader.refuseMetaInfo()
  const filters = [...reader.comparisons(), ...reader.filters()]
  const offset = after === null ? (page - 1) * limit : 0
  const orderBy = reader.order()
  const query = { filters, orderBy, descending, offset, limit, ...(after && { after }) }
  if (params.has('max_scanned')) {
    if (orderBy !== 'created_at')
      reader.refuse('max_scanned', 'can only be combined with order_by=created_at')
    if (params.has('page')) reader.refuse('max_scanned', 'cannot be combined with page')
    Object.assign(query, { maxScanned: reader.whole('max_scanned', 1, 1, 20_000) })
  }
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

/** What series can be grouped by. */
export const seriesGroups = ['model', 'provider', 'token', 'app'] as const
export type SeriesGroup = (typeof seriesGroups)[number]

/** The windows that series can have, in ms. */
export const seriesBuckets = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const
type SeriesBucket = keyof typeof seriesBuckets

const maxBuckets = 750

export interface SeriesQuery {
  readonly filters: readonly LogFilter[]
  readonly bucket: SeriesBucket
  readonly windows: LogWindows
  readonly groupBy: SeriesGroup | null
}

/** Reads the query for sums: by default of the last day, by the hour. Windows are whole ones of UTC. */
export function readSeries(params: URLSearchParams, now: number): SeriesQuery | Fault[] {
  const reader = new QueryReader(params)
  const own = ['group_by', 'bucket']
  reader.refuseStrangers([...Object.keys(comparisons), ...filterParameters, ...own])
  const begin = reader.moment('start_date')
  const end = reader.moment('end_date') ?? Math.max(now, begin ?? now)
  const requestedBucket = reader.choice('bucket', Object.keys(seriesBuckets) as SeriesBucket[])
  const start = begin ?? end - usualSpans[requestedBucket ?? 'hour']
  const bucket = requestedBucket ?? usualBucket(end - start)
  const width = seriesBuckets[bucket]
  const since = Math.floor(start / width) * width
  const count = Math.max(1, Math.ceil((end - since) / width))
  if (start > end) reader.refuse('start_date', 'must be before end_date')
  else if (count > maxBuckets)
    reader.refuse('bucket', `must divide the time into at most ${maxBuckets} parts`)
  const filters = [...reader.comparisons(['start_date', 'end_date']), ...reader.filters()]
  const groupBy = reader.choice('group_by', seriesGroups)
  const query = { filters, bucket, windows: { since, width, count }, groupBy }
  return reader.faults.length > 0 ? reader.faults : query
}

/** Ms that are summed up by windows of a length where nothing is said. */
const usualSpans = { minute: 3_600_000, hour: 86_400_000, day: 30 * 86_400_000 } as const

function usualBucket(span: number): SeriesBucket {
  if (span <= 3 * seriesBuckets.hour) return 'minute'
  return span <= 7 * seriesBuckets.day ? 'hour' : 'day'
}

/** What comes after others. */
interface TailQuery {
  readonly filters: readonly LogFilter[]
  readonly after: string | null
  readonly limit: number
}

/** Reads the query for the latest entries, or those behind a cursor. */
export function readTail(params: URLSearchParams): TailQuery | Fault[] {
  const reader = new QueryReader(params)
  reader.refuseStrangers([...Object.keys(comparisons), ...filterParameters, 'cursor', 'per_page'])
  const limit = reader.whole('per_page', 20, 1, 100)
  const after = reader.tailCursor()
  const query = { filters: [...reader.comparisons(), ...reader.filters()], after, limit }
  return reader.faults.length > 0 ? reader.faults : query
}

/** Encodes the end of a tail as a cursor for what comes later. */
export function tailCursorOf(end: string): string {
  return Buffer.from(end).toString('base64url')
}

/** Reads the query for a deletion; by default the oldest 10,000 that match. */
export function readRemoval(params: URLSearchParams): LogQuery | Fault[] {
  const reader = new QueryReader(params)
  reader.refuseStrangers([...filterParameters, ...removalParameters])
  const limit = reader.whole('limit', maxRemoved, 1, maxRemoved)
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
  event_id: { field: 'event_id', operator: 'eq', type: 'text' },
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
const listParameters = [
  'page',
  'per_page',
  'cursor',
  ...orderParameters,
  'direction',
  'max_scanned',
  'meta_info',
] as const
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
  'feedback',
] as const satisfies readonly LogField[]

const maxRemoved = 10_000
const maxFaults = 20

class QueryReader {
  readonly faults: Fault[] = []
  readonly #params: URLSearchParams

  constructor(params: URLSearchParams) {
    this.#params = params
  }

  refuseStrangers(names: readonly string[]): void {
    for (const name of new Set(this.#params.keys())) {
      if (!names.includes(name)) this.#refuse(name, 'is an unknown query parameter', 'unknown')
      else if (!name.startsWith('filters.') && this.#params.getAll(name).length > 1) {
        this.#refuse(name, 'must be given once', 'repeated')
      }
    }
  }

  whole(name: string, usual: number, min: number, max: number): number {
    const text = this.#params.get(name)
    if (text === null) return usual
    const reading = readWhole(text, min, max)
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

  /** Reads a time as ms since the epoch; null where it is absent. */
  moment(name: string): number | null {
    const text = this.#params.get(name)
    const reading = text === null ? null : readValue('time', text)
    if (reading === null) return null
    if ('value' in reading) return reading.value as number
    this.#refuse(name, reading.flaw)
    return null
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | null {
    const text = this.#params.get(name)
    const choice = choices.find(choice => choice === text) ?? null
    if (text !== null && choice === null) this.#refuse(name, `must be one of ${choices.join(', ')}`)
    return choice
  }

  tailCursor(): string | null {
    const text = this.#params.get('cursor')
    if (text === null) return null
    const end = Buffer.from(text, 'base64url').toString()
    if (/^\d{1,16}(?: [0-9a-f]{16})?$/.test(end)) return end
    this.#refuse('cursor', 'must be a cursor from an earlier response')
    return null
  }

  /** Notes that a parameter breaks a rule, in words that follow its name. */
  refuse(name: string, rule: string): void {
    this.#refuse(name, rule)
  }

  /** Reads the parameters that are filters of their own, but for some that are read otherwise. */
  comparisons(others: readonly string[] = []): LogFilter[] {
    return Object.entries(comparisons).flatMap(([name, { field, operator, type }]) => {
      const text = this.#params.get(name)
      if (text === null || others.includes(name)) return []
      const reading = readValue(type, text)
      if ('value' in reading) return { field, operator, values: [reading.value] }
      this.#refuse(name, reading.flaw)
      return []
    })
  }

  groupBy(): readonly Dimension[] {
    const names = this.#params.get('group_by')?.split(',') ?? []
    const matches = dimensions.filter(dimension => names.includes(dimension))
    if (matches.length !== names.length)
      this.#refuse(
        'group_by',
        `must be a comma-separated list of ${dimensions.join(', ')}, each at most once`,
      )
    return matches
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
    if (this.faults.length === maxFaults) return
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
