// This process's share of the connection limits: an even part, and what other workers gave to it. It asks
// only when that is used up, so a connection within it costs a comparison.

import { guarded } from '../../base/guarded.ts'

export const allConnections = '*'

export interface ShareRequest {
  readonly key: string
  readonly limit: number
  readonly count: number
  /** Whether others should close idle connections for it. */
  readonly closing: boolean
}

/** What to give up: half of what is unused, all beyond the even part, or enough for `count` connections. */
export interface ShareClaim {
  readonly key: string
  readonly what: 'half' | 'surplus' | 'idle'
  readonly count: number
}

/** How much a share exceeds its even part; negative if smaller. */
export type MovedShare = readonly [key: string, count: number]

/** All parts add up to the limit. */
export function evenShare(limit: number, workers: number, slot: number): number {
  return Math.floor(limit / workers) + (slot < limit % workers ? 1 : 0)
}

/** Max connections that wait, limits asked for at once, and sweeps before a reply is late. */
const maxWaiting = 1_000
const maxEntries = 1_000
const maxSweeps = 50

interface Entry {
  moved: number
  readonly waiting: (() => void)[]
  closing: boolean
  age: number
  /** Since the last sweep; it is not asked for again before the next. */
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
  /** Until then nothing is accepted: other workers may hold its part. */
  #hasBegun: boolean
  #age = 0
  #isOver = false
  settled: (outcome: ShareOutcome) => void = () => {}

  /** The default is a single process that has all of every limit. */
  constructor({ slot, workers, send }: ShareParts = alone) {
    this.#slot = slot
    this.#workers = workers
    this.#send = send
    this.#hasBegun = workers === 1
  }

  begin(moved: readonly MovedShare[]): void {
    this.#hasBegun = true
    for (const [key, count] of moved) this.#entry(key).moved += count
    for (const entry of this.#entries.values()) this.#settle(entry, 'granted')
  }

  partOf(key: string, limit: number): number {
    if (this.#workers === 1) return limit
    if (!this.#hasBegun) return 0
    const moved = this.#entries.size === 0 ? 0 : (this.#entries.get(key)?.moved ?? 0)
    return evenShare(limit, this.#workers, this.#slot) + moved
  }

  surplus(key: string): number {
    return Math.max(0, this.#entries.get(key)?.moved ?? 0)
  }

  /** Calls `retry` once, with the reply or when it is late; false if asking is of no use now. */
  request(key: string, limit: number, closing: boolean, retry: () => void): boolean {
    if (this.#workers === 1 || this.#isOver || this.#waiting >= maxWaiting) return false
    if (!this.#entries.has(key) && this.#entries.size >= maxEntries) return false
    const entry = this.#entry(key)
    if (entry.denied === 'idle' || (entry.denied === 'free' && !closing)) return false
    this.#waiting++
    if (entry.waiting.push(retry) > 1) return true
    entry.closing = closing
    entry.age = 0
    if (!this.#hasBegun) return true
    // Most of the time many arrive together.
    const send = () => this.#send({ key, limit, closing, count: entry.waiting.length })
    setImmediate(guarded(send, () => this.#settle(entry, 'late')))
    return true
  }

  grant(key: string, count: number): void {
    const entry = this.#entry(key)
    entry.moved += count
    this.#settle(entry, count > 0 ? 'granted' : 'denied')
  }

  leave(key: string, count: number): void {
    if (count > 0) this.#entry(key).moved -= count
  }

  sweep(): void {
    if (!this.#hasBegun) return this.#awaitBegin()
    for (const [key, entry] of this.#entries) {
      if (entry.waiting.length > 0) {
        if (++entry.age > maxSweeps) this.#settle(entry, 'late')
        continue
      }
      entry.denied = 'nothing'
      if (entry.moved === 0) this.#entries.delete(key)
    }
  }

  close(): void {
    this.#isOver = true
    for (const entry of this.#entries.values()) this.#settle(entry, 'late')
  }

  #awaitBegin(): void {
    if (++this.#age > maxSweeps) this.begin([])
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
    const existing = this.#entries.get(key)
    if (existing !== undefined) return existing
    const entry: Entry = { moved: 0, waiting: [], closing: false, age: 0, denied: 'nothing' }
    this.#entries.set(key, entry)
    return entry
  }
}

const alone: ShareParts = { slot: 0, workers: 1, send: () => {} }
