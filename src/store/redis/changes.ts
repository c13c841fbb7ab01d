// The feed of changes: a bounded stream that every writer adds to. A notification only says that there is
// something to read, so a lost one delays a change until the next poll, also the connection's heartbeat.

import type { Clock } from '../../base/clock.ts'
import type { Change, ChangeKind, Changes } from '../contract/store.ts'
import type { Reader } from './server/connection.ts'
import { keys } from './server/keys.ts'
import { maxChanges } from './record-scripts.ts'

type Entry = readonly [id: string, fields: readonly string[]]

/** The end of an empty stream. */
const start = '0-0'
/** The polling interval without notifications, in ms. */
const period = 1_000

export class RedisChanges implements Changes {
  readonly #connection: Reader
  readonly #clock: Clock
  readonly #listeners = new Set<(change: Change) => void>()
  /** The last entry read. If it has left the stream, entries are missing: trimmed, or lost in a failover. */
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

  look(): Promise<void> {
    this.#isAskedAgain = true
    return (this.#reading ??= this.#readWhileAsked())
  }

  /** Reports that everything may have changed, and continues from the current end. */
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

  /** Whether no entries are missing between the position and those that were read. */
  #continues(entries: readonly Entry[]): boolean {
    if (this.#position === start) return entries.length < maxChanges
    return this.#position !== null && entries[0]?.[0] === this.#position
  }

  async #entriesFrom(position: string): Promise<readonly Entry[]> {
    return (await this.#connection.run(['XRANGE', keys.changes, position, '+'])) as Entry[]
  }

  async #newest(): Promise<string> {
    const entries = (await this.#connection.run(['XREVRANGE', keys.changes, '+', '-', 'COUNT', 1])) as Entry[]
    return entries[0]?.[0] ?? start
  }

  #tell(changes: readonly Change[]): void {
    for (const change of changes) {
      for (const listener of this.#listeners) {
        try {
          listener(change)
        } catch (bug) {
          // The other listeners must still be called.
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
