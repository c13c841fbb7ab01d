// Accounts, a row each.

import type { Account } from '../records.ts'
import type { Accounts } from '../store.ts'
import type { Command, Database, Row, Statement } from './database/database.ts'

export class SqliteAccounts implements Accounts {
  readonly #db: Database
  readonly #get: Statement
  readonly #list: Statement
  readonly #insert: Command

  constructor(db: Database) {
    this.#db = db
    this.#get = db.prepare('SELECT * FROM accounts WHERE id = ?')
    this.#list = db.prepare('SELECT * FROM accounts ORDER BY created_at, id')
    this.#insert = db.command(
      'INSERT INTO accounts (id, name, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    )
  }

  get(id: string): Promise<Account | null> {
    return this.#db.read(() => {
      const row = this.#get.get(id)
      return row ? fromRow(row) : null
    })
  }

  list(): Promise<readonly Account[]> {
    return this.#db.read(() => this.listWithin())
  }

  insert(account: Account): Promise<boolean> {
    return this.#db.write(() => this.insertWithin(account))
  }

  /** As `list`, inside of a transaction. */
  listWithin(): Account[] {
    return this.#list.all().map(fromRow)
  }

  /** As `insert`, inside of a transaction. */
  insertWithin({ id, name, createdAt }: Account): boolean {
    return this.#insert(id, name, createdAt) === 1
  }
}

function fromRow(row: Row): Account {
  return { id: String(row.id), name: String(row.name), createdAt: Number(row.created_at) }
}
