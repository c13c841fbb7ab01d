// What was worked out of windows of log entries, as texts; all within a transaction of the caller.

import type { MarkedWindow } from '../../contract/store.ts'
import type { Command, Database, Statement } from '../database/database.ts'

export class KeptSums {
  readonly #get: Statement
  readonly #set: Command
  readonly #removeBefore: Command
  readonly #removeSome: Command

  constructor(db: Database) {
    this.#get = db.prepare(
      'SELECT sums FROM log_sums WHERE gateway = ? AND width = ? AND since = ? AND mark = ?',
    )
    this.#set = db.command(
      `INSERT INTO log_sums (gateway, width, since, mark, sums) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (gateway, width, since) DO UPDATE SET mark = excluded.mark, sums = excluded.sums`,
    )
    this.#removeBefore = db.command('DELETE FROM log_sums WHERE gateway = ? AND since + width <= ?')
    this.#removeSome = db.command(
      'DELETE FROM log_sums WHERE key IN (SELECT key FROM log_sums WHERE gateway = ? LIMIT ?)',
    )
  }

  get(gateway: number, { width, since, mark }: MarkedWindow): string | null {
    const row = this.#get.get(gateway, width, since, mark)
    return row === undefined ? null : String(row.sums)
  }

  set(gateway: number, { width, since, mark }: MarkedWindow, sums: string): void {
    this.#set(gateway, width, since, mark, sums)
  }

  /** Removes those of windows that end by a time. */
  removeBefore(gateway: number, time: number): void {
    this.#removeBefore(gateway, time)
  }

  /** Removes up to so many; gives how many there were. */
  removeSome(gateway: number, most: number): number {
    return this.#removeSome(gateway, most)
  }
}
