// What waits for the store: the newest of it, within bounds. The queue fills and empties it.

import type { Gateway, LogEntry } from '../store/records.ts'
import type { Observation } from './observation.ts'

/** What is left of a call: its observation, and then its entry in place of it, since bodies are large. */
export interface Waiting {
  readonly gateway: Gateway
  /** Bytes of memory, about. */
  readonly weight: number
  observation: Observation | null
  entry: LogEntry | null
}

export interface Bounds {
  readonly mostEntries: number
  readonly mostBytes: number
}

export class Backlog {
  readonly #bounds: Bounds
  #items: Waiting[] = []
  #weight = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  get length(): number {
    return this.#items.length
  }

  /** Takes the newest; gives how many of the oldest had to go for it. */
  push(item: Waiting): number {
    this.#items.push(item)
    this.#weight += item.weight
    return this.#trim()
  }

  /** Hands out the oldest. */
  take(count: number): Waiting[] {
    const taken = this.#items.splice(0, count)
    for (const { weight } of taken) this.#weight -= weight
    return taken
  }

  /** Takes back what was handed out, as the oldest; gives how many had to go. */
  putBack(items: readonly Waiting[]): number {
    this.#items = [...items, ...this.#items]
    for (const { weight } of items) this.#weight += weight
    return this.#trim()
  }

  #trim(): number {
    const { mostEntries, mostBytes } = this.#bounds
    let dropped = 0
    while (this.#items.length > mostEntries || (this.#weight > mostBytes && this.#items.length > 0)) {
      this.#weight -= this.#items.shift()!.weight
      dropped++
    }
    return dropped
  }
}
