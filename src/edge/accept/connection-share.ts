// What this process may have of the connections that all workers of a machine may have together: an even part of each limit, and what others have left to it. Only a process
// that has used up its share asks for more, so that connections within it cost a comparison.

import { guarded } from '../../base/guarded.ts'

/** The key of the limit on all connections; those on the connections of one address have its `clientKey`. */
export const everybody = '*'

/** A request for more of one limit. */
export interface ShareRequest {
  readonly key: string
  readonly limit: number
  /** How many connections wait for it. */
  readonly count: number
  /** Whether others are to close idle connections for it. */
  readonly closing: boolean
}

/** What a process is to leave to others of one limit: half of what it does not use, what it has beyond its even part and does not use, or enough for `count` connections, by closing idle ones where it must. */
export interface ShareClaim {
  readonly key: string
  readonly what: 'half' | 'surplus' | 'idle'
  readonly count: number
}

/** How many more of one limit a slot has than its even part; fewer where negative. */
export type MovedShare = readonly [key: string, count: number]

/** Returns the even part of a limit: all parts add up to it. */
export function evenShare(limit: number, workers: number, slot: number): number {
  return Math.floor(limit / workers) + (slot < limit % workers ? 1 : 0)
}

/** How many connections wait for more, how many limits are asked for at once, and how many sweeps a reply may take. */
const mostWaiting = 1_000
const mostEntries = 1_000
const patience = 50

/** The limits that are not shared evenly now, or of which this process has asked for more. */
interface Entry {
  moved: number
  readonly waiting: (() => void)[]
  /** Whether others are asked to close idle connections. */
  closing: boolean
  /** How many sweeps ago the request was sent. */
  age: number
  /** What was denied since the last sweep, and is not asked for again before the next. */
  denied: 'nothing' | 'free' | 'idle'
}

type ShareOutcome = 'granted' | 'denied' | 'late'

interface ShareParts {
  readonly slot: number
  readonly workers: number
  readonly send: (request: ShareRequest) => void
}

export class Share {
  readonly #slot: number
  readonly #workers: number
  readonly #send: (request: ShareRequest) => void
  readonly #entries = new Map<string, Entry>()
  #waiting = 0
  /** Whether it is known what this process may have. Until then it takes nothing: others may have its part. */
  #hasBegun: boolean
  /** Sweeps that this was waited for. */
  #age = 0
  /** Whether nothing is asked for any more. */
  #isOver = false
  /** Hears how each request ends. */
  settled: (outcome: ShareOutcome) => void = () => {}

  /** Without parts, that of a process that has all for itself. */
  constructor({ slot, workers, send }: ShareParts = alone) {
    this.#slot = slot
    this.#workers = workers
    this.#send = send
    this.#hasBegun = workers === 1
  }

  /** Begins with the even parts of all limits but these; those who wait are taken. */
  begin(moved: readonly MovedShare[]): void {
    this.#hasBegun = true
    for (const [key, count] of moved) this.#entry(key).moved += count
    for (const entry of this.#entries.values()) this.#settle(entry, 'granted')
  }

  /** Returns the most connections that this process may have under a limit. */
  most(key: string, limit: number): number {
    if (this.#workers === 1) return limit
    if (!this.#hasBegun) return 0
    const moved = this.#entries.size === 0 ? 0 : (this.#entries.get(key)?.moved ?? 0)
    return evenShare(limit, this.#workers, this.#slot) + moved
  }

  /** Returns how many this process has beyond its even part. */
  surplus(key: string): number {
    return Math.max(0, this.#entries.get(key)?.moved ?? 0)
  }

  /** Asks for more of a limit, and calls `retry` once with the reply, or when it is late; false where it is of no use to ask now. */
  request(key: string, limit: number, closing: boolean, retry: () => void): boolean {
    if (this.#workers === 1 || this.#isOver || this.#waiting >= mostWaiting) return false
    if (!this.#entries.has(key) && this.#entries.size >= mostEntries) return false
    const entry = this.#entry(key)
    if (entry.denied === 'idle' || (entry.denied === 'free' && !closing)) return false
    this.#waiting++
    if (entry.waiting.push(retry) > 1) return true
    entry.closing = closing
    entry.age = 0
    if (!this.#hasBegun) return true
    // Many mostly come at once.
    const send = () => this.#send({ key, limit, closing, count: entry.waiting.length })
    setImmediate(guarded(send, () => this.#settle(entry, 'late')))
    return true
  }

  /** Takes more of a limit; none where there is no more. */
  grant(key: string, count: number): void {
    const entry = this.#entry(key)
    entry.moved += count
    this.#settle(entry, count > 0 ? 'granted' : 'denied')
  }

  /** Leaves some to others. */
  leave(key: string, count: number): void {
    if (count > 0) this.#entry(key).moved -= count
  }

  /** Ends requests without a reply, and forgets what is as in the beginning. */
  sweep(): void {
    if (!this.#hasBegun) return this.#awaitBegin()
    for (const [key, entry] of this.#entries) {
      if (entry.waiting.length > 0) {
        if (++entry.age > patience) this.#settle(entry, 'late')
        continue
      }
      entry.denied = 'nothing'
      if (entry.moved === 0) this.#entries.delete(key)
    }
  }

  /** Asks for nothing any more. */
  close(): void {
    this.#isOver = true
    for (const entry of this.#entries.values()) this.#settle(entry, 'late')
  }

  /** Begins without a word from the supervisor where there is none for long: with an even part, a process serves all the same. */
  #awaitBegin(): void {
    if (++this.#age > patience) this.begin([])
  }

  #settle(entry: Entry, outcome: ShareOutcome): void {
    if (entry.waiting.length === 0) return
    if (outcome !== 'granted') entry.denied = entry.closing ? 'idle' : 'free'
    this.settled(outcome)
    const retries = entry.waiting.splice(0)
    this.#waiting -= retries.length
    for (const retry of retries) retry()
  }

  #entry(key: string): Entry {
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const entry: Entry = { moved: 0, waiting: [], closing: false, age: 0, denied: 'nothing' }
    this.#entries.set(key, entry)
    return entry
  }
}

const alone: ShareParts = { slot: 0, workers: 1, send: () => {} }
