// Records owned by an account, each as JSON in a row of the table of its kind.

import { nextTurn } from '../../base/turns/turns.ts'
import type { Listing, Page, RecordKind, Records, Together, Versioned, WalkStart } from '../contract/store.ts'
import type { Command, Database, Row, Statement } from './database/database.ts'
import { fromRow, OrderedRows, stretchOf } from './database/ordered-rows.ts'
import { type Ledgers, writeTogether } from './companion-writes.ts'

/** From this length in characters, reading and parsing a record are two steps. */
const longRecord = 256 * 1024

interface Kind<T> {
  /** The table has the same name in the plural. */
  readonly name: RecordKind
  /** The record's `createdAt` by default. */
  readonly createdAt?: (record: T) => number
  /** Called after a record was inserted or replaced, within the transaction. */
  readonly wrote?: (record: T) => void
  /** Called with each replacement and removal, within the transaction; an exception undoes it. */
  readonly guard?: (account: string, write: () => boolean) => boolean
}

export class SqliteRecords<T extends { readonly account: string; readonly id: string }>
  implements Records<T>
{
  protected readonly db: Database
  readonly #kind: Kind<T>
  readonly #ledgers: Ledgers
  readonly #get: Statement
  readonly #rows: OrderedRows
  readonly #insert: Command
  readonly #replace: Command
  readonly #remove: Command

  constructor(db: Database, ledgers: Ledgers, kind: Kind<T>) {
    const table = `${kind.name}s`
    this.db = db
    this.#kind = kind
    this.#ledgers = ledgers
    this.#get = db.prepare(`SELECT version, record FROM ${table} WHERE account = ? AND id = ?`)
    this.#rows = new OrderedRows(db, table, 'created_at')
    this.#insert = db.command(
      `INSERT INTO ${table} (account, id, created_at, version, record) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
    )
    this.#replace = db.command(
      `UPDATE OR IGNORE ${table} SET version = ?, record = ? WHERE account = ? AND id = ? AND version = ?`,
    )
    this.#remove = db.command(
      `DELETE FROM ${table} WHERE account = ? AND id = ? AND version = coalesce(?, version)`,
    )
  }

  async get(account: string, id: string): Promise<Versioned<T> | null> {
    const row = await this.db.read(() => this.#get.get(account, id))
    if (row === undefined) return null
    if (String(row.record).length > longRecord) await nextTurn()
    return versionedOf<T>(row)
  }

  list(account: string, page: Page): Promise<Listing<T>> {
    return pageOf(this.#rows, account, page)
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
    const replace = () => {
      const isDone = this.#noted(account, id, next =>
        this.#replace(next, JSON.stringify(record), account, id, version),
      )
      if (isDone) this.#kind.wrote?.(record)
      return isDone
    }
    return this.#write(() => this.#guarded(account, replace), together)
  }

  remove(account: string, id: string, together?: Together, version?: number): Promise<boolean> {
    const remove = () => this.removeWithin(account, id, version)
    return this.#write(() => this.#guarded(account, remove), together)
  }

  insertWithin(record: T): boolean {
    const { account, id } = record
    const createdAt = this.#kind.createdAt?.(record) ?? (record as { createdAt?: number }).createdAt!
    const isDone = this.#noted(account, id, version =>
      this.#insert(account, id, createdAt, version, JSON.stringify(record)),
    )
    if (isDone) this.#kind.wrote?.(record)
    return isDone
  }

  removeWithin(account: string, id: string, version?: number): boolean {
    return this.#noted(account, id, () => this.#remove(account, id, version ?? null))
  }

  #write(work: () => boolean, together?: Together): Promise<boolean> {
    return writeTogether(this.db, this.#ledgers, work, together)
  }

  #guarded(account: string, write: () => boolean): boolean {
    return this.#kind.guard?.(account, write) ?? write()
  }

  #noted(account: string, id: string, write: (version: number) => number): boolean {
    const { changes } = this.#ledgers
    const version = changes.nextVersion()
    const isDone = write(version) === 1
    if (isDone) changes.note(version, this.#kind.name, account, id)
    return isDone
  }
}

/**
 * Reads a page of an owner's rows; `count` returns their total, if it is known without reading all of them.
 */
export async function pageOf<T>(
  rows: OrderedRows,
  owner: string,
  { offset, limit, after = null }: Page,
  count = () => rows.count(stretchOf(owner)),
): Promise<Listing<T>> {
  const total = await count()
  const stretch = stretchOf(owner, after)
  const from = await rows.skip(stretch, offset)
  const items: T[] = []
  if (from !== null)
    for await (const some of rows.read({ ...stretch, from }, limit))
      for (const row of some) items.push(fromRow(row))
  return { items, total }
}

export function findRecord<T>(statement: Statement, ...values: string[]): Versioned<T> | null {
  const row = statement.get(...values)
  return row ? versionedOf<T>(row) : null
}

export function versionedOf<T>(row: Row): Versioned<T> {
  return { record: fromRow<T>(row), version: Number(row.version) }
}
