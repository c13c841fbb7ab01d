// Transactions of one connection, each within one turn of the event loop, and the errors of SQLite.

import type { DatabaseSync, StatementSync } from 'node:sqlite'

const busy = 5
const inputOutput = 10
/** Result codes that mean that the file cannot be used now, rather than that a statement is wrong. */
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

  /** Whether a transaction is open; some failures end it. */
  get isOpen(): boolean {
    return this.#db.isOpen && this.#db.isTransaction
  }

  begin(): void {
    this.#begin.run()
  }

  commit(): void {
    this.#commit.run()
  }

  rollback(): void {
    if (this.isOpen) this.#rollback.run()
  }

  /** Runs work within the transaction so that an exception undoes only this work; rethrows it. */
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

/** Whether an error means that the file cannot be used now, rather than that a statement is wrong. */
export function isOutOfReach(error: unknown): boolean {
  return outOfReach.has(resultCode(error))
}

/** Whether an error on commit leaves open whether the transaction is on the disk. */
export function isTorn(error: unknown): boolean {
  return resultCode(error) === inputOutput
}

/** Returns an error with the name of its result code, if it means that the file cannot be used now. */
export function named(error: unknown): unknown {
  const code = outOfReach.get(resultCode(error))
  return code === undefined ? error : Object.assign(new Error((error as Error).message), { code })
}

export function isBusy(error: unknown): boolean {
  return resultCode(error) === busy
}

function resultCode(error: unknown): number {
  const extended = (error as { errcode?: unknown } | undefined)?.errcode
  return typeof extended === 'number' ? extended & 0xff : 0
}
