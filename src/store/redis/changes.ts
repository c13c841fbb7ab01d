// The feed of changes: a bounded stream that every writer adds to and everybody reads to its end. A notice says only that there is
// something to read, so one that is lost delays a change until the next regular look. It is the heartbeat of the connection, too.

import type { Clock } from '../../base/clock.ts'
import type { Change, ChangeKind, Changes } from '../contract/store.ts'
import type { Reader } from './server/connection.ts'
import { keys } from './server/keys.ts'
import { mostChanges } from './record-scripts.ts'

type Entry = readonly [id: string, fields: readonly string[]]

/** Where an empty stream ends. */
const start = '0-0'
/** For how long nothing is read when there is no notice, in ms. */
const period = 1_000

export class RedisChanges implements Changes {
  readonly #connection: Reader
  readonly #clock: Clock
  readonly #listeners = new Set<(change: Change) => void>()
  /** The last entry that was read; it must be found again, or entries are missing: trimmed, or lost in a failover. */
  #position: string | null = null
  #knownUntil = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | null = null
  #isAskedAgain = false
  #isClosed = false
  #timer: NodeJS.Timeout | undefined

  constructor(connection: Reader, clock: Clock) {
    this.#connection = connection
    this.#clock = clock
  }

  get knownUntil(): number {
    return this.#knownUntil
  }

  follow(listener: (change: Change) => void): () => void {
    const own = (change: Change) => listener(change)
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  /** Reads what there is, now; asked while it reads, it reads once more. */
  look(): Promise<void> {
    this.#isAskedAgain = true
    return (this.#reading ??= this.#readWhileAsked())
  }

  /** Reports that everything may have changed, and goes on from what there is now. */
  begin(): void {
    this.#position = null
    void this.look()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #readWhileAsked(): Promise<void> {
    clearTimeout(this.#timer)
    while (this.#isAskedAgain && !this.#isClosed) {
      this.#isAskedAgain = false
      await this.#read().catch(ignore)
    }
    this.#reading = null
    if (!this.#isClosed) this.#timer = setTimeout(() => this.look(), period)
  }

  async #read(): Promise<void> {
    const askedAt = this.#clock.monotonic()
    const entries = this.#position === null ? [] : await this.#entriesFrom(this.#position)
    if (this.#continues(entries)) {
      this.#tell(entries.filter(([id]) => id !== this.#position).map(changeOf))
      this.#position = entries.at(-1)?.[0] ?? start
    } else {
      this.#position = await this.#newest()
      this.#tell([{ kind: 'everything' }])
    }
    this.#knownUntil = askedAt
  }

  /** Whether nothing is missing between the position and what was found from it on. */
  #continues(entries: readonly Entry[]): boolean {
    if (this.#position === start) return entries.length < mostChanges
    return this.#position !== null && entries[0]?.[0] === this.#position
  }

  async #entriesFrom(position: string): Promise<readonly Entry[]> {
    return (await this.#connection.run(['XRANGE', keys.changes, position, '+'])) as Entry[]
  }

  async #newest(): Promise<string> {
    const found = (await this.#connection.run(['XREVRANGE', keys.changes, '+', '-', 'COUNT', 1])) as Entry[]
    return found[0]?.[0] ?? start
  }

  #tell(changes: readonly Change[]): void {
    for (const change of changes) {
      for (const listener of this.#listeners) {
        try {
          listener(change)
        } catch (bug) {
          // The others still have to hear of it.
          process.emitWarning(bug instanceof Error ? bug : String(bug))
        }
      }
    }
  }
}

function changeOf([, fields]: Entry): Change {
  const [, kind, , account, , id] = fields
  return { kind: kind as ChangeKind, account: account!, id: id! }
}

function ignore(): void {}
