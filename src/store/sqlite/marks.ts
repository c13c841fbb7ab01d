// By what a file is known again: its identity, and how many changes of records were made, which are numbered.

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

  /** Reads the mark; null where the file holds nothing of ours. */
  read(): Mark | null {
    try {
      const { identity, generation } = this.#read.get()!
      return { identity: identity as string | null, generation: Number(generation), last: '' }
    } catch (error) {
      // Without the tables, as an emptied file is.
      if (isOutOfReach(error)) throw error
      return null
    }
  }

  /** Throws `StoreDegraded` unless all that was seen is there, where anything is expected. */
  check(trust: Trust): void {
    if (trust.seen !== null) trust.check(this.read(), trust.seen)
  }
}
