// One connection to an SQLite file, which waits for locks without blocking the process.

import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreMetrics } from '../../../metrics/counters/store-metrics.ts'
import { StoreBusy, StoreDegraded, StoreUnreachable } from '../../contract/store.ts'
import { isBusy, isOutOfReach, named, Transactions } from './transactions.ts'
import { smallPages } from './schema.ts'
import { WriteQueue } from './write-queue.ts'

export type Row = Record<string, SQLOutputValue>
export type Value = SQLInputValue

export interface Statement {
  get(...values: Value[]): Row | undefined
  all(...values: Value[]): Row[]
  /** Reads row by row; a caller that stops before the end must do so in the same turn. */
  iterate(...values: Value[]): Iterable<Row>
}

/** A statement that writes, compiled once; returns the number of changed rows. */
export type Command = (...values: Value[]) => number

export interface DatabaseOptions {
  /**
   * FULL: a commit is on the disk when acknowledged. NORMAL: it survives the end of the process, not a power
   * cut.
   */
  readonly synchronous: 'FULL' | 'NORMAL'
  /** How long a command waits for a lock of another connection, in ms. */
  readonly timeout: number
  /** The same for writes, of which many may be queued; `timeout` by default. */
  readonly writeTimeout?: number
  readonly metrics?: StoreMetrics
  /**
   * Throws if the file must not be used, or its writes confirmed. Called after each read, before each commit,
   * and when a read or a write fails.
   */
  readonly check?: (isWrite: boolean) => void
  /** What a database in memory begins with. */
  readonly image?: Uint8Array
}

const probePeriod = 500

// In bytes, for new files: log entries, most writes, cost a fifth less than with 4096.
const pageSize = 16_384

// A commit that leaves this many pages (4 MB) in the write-ahead log moves them to the file.
const checkpointPages = 250

export class Database {
  readonly #db: DatabaseSync
  readonly #timeout: number
  readonly #transactions: Transactions
  readonly #writes: WriteQueue
  readonly #check: (isWrite: boolean) => void
  #probe: NodeJS.Timeout | null = null
  #fault: string | null = null
  #isUnreadable = false
  #size: Statement | null = null

  /**
   * Opens a file, or creates an empty one unless its URL says `mode=rw`; rejects with the error of SQLite.
   */
  static async open(path: string | URL, options: DatabaseOptions): Promise<Database> {
    const { synchronous } = options
    const db = new Database(path, options)
    // Only macOS has fullfsync: there, a plain fsync leaves the bytes in the cache of the disk.
    const pragmas = `
      PRAGMA page_size = ${pageSize};
      PRAGMA wal_autocheckpoint = ${checkpointPages};
      PRAGMA synchronous = ${synchronous};
      PRAGMA fullfsync = ${synchronous === 'FULL'}`
    try {
      await db.read(() => db.exec(pragmas))
      return db
    } catch (error) {
      db.close()
      throw error
    }
  }

  private constructor(
    path: string | URL,
    {
      timeout,
      writeTimeout = timeout,
      metrics = new StoreMetrics(),
      check = () => {},
      image,
    }: DatabaseOptions,
  ) {
    // Without a timeout: SQLite would block the event loop while it waits for a lock.
    this.#db = new DatabaseSync(path, { timeout: 0 })
    if (image !== undefined) this.#db.deserialize(image)
    this.#timeout = timeout
    this.#check = check
    this.#transactions = new Transactions(this.#db)
    this.#writes = new WriteQueue({
      check: () => check(true),
      transactions: this.#transactions,
      timeout: writeTimeout,
      metrics,
      report: failure => this.note(failure),
      isUnreachable: () => this.isUnreachable,
    })
  }

  /** Whether the file or its lock was unavailable last time, with no successful write since. */
  get isUnreachable(): boolean {
    return this.#probe !== null
  }

  get fault(): string | null {
    return this.#fault
  }

  get isUnreadable(): boolean {
    return this.#isUnreadable
  }

  size(): Promise<number> {
    this.#size ??= this.#db.prepare(
      'SELECT page_count * page_size AS size FROM pragma_page_count, pragma_page_size',
    )
    return this.read(() => Number(this.#size!.get()!.size))
  }

  prepare(sql: string): Statement {
    return this.#db.prepare(sql)
  }

  /** Prepares the statement when it is first run: a store has many, and most of its uses need few. */
  command(sql: string): Command {
    let statement: StatementSync | null = null
    const prepare = () => {
      const prepared = this.#db.prepare(sql)
      // Each result includes the last inserted key, which may exceed the safe integers.
      prepared.setReadBigInts(true)
      return prepared
    }
    return (...values) => Number((statement ??= prepare()).run(...values).changes)
  }

  exec(sql: string): void {
    this.#db.exec(sql)
  }

  /** Returns all that is in it, for another one in memory to begin with. */
  image(): Uint8Array {
    return this.#db.serialize()
  }

  read<T>(work: () => T): Promise<T> {
    return this.#attempt(work)
  }

  /** Like `read`, but without a promise if nothing is in the way. */
  glance<T>(work: () => T): T | Promise<T> {
    try {
      const result = this.#checked(work)
      this.#isUnreadable = false
      return result
    } catch {
      return this.read(work)
    }
  }

  /**
   * Runs synchronous work as one transaction, or part of one; an exception undoes only its own. Rejects with
   * `StoreBusy` if too many writes wait, or for too long.
   */
  write<T>(work: () => T): Promise<T> {
    if (!this.#db.isOpen) return Promise.reject(new StoreUnreachable())
    return this.#writes.push(() => this.#checkedIfFailed(work, true))
  }

  /** Records why a write here or on another connection failed; null for a success. */
  note(failure: unknown): void {
    if (failure === null) this.#comeBack()
    else this.#goAway(failure)
  }

  /** Moves the contents of the write-ahead log to the file, unless readers prevent it; best effort. */
  checkpoint(): void {
    try {
      if (this.#db.isOpen) this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch (failure) {
      if (!isOutOfReach(failure)) throw failure
    }
  }

  /** Runs the queued work if that is possible at once. */
  close(): void {
    if (this.#db.isOpen) {
      this.#writes.close()
      this.#db.close()
    }
    this.#comeBack()
  }

  async #attempt<T>(work: () => T): Promise<T> {
    const deadline = performance.now() + (this.isUnreachable ? 0 : this.#timeout)
    for (;;) {
      try {
        const result = this.#checked(work)
        this.#isUnreadable = false
        return result
      } catch (error) {
        if (!this.#db.isOpen) throw new StoreUnreachable(error)
        if (!isOutOfReach(error)) throw error
        if (!isBusy(error) || performance.now() >= deadline) {
          this.#isUnreadable = true
          this.#goAway(error)
          throw isBusy(error) ? new StoreBusy(named(error)) : new StoreUnreachable(named(error))
        }
      }
      // Of random length, so that two waiting processes do not collide again.
      await sleep(1 + 4 * Math.random())
    }
  }

  /** Reads, and checks the file afterwards, even if that fails. */
  #checked<T>(work: () => T): T {
    const result = this.#checkedIfFailed(work, false)
    this.#check(false)
    return result
  }

  /** Runs work, and checks the file if it fails: an emptied file has no tables. */
  #checkedIfFailed<T>(work: () => T, isWrite: boolean): T {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof StoreDegraded) && !isOutOfReach(error)) this.#check(isWrite)
      throw error
    }
  }

  #goAway(failure: unknown): void {
    this.#fault = (failure as Error).message
    this.#probe ??= setInterval(() => this.#lookAgain(), probePeriod).unref()
  }

  /** Writes existing content again: only a write detects a full disk. */
  #lookAgain(): void {
    try {
      this.#transactions.begin()
      const { user_version } = this.#db.prepare('PRAGMA user_version').get()!
      this.#db.exec(`PRAGMA user_version = ${user_version}`)
      this.#transactions.commit()
      this.#comeBack()
    } catch (failure) {
      this.#transactions.rollback()
      if (this.#probe) this.#fault = (failure as Error).message
    }
  }

  #comeBack(): void {
    if (this.#probe) clearInterval(this.#probe)
    this.#probe = null
    this.#fault = null
    this.#isUnreadable = false
  }
}

/** Opens a file of counts for writing, and creates what is missing in it. */
export async function openCounts(path: string, tables: string, timeout: number): Promise<Database> {
  const db = await Database.open(path, { synchronous: 'NORMAL', timeout })
  try {
    await db.read(() => db.exec(`${smallPages} PRAGMA journal_mode = WAL; ${tables}`))
    return db
  } catch (error) {
    db.close()
    throw error
  }
}
