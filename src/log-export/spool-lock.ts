// Makes one process at a time the sender of a spool: the system lets go of the lock when that process ends.

import { DatabaseSync } from 'node:sqlite'

export class SpoolLock {
  readonly #path: string
  #held: DatabaseSync | null = null

  constructor(path: string) {
    this.#path = path
  }

  /** Returns whether this process has the lock; throws if the file cannot be used. */
  take(): boolean {
    if (this.#held !== null) return true
    const db = new DatabaseSync(this.#path, { timeout: 0 })
    try {
      db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
      this.#held = db
      return true
    } catch (failure) {
      db.close()
      if ((failure as { errcode?: number }).errcode === busy) return false
      throw failure
    }
  }

  release(): void {
    this.#held?.close()
    this.#held = null
  }
}

/** SQLITE_BUSY. */
const busy = 5
