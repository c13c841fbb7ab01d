// Log entries by gateway, on a connection of their own that does not wait for the disk.
import { setTimeout as sleep } from 'node:timers/promises'
import { entriesOf, idsOf, type LogBatch, summarySlices } from '../../log-batch/batch.ts'
import { partOf } from '../../log-batch/writer.ts'
import type { LogEntry, LogSummary } from '../../records.ts'
import { type Listing, type LogLimit, type LogQuery, type Logs, StoreAway } from '../../store.ts'
import type { Database } from '../database/database.ts'
import { pauses, scan } from './scan.ts'
import { LogSegments, type Segment } from './segments.ts'

/** Entries that are removed without a pause for the rest of the process, and segments that are listed so. */
const slice = 2000

export class SqliteLogs implements Logs {
  readonly #db: Database
  readonly #segments: LogSegments

  constructor(db: Database) {
    this.#db = db
    this.#segments = new LogSegments(db)
  }

  async append(account: string, gateway: string, batch: LogBatch, limit: LogLimit): Promise<number> {
    let { key, kept, excess } = await this.#db.write(() => this.#append(account, gateway, batch, limit))
    while (excess > 0) excess = await this.#db.write(() => this.#trim(key, limit))
    return kept
  }

  async list(account: string, gateway: string, query: LogQuery): Promise<Listing<LogSummary>> {
    const key = await this.#key(account, gateway)
    if (key === null) return { items: [], total: 0 }
    const count = await this.#db.read(() => this.#segments.book(key).count)
    const segments = await Array.fromAsync(this.#list(key))
    const read = (segment: Segment) => this.#read(key, segment, account, gateway)
    return scan({ segments, count, read }, query)
  }

  get(account: string, gateway: string, id: string): Promise<LogEntry | null> {
    return this.#db.read(() => {
      const key = this.#segments.gatewayKey(account, gateway)
      const found = key === null ? null : this.#segments.find(key, id)
      if (key === null || found === null) return null
      return entriesOf(this.#segments.entries(key, found.key)!, account, gateway, found.place)[0]!
    })
  }

  async remove(account: string, gateway: string, query: LogQuery): Promise<number> {
    const key = await this.#key(account, gateway)
    if (key === null) return 0
    const { items } = await this.list(account, gateway, query)
    const ids = new Set(items.map(({ id }) => id))
    const pause = pauses()
    let removed = 0
    for await (const segment of this.#list(key)) {
      removed += await this.#db.write(() => this.#removeFrom(key, segment.key, ids))
      await pause()
    }
    return removed
  }

  count(account: string, gateway: string): Promise<number> {
    return this.#db.read(() => {
      const key = this.#segments.gatewayKey(account, gateway)
      return key === null ? 0 : this.#segments.book(key).count
    })
  }

  async *summaries(account: string, gateway: string): AsyncGenerator<readonly LogSummary[]> {
    const key = await this.#key(account, gateway)
    if (key === null) return
    const pause = pauses()
    for await (const segment of this.#list(key))
      for (const entries of await this.#read(key, segment, account, gateway)) {
        yield entries
        await pause()
      }
  }

  async *entries(account: string, gateway: string): AsyncGenerator<readonly LogEntry[]> {
    const key = await this.#key(account, gateway)
    if (key === null) return
    for await (const segment of this.#list(key)) {
      const entries = await this.#db.read(() => this.#shown(key, segment.key, account, gateway))
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
          if (this.#segments.removeOldest(gone, slice) === 0) this.#segments.closeBook(gone)
        })
        await sleep(5)
      }
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error
    }
  }

  /** Reads what a segment shows of its entries without bodies, in slices. */
  #read(
    key: number,
    segment: Segment,
    account: string,
    gateway: string,
  ): Promise<Iterable<readonly LogSummary[]>> {
    return this.#db.read(() => {
      const found = this.#segments.summaries(key, segment.key)
      return found ? summarySlices(found, account, gateway, this.#segments.hidden(key, segment.key)) : []
    })
  }

  #append(account: string, gateway: string, batch: LogBatch, limit: LogLimit) {
    const key = this.#segments.gatewayKey(account, gateway)
    if (key === null) return { key: 0, kept: 0, excess: 0 }
    const wanted = limit.strategy === 'DELETE_OLDEST' ? lastOf(batch, limit.most) : batch
    const fresh = batch.isRepeated ? this.#unknownOf(key, wanted) : wanted
    const room = limit.most - this.#segments.book(key).count
    const fitting = limit.strategy === 'DELETE_OLDEST' ? fresh : firstOf(fresh, room)
    this.#segments.append(key, fitting)
    const kept = wanted.count - fresh.count + fitting.count
    return { key, kept, excess: this.#trim(key, limit) }
  }

  #unknownOf(key: number, batch: LogBatch): LogBatch {
    const known = this.#segments.idsAround(key, batch)
    return partOf(batch, id => !known.has(id))
  }

  /** Gives how many are still too many. */
  #trim(key: number, { most, strategy }: LogLimit): number {
    const excess = this.#segments.book(key).count - most
    if (strategy === 'STOP_INSERTING' || excess <= 0) return 0
    return excess - this.#segments.removeOldest(key, Math.min(excess, slice))
  }

  /** Removes what a segment shows of these entries; gives how many there were. */
  #removeFrom(key: number, segment: number, ids: ReadonlySet<string>): number {
    const names = this.#segments.summaries(key, segment)?.ids
    if (names === undefined || !idsOf(names).some(id => ids.has(id))) return 0
    const batch = this.#segments.entries(key, segment)!
    const hidden = this.#segments.hidden(key, segment)
    const left = partOf(batch, (id, place) => place >= hidden && !ids.has(id))
    const removed = batch.count - hidden - left.count
    if (removed > 0) this.#segments.rewrite(key, segment, left, removed)
    return removed
  }

  /** Reads the entries that a segment shows. */
  #shown(key: number, segment: number, account: string, gateway: string): readonly LogEntry[] {
    const batch = this.#segments.entries(key, segment)
    return batch ? entriesOf(batch, account, gateway).slice(this.#segments.hidden(key, segment)) : []
  }

  async *#list(key: number): AsyncGenerator<Segment> {
    for (let after = 0; ; ) {
      const from = after
      const segments = await this.#db.read(() => this.#segments.list(key, from, slice))
      yield* segments
      if (segments.length < slice) return
      after = segments.at(-1)!.key
    }
  }

  #key(account: string, gateway: string): Promise<number | null> {
    return this.#db.read(() => this.#segments.gatewayKey(account, gateway))
  }
}

function firstOf(batch: LogBatch, count: number): LogBatch {
  return count >= batch.count ? batch : partOf(batch, (_, place) => place < count)
}

function lastOf(batch: LogBatch, count: number): LogBatch {
  return count >= batch.count ? batch : partOf(batch, (_, place) => place >= batch.count - count)
}
