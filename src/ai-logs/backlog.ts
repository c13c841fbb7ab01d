// Entries that are queued: the newest of them, within bounds.

export interface Waiting {
  /** How many entries it holds, or will hold. */
  readonly count: number
  /** Bytes of memory, approximately. */
  readonly weight: number
  /** When its first entry was made, and its last, in ms since the epoch. */
  readonly earliest: number
  readonly latest: number
}

export interface Bounds {
  readonly mostEntries: number
  readonly mostBytes: number
}

export class Backlog<T extends Waiting> {
  /** How many entries are queued. */
  count = 0
  readonly #bounds: Bounds
  readonly #items: T[] = []
  #weight = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /** Takes the newest; returns the oldest that were dropped for it. */
  push(item: T): readonly T[] {
    this.#items.push(item)
    return this.#added(item)
  }

  /** Removes and returns the oldest. */
  take(): T | undefined {
    const item = this.#items.shift()
    if (item === undefined) return undefined
    this.count -= item.count
    this.#weight -= item.weight
    return item
  }

  /** Drops everything; returns how many entries that were. */
  clear(): number {
    const { count } = this
    while (this.take() !== undefined) {}
    return count
  }

  /** Takes back what was removed, as the oldest; returns what was dropped. */
  putBack(item: T): readonly T[] {
    this.#items.unshift(item)
    return this.#added(item)
  }

  #added({ count, weight }: T): readonly T[] {
    const { mostEntries, mostBytes } = this.#bounds
    this.count += count
    this.#weight += weight
    const dropped: T[] = []
    while (this.count > mostEntries || this.#weight > mostBytes) dropped.push(this.take()!)
    return dropped
  }
}
