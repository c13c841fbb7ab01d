// Counts of errors, rules and limits in one process: bounded in memory, and handed over about once a second,
// so that a flood of refusals stays cheap.

import type { Clock } from '../base/clock.ts'
import { isZoneScope, zoneScope } from './tally-scopes.ts'
import {
  maxOccurrences,
  type Occurrence,
  slotOf,
  type Tally,
  type TallyKind,
} from '../store/records/tally.ts'

/** Time from the first count to the handover of all, in ms. */
const period = 1_000
/** The maximum number of names, and of occurrences in total, per handover; the rest are not counted. */
const maxCounted = 10_000
const maxSamples = 400
/** The maximum number of counters kept by name. */
const maxCounters = 20_000

export class TallyScope {
  readonly #book: TallyBook
  readonly #scope: string
  readonly #counters = new Map<TallyKind, Map<string, TallyCounter>>()
  readonly #errors = new Map<number, TallyCounter>()
  /** The last counted error: in a flood, the next one is the same. */
  #code = -1
  #error: TallyCounter | null = null
  #last: TallyCounter | null = null

  constructor(book: TallyBook, scope: string) {
    this.#book = book
    this.#scope = scope
  }

  counter(kind: TallyKind, name: string): TallyCounter {
    const last = this.#last
    if (last !== null && last.what.name === name && last.what.kind === kind) return last
    const existing = this.#counters.get(kind)?.get(name)
    if (existing !== undefined) return (this.#last = existing)
    const counter = this.#make(kind, name)
    const counters = this.#counters.get(kind) ?? new Map<string, TallyCounter>()
    this.#counters.set(kind, counters.set(name, counter))
    return counter
  }

  error(code: number): TallyCounter {
    if (code === this.#code) return this.#error!
    let counter = this.#errors.get(code)
    if (counter === undefined) this.#errors.set(code, (counter = this.#make('error', String(code))))
    this.#code = code
    this.#error = counter
    return counter
  }

  clear(): void {
    this.#counters.clear()
  }

  #make(kind: TallyKind, name: string): TallyCounter {
    this.#book.noteCounter()
    return new TallyCounter(this.#book, { kind, scope: this.#scope, name })
  }
}

export class TallyCounter {
  readonly what: Pick<Tally, 'kind' | 'scope' | 'name'>
  readonly #book: TallyBook
  #count = 0
  #occurrences: Occurrence[] = []

  constructor(book: TallyBook, what: TallyCounter['what']) {
    this.#book = book
    this.what = what
  }

  inc(): void {
    this.add(1)
  }

  add(count: number): void {
    if (this.#count === 0 && !this.#book.list(this)) return
    this.#count += count
  }

  /**
   * Whether an occurrence of the last counted event should be added: the first ones before each handover are.
   */
  get wantsOccurrence(): boolean {
    return this.#occurrences.length < maxOccurrences && this.#count > 0 && this.#book.hasRoom
  }

  addOccurrence(occurrence: Occurrence): void {
    this.#occurrences.push(occurrence)
    this.#book.noteOccurrence()
  }

  take(now: number): Tally {
    const [count, occurrences] = [this.#count, this.#occurrences]
    this.#count = 0
    this.#occurrences = []
    return { ...this.what, slot: slotOf(this.what.kind, now), count, last: now, occurrences }
  }
}

export class TallyBook {
  readonly #clock: Clock
  readonly #send: (tallies: readonly Tally[]) => unknown
  readonly #scopes = new Map<string, TallyScope>()
  #listed: TallyCounter[] = []
  #samples = 0
  #counterCount = 0
  #timer: NodeJS.Timeout | null = null

  /** `send` hands tallies over; it must neither throw nor reject. */
  constructor(clock: Clock, send: (tallies: readonly Tally[]) => unknown) {
    this.#clock = clock
    this.#send = send
  }

  /** Returns a scope, always the same object for the same name. */
  scope(name: string): TallyScope {
    let scope = this.#scopes.get(name)
    if (scope === undefined) this.#scopes.set(name, (scope = new TallyScope(this, name)))
    return scope
  }

  /** Forgets the scopes of zones that a reload removed; requests in progress still count in theirs. */
  keepZones(names: ReadonlySet<string>): void {
    const wanted = new Set([...names].map(zoneScope))
    for (const name of this.#scopes.keys())
      if (isZoneScope(name) && !wanted.has(name)) this.#scopes.delete(name)
  }

  get hasRoom(): boolean {
    return this.#samples < maxSamples
  }

  noteOccurrence(): void {
    this.#samples++
  }

  /** Includes a counter in the next handover; returns false if there are too many. */
  list(counter: TallyCounter): boolean {
    if (this.#listed.length === maxCounted) return false
    this.#listed.push(counter)
    this.#timer ??= setTimeout(() => this.flush(), period).unref()
    return true
  }

  /** Records that a counter was created: names of gateways and rules come and go. */
  noteCounter(): void {
    if (++this.#counterCount <= maxCounters) return
    this.#counterCount = 0
    for (const scope of this.#scopes.values()) scope.clear()
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#listed.length === 0) return
    const now = this.#clock.now()
    const tallies = this.#listed.map(counter => counter.take(now))
    this.#listed = []
    this.#samples = 0
    void this.#send(tallies)
  }
}
