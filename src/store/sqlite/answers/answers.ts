// Sealed answers in a file of their own, in parts, so that no statement takes long and no other file waits
// for them. The sizes of gateways, accounts and all are kept along with them.

import type { Clock } from '../../../base/clock.ts'
import { nextTurn } from '../../../base/turns/turns.ts'
import type { Answers } from '../../contract/answers.ts'
import {
  type AnswerBound,
  type AnswerBounds,
  type AnswerPlace,
  partCount,
  partsOf,
} from '../../answers/answer.ts'
import { type Command, Database, type Row, type Statement } from '../database/database.ts'

/** Answers that one transaction removes, and parts of them, so that none takes long. */
const removeStep = 50
const wasteStep = 8
/** Parts of an answer that have keys. */
const maxParts = 64
/** Ms within which an answer must be complete once its first part is written. */
const writeTime = 60_000

/*
 * A part has the key of its answer times `maxParts`. Answers that were removed are waste until their parts
 * are. The sums of an account have no gateway, and those of all no account.
 */
const tables = `
  PRAGMA wal_autocheckpoint = 1000;
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS answers (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    gateway TEXT NOT NULL,
    name TEXT NOT NULL,
    size INTEGER NOT NULL,
    expires_at REAL NOT NULL,
    is_whole INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS answers_by_name ON answers (account, gateway, name) WHERE is_whole = 1;
  CREATE INDEX IF NOT EXISTS answers_of_gateway ON answers (account, gateway) WHERE is_whole = 1;
  CREATE INDEX IF NOT EXISTS answers_of_account ON answers (account) WHERE is_whole = 1;
  CREATE INDEX IF NOT EXISTS answers_by_end ON answers (expires_at);
  CREATE TABLE IF NOT EXISTS answer_parts (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS answer_waste (answer INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE IF NOT EXISTS answer_sums (
    account TEXT NOT NULL,
    gateway TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    PRIMARY KEY (account, gateway)
  ) STRICT, WITHOUT ROWID;`

/** Whether a gateway exists; used to find the answers of those that do not. */
export type HasGateway = (account: string, gateway: string) => Promise<boolean>

export class SqliteAnswers implements Answers {
  readonly #db: Database
  readonly #clock: Clock
  readonly #hasGateway: HasGateway
  readonly #get: Statement
  readonly #part: Statement
  readonly #begin: Statement
  readonly #putPart: Command
  readonly #rowOf: Statement
  readonly #finish: Statement
  readonly #remove: Command
  readonly #add: Command
  readonly #dropSum: Command
  readonly #sum: Statement
  readonly #gateways: Statement
  readonly #expired: Statement
  readonly #oldestOfGateway: Statement
  readonly #oldestOfAccount: Statement
  readonly #oldest: Statement
  readonly #throwAway: Command
  readonly #waste: Statement
  readonly #removeParts: Command
  readonly #removeWaste: Command
  #isCleaning = false

  static async open(
    path: string,
    timeout: number,
    clock: Clock,
    hasGateway: HasGateway,
  ): Promise<SqliteAnswers> {
    const db = await Database.open(path, { synchronous: 'NORMAL', timeout })
    try {
      await db.read(() => db.exec(tables))
      return new SqliteAnswers(db, clock, hasGateway)
    } catch (error) {
      db.close()
      throw error
    }
  }

  private constructor(db: Database, clock: Clock, hasGateway: HasGateway) {
    this.#db = db
    this.#clock = clock
    this.#hasGateway = hasGateway
    const whole = 'is_whole = 1'
    const place = `account = ? AND gateway = ? AND name = ? AND ${whole}`
    this.#get = db.prepare(`SELECT * FROM answers WHERE ${place}`)
    this.#part = db.prepare('SELECT bytes FROM answer_parts WHERE key = ?')
    this.#begin = db.prepare(
      `INSERT INTO answers (account, gateway, name, size, expires_at, is_whole) VALUES (?, ?, ?, ?, ?, 0)
       RETURNING key`,
    )
    this.#putPart = db.command('INSERT OR REPLACE INTO answer_parts (key, bytes) VALUES (?, ?)')
    this.#rowOf = db.prepare('SELECT * FROM answers WHERE key = ?')
    this.#finish = db.prepare('UPDATE answers SET expires_at = ?, is_whole = 1 WHERE key = ? RETURNING *')
    this.#remove = db.command('DELETE FROM answers WHERE key = ?')
    this.#add = db.command(
      `INSERT INTO answer_sums (account, gateway, bytes, entries) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes, entries = entries + excluded.entries`,
    )
    this.#dropSum = db.command('DELETE FROM answer_sums WHERE account = ? AND gateway = ? AND entries = 0')
    this.#sum = db.prepare('SELECT bytes, entries FROM answer_sums WHERE account = ? AND gateway = ?')
    this.#gateways = db.prepare(
      `SELECT account, gateway FROM answer_sums WHERE gateway <> '' AND (account, gateway) > (?, ?)
       ORDER BY account, gateway LIMIT 1`,
    )
    this.#expired = db.prepare(
      `SELECT * FROM answers WHERE expires_at <= ? ORDER BY expires_at LIMIT ${removeStep}`,
    )
    const oldest = `ORDER BY key LIMIT ${removeStep}`
    this.#oldestOfGateway = db.prepare(
      `SELECT * FROM answers WHERE account = ? AND gateway = ? AND ${whole} ${oldest}`,
    )
    this.#oldestOfAccount = db.prepare(`SELECT * FROM answers WHERE account = ? AND ${whole} ${oldest}`)
    this.#oldest = db.prepare(`SELECT * FROM answers WHERE +${whole} ${oldest}`)
    this.#throwAway = db.command('INSERT INTO answer_waste (answer) VALUES (?)')
    this.#waste = db.prepare('SELECT answer FROM answer_waste LIMIT 1')
    this.#removeParts = db.command(
      'DELETE FROM answer_parts WHERE key IN (SELECT key FROM answer_parts WHERE key BETWEEN ? AND ? LIMIT ?)',
    )
    this.#removeWaste = db.command('DELETE FROM answer_waste WHERE answer = ?')
  }

  async read({ account, gateway, key }: AnswerPlace): Promise<Uint8Array | null> {
    const row = await this.#db.glance(() => this.#get.get(account, gateway, key))
    if (row === undefined || Number(row.expires_at) <= this.#clock.now()) return null
    const size = Number(row.size)
    const count = partCount(size)
    if (count === 1) return this.#partOf(row, 0)
    const sealed = Buffer.allocUnsafeSlow(size)
    for (let [i, end] = [0, 0]; i < count; i++) {
      const bytes = await this.#partOf(row, i)
      // It was removed meanwhile.
      if (bytes === null) return null
      sealed.set(bytes, end)
      end += bytes.length
      await nextTurn()
    }
    return sealed
  }

  async write(
    place: AnswerPlace,
    sealed: Uint8Array,
    expiresAt: number,
    bounds: AnswerBounds,
  ): Promise<boolean> {
    const { answer, gateway, account } = bounds
    const parts = partsOf(sealed)
    const largest = Math.min(answer, gateway.bytes, account.bytes)
    if (sealed.length > largest || parts.length > maxParts) return false
    const isWhole =
      parts.length === 1
        ? await this.#writeOne(place, parts[0]!, expiresAt)
        : await this.#writeParts(place, sealed.length, parts, expiresAt)
    if (isWhole) await this.#trim(place, bounds)
    return isWhole
  }

  remove({ account, gateway, key }: AnswerPlace): Promise<boolean> {
    return this.#db.write(() => this.#removeWithin(this.#get.get(account, gateway, key)))
  }

  async eraseGateway(account: string, gateway: string): Promise<void> {
    await this.#removeAll(() => this.#oldestOfGateway.all(account, gateway))
  }

  async eraseAccount(account: string): Promise<void> {
    await this.#removeAll(() => this.#oldestOfAccount.all(account))
  }

  sum(account: string, gateway = ''): Promise<AnswerBound> {
    return this.#db.read(() => this.#sumOf(account, gateway))
  }

  total(): Promise<AnswerBound> {
    return this.#db.read(() => this.#sumOf('', ''))
  }

  async sweep(maxBytes: number): Promise<void> {
    await this.#removeAll(() => this.#expired.all(this.#clock.now()))
    for (let [account, gateway] = ['', '']; ; ) {
      const row = await this.#db.read(() => this.#gateways.get(account, gateway))
      if (row === undefined) break
      ;[account, gateway] = [String(row.account), String(row.gateway)]
      if (!(await this.#hasGateway(account, gateway))) await this.eraseGateway(account, gateway)
    }
    await this.#removeAll(() =>
      excessOf(this.#oldest.all(), this.#sumOf('', ''), { bytes: maxBytes, entries: Infinity }),
    )
    await this.#clean()
  }

  close(): void {
    this.#db.close()
  }

  #partOf(row: Row, part: number): Uint8Array | null | Promise<Uint8Array | null> {
    return this.#db.glance(
      () => (this.#part.get(Number(row.key) * maxParts + part)?.bytes as Uint8Array | undefined) ?? null,
    )
  }

  #writeOne(place: AnswerPlace, bytes: Uint8Array, expiresAt: number): Promise<boolean> {
    return this.#db.write(() => {
      const key = this.#beginWithin(place, bytes.length)
      this.#putPart(key * maxParts, bytes)
      return this.#finishWithin(key, expiresAt)
    })
  }

  async #writeParts(
    place: AnswerPlace,
    size: number,
    parts: readonly Uint8Array[],
    expiresAt: number,
  ): Promise<boolean> {
    const key = await this.#db.write(() => this.#beginWithin(place, size))
    for (const [i, bytes] of parts.entries()) {
      await this.#db.write(() => this.#putPart(key * maxParts + i, bytes))
      await nextTurn()
    }
    return this.#db.write(() => this.#finishWithin(key, expiresAt))
  }

  #beginWithin({ account, gateway, key }: AnswerPlace, size: number): number {
    const now = this.#clock.now()
    for (const row of this.#expired.all(now)) this.#removeWithin(row)
    return Number(this.#begin.get(account, gateway, key, size, now + writeTime)!.key)
  }

  /** False if it took too long, and was removed. */
  #finishWithin(key: number, expiresAt: number): boolean {
    const begun = this.#rowOf.get(key)
    if (begun === undefined) return false
    this.#removeWithin(this.#get.get(begun.account!, begun.gateway!, begun.name!))
    this.#addWithin(this.#finish.get(expiresAt, key)!, 1)
    return true
  }

  #removeWithin(row: Row | undefined): boolean {
    if (row === undefined || this.#remove(row.key!) === 0) return false
    if (row.is_whole === 1) this.#addWithin(row, -1)
    this.#throwAway(row.key!)
    if (!this.#isCleaning) setImmediate(() => this.#clean().catch(ignore))
    return true
  }

  #addWithin({ account, gateway, size }: Row, sign: 1 | -1): void {
    for (const [ofAccount, ofGateway] of [
      [account!, gateway!],
      [account!, ''],
      ['', ''],
    ] as const) {
      this.#add(ofAccount, ofGateway, sign * Number(size), sign)
      if (sign === -1) this.#dropSum(ofAccount, ofGateway)
    }
  }

  #sumOf(account: string, gateway: string): AnswerBound {
    const { bytes = 0, entries = 0 } = this.#sum.get(account, gateway) ?? {}
    return { bytes: Number(bytes), entries: Number(entries) }
  }

  async #trim({ account, gateway }: AnswerPlace, { all, ...bounds }: AnswerBounds): Promise<void> {
    const levels = [
      [account, gateway, bounds.gateway, () => this.#oldestOfGateway.all(account, gateway)],
      [account, '', bounds.account, () => this.#oldestOfAccount.all(account)],
      ['', '', all, () => this.#oldest.all()],
    ] as const
    for (const [ofAccount, ofGateway, bound, oldest] of levels) {
      const sum = () => this.#sumOf(ofAccount, ofGateway)
      const { bytes, entries } = await this.#db.glance(sum)
      if (bytes > bound.bytes || entries > bound.entries)
        await this.#removeAll(() => excessOf(oldest(), sum(), bound))
    }
  }

  /** Removes what `some` returns within each transaction, until that is nothing. */
  async #removeAll(some: () => readonly Row[]): Promise<void> {
    for (;;) {
      const removed = await this.#db.write(() => some().filter(row => this.#removeWithin(row)).length)
      if (removed === 0) return
      await nextTurn()
    }
  }

  /** Removes the parts of removed answers, in steps. */
  async #clean(): Promise<void> {
    if (this.#isCleaning) return
    this.#isCleaning = true
    try {
      while (await this.#db.write(() => this.#cleanWithin())) await nextTurn()
    } finally {
      this.#isCleaning = false
    }
  }

  /** Returns whether there may be more. */
  #cleanWithin(): boolean {
    for (let left = wasteStep; left > 0; ) {
      const answer = this.#waste.get()?.answer
      if (answer === undefined) return false
      const first = Number(answer) * maxParts
      const removed = this.#removeParts(first, first + maxParts - 1, left)
      if (removed < left) this.#removeWaste(answer)
      left -= Math.max(1, removed)
    }
    return true
  }
}

/** Returns the first rows whose removal brings a sum within a bound, as far as there are enough. */
function excessOf(rows: readonly Row[], { bytes, entries }: AnswerBound, bound: AnswerBound): readonly Row[] {
  let count = 0
  for (; count < rows.length && (bytes > bound.bytes || entries > bound.entries); count++) {
    bytes -= Number(rows[count]!.size)
    entries--
  }
  return rows.slice(0, count)
}

function ignore(): void {}
