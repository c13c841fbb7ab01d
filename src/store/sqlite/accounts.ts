// Accounts, one row each.

import type { Account } from '../records/records.ts'
import type { Accounts, AccountSettings, Beginning, Together } from '../contract/store.ts'
import type { Command, Database, Row, Statement } from './database/database.ts'
import type { SqliteGateways } from './gateways.ts'
import { type Ledgers, writeTogether } from './companion-writes.ts'

export class SqliteAccounts implements Accounts {
  readonly #db: Database
  readonly #ledgers: Ledgers
  readonly #gateways: SqliteGateways
  readonly #get: Statement
  readonly #list: Statement
  readonly #oldest: Statement
  readonly #insert: Command
  readonly #update: Command

  constructor(db: Database, ledgers: Ledgers, gateways: SqliteGateways) {
    this.#db = db
    this.#ledgers = ledgers
    this.#gateways = gateways
    this.#get = db.prepare('SELECT * FROM accounts WHERE id = ?')
    this.#list = db.prepare('SELECT * FROM accounts ORDER BY created_at, id')
    this.#oldest = db.prepare('SELECT id FROM accounts ORDER BY created_at, id LIMIT 1')
    this.#insert = db.command(
      `INSERT INTO accounts (id, name, created_at, enforce_two_factor, allow_document_clients)
       VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    )
    this.#update = db.command(
      `UPDATE accounts SET name = coalesce(?, name), enforce_two_factor = coalesce(?, enforce_two_factor),
       allow_document_clients = coalesce(?, allow_document_clients) WHERE id = ?`,
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

  oldest(): Promise<string | null> {
    return this.#db.read(() => {
      const row = this.#oldest.get()
      return row ? String(row.id) : null
    })
  }

  insert(account: Account, beginning?: Beginning): Promise<boolean> {
    const insert = () =>
      this.insertWithin(account) && (!beginning || this.#gateways.insertWithin(beginning.gateway))
    return writeTogether(this.#db, this.#ledgers, insert, beginning && { audit: beginning.audit })
  }

  update(id: string, settings: AccountSettings, together?: Together): Promise<boolean> {
    const { changes } = this.#ledgers
    const { name = null, enforceTwoFactor, allowsDocumentClients } = settings
    const update = () => {
      const isDone = this.#update(name, bitOf(enforceTwoFactor), bitOf(allowsDocumentClients), id) === 1
      if (isDone) changes.note(changes.nextVersion(), 'account', id, id)
      return isDone
    }
    return writeTogether(this.#db, this.#ledgers, update, together)
  }

  listWithin(): Account[] {
    return this.#list.all().map(fromRow)
  }

  insertWithin({
    id,
    name,
    createdAt,
    enforceTwoFactor = false,
    allowsDocumentClients = false,
  }: Account): boolean {
    return this.#insert(id, name, createdAt, Number(enforceTwoFactor), Number(allowsDocumentClients)) === 1
  }
}

function bitOf(flag: boolean | undefined): number | null {
  return flag === undefined ? null : Number(flag)
}

function fromRow(row: Row): Account {
  const { id, name, created_at } = row
  return {
    ...{ id: String(id), name: String(name), createdAt: Number(created_at) },
    ...(row.enforce_two_factor === 1 && { enforceTwoFactor: true }),
    ...(row.allow_document_clients === 1 && { allowsDocumentClients: true }),
  }
}
