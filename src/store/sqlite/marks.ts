// Identifies a file: its identity, and the number of record changes.

import type { Mark } from '../contract/mark.ts'
import type { Trust } from '../contract/trust.ts'
import type { Database, Statement } from './database/database.ts'
import { isOutOfReach } from './database/transactions.ts'

export class SqliteMarks {
  readonly #read: Statement

  constructor(db: Database) {
    this.#read = db.prepare(
      'SELECT (SELECT id FROM identity) AS identity, coalesce(max(version), 0) AS generation FROM changes',
    )
  }

  read(): Mark | null {
    try {
      const { identity, generation } = this.#read.get()!
      return { identity: identity as string | null, generation: Number(generation), last: '' }
    } catch (error) {
      // An emptied file has no tables.
      if (isOutOfReach(error)) throw error
      return null
    }
  }

  /** Throws `StoreDegraded` unless the file has everything that the trust expects. */
  check(trust: Trust): void {
    if (trust.seen !== null) trust.check(this.read(), trust.seen)
  }
}
