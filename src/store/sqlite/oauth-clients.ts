// OAuth clients: records of which some are due to be checked.

import type { Clock } from '../../base/clock.ts'
import type { OAuthClient } from '../oauth-client.ts'
import type { OAuthClients, Versioned } from '../store.ts'
import type { Command, Database, Statement } from './database/database.ts'
import { fromRow } from './database/ordered-rows.ts'
import type { Ledgers } from './ledgers.ts'
import { SqliteRecords, versionedOf } from './records.ts'

export class SqliteOAuthClients extends SqliteRecords<OAuthClient> implements OAuthClients {
  readonly #db: Database
  readonly #clock: Clock
  readonly #find: Statement
  readonly #due: Statement
  readonly #lease: Command
  readonly #renew: Command

  constructor(db: Database, ledgers: Ledgers, clock: Clock) {
    // What is due as before stays with who has it.
    const setDue = db.command(
      'UPDATE oauth_clients SET due_at = ?1, ask_at = ?1 WHERE account = ?2 AND id = ?3 AND due_at IS NOT ?1',
    )
    super(db, ledgers, {
      name: 'oauth_client',
      table: 'oauth_clients',
      createdAt: ({ createdAt }) => createdAt,
      wrote: ({ account, id, verification }) => setDue(verification?.nextCheckAt ?? null, account, id),
    })
    this.#db = db
    this.#clock = clock
    // By account, since the index of ids begins with it.
    this.#find = db.prepare(
      'SELECT record FROM oauth_clients WHERE account IN (SELECT id FROM accounts) AND id = ?',
    )
    this.#due = db.prepare(
      'SELECT key, version, record FROM oauth_clients WHERE ask_at <= ? ORDER BY ask_at LIMIT ?',
    )
    this.#lease = db.command('UPDATE oauth_clients SET ask_at = ? WHERE key = ?')
    this.#renew = db.command(
      'UPDATE oauth_clients SET ask_at = ? WHERE account = ? AND id = ? AND due_at = ?',
    )
  }

  find(id: string): Promise<OAuthClient | null> {
    return this.#db.read(() => {
      const row = this.#find.get(id)
      return row ? fromRow<OAuthClient>(row) : null
    })
  }

  async claimDue(limit: number, lease: number): Promise<readonly Versioned<OAuthClient>[]> {
    // Most of the time nothing is due, and a look needs no lock.
    const isAny = await this.#db.read(() => this.#due.get(this.#clock.now(), limit) !== undefined)
    return isAny ? this.#db.write(() => this.#claim(limit, lease)) : []
  }

  renewLeases(clients: readonly OAuthClient[], lease: number): Promise<void> {
    return this.#db.write(() => {
      const until = this.#clock.now() + lease
      for (const { account, id, verification } of clients)
        this.#renew(until, account, id, verification?.nextCheckAt ?? null)
    })
  }

  #claim(limit: number, lease: number): readonly Versioned<OAuthClient>[] {
    const now = this.#clock.now()
    const rows = this.#due.all(now, limit)
    for (const row of rows) this.#lease(now + lease, row.key!)
    return rows.map(versionedOf<OAuthClient>)
  }
}
