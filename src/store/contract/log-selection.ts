// Selects a page of entries that come in any order, with little more than the page in memory.

import { comparePlaces, matches, placeOf } from './log-match.ts'
import type { LogSummary } from '../records/records.ts'
import type { LogPlace, LogQuery } from './store.ts'

/** Places beyond the page that are kept until the next sort. */
const spare = 1_000

export class LogSelection {
  total = 0
  readonly #query: LogQuery
  readonly #compare: (a: LogPlace, b: LogPlace) => number
  readonly #end: number
  #places: LogPlace[] = []

  constructor(query: LogQuery) {
    this.#query = query
    this.#compare = comparePlaces(query.descending)
    this.#end = query.offset + query.limit
  }

  add(entries: readonly LogSummary[]): void {
    const { filters, orderBy, after = null } = this.#query
    for (const entry of entries) {
      if (!matches(entry, filters)) continue
      this.total++
      const place = placeOf(entry, orderBy)
      if (after === null || this.#compare(after, place) < 0) this.#places.push(place)
    }
    if (this.#places.length > 2 * this.#end + spare) this.#cut()
  }

  page(): string[] {
    this.#cut()
    return this.#places.slice(this.#query.offset).map(({ id }) => id)
  }

  #cut(): void {
    this.#places = this.#places.sort(this.#compare).slice(0, this.#end)
  }
}
