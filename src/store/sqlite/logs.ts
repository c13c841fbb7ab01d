// Log entries by gateway, on a connection of their own that does not wait for the disk.
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogEntry, LogSummary } from '../records.ts'
import { type Listing, type LogLimit, type LogQuery, type Logs, StoreAway } from '../store.ts'
import type { Database } from './database.ts'
import { defineTerms } from './log-conditions.ts'
import { toEntry, toSummary } from './log-rows.ts'
import { scan } from './log-scan.ts'
import { LogTables } from './log-tables.ts'

// As many as are removed, or read whole, without a pause for the rest of the process.
const slice = 2000
const batch = 256

export class SqliteLogs implements Logs {
  readonly #db: Database
  readonly #tables: LogTables

  constructor(db: Database) {
    defineTerms(db)
    this.#db = db
    this.#tables = new LogTables(db)
  }

  async append(
    account: string,
    gateway: string,
    entries: readonly LogEntry[],
    limit: LogLimit,
  ): Promise<number> {
    let { key, kept, excess } = await this.#db.write(() => this.#append(account, gateway, entries, limit))
    while (excess > 0) excess = await this.#db.write(() => this.#trim(key, limit))
    return kept
  }

  async list(account: string, gateway: string, query: LogQuery): Promise<Listing<LogSummary>> {
    const key = await this.#key(account, gateway)
    if (key === null) return { items: [], total: 0 }
    const { numbers, total } = await scan(this.#db, key, query)
    const rows = await this.#db.read(() => numbers.map(number => this.#tables.summary(key, number)))
    const items = rows.filter(row => row !== undefined).map(row => toSummary(account, gateway, row))
    return { items, total }
  }

  get(account: string, gateway: string, id: string): Promise<LogEntry | null> {
    return this.#db.read(() => {
      const key = this.#tables.gatewayKey(account, gateway)
      const row = key === null ? undefined : this.#tables.find(key, id)
      return row ? toEntry(account, gateway, row) : null
    })
  }

  async remove(account: string, gateway: string, query: LogQuery): Promise<number> {
    const key = await this.#key(account, gateway)
    if (key === null) return 0
    const { numbers } = await scan(this.#db, key, query)
    let removed = 0
    for (let i = 0; i < numbers.length; i += slice) {
      removed += await this.#db.write(() => this.#tables.remove(key, numbers.slice(i, i + slice)))
    }
    return removed
  }

  count(account: string, gateway: string): Promise<number> {
    return this.#db.read(() => {
      const key = this.#tables.gatewayKey(account, gateway)
      return key === null ? 0 : this.#tables.book(key).count
    })
  }

  async *entries(account: string, gateway: string): AsyncGenerator<readonly LogEntry[]> {
    const key = await this.#key(account, gateway)
    if (key === null) return
    for (let from = 0; ; ) {
      const rows = await this.#db.read(() => this.#tables.entriesFrom(key, from, batch))
      if (rows.length === 0) return
      yield rows.map(row => toEntry(account, gateway, row))
      from = (rows.at(-1)!.number as number) + 1
    }
  }

  /** Removes, bit by bit, the entries of gateways that were removed; what is left when the file can't be written waits for the next time. */
  async sweep(): Promise<void> {
    try {
      for (;;) {
        const gone = await this.#db.read(() => this.#tables.orphan())
        if (gone === null) return
        await this.#db.write(() => this.#tables.removeOrphans(gone, slice))
        await sleep(5)
      }
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error
    }
  }

  #append(account: string, gateway: string, entries: readonly LogEntry[], limit: LogLimit) {
    const key = this.#tables.gatewayKey(account, gateway)
    if (key === null) return { key: 0, kept: 0, excess: 0 }
    const kept = whatFits(entries, this.#tables.book(key).count, limit)
    this.#tables.append(key, kept)
    return { key, kept: kept.length, excess: this.#trim(key, limit) }
  }

  /** Gives how many are still too many. */
  #trim(key: number, { most, strategy }: LogLimit): number {
    const excess = this.#tables.book(key).count - most
    if (strategy === 'STOP_INSERTING' || excess <= 0) return 0
    return excess - this.#tables.removeOldest(key, Math.min(excess, slice))
  }

  #key(account: string, gateway: string): Promise<number | null> {
    return this.#db.read(() => this.#tables.gatewayKey(account, gateway))
  }
}

function whatFits(
  entries: readonly LogEntry[],
  count: number,
  { most, strategy }: LogLimit,
): readonly LogEntry[] {
  if (strategy === 'STOP_INSERTING') return entries.slice(0, Math.max(0, most - count))
  return entries.slice(Math.max(0, entries.length - most))
}
