// Finds the entries of a gateway that a query asks for, segment by segment, and lets other work of the process go on between them.
import { setImmediate as breathe } from 'node:timers/promises'
import { logOrder, matches } from '../log-match.ts'
import type { LogSummary } from '../records.ts'
import type { Listing, LogFilter, LogQuery } from '../store.ts'
import type { Segment } from './log-segments.ts'

/** What is looked through. */
interface Shelf {
  readonly segments: readonly Segment[]
  /** How many entries they show. */
  readonly count: number
  /** Reads what a segment shows; nothing where it is gone by now. */
  read(segment: Segment): Promise<readonly LogSummary[]>
}

/** Ms after which others get their turn. */
const patience = 4
/** Entries that are sorted in together, at least. */
const slack = 1000

/** Looks through all entries, or only through the first ones in time where nothing else is asked for. */
export function scan(shelf: Shelf, query: LogQuery): Promise<Listing<LogSummary>> {
  return query.orderBy === 'created_at' ? scanByTime(shelf, query) : scanByRank(shelf, query)
}

/** Makes what is called between two pieces of work, and pauses when it is time. */
export function pauses(): () => Promise<void> {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < patience) return
    await breathe()
    began = performance.now()
  }
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
  const pause = pauses()
  for (const segment of inTime(shelf.segments, query)) {
    settle(countBefore(open, segment, query))
    const isFull = passed >= offset + limit
    if (isFull && filters.length === 0) break
    const found = await sift(shelf, segment, filters)
    total += found.length
    if (!isFull) open = [...open, ...found].sort(logOrder(query))
    await pause()
  }
  settle(open.length)
  return { items, total: filters.length === 0 ? shelf.count : total }
}

/** Puts the segments into the order in which their first entries stand in the list. */
function inTime(segments: readonly Segment[], { descending }: LogQuery): Segment[] {
  return segments.toSorted((a, b) => (descending ? b.latest - a.latest : a.earliest - b.earliest))
}

function countBefore(entries: readonly LogSummary[], segment: Segment, { descending }: LogQuery): number {
  const count = entries.findIndex(({ createdAt }) =>
    descending ? createdAt <= segment.latest : createdAt >= segment.earliest,
  )
  return count === -1 ? entries.length : count
}

async function scanByRank(shelf: Shelf, query: LogQuery): Promise<Listing<LogSummary>> {
  const { filters, offset, limit } = query
  const wanted = offset + limit
  const order = logOrder(query)
  let best: LogSummary[] = []
  let total = 0
  const pause = pauses()
  for (const segment of shelf.segments) {
    const found = await sift(shelf, segment, filters)
    total += found.length
    best.push(...found)
    if (best.length >= wanted + Math.max(slack, wanted / 4)) best = best.sort(order).slice(0, wanted)
    await pause()
  }
  return { items: best.sort(order).slice(offset, wanted), total }
}

async function sift(shelf: Shelf, segment: Segment, filters: readonly LogFilter[]) {
  if (!filters.every(filter => mayHold(segment, filter))) return []
  const entries = await shelf.read(segment)
  return filters.length === 0 ? entries : entries.filter(entry => matches(entry, filters))
}

/** Tells whether entries of the time of a segment can match. */
function mayHold({ earliest, latest }: Segment, { field, operator, values }: LogFilter): boolean {
  if (field !== 'created_at') return true
  if (operator === 'gt') return values.some(value => typeof value === 'number' && latest >= value)
  if (operator === 'lt') return values.some(value => typeof value === 'number' && earliest <= value)
  return true
}
