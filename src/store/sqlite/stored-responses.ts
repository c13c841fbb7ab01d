// Stored responses, one row each. Expired ones are deleted when records are written.

import type { Clock } from '../../base/clock.ts'
import type { StoredResponse } from '../records/records.ts'
import type { StoredResponses } from '../contract/store.ts'
import type { Command, Database, Row, Statement } from './database/database.ts'

/** The maximum number that one write removes, so that none takes long. */
const sweepSize = 20

export class SqliteResponses implements StoredResponses {
  readonly #db: Database
  readonly #clock: Clock
  readonly #get: Statement
  readonly #put: Command
  readonly #sweep: Command

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.#get = db.prepare('SELECT * FROM stored_responses WHERE account = ? AND name = ? AND expires_at > ?')
    this.#put = db.command(
      'INSERT OR REPLACE INTO stored_responses (account, name, fingerprint, sealed, expires_at) VALUES (?, ?, ?, ?, ?)',
    )
    this.#sweep = db.command(
      `DELETE FROM stored_responses WHERE key IN
         (SELECT key FROM stored_responses WHERE expires_at <= ? ORDER BY expires_at LIMIT ${sweepSize})`,
    )
  }

  get(account: string, key: string): Promise<StoredResponse | null> {
    return this.#db.read(() => {
      const row = this.#get.get(account, key, this.#clock.now())
      return row ? fromRow(row) : null
    })
  }

  hasWithin({ account, key }: StoredResponse): boolean {
    return this.#get.get(account, key, this.#clock.now()) !== undefined
  }

  insertWithin({ account, key, fingerprint, sealed, expiresAt }: StoredResponse): void {
    this.#put(account, key, fingerprint, sealed, expiresAt)
  }

  sweepWithin(): void {
    this.#sweep(this.#clock.now())
  }
}

function fromRow(row: Row): StoredResponse {
  return {
    account: String(row.account),
    key: String(row.name),
    fingerprint: String(row.fingerprint),
    sealed: String(row.sealed),
    expiresAt: Number(row.expires_at),
  }
}
