// Log entries by gateway, on a connection of their own that does not wait for the disk.

import { setTimeout as sleep } from 'node:timers/promises'
import { entriesOf, idsOf, type LogBatch, summarySlices } from '../../log-batch/batch.ts'
import { partOf } from '../../log-batch/writer.ts'
import type { LogEntry, LogSummary } from '../../records/records.ts'
import {
  type Listing,
  type LogLimit,
  type LogMark,
  type LogQuery,
  type Logs,
  type LogTail,
  type LogTime,
  type LogWalk,
  type LogWindows,
  type MarkedWindow,
  StoreUnreachable,
} from '../../contract/store.ts'
import type { Database } from '../database/database.ts'
import { nextTurn, pause } from '../../../base/turns/turns.ts'
import { LogAppender } from './appender.ts'
import { KeptSums } from './kept-sums.ts'
import { scan, walkInTime } from './scan.ts'
import { LogSegments } from './segments.ts'
import type { Segment } from './shown-times.ts'
import { WindowMarks } from './window-marks.ts'

/** Segments that are listed without a pause for the rest of the process. */
const listSlice = 500
/** Segments that are removed without a pause, and sums. */
const sweepSlice = 8
const sumSlice = 50

type Appender = Pick<Logs, 'append'>

export class SqliteLogs implements Logs {
  readonly #db: Database
  readonly #appender: Appender
  readonly #segments: LogSegments
  readonly #sums: KeptSums

  /** Reads and removes by a connection, and appends by the same one unless there is an appender. */
  constructor(db: Database, appender: Appender | null = null) {
    this.#db = db
    this.#segments = new LogSegments(db)
    this.#appender = appender ?? new LogAppender(db, this.#segments)
    this.#sums = new KeptSums(db)
  }

  append(account: string, gateway: string, batch: LogBatch, limit: LogLimit): Promise<number> {
    return this.#appender.append(account, gateway, batch, limit)
  }

  async list(account: string, gateway: string, query: LogQuery): Promise<Listing<LogSummary>> {
    const key = await this.#key(account, gateway)
    if (key === null) return { items: [], total: 0 }
    const count = await this.#db.read(() => this.#segments.count(key))
    const segments = await this.#listAll(key)
    const read = (segment: Segment) => this.#read(segment, account, gateway)
    return scan({ segments, count, read }, query)
  }

  async get(account: string, gateway: string, id: string): Promise<LogEntry | null> {
    const key = await this.#key(account, gateway)
    if (key === null) return null
    for (let before = Number.MAX_SAFE_INTEGER; ; ) {
      const from = before
      const { entry, next } = await this.#db.read(() => {
        const found = this.#segments.find(key, id, from)
        if (found === null) return { entry: null, next: this.#segments.below(key, from) }
        const { batch } = this.#segments.entries(found.key)!
        return { entry: entriesOf(batch, account, gateway, found.place)[0]!, next: null }
      })
      if (next === null) return entry
      before = next
      await nextTurn()
    }
  }

  async remove(account: string, gateway: string, query: LogQuery): Promise<number> {
    const key = await this.#key(account, gateway)
    if (key === null) return 0
    const { items } = await this.list(account, gateway, query)
    const ids = new Set(items.map(({ id }) => id))
    let removed = 0
    for (const segment of await this.#listAll(key)) {
      removed += await this.#db.write(() => this.#removeFrom(key, segment.key, ids))
      await pause()
    }
    if (removed > 0) await this.#forgetSums(key)
    return removed
  }

  count(account: string, gateway: string): Promise<number> {
    return this.#db.read(() => {
      const key = this.#segments.gatewayKey(account, gateway)
      return key === null ? 0 : this.#segments.count(key)
    })
  }

  async *within(account: string, gateway: string, time: LogTime): AsyncGenerator<readonly LogSummary[]> {
    const key = await this.#key(account, gateway)
    if (key === null) return
    const { since, before } = time
    const listed = this.#listed(after => this.#segments.within(key, time, after, listSlice))
    for await (const segments of listed)
      for (const segment of segments) {
        const isWhole = segment.earliest >= since && segment.latest < before
        for (const entries of await this.#read(segment, account, gateway)) {
          const some = isWhole ? entries : entries.filter(({ createdAt: at }) => at >= since && at < before)
          if (some.length > 0) yield some
          await pause()
        }
      }
  }

  async *walk(account: string, gateway: string, from: LogWalk): AsyncGenerator<readonly LogSummary[]> {
    const key = await this.#key(account, gateway)
    if (key === null) return
    const segments = await this.#listAll(key)
    const read = (segment: Segment) => this.#read(segment, account, gateway)
    yield* walkInTime(segments, read, from)
  }

  async marks(account: string, gateway: string, windows: LogWindows): Promise<readonly LogMark[]> {
    const { since, width, count } = windows
    const time = { since, before: since + count * width }
    const marks = new WindowMarks(windows)
    const key = await this.#key(account, gateway)
    if (key !== null)
      for await (const spans of this.#listed(after => this.#segments.spans(key, time, after, listSlice)))
        for (const span of spans) marks.add(span)
    return marks.take()
  }

  keepSum(account: string, gateway: string, window: MarkedWindow, sum: string): Promise<void> {
    return this.#db.write(() => {
      const key = this.#segments.gatewayKey(account, gateway)
      const first = key === null ? null : this.#segments.edge(key, 'first')
      if (key === null || first === null) return
      this.#sums.removeBefore(key, first)
      this.#sums.set(key, window, sum)
    })
  }

  keptSums(
    account: string,
    gateway: string,
    windows: readonly MarkedWindow[],
  ): Promise<readonly (string | null)[]> {
    return this.#db.read(() => {
      const key = this.#segments.gatewayKey(account, gateway)
      return windows.map(window => (key === null ? null : this.#sums.get(key, window)))
    })
  }

  async tail(account: string, gateway: string, after: string | null, limit: number): Promise<LogTail> {
    const key = await this.#key(account, gateway)
    if (key === null) return { items: [], end: '0' }
    return after === null
      ? this.#last(key, account, gateway, limit)
      : this.#behind(key, account, gateway, readEnd(after), limit)
  }

  async *entries(account: string, gateway: string): AsyncGenerator<readonly LogEntry[]> {
    const key = await this.#key(account, gateway)
    if (key === null) return
    for await (const segments of this.#list(key))
      for (const segment of segments) {
        const entries = await this.#db.read(() => this.#shown(segment.key, account, gateway))
        if (entries.length > 0) yield entries
      }
  }

  /** Removes, bit by bit, the entries of gateways that were removed; what is left when the file can't be written waits for the next time. */
  async sweep(): Promise<void> {
    try {
      for (;;) {
        const gone = await this.#db.read(() => this.#segments.orphan())
        if (gone === null) return
        await this.#db.write(() => {
          if (this.#segments.removeSome(gone, sweepSlice) > 0) return
          if (this.#sums.removeSome(gone, sumSlice) === 0) this.#segments.closeBook(gone)
        })
        await sleep(5)
      }
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) throw error
    }
  }

  async #last(key: number, account: string, gateway: string, limit: number): Promise<LogTail> {
    let items: LogSummary[] = []
    let end = '0'
    for (let before = Number.MAX_SAFE_INTEGER; items.length < limit; ) {
      const from = before
      const segment = await this.#db.read(() => this.#segments.lastBefore(key, from))
      if (segment === null) break
      const entries = [...(await this.#read(segment, account, gateway))].flat()
      if (end === '0' && entries.length > 0) end = endOf(segment.key, entries.at(-1)!.id)
      items = [...entries, ...items].slice(-limit)
      before = segment.key
      await nextTurn()
    }
    return { items, end }
  }

  async #behind(
    key: number,
    account: string,
    gateway: string,
    { segment: first, id }: End,
    limit: number,
  ): Promise<LogTail> {
    const items: LogSummary[] = []
    let end = endOf(first, id)
    for (let after = first - 1; items.length < limit; ) {
      const from = after
      const [segment] = await this.#db.read(() => this.#segments.list(key, from, 1))
      if (segment === undefined && after < first && first > 0) return this.#last(key, account, gateway, limit)
      if (segment === undefined) break
      const entries = [...(await this.#read(segment, account, gateway))].flat()
      const seen = segment.key === first ? entries.findIndex(entry => entry.id === id) + 1 : 0
      if (after < first && first > 0 && seen === 0) return this.#last(key, account, gateway, limit)
      items.push(...entries.slice(seen, seen + limit - items.length))
      if (entries.length > seen) end = endOf(segment.key, items.at(-1)!.id)
      after = segment.key
      await nextTurn()
    }
    return { items, end }
  }

  /** Reads what a segment shows of its entries without bodies, in slices. */
  #read(segment: Segment, account: string, gateway: string): Promise<Iterable<readonly LogSummary[]>> {
    return this.#db.read(() => {
      const found = this.#segments.summaries(segment.key)
      return found ? summarySlices(found.batch, account, gateway, found.isShown) : []
    })
  }

  /** Removes the sums of a gateway, with pauses for others: they may name what was removed. */
  async #forgetSums(key: number): Promise<void> {
    while ((await this.#db.write(() => this.#sums.removeSome(key, sumSlice))) === sumSlice);
  }

  /** Removes what a segment shows of these entries; gives how many there were. */
  #removeFrom(key: number, segment: number, ids: ReadonlySet<string>): number {
    const names = this.#segments.summaries(segment)?.batch.ids
    if (names === undefined || !idsOf(names).some(id => ids.has(id))) return 0
    const { batch, isShown } = this.#segments.entries(segment)!
    const shown = partOf(batch, (_, place) => isShown(place))
    const left = partOf(shown, id => !ids.has(id))
    const removed = shown.count - left.count
    if (removed > 0) this.#segments.rewrite(key, segment, left)
    return removed
  }

  /** Reads the entries that a segment shows. */
  #shown(segment: number, account: string, gateway: string): readonly LogEntry[] {
    const found = this.#segments.entries(segment)
    return found ? entriesOf(found.batch, account, gateway).filter((_, place) => found.isShown(place)) : []
  }

  async #listAll(key: number): Promise<Segment[]> {
    return (await Array.fromAsync(this.#list(key))).flat()
  }

  #list(key: number): AsyncGenerator<readonly Segment[]> {
    return this.#listed(after => this.#segments.list(key, after, listSlice))
  }

  /** Goes through segments in slices with turns for others between; `some` reads those behind a key, up to a slice of them. */
  async *#listed<T extends Segment>(some: (after: number) => readonly T[]): AsyncGenerator<readonly T[]> {
    for (let after = 0; ; ) {
      const from = after
      const segments = await this.#db.read(() => some(from))
      yield segments
      if (segments.length < listSlice) return
      after = segments.at(-1)!.key
      await nextTurn()
    }
  }

  #key(account: string, gateway: string): Promise<number | null> {
    return this.#db.read(() => this.#segments.gatewayKey(account, gateway))
  }
}

/** The last entry that a tail has shown. */
interface End {
  readonly segment: number
  readonly id: string
}

function endOf(segment: number, id: string): string {
  return `${segment} ${id}`.trimEnd()
}

function readEnd(text: string): End {
  const [segment = '', id = ''] = text.split(' ')
  return { segment: Number(segment) || 0, id }
}
