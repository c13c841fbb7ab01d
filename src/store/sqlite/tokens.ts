// API tokens: records that are also found by the digest of their value.

import type { Token } from '../records.ts'
import type { Tokens } from '../store.ts'
import type { Database, Statement } from './database/database.ts'
import { fromRow } from './database/ordered-rows.ts'
import type { Ledgers } from './ledgers.ts'
import { SqliteRecords } from './records.ts'

export class SqliteTokens extends SqliteRecords<Token> implements Tokens {
  readonly #db: Database
  readonly #find: Statement

  constructor(db: Database, ledgers: Ledgers) {
    super(db, ledgers, { name: 'token', table: 'tokens', createdAt: ({ issuedOn }) => issuedOn })
    this.#db = db
    this.#find = db.prepare(`SELECT record FROM tokens WHERE record ->> 'digest' = ?`)
  }

  findByDigest(digest: string): Promise<Token | null> {
    return this.#db.read(() => {
      const row = this.#find.get(digest)
      return row ? fromRow<Token>(row) : null
    })
  }
}
