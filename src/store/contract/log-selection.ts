// The page that a query asks for, of entries that come in any order. Only the places of those are kept that come before its end, in a heap whose root is the last one:
// each that comes costs little, and nothing is ever sorted as a whole. They lie in typed arrays, since a hundred thousand objects that live on would hold up the
// process whenever memory is collected.

import { comparePlaces, compareLogValues, matches, placeOf } from './log-match.ts'
import type { LogSummary } from '../records/records.ts'
import type { LogPlace, LogQuery } from './store.ts'

/** An entry of the page: its id, and what was said of it when it came. */
interface Selected {
  readonly id: string
  readonly origin: number
}

/** Places to begin with. */
const smallest = 256

export class LogSelection {
  readonly #query: LogQuery
  readonly #compare: (a: LogPlace, b: LogPlace) => number
  readonly #turn: 1 | -1
  readonly #wanted: number
  #total = 0
  /** Of each place what it is ordered by, as a number (the absent before all others) or as one of the texts; creation; both halves of the id; origin. */
  #numbers = new Float64Array(smallest)
  #times = new Float64Array(smallest)
  #high = new Uint32Array(smallest)
  #low = new Uint32Array(smallest)
  #origins = new Uint32Array(smallest)
  readonly #texts: string[] = []
  readonly #numberOf = new Map<string, number>()
  #isText = false
  /** Numbers of places, each later than both that stand below it. */
  #heap = new Uint32Array(smallest)
  #size = 0
  /** Where the next one is written. */
  #free = 0

  constructor(query: LogQuery) {
    this.#query = query
    this.#compare = comparePlaces(query.descending)
    this.#turn = query.descending ? -1 : 1
    this.#wanted = query.offset + query.limit
  }

  /** How many entries have matched the filters. */
  get total(): number {
    return this.#total
  }

  /** Takes an entry that matches the filters. */
  add(entries: readonly LogSummary[], origin = 0): void {
    const { filters, orderBy, after = null } = this.#query
    for (const entry of entries) {
      if (!matches(entry, filters)) continue
      this.#total++
      const place = placeOf(entry, orderBy)
      if (after === null || this.#compare(after, place) < 0) this.#keep(place, origin)
    }
  }

  /** Returns the page; can be called once, since it releases the memory. */
  take(): readonly Selected[] {
    const page: Selected[] = []
    while (this.#size > this.#query.offset) {
      const slot = this.#heap[0]!
      page.push({ id: hex(this.#high[slot]!) + hex(this.#low[slot]!), origin: this.#origins[slot]! })
      this.#size--
      this.#sink(this.#heap[this.#size]!)
    }
    return page.reverse()
  }

  #keep(place: LogPlace, origin: number): void {
    if (this.#wanted === 0) return
    const slot = this.#free
    if (slot === this.#times.length) this.#grow()
    this.#write(slot, place, origin)
    if (this.#size < this.#wanted) {
      this.#rise(slot, this.#size++)
      this.#free = this.#size
    } else if (this.#isLater(this.#heap[0]!, slot)) {
      // The root makes room, and the next one is written over it.
      this.#free = this.#heap[0]!
      this.#sink(slot)
    }
  }

  #write(slot: number, { value, createdAt, id }: LogPlace, origin: number): void {
    this.#numbers[slot] =
      value === null ? -Infinity : typeof value === 'string' ? this.#textOf(value) : +value
    this.#times[slot] = createdAt
    this.#high[slot] = Number.parseInt(id.slice(0, 8), 16)
    this.#low[slot] = Number.parseInt(id.slice(8), 16)
    this.#origins[slot] = origin
  }

  #textOf(text: string): number {
    this.#isText = true
    let number = this.#numberOf.get(text)
    if (number === undefined) {
      number = this.#texts.push(text) - 1
      this.#numberOf.set(text, number)
    }
    return number
  }

  #rise(slot: number, from: number): void {
    const heap = this.#heap
    let at = from
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!this.#isLater(slot, heap[above]!)) break
      heap[at] = heap[above]!
      at = above
    }
    heap[at] = slot
  }

  /** Puts an entry at the root, and sifts it down to its place. */
  #sink(slot: number): void {
    const heap = this.#heap
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below + 1 < this.#size && this.#isLater(heap[below + 1]!, heap[below]!)) below++
      if (below >= this.#size || !this.#isLater(heap[below]!, slot)) break
      heap[at] = heap[below]!
      at = below
    }
    heap[at] = slot
  }

  #isLater(a: number, b: number): boolean {
    const order =
      this.#orderOfValues(this.#numbers[a]!, this.#numbers[b]!) ||
      this.#times[a]! - this.#times[b]! ||
      this.#high[a]! - this.#high[b]! ||
      this.#low[a]! - this.#low[b]!
    return order * this.#turn > 0
  }

  #orderOfValues(a: number, b: number): number {
    if (a === b) return 0
    if (!this.#isText || a === -Infinity || b === -Infinity) return a < b ? -1 : 1
    return compareLogValues(this.#texts[a]!, this.#texts[b]!)
  }

  #grow(): void {
    this.#numbers = doubled(this.#numbers, Float64Array)
    this.#times = doubled(this.#times, Float64Array)
    this.#high = doubled(this.#high, Uint32Array)
    this.#low = doubled(this.#low, Uint32Array)
    this.#origins = doubled(this.#origins, Uint32Array)
    this.#heap = doubled(this.#heap, Uint32Array)
  }
}

function doubled<T extends Float64Array | Uint32Array>(array: T, Kind: new (length: number) => T): T {
  const larger = new Kind(2 * array.length)
  larger.set(array)
  return larger
}

function hex(half: number): string {
  return half.toString(16).padStart(8, '0')
}
