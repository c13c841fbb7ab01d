// Transactions of one connection, each within one turn of the event loop, and what SQLite says when one can't be had.

import type { DatabaseSync, StatementSync } from 'node:sqlite'

const busy = 5
const inputOutput = 10
/** Result codes that say that the file can't be used now, not that a statement is wrong. */
const outOfReach: ReadonlyMap<number, string> = new Map([
  [busy, 'SQLITE_BUSY'],
  [6, 'SQLITE_LOCKED'],
  [8, 'SQLITE_READONLY'],
  [inputOutput, 'SQLITE_IOERR'],
  [11, 'SQLITE_CORRUPT'],
  [13, 'SQLITE_FULL'],
  [14, 'SQLITE_CANTOPEN'],
  [15, 'SQLITE_PROTOCOL'],
  [26, 'SQLITE_NOTADB'],
])

export class Transactions {
  readonly #db: DatabaseSync
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #rollback: StatementSync
  readonly #enter: StatementSync
  readonly #leave: StatementSync
  readonly #undo: StatementSync

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
    this.#rollback = db.prepare('ROLLBACK')
    this.#enter = db.prepare('SAVEPOINT work')
    this.#leave = db.prepare('RELEASE work')
    this.#undo = db.prepare('ROLLBACK TO work')
  }

  /** Whether one has begun; some failures end it. */
  get isOpen(): boolean {
    return this.#db.isOpen && this.#db.isTransaction
  }

  /** Takes the lock of writers at once, or throws. */
  begin(): void {
    this.#begin.run()
  }

  commit(): void {
    this.#commit.run()
  }

  /** Undoes the transaction, as far as there is one. */
  rollback(): void {
    if (this.isOpen) this.#rollback.run()
  }

  /** Runs work within the transaction so that what it throws undoes it and nothing before it; throws that, once it is undone. */
  nested<T>(work: () => T): T {
    this.#enter.run()
    try {
      return work()
    } catch (error) {
      if (this.isOpen) this.#undo.run()
      throw error
    } finally {
      if (this.isOpen) this.#leave.run()
    }
  }
}

/** Whether an error says that the file can't be used now, not that a statement is wrong. */
export function isOutOfReach(error: unknown): boolean {
  return outOfReach.has(resultCode(error))
}

/** Whether an error leaves open what a transaction has written that it ended: the disk may have it and not have said so. */
export function isTorn(error: unknown): boolean {
  return resultCode(error) === inputOutput
}

/** Returns an error with the name of its result code, where it says that the file can't be used now. */
export function named(error: unknown): unknown {
  const code = outOfReach.get(resultCode(error))
  return code === undefined ? error : Object.assign(new Error((error as Error).message), { code })
}

/** Whether an error says that another connection has the lock. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === busy
}

/** Returns the primary result code of SQLite's; 0 for an error that isn't one. */
function resultCode(error: unknown): number {
  const extended = (error as { errcode?: unknown } | undefined)?.errcode
  return typeof extended === 'number' ? extended & 0xff : 0
}
