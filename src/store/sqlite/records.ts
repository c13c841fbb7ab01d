// Records that an account owns, each as JSON in a row of the table of its kind.
import type { Listing, Page, Records, Versioned } from '../store.ts'
import type { SqliteChanges } from './changes.ts'
import type { Command, Database, Row, Statement } from './database.ts'

/** What a kind of records is: its table, and when one was created. */
export interface Kind<T> {
  readonly name: 'gateway' | 'token'
  readonly table: string
  readonly createdAt: (record: T) => number
}

export class SqliteRecords<T extends { readonly account: string; readonly id: string }>
  implements Records<T>
{
  readonly #db: Database
  readonly #kind: Kind<T>
  readonly #changes: SqliteChanges
  readonly #get: Statement
  readonly #list: Statement
  readonly #count: Statement
  readonly #insert: Command
  readonly #replace: Command
  readonly #remove: Command

  constructor(db: Database, changes: SqliteChanges, kind: Kind<T>) {
    const { table } = kind
    this.#db = db
    this.#kind = kind
    this.#changes = changes
    this.#get = db.prepare(`SELECT version, record FROM ${table} WHERE account = ? AND id = ?`)
    this.#list = db.prepare(
      `SELECT record FROM ${table} WHERE account = ? ORDER BY created_at, id LIMIT ? OFFSET ?`,
    )
    this.#count = db.prepare(`SELECT count(*) AS total FROM ${table} WHERE account = ?`)
    this.#insert = db.command(
      `INSERT INTO ${table} (account, id, created_at, version, record) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (account, id) DO NOTHING`,
    )
    this.#replace = db.command(
      `UPDATE ${table} SET version = ?, record = ? WHERE account = ? AND id = ? AND version = ?`,
    )
    this.#remove = db.command(`DELETE FROM ${table} WHERE account = ? AND id = ?`)
  }

  get(account: string, id: string): Promise<Versioned<T> | null> {
    return this.#db.read(() => {
      const row = this.#get.get(account, id)
      return row ? { record: fromRow<T>(row), version: Number(row.version) } : null
    })
  }

  list(account: string, { offset, limit }: Page): Promise<Listing<T>> {
    return this.#db.read(() => ({
      items: this.#list.all(account, limit, offset).map(fromRow<T>),
      total: Number(this.#count.get(account)!.total),
    }))
  }

  insert(record: T): Promise<boolean> {
    return this.#write(() => this.insertWithin(record))
  }

  replace(record: T, version: number): Promise<boolean> {
    const { account, id } = record
    return this.#write(() =>
      this.#noted(account, id, next => this.#replace(next, JSON.stringify(record), account, id, version)),
    )
  }

  remove(account: string, id: string): Promise<boolean> {
    return this.#write(() => this.#noted(account, id, () => this.#remove(account, id)))
  }

  /** Inserts inside of a transaction that the caller has begun. */
  insertWithin(record: T): boolean {
    const { account, id } = record
    const createdAt = this.#kind.createdAt(record)
    return this.#noted(account, id, version =>
      this.#insert(account, id, createdAt, version, JSON.stringify(record)),
    )
  }

  async #write(work: () => boolean): Promise<boolean> {
    const isDone = await this.#db.write(work)
    if (isDone) await this.#changes.tell()
    return isDone
  }

  #noted(account: string, id: string, write: (version: number) => number): boolean {
    const version = this.#changes.nextVersion()
    const isDone = write(version) === 1
    if (isDone) this.#changes.note(version, this.#kind.name, account, id)
    return isDone
  }
}

/** Reads the record of a row. */
export function fromRow<T>(row: Row): T {
  return JSON.parse(String(row.record))
}
