// The tables of log entries, entry by entry and all within a transaction of the caller; entries are named by their gateway's key and their number in it.
import type { LogEntry } from '../records.ts'
import type { Command, Database, Row, Statement } from './database.ts'
import { summaryColumns, summaryValues } from './log-rows.ts'

/** How many entries a gateway has, and the number of the next. */
export interface Book {
  readonly next: number
  readonly count: number
}

const ofGateway = 'key >= ?1 << 40 AND key < (?1 + 1) << 40'
const below = 'key >= ?1 << 40 AND key < (?1 << 40 | ?2)'
const columns = summaryColumns.join(', ')
const whole = `SELECT key - (?1 << 40) AS number, ${columns}, request, request_is_cut, response, response_is_cut
  FROM logs LEFT JOIN log_payloads USING (key)`

export class LogTables {
  readonly #gatewayKey: Statement
  readonly #readBook: Statement
  readonly #writeBook: Command
  readonly #closeBook: Command
  readonly #orphan: Statement
  readonly #insertSummary: Command
  readonly #insertPayload: Command
  readonly #insertIds: Command
  readonly #find: Statement
  readonly #summary: Statement
  readonly #entry: Statement
  readonly #entriesFrom: Statement
  readonly #numberAfter: Statement
  readonly #removeSummary: Command
  readonly #removePayload: Command
  readonly #removalsBelow: readonly Command[]

  constructor(db: Database) {
    this.#gatewayKey = db.prepare('SELECT key FROM gateways WHERE account = ? AND id = ?')
    this.#readBook = db.prepare('SELECT next, count FROM log_books WHERE gateway = ?')
    this.#writeBook = db.command('INSERT OR REPLACE INTO log_books (gateway, next, count) VALUES (?, ?, ?)')
    this.#closeBook = db.command('DELETE FROM log_books WHERE gateway = ?')
    this.#orphan = db.prepare(
      'SELECT gateway FROM log_books WHERE gateway NOT IN (SELECT key FROM gateways) LIMIT 1',
    )
    this.#insertSummary = db.command(
      `INSERT INTO logs (key, ${columns})
       VALUES (? << 40 | ?${', ?'.repeat(summaryColumns.length)})`,
    )
    this.#insertPayload = db.command('INSERT INTO log_payloads VALUES (? << 40 | ?, ?, ?, ?, ?)')
    this.#insertIds = db.command('INSERT INTO log_ids VALUES (? << 40 | ?, ?)')
    this.#find = db.prepare(
      `SELECT key - (?1 << 40) + (instr(ids, ' ' || ?2) - 1) / 17 AS number FROM log_ids
       WHERE ${ofGateway} AND instr(ids, ' ' || ?2) ORDER BY key DESC`,
    )
    this.#summary = db.prepare(`SELECT ${columns} FROM logs WHERE key = ? << 40 | ?`)
    this.#entry = db.prepare(`${whole} WHERE key = (?1 << 40 | ?2) AND id = ?3`)
    this.#entriesFrom = db.prepare(
      `${whole} WHERE key >= (?1 << 40 | ?2) AND key < (?1 + 1) << 40 ORDER BY key LIMIT ?3`,
    )
    this.#numberAfter = db.prepare(
      `SELECT key - (?1 << 40) AS number FROM logs WHERE ${ofGateway} ORDER BY key LIMIT 1 OFFSET ?2`,
    )
    this.#removeSummary = db.command('DELETE FROM logs WHERE key = ? << 40 | ?')
    this.#removePayload = db.command('DELETE FROM log_payloads WHERE key = ? << 40 | ?')
    this.#removalsBelow = [
      db.command(`DELETE FROM logs WHERE ${below}`),
      db.command(`DELETE FROM log_payloads WHERE ${below}`),
      db.command(`DELETE FROM log_ids WHERE ${below} AND key + length(ids) / 17 <= (?1 << 40 | ?2)`),
    ]
  }

  gatewayKey(account: string, id: string): number | null {
    return (this.#gatewayKey.get(account, id)?.key as number | undefined) ?? null
  }

  book(gateway: number): Book {
    return (this.#readBook.get(gateway) as unknown as Book | undefined) ?? { next: 0, count: 0 }
  }

  /** Writes entries behind those that there are, and their number in the book. */
  append(gateway: number, entries: readonly LogEntry[]): void {
    if (entries.length === 0) return
    const { next, count } = this.book(gateway)
    let ids = ''
    for (const [i, entry] of entries.entries()) {
      this.#insertSummary(...summaryValues(gateway, next + i, entry))
      this.#appendPayload(gateway, next + i, entry)
      ids += ` ${entry.id}`
    }
    this.#insertIds(gateway, next, ids)
    this.#writeBook(gateway, next + entries.length, count + entries.length)
  }

  find(gateway: number, id: string): Row | undefined {
    for (const { number } of this.#find.all(gateway, id)) {
      const row = this.#entry.get(gateway, number as number, id)
      if (row) return row
    }
    return undefined
  }

  summary(gateway: number, number: number): Row | undefined {
    return this.#summary.get(gateway, number)
  }

  /** Reads whole entries from a number on; the row's `number` is the entry's. */
  entriesFrom(gateway: number, number: number, most: number): Row[] {
    return this.#entriesFrom.all(gateway, number, most)
  }

  /** Removes entries by their numbers; gives how many there were. */
  remove(gateway: number, numbers: readonly number[]): number {
    let removed = 0
    for (const number of numbers) {
      removed += this.#removeSummary(gateway, number)
      this.#removePayload(gateway, number)
    }
    this.#removeFromBook(gateway, removed)
    this.#removeBelow(gateway, this.#numberOf(gateway, 0))
    return removed
  }

  /** Removes the entries that came first; gives how many there were. */
  removeOldest(gateway: number, most: number): number {
    if (most <= 0) return 0
    const removed = this.#removeBelow(gateway, this.#numberOf(gateway, most))
    this.#removeFromBook(gateway, removed)
    return removed
  }

  /** Gives the key of a gateway that is gone while its entries, or its book, are there; null when there is none. */
  orphan(): number | null {
    return (this.#orphan.get()?.gateway as number | undefined) ?? null
  }

  /** Removes entries of a gateway that is gone, and its book after the last. */
  removeOrphans(gateway: number, most: number): void {
    if (this.removeOldest(gateway, most) === 0) this.#closeBook(gateway)
  }

  #appendPayload(gateway: number, number: number, { request, response }: LogEntry): void {
    if (!request && !response) return
    this.#insertPayload(
      gateway,
      number,
      request?.text ?? null,
      request?.isCut ? 1 : 0,
      response?.text ?? null,
      response?.isCut ? 1 : 0,
    )
  }

  #removeFromBook(gateway: number, removed: number): void {
    const { next, count } = this.book(gateway)
    if (removed > 0) this.#writeBook(gateway, next, count - removed)
  }

  /** Gives the number of the entry behind that many others; the next number when there is none. */
  #numberOf(gateway: number, others: number): number {
    return (this.#numberAfter.get(gateway, others)?.number as number | undefined) ?? this.book(gateway).next
  }

  #removeBelow(gateway: number, number: number): number {
    const [removed] = this.#removalsBelow.map(removal => removal(gateway, number))
    return removed!
  }
}
