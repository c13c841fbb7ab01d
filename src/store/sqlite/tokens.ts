// API tokens: records that are also found by the digest of their value, with their last uses beside them.

import type { Token, TokenUse } from '../records/records.ts'
import type { MaybeAtOnce, Tokens } from '../contract/store.ts'
import type { Command, Database, Statement } from './database/database.ts'
import { fromRow } from './database/ordered-rows.ts'
import type { Ledgers } from './companion-writes.ts'
import { SqliteRecords } from './records.ts'

/** The maximum number of uses in one transaction. */
const maxAtOnce = 200

export class SqliteTokens extends SqliteRecords<Token> implements Tokens {
  readonly #find: Statement
  readonly #use: Command
  readonly #used: Statement

  constructor(db: Database, ledgers: Ledgers) {
    super(db, ledgers, { name: 'token', createdAt: ({ issuedOn }) => issuedOn })
    this.#find = db.prepare(`SELECT record FROM tokens WHERE record ->> 'digest' = ?`)
    this.#use = db.command(
      'UPDATE tokens SET last_used_at = ?1 WHERE account = ?2 AND id = ?3 AND coalesce(last_used_at, 0) < ?1',
    )
    this.#used = db.prepare(
      'SELECT last_used_at FROM tokens WHERE account = ? AND id = ? AND last_used_at IS NOT NULL',
    )
  }

  findByDigest(digest: string): MaybeAtOnce<Token | null> {
    return this.db.glance(() => {
      const row = this.#find.get(digest)
      return row ? fromRow<Token>(row) : null
    })
  }

  async noteUses(uses: readonly TokenUse[]): Promise<void> {
    for (let from = 0; from < uses.length; from += maxAtOnce)
      await this.db.write(() => {
        for (const { account, id, at } of uses.slice(from, from + maxAtOnce)) this.#use(at, account, id)
      })
  }

  lastUses(account: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.db.read(() => {
      const uses = new Map<string, number>()
      for (const id of ids) {
        const row = this.#used.get(account, id)
        if (row) uses.set(id, Number(row.last_used_at))
      }
      return uses
    })
  }
}
