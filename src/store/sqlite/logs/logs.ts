// Log entries by gateway: a row each, on a connection of their own that does not wait for the disk.

import type { SQLInputValue } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { nextTurn } from '../../../base/turns/turns.ts'
import { bodiesOf, joinedBodies, type LogBatch } from '../../log-batch/batch.ts'
import { WindowSums } from '../../log-sums/cells.ts'
import { rowOf, summaryOf } from '../../log-batch/row.ts'
import { edited } from '../../contract/log-edit.ts'
import { placeOf, timeOf } from '../../contract/log-match.ts'
import type { LogEntry, LogSummary } from '../../records/records.ts'
import {
  type Listing,
  type LogEdit,
  type LogLimit,
  type LogMark,
  type LogQuery,
  type Logs,
  type LogScan,
  type LogScanQuery,
  type LogSumQuery,
  type LogSums,
  type LogTail,
  type LogWindows,
  logWidths,
  type MarkedWindow,
  StoreUnreachable,
} from '../../contract/store.ts'
import type { Command, Database, Row, Statement } from '../database/database.ts'
import { type KeyRange, LogBodies } from './bodies.ts'
import {
  behind,
  type Condition,
  conditionOf,
  type Moment,
  orderOf,
  rangeOf,
  type TimeRange,
  upTo,
} from './conditions.ts'

/** Entries per removal without a pause for other writes, and per read without one for the process. */
const removalSlice = 2_000
const sweepSlice = 200
const entriesSlice = 256
const sumSlice = 4_000

/** Rows that one statement inserts, which takes 1.0 µs a row, and 1.7 with a statement for each. */
const rowsAtOnce = 16
const columnCount = 5

const columns = 'at, id, row'

export class SqliteLogs implements Logs {
  readonly #db: Database
  readonly #gateway: Statement
  readonly #orphan: Statement
  readonly #count: Statement
  readonly #addCount: Command
  readonly #removeCount: Command
  readonly #last: Statement
  readonly #keyAt: Statement
  readonly #keysOf: Statement
  readonly #find: Statement
  readonly #rewrite: Command
  readonly #insert: Command
  readonly #insertSome: Command
  readonly #oldest: Statement
  readonly #extent: Statement
  readonly #removeUntil: Command
  readonly #removeEntries: Command
  readonly #bodies: LogBodies
  readonly #addToWindow: Command
  readonly #removeWindow: Command
  readonly #windows: Statement
  readonly #keepSum: Command
  readonly #keptSum: Statement

  constructor(db: Database) {
    this.#db = db
    this.#gateway = db.prepare('SELECT key, created_at FROM gateways WHERE account = ? AND id = ?')
    this.#orphan = db.prepare(
      'SELECT gateway FROM log_counts WHERE gateway NOT IN (SELECT key FROM gateways) LIMIT 1',
    )
    this.#count = db.prepare('SELECT count FROM log_counts WHERE gateway = ?')
    this.#addCount = db.command(
      `INSERT INTO log_counts (gateway, count) VALUES (?, ?)
       ON CONFLICT DO UPDATE SET count = count + excluded.count`,
    )
    this.#removeCount = db.command('DELETE FROM log_counts WHERE gateway = ?')
    this.#last = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'log_entries'")
    this.#keyAt = db.prepare('SELECT key FROM log_entries WHERE gateway = ? AND at = ? AND id = ?')
    this.#keysOf = db.prepare('SELECT key FROM log_entries WHERE gateway = ? ORDER BY +key')
    this.#find = db.prepare(
      'SELECT * FROM log_entries WHERE key = (SELECT key FROM log_entries WHERE gateway = ? AND id = ?)',
    )
    this.#rewrite = db.command('UPDATE log_entries SET row = ? WHERE key = ?')
    const insert = (count: number) => {
      const rows = Array<string>(count).fill('(?, ?, ?, ?, ?)').join(', ')
      // To undo a statement alone, SQLite would copy pages; a failure undoes the transaction anyway.
      return db.command(`INSERT OR FAIL INTO log_entries (key, gateway, at, id, row) VALUES ${rows}`)
    }
    this.#insert = insert(1)
    this.#insertSome = insert(rowsAtOnce)
    this.#oldest = db.prepare(
      'SELECT at, id FROM log_entries WHERE gateway = ? ORDER BY at, id LIMIT 1 OFFSET ?',
    )
    const until = 'FROM log_entries WHERE gateway = ? AND (at, id) <= (?, ?)'
    this.#extent = db.prepare(`SELECT min(key) AS first, max(key) AS end, min(at) AS since ${until}`)
    this.#removeUntil = db.command(`DELETE ${until}`)
    this.#removeEntries = db.command('DELETE FROM log_entries WHERE key BETWEEN ? AND ?')
    this.#bodies = new LogBodies(db)
    const ofWindow = 'gateway = ? AND width = ? AND since = ?'
    this.#addToWindow = db.command(
      `INSERT INTO log_windows (gateway, width, since, count, mark) VALUES (?, ?, ?, ?, random() >> 11)
       ON CONFLICT DO UPDATE SET count = count + excluded.count, mark = excluded.mark`,
    )
    this.#removeWindow = db.command(`DELETE FROM log_windows WHERE ${ofWindow} AND count = 0`)
    this.#windows = db.prepare(
      `SELECT since, count, mark FROM log_windows WHERE gateway = ? AND width = ? AND since >= ? AND since < ?`,
    )
    this.#keepSum = db.command(
      `INSERT OR REPLACE INTO log_sums (gateway, width, since, sums)
       SELECT gateway, width, since, ? FROM log_windows WHERE ${ofWindow} AND mark = ?`,
    )
    this.#keptSum = db.prepare(
      `SELECT sums FROM log_sums JOIN log_windows USING (gateway, width, since) WHERE ${ofWindow} AND mark = ?`,
    )
  }

  async append(account: string, gateway: string, batch: LogBatch, limit: LogLimit): Promise<number> {
    let { key, storedCount, isStored, excess } = await this.#db.write(() =>
      this.#append(account, gateway, batch, limit),
    )
    while (excess > 0) {
      const removed = await this.#db.write(() => this.#trim(key, excess, limit))
      excess -= removalSlice
      storedCount -= removed.filter(isStored).length
    }
    return storedCount
  }

  list(account: string, gateway: string, query: LogQuery): Promise<Listing<LogSummary>> {
    return this.#db.read(() => {
      const key = this.#keyOf(account, gateway)
      if (key === null) return { items: [], total: 0 }
      const { filters, orderBy, descending, offset, limit, after } = query
      const time = timeOf(filters)
      const matching = conditionOf(filters)
      const count = () =>
        filters.length === 0
          ? this.#countOf(key)
          : this.#number('count(*)', allOf(key, rangeOf(time, null, descending), matching))
      if (limit === 0) return { items: [], total: count() }
      const isByTime = orderBy === 'created_at'
      const rest = after && !isByTime ? [behind(after, orderBy, descending)] : []
      const range = rangeOf(time, isByTime ? after : null, descending)
      const rows = this.#select(columns, allOf(key, range, matching, ...rest), query)
      const items = rows.map(row => summaryIn(row, account, gateway))
      // A page that is not full says it all, and counting would search again.
      const isLast = !after && items.length > 0 && items.length < limit
      return { items, total: isLast ? offset + items.length : count() }
    })
  }

  scan(account: string, gateway: string, query: LogScanQuery): Promise<LogScan> {
    return this.#db.read(() => {
      const key = this.#keyOf(account, gateway)
      if (key === null) return { items: [], scanned: 0, next: null }
      const { filters, descending, limit, after, maxScanned } = query
      const time = timeOf(filters)
      const range = rangeOf(time, after, descending)
      const byTime = { orderBy: 'created_at', descending, offset: 0, limit: 1 } as const
      const [last] = this.#select('at, id', allOf(key, range), { ...byTime, offset: maxScanned - 1 })
      const looked = last ? upTo(range, momentOf(last), descending) : range
      const rows = this.#select(columns, allOf(key, looked, conditionOf(filters)), { ...byTime, limit })
      const items = rows.map(row => summaryIn(row, account, gateway))
      // What follows the last entry of a full page is for the next one.
      const end = items.length === limit ? placeOf(items.at(-1)!, 'created_at') : last && momentOf(last)
      if (end === undefined)
        return { items, scanned: this.#number('count(*)', allOf(key, range)), next: null }
      const isOver = this.#select('1', allOf(key, rangeOf(time, end, descending)), byTime).length === 0
      const scanned = this.#number('count(*)', allOf(key, upTo(range, end, descending)))
      return { items, scanned, next: isOver ? null : end }
    })
  }

  get(account: string, gateway: string, id: string): Promise<LogEntry | null> {
    return this.#db.read(() => {
      const key = this.#keyOf(account, gateway)
      if (key === null) return null
      const row = this.#find.get(key, id)
      return row ? this.#entries([row], account, gateway)[0]! : null
    })
  }

  edit(account: string, gateway: string, id: string, edit: LogEdit): Promise<LogSummary | null> {
    return this.#db.write(() => {
      const key = this.#keyOf(account, gateway)
      const row = key === null ? undefined : this.#find.get(key, id)
      if (row === undefined) return null
      const summary = edited(summaryIn(row, account, gateway), edit)
      this.#rewrite(rowOf(summary), row.key as number)
      return summary
    })
  }

  remove(account: string, gateway: string, query: LogQuery): Promise<number> {
    return this.#db.write(() => {
      const key = this.#keyOf(account, gateway)
      if (key === null) return 0
      const range = rangeOf(timeOf(query.filters), null, query.descending)
      const removed = this.#remove(key, allOf(key, range, conditionOf(query.filters)), query)
      this.#bodies.erase(rangesOf(removed))
      return removed.length
    })
  }

  count(account: string, gateway: string): Promise<number> {
    return this.#db.read(() => {
      const key = this.#keyOf(account, gateway)
      return key === null ? 0 : this.#countOf(key)
    })
  }

  async sum(account: string, gateway: string, query: LogSumQuery): Promise<LogSums> {
    const { time, filters, maxScanned } = query
    const sums = new WindowSums(query)
    let [scanned, completeSince] = [0, time.since]
    const key = await this.#db.read(() => this.#keyOf(account, gateway))
    if (key === null) return { windows: sums.windows, scanned, completeSince }
    if (maxScanned !== undefined)
      await this.#db.read(() => {
        const newest = { orderBy: 'created_at', descending: true, offset: maxScanned - 1, limit: 1 } as const
        const [last] = this.#select('at', allOf(key, rangeOf(time, null, true)), newest)
        if (last) completeSince = last.at as number
        const looked = { since: completeSince, before: time.before }
        scanned = this.#number('count(*)', allOf(key, rangeOf(looked, null, false)))
      })
    const matching = conditionOf(filters)
    const oldest = { orderBy: 'created_at', descending: false, offset: 0, limit: sumSlice } as const
    for (let after: Moment = { createdAt: completeSince, id: '' }; ; ) {
      const rows = await this.#db.read(() =>
        this.#select(columns, allOf(key, rangeOf(time, after, false), matching), oldest),
      )
      for (const row of rows) sums.add(summaryIn(row, account, gateway))
      if (rows.length < sumSlice) return { windows: sums.windows, scanned, completeSince }
      after = momentOf(rows.at(-1)!)
      await nextTurn()
    }
  }

  marks(account: string, gateway: string, { since, width, count }: LogWindows): Promise<readonly LogMark[]> {
    return this.#db.read(() => {
      const key = this.#keyOf(account, gateway)
      const windows: LogMark[] = Array.from({ length: count }, () => ({ mark: '', maxEntries: 0 }))
      if (key !== null)
        for (const row of this.#windows.iterate(key, width, since, since + count * width)) {
          const at = ((row.since as number) - since) / width
          windows[at] = { mark: String(row.mark), maxEntries: row.count as number }
        }
      return windows
    })
  }

  keepSum(
    account: string,
    gateway: string,
    { since, width, mark }: MarkedWindow,
    sums: string,
  ): Promise<void> {
    return this.#db.write(() => {
      const key = this.#keyOf(account, gateway)
      if (key !== null) this.#keepSum(sums, key, width, since, Number(mark))
    })
  }

  keptSums(
    account: string,
    gateway: string,
    windows: readonly MarkedWindow[],
  ): Promise<readonly (string | null)[]> {
    return this.#db.read(() => {
      const key = this.#keyOf(account, gateway)
      return windows.map(({ since, width, mark }) => {
        const row = key === null ? undefined : this.#keptSum.get(key, width, since, Number(mark))
        return row === undefined ? null : String(row.sums)
      })
    })
  }

  tail(account: string, gateway: string, after: string | null, limit: number): Promise<LogTail> {
    return this.#db.read(() => {
      const key = this.#keyOf(account, gateway)
      if (key === null) return { items: [], end: '0' }
      const newest = this.#lastKey()
      // The keys of another store are higher, or have ids.
      const isKnown = after !== null && /^\d+$/.test(after) && Number(after) <= newest
      const rows = isKnown
        ? this.#some('key > ? AND +gateway = ? ORDER BY key LIMIT ?', Number(after), key, limit)
        : this.#newest(key, limit)
      const end = isKnown && rows.length === limit ? (rows.at(-1)!.key as number) : newest
      return { items: rows.map(row => summaryIn(row, account, gateway)), end: String(end) }
    })
  }

  async *entries(account: string, gateway: string): AsyncGenerator<readonly LogEntry[]> {
    const key = await this.#db.read(() => this.#keyOf(account, gateway))
    if (key === null) return
    // By the index of times, which has all keys of a gateway, while the table has those of all gateways.
    const keys = await this.#db.read(() => Array.from(this.#keysOf.iterate(key), row => row.key as number))
    for (let i = 0; i < keys.length; i += entriesSlice) {
      const slice = JSON.stringify(keys.slice(i, i + entriesSlice))
      yield await this.#db.read(() => {
        const rows = this.#some('key IN (SELECT value FROM json_each(?)) ORDER BY key', slice)
        return this.#entries(rows, account, gateway)
      })
    }
  }

  /** Removes the entries of removed gateways, in slices; the rest waits while the file cannot be written. */
  async sweep(): Promise<void> {
    try {
      for (;;) {
        const gone = await this.#db.read(() => this.#orphan.get()?.gateway as number | undefined)
        if (gone === undefined) return
        const byTime = { orderBy: 'created_at', descending: false, limit: sweepSlice } as const
        await this.#db.write(() => {
          if (this.#remove(gone, allOf(gone), byTime).length === 0) this.#removeCount(gone)
        })
        await sleep(5)
      }
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) throw error
    }
  }

  #append(account: string, gateway: string, batch: LogBatch, limit: LogLimit) {
    const { maxEntries, strategy, madeAt } = limit
    const { times, ids, rows, isRepeated } = batch
    const key = this.#keyOf(account, gateway, madeAt)
    const before = this.#lastKey()
    let last = before
    const repeated = new Set<number>()
    const isStored = (key: number) => (key > before && key <= last) || repeated.has(key)
    if (key === null) return { key: 0, storedCount: 0, isStored, excess: 0 }
    const isFull = strategy === 'STOP_INSERTING' && this.#countOf(key) > maxEntries
    const isNew = (at: number) => {
      const entry = isRepeated ? this.#keyAt.get(key, times[at]!, ids[at]!) : undefined
      if (entry !== undefined) repeated.add(entry.key as number)
      return entry === undefined && !isFull
    }
    const some = isFull || isRepeated ? times.map((_, at) => isNew(at)) : null
    const added = some === null ? times : times.filter((_, at) => some[at])
    const values: SQLInputValue[] = []
    for (let at = 0; at < times.length; at++)
      if (some === null || some[at]) values.push(++last, key, times[at]!, ids[at]!, rows[at]!)
    this.#insertRows(values)
    const bodies = some === null ? batch : joinedBodies(bodiesOf(batch).filter((_, at) => some[at]))
    this.#bodies.insert(before + 1, bodies)
    this.#tally(key, added, 1)
    const storedCount = added.length + repeated.size
    const excess = isFull ? 0 : this.#countOf(key) - maxEntries
    if (excess <= 0) return { key, storedCount, isStored, excess: 0 }
    const isSimple = strategy === 'DELETE_OLDEST' && !isRepeated && excess <= removalSlice
    if (isSimple && this.#trimMinute(key, excess, before)) return { key, storedCount, isStored, excess: 0 }
    const removed = this.#trim(key, excess, limit)
    return {
      key,
      storedCount: storedCount - removed.filter(isStored).length,
      isStored,
      excess: excess - removalSlice,
    }
  }

  /** Takes the columns of all rows in turns. */
  #insertRows(values: readonly SQLInputValue[]): void {
    const rest = values.length % (rowsAtOnce * columnCount)
    for (let at = 0; at < values.length - rest; at += rowsAtOnce * columnCount)
      this.#insertSome(...values.slice(at, at + rowsAtOnce * columnCount))
    for (let at = values.length - rest; at < values.length; at += columnCount)
      this.#insert(...values.slice(at, at + columnCount))
  }

  #trim(key: number, excess: number, { strategy }: LogLimit): number[] {
    const descending = strategy === 'STOP_INSERTING'
    const query = { orderBy: 'created_at', descending, limit: Math.min(excess, removalSlice) } as const
    return this.#remove(key, allOf(key), query)
  }

  /** Removes the oldest entries if they are of one minute, with keys up to `last`; else returns false. */
  #trimMinute(gateway: number, count: number, last: number): boolean {
    const { at, id } = this.#oldest.get(gateway, count - 1)!
    const { first, end, since } = this.#extent.get(gateway, at!, id!) as Record<string, number>
    if (end! > last || startOf(since!, minute) !== startOf(at as number, minute)) return false
    this.#removeUntil(gateway, at!, id!)
    this.#bodies.removeUnused([first!, end!])
    this.#addCount(gateway, -count)
    for (const width of logWidths) this.#addToWindows(gateway, width, startOf(since!, width), -count)
    return true
  }

  /** Removes entries; returns their keys. */
  #remove(
    gateway: number,
    condition: Condition,
    query: Pick<LogQuery, 'orderBy' | 'descending' | 'limit'>,
  ): number[] {
    const rows = this.#select('key, at', condition, { ...query, offset: 0 })
    const keys = rows.map(({ key }) => key as number)
    for (const range of rangesOf(keys)) {
      this.#removeEntries(...range)
      this.#bodies.removeUnused(range)
    }
    const times = rows.map(({ at }) => at as number)
    this.#tally(gateway, times, -1)
    return keys
  }

  /** Counts entries that come or go, in all and in their windows. */
  #tally(key: number, times: readonly number[], sign: 1 | -1): void {
    if (times.length === 0) return
    this.#addCount(key, sign * times.length)
    for (const width of logWidths)
      for (const [since, count] of windowsOf(times, width))
        this.#addToWindows(key, width, since, sign * count)
  }

  #addToWindows(key: number, width: number, since: number, count: number): void {
    this.#addToWindow(key, width, since, count)
    if (count < 0) this.#removeWindow(key, width, since)
  }

  #select(
    columns: string,
    { sql, values }: Condition,
    { orderBy, descending, offset, limit }: Omit<LogQuery, 'filters' | 'after'>,
  ): Row[] {
    const order = orderOf(orderBy, descending)
    return this.#db
      .prepare(`SELECT ${columns} FROM log_entries WHERE ${sql} ORDER BY ${order} LIMIT ? OFFSET ?`)
      .all(...values, limit, offset)
  }

  #lastKey(): number {
    return (this.#last.get()?.seq as number | undefined) ?? 0
  }

  /** Returns the entries that were stored last, in that order. */
  #newest(gateway: number, limit: number): Row[] {
    const where = 'key IN (SELECT key FROM log_entries WHERE gateway = ? ORDER BY +key DESC LIMIT ?)'
    return this.#some(`${where} ORDER BY key`, gateway, limit)
  }

  /** Returns entries with their bodies, whose keys ascend. */
  #entries(rows: readonly Row[], account: string, gateway: string): LogEntry[] {
    const bodies = this.#bodies.of(rows.map(({ key }) => key as number))
    return Array.from(bodies, (own, i) => ({ ...summaryIn(rows[i]!, account, gateway), ...own }))
  }

  #some(where: string, ...values: SQLInputValue[]): Row[] {
    return this.#db.prepare(`SELECT * FROM log_entries WHERE ${where}`).all(...values)
  }

  #number(value: string, { sql, values }: Condition): number {
    return Number(
      this.#db.prepare(`SELECT ${value} AS number FROM log_entries WHERE ${sql}`).get(...values)!.number,
    )
  }

  #countOf(key: number): number {
    return (this.#count.get(key)?.count as number | undefined) ?? 0
  }

  /** Returns the key of a gateway; null if none has that name, or it was created at another time. */
  #keyOf(account: string, id: string, createdAt?: number): number | null {
    const row = this.#gateway.get(account, id)
    const isOther = createdAt !== undefined && row?.created_at !== createdAt
    return row === undefined || isOther ? null : (row.key as number)
  }
}

/** Returns the condition of entries of a gateway that are in a range and match all conditions. */
function allOf(key: number, range?: TimeRange, ...conditions: readonly Condition[]): Condition {
  const ofGateway = { sql: 'gateway = ?', values: [key] }
  const all = range ? [ofGateway, range.lower, range.upper, ...conditions] : [ofGateway, ...conditions]
  return { sql: all.map(({ sql }) => sql).join(' AND '), values: all.flatMap(({ values }) => values) }
}

function momentOf({ at, id }: Row) {
  return { value: at as number, createdAt: at as number, id: id as string }
}

function summaryIn(row: Row, account: string, gateway: string): LogSummary {
  return summaryOf(row.row as string, { account, gateway, createdAt: row.at as number, id: row.id as string })
}

/** Returns the ranges, first and last, that numbers fill without a gap. */
function rangesOf(numbers: readonly number[]): readonly KeyRange[] {
  const ranges: [number, number][] = []
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const range = ranges.at(-1)
    if (range !== undefined && range[1] === number - 1) range[1] = number
    else ranges.push([number, number])
  }
  return ranges
}

const [minute] = logWidths

function startOf(time: number, width: number): number {
  return Math.floor(time / width) * width
}

/** Counts times by window; those of a batch usually share one. */
function windowsOf(times: readonly number[], width: number): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  let [since, count] = [startOf(times[0]!, width), 0]
  for (const time of times) {
    if (time < since || time >= since + width) {
      counts.set(since, (counts.get(since) ?? 0) + count)
      since = startOf(time, width)
      count = 0
    }
    count++
  }
  return counts.set(since, (counts.get(since) ?? 0) + count)
}
