// The writes of all processes, read from a table of the latest ones. Versions of records are the row numbers
// of this table.

import type { Clock } from '../../base/clock.ts'
import { type Change, type ChangeKind, type Changes, StoreUnreachable } from '../contract/store.ts'
import type { Command, Database, Statement } from './database/database.ts'

interface Row {
  readonly version: number
  readonly kind: ChangeKind
  readonly account: string
  readonly id: string
}

const period = 200
const maxChanges = 1000

export class SqliteChanges implements Changes {
  knownUntil: number
  readonly #db: Database
  readonly #clock: Clock
  readonly #latest: Statement
  readonly #insert: Command
  readonly #trim: Command
  readonly #since: Statement
  readonly #listeners = new Set<(change: Change) => void>()
  readonly #timer: NodeJS.Timeout
  /** The last version that was reported; null if everything is to be reported. */
  #lastVersion: number | null

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.#latest = db.prepare('SELECT coalesce(max(version), 0) AS version FROM changes')
    this.#insert = db.command('INSERT INTO changes (version, kind, account, id) VALUES (?, ?, ?, ?)')
    this.#trim = db.command('DELETE FROM changes WHERE version <= ?')
    this.#since = db.prepare(
      'SELECT version, kind, account, id FROM changes WHERE version > ? ORDER BY version',
    )
    this.knownUntil = clock.monotonic()
    this.#lastVersion = this.nextVersion() - 1
    this.#timer = setInterval(() => void this.tell(), period).unref()
  }

  follow(listener: (change: Change) => void): () => void {
    // A function of its own, so that a listener that follows twice is called twice.
    const own = (change: Change) => listener(change)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  nextVersion(): number {
    return Number(this.#latest.get()!.version) + 1
  }

  note(version: number, kind: ChangeKind, account: string, id: string): void {
    this.#insert(version, kind, account, id)
    this.#trim(version - maxChanges)
  }

  /** Reports what has been written since the last time; if the file cannot be read, the next time does. */
  async tell(): Promise<void> {
    try {
      const before = this.#clock.monotonic()
      const changes = await this.#db.read(() => this.#read())
      for (const change of changes) for (const listener of this.#listeners) listener(change)
      this.knownUntil = Math.max(this.knownUntil, before)
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) throw error
    }
  }

  /** Reports that everything may have changed, and continues from the current end. */
  begin(): Promise<void> {
    this.#lastVersion = null
    return this.tell()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#listeners.clear()
  }

  #read(): readonly Change[] {
    const lastVersion = this.#lastVersion
    if (lastVersion === null) {
      this.#lastVersion = this.nextVersion() - 1
      return [{ kind: 'everything' }]
    }
    const rows = this.#since.all(lastVersion) as unknown as Row[]
    const isWhole = rows.length === 0 || rows[0]!.version === lastVersion + 1
    this.#lastVersion = rows.at(-1)?.version ?? lastVersion
    return isWhole ? rows.map(({ kind, account, id }) => ({ kind, account, id })) : [{ kind: 'everything' }]
  }
}

export class JoinedChanges implements Changes {
  readonly #all: readonly SqliteChanges[]

  constructor(all: readonly SqliteChanges[]) {
    this.#all = all
  }

  get knownUntil(): number {
    let earliest = Number.POSITIVE_INFINITY
    for (const { knownUntil } of this.#all) if (knownUntil < earliest) earliest = knownUntil
    return earliest
  }

  follow(listener: (change: Change) => void): () => void {
    const ends = this.#all.map(changes => changes.follow(listener))
    return () => {
      for (const end of ends) end()
    }
  }

  close(): void {
    for (const changes of this.#all) changes.close()
  }
}
