// Finds the entries of a gateway that a query asks for, segment by segment, and lets other work of the process go on between them.

import { pause } from '../../../base/turns/turns.ts'
import { comparePlaces, logOrder, matches, placeOf } from '../../contract/log-match.ts'
import { LogSelection } from '../../contract/log-selection.ts'
import type { LogSummary } from '../../records/records.ts'
import type { Listing, LogFilter, LogQuery, LogWalk } from '../../contract/store.ts'
import type { Segment } from './shown-times.ts'

/** What is looked through. */
interface Shelf {
  readonly segments: readonly Segment[]
  /** How many entries they show. */
  readonly count: number
  /** Reads what a segment shows, in slices; nothing where it is gone by now. */
  read(segment: Segment): Promise<Iterable<readonly LogSummary[]>>
}

/** Looks through all entries, or only through the first ones in time where nothing else is asked for. */
export function scan(shelf: Shelf, query: LogQuery): Promise<Listing<LogSummary>> {
  return query.orderBy === 'created_at' ? scanByTime(shelf, query) : scanByRank(shelf, query)
}

/** Goes through the entries of segments in the order of time and then id, or in reverse. */
export async function* walkInTime(
  segments: readonly Segment[],
  read: Shelf['read'],
  { descending, after }: LogWalk,
): AsyncGenerator<readonly LogSummary[]> {
  const way = { orderBy: 'created_at', descending } as const
  const place = after && { value: after.at, createdAt: after.at, id: after.id }
  const compare = comparePlaces(descending)
  const order = logOrder({ ...way, filters: [], offset: 0, limit: 0 })
  /** Entries in order that others may still come between. */
  let open: LogSummary[] = []
  for (const segment of inTime(segments, way)) {
    if (after && (descending ? segment.earliest > after.at : segment.latest < after.at)) continue
    const settled = open.splice(0, countBefore(open, segment, way))
    if (settled.length > 0) yield settled
    await pause()
    const entries = [...(await read(segment))].flat()
    const rest = place ? entries.filter(entry => compare(place, placeOf(entry, 'created_at')) < 0) : entries
    open = open.length === 0 ? rest.sort(order) : [...open, ...rest].sort(order)
    await pause()
  }
  if (open.length > 0) yield open
}

async function scanByTime(shelf: Shelf, query: LogQuery): Promise<Listing<LogSummary>> {
  const { filters, offset, limit } = query
  const items: LogSummary[] = []
  /** Entries in order that others may still come between. */
  let open: LogSummary[] = []
  let [total, passed] = [0, 0]
  const settle = (count: number) => {
    const settled = open.splice(0, count)
    items.push(...settled.slice(Math.max(0, offset - passed), Math.max(0, offset + limit - passed)))
    passed += settled.length
  }
  const order = logOrder(query)
  for (const segment of inTime(shelf.segments, query)) {
    settle(countBefore(open, segment, query))
    const isFull = passed >= offset + limit
    if (isFull && filters.length === 0) break
    const found = await sift(shelf, segment, query)
    total += found.total
    if (!isFull && found.entries.length > 0) open = [...open, ...found.entries].sort(order)
    await pause()
  }
  settle(open.length)
  return { items, total: filters.length === 0 ? shelf.count : total }
}

/** Puts the segments into the order in which their first entries stand in the list. */
function inTime(segments: readonly Segment[], { descending }: Pick<LogQuery, 'descending'>): Segment[] {
  return segments.toSorted((a, b) => (descending ? b.latest - a.latest : a.earliest - b.earliest))
}

function countBefore(
  entries: readonly LogSummary[],
  segment: Segment,
  { descending }: Pick<LogQuery, 'descending'>,
): number {
  const count = entries.findIndex(({ createdAt }) =>
    descending ? createdAt <= segment.latest : createdAt >= segment.earliest,
  )
  return count === -1 ? entries.length : count
}

async function scanByRank(shelf: Shelf, query: LogQuery): Promise<Listing<LogSummary>> {
  const selection = new LogSelection(query)
  for (const [at, segment] of shelf.segments.entries()) {
    if (!mayMatch(segment, query)) continue
    for (const entries of await shelf.read(segment)) {
      selection.add(entries, at)
      await pause()
    }
  }
  const selected = selection.take()
  const found = new Map<string, LogSummary>()
  for (const [at, ids] of Map.groupBy(selected, ({ origin }) => origin)) {
    const wanted = new Set(ids.map(({ id }) => id))
    for (const entries of await shelf.read(shelf.segments[at]!)) {
      for (const entry of entries) if (wanted.has(entry.id)) found.set(entry.id, entry)
      await pause()
    }
  }
  // What was removed meanwhile is in no list.
  return { items: selected.flatMap(({ id }) => found.get(id) ?? []), total: selection.total }
}

/** Finds what matches in a segment: how many those are, and those of them that come behind the place that the query says. */
async function sift(shelf: Shelf, segment: Segment, query: LogQuery) {
  const { filters, orderBy, descending, after = null } = query
  const entries: LogSummary[] = []
  let total = 0
  if (!mayMatch(segment, query)) return { entries, total }
  const compare = comparePlaces(descending)
  for (const slice of await shelf.read(segment)) {
    const matching = filters.length === 0 ? slice : slice.filter(entry => matches(entry, filters))
    total += matching.length
    for (const entry of matching)
      if (after === null || compare(after, placeOf(entry, orderBy)) < 0) entries.push(entry)
    await pause()
  }
  return { entries, total }
}

/** Whether there is reason to read a segment. */
function mayMatch(segment: Segment, { filters, orderBy, descending, after = null }: LogQuery): boolean {
  if (!filters.every(filter => mayHold(segment, filter))) return false
  // What comes before the place counts only where filters say what is counted.
  if (filters.length > 0 || after === null || orderBy !== 'created_at') return true
  return descending ? segment.earliest <= after.createdAt : segment.latest >= after.createdAt
}

/** Whether entries of the time of a segment can match. */
function mayHold({ earliest, latest }: Segment, { field, operator, values }: LogFilter): boolean {
  if (field !== 'created_at') return true
  if (operator === 'gt') return values.some(value => typeof value === 'number' && latest >= value)
  if (operator === 'lt') return values.some(value => typeof value === 'number' && earliest <= value)
  return true
}
