// Records that an account owns, each as JSON in a row of the table of its kind.

import type { Listing, Page, RecordKind, Records, Together, Versioned, WalkStart } from '../store.ts'
import type { SqliteAnswers } from './answers.ts'
import type { SqliteAudit } from './audit.ts'
import type { SqliteChanges } from './changes.ts'
import type { Command, Database, Row, Statement } from './database/database.ts'
import { fromRow, OrderedRows, stretchOf } from './database/ordered-rows.ts'

/** What a kind of records is: its table, and when one was created. */
interface Kind<T> {
  readonly name: RecordKind
  readonly table: string
  readonly createdAt: (record: T) => number
  /** Called after a record was inserted or replaced, in the transaction of it. */
  readonly wrote?: (record: T) => void
}

/** What is written with records, in their transactions. */
export interface Ledgers {
  readonly changes: SqliteChanges
  readonly answers: SqliteAnswers
  readonly audit: SqliteAudit
}

export class SqliteRecords<T extends { readonly account: string; readonly id: string }>
  implements Records<T>
{
  readonly #db: Database
  readonly #kind: Kind<T>
  readonly #ledgers: Ledgers
  readonly #get: Statement
  readonly #rows: OrderedRows
  readonly #insert: Command
  readonly #replace: Command
  readonly #remove: Command

  constructor(db: Database, ledgers: Ledgers, kind: Kind<T>) {
    const { table } = kind
    this.#db = db
    this.#kind = kind
    this.#ledgers = ledgers
    this.#get = db.prepare(`SELECT version, record FROM ${table} WHERE account = ? AND id = ?`)
    this.#rows = new OrderedRows(db, table, 'created_at')
    this.#insert = db.command(
      `INSERT INTO ${table} (account, id, created_at, version, record) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (account, id) DO NOTHING`,
    )
    this.#replace = db.command(
      `UPDATE ${table} SET version = ?, record = ? WHERE account = ? AND id = ? AND version = ?`,
    )
    this.#remove = db.command(
      `DELETE FROM ${table} WHERE account = ? AND id = ? AND version = coalesce(?, version)`,
    )
  }

  get(account: string, id: string): Promise<Versioned<T> | null> {
    return this.#db.read(() => {
      const row = this.#get.get(account, id)
      return row ? versionedOf<T>(row) : null
    })
  }

  async list(account: string, { offset, limit, after = null }: Page): Promise<Listing<T>> {
    const total = await this.#rows.count(stretchOf(account))
    const stretch = stretchOf(account, after)
    const from = await this.#rows.skip(stretch, offset)
    const items: T[] = []
    if (from !== null)
      for await (const rows of this.#rows.read({ ...stretch, from }, limit))
        for (const row of rows) items.push(fromRow(row))
    return { items, total }
  }

  async *walk(account: string, { after = null, descending = false }: WalkStart = {}) {
    for await (const rows of this.#rows.read(stretchOf(account, after, descending)))
      yield rows.map(fromRow<T>)
  }

  insert(record: T, together?: Together): Promise<boolean> {
    return this.#write(() => this.insertWithin(record), together)
  }

  replace(record: T, version: number, together?: Together): Promise<boolean> {
    const { account, id } = record
    return this.#write(() => {
      const isDone = this.#noted(account, id, next =>
        this.#replace(next, JSON.stringify(record), account, id, version),
      )
      if (isDone) this.#kind.wrote?.(record)
      return isDone
    }, together)
  }

  remove(account: string, id: string, together?: Together, version?: number): Promise<boolean> {
    return this.#write(
      () => this.#noted(account, id, () => this.#remove(account, id, version ?? null)),
      together,
    )
  }

  /** Inserts inside of a transaction that the caller has begun. */
  insertWithin(record: T): boolean {
    const { account, id } = record
    const createdAt = this.#kind.createdAt(record)
    const isDone = this.#noted(account, id, version =>
      this.#insert(account, id, createdAt, version, JSON.stringify(record)),
    )
    if (isDone) this.#kind.wrote?.(record)
    return isDone
  }

  async #write(work: () => boolean, { audit, answer }: Together = {}): Promise<boolean> {
    const { changes, answers, audit: log } = this.#ledgers
    const isDone = await this.#db.write(() => {
      answers.sweepWithin()
      if (answer && answers.hasWithin(answer)) return false
      if (!work()) return false
      if (answer) answers.insertWithin(answer)
      if (audit) log.appendWithin(audit)
      return true
    })
    if (isDone) await changes.tell()
    return isDone
  }

  #noted(account: string, id: string, write: (version: number) => number): boolean {
    const { changes } = this.#ledgers
    const version = changes.nextVersion()
    const isDone = write(version) === 1
    if (isDone) changes.note(version, this.#kind.name, account, id)
    return isDone
  }
}

/** Reads the record of a row, and its version. */
export function versionedOf<T>(row: Row): Versioned<T> {
  return { record: fromRow<T>(row), version: Number(row.version) }
}
