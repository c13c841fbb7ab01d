// A bounded queue that drops its oldest items.

export interface Waiting {
  readonly count: number
  /** Bytes of memory, approximately. */
  readonly weight: number
  /** When its first entry was made, and its last, in ms since the epoch. */
  readonly earliest: number
  readonly latest: number
}

export interface Bounds {
  readonly maxEntries: number
  readonly maxBytes: number
}

export class Backlog<T extends Waiting> {
  count = 0
  readonly #bounds: Bounds
  readonly #items: T[] = []
  #weight = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /** Appends an item; returns the oldest ones that were dropped to make room. */
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

  /** Drops everything; returns the number of entries. */
  clear(): number {
    const { count } = this
    while (this.take() !== undefined) {}
    return count
  }

  /** Returns items to the front of the queue; returns those that were dropped. */
  putBack(item: T): readonly T[] {
    this.#items.unshift(item)
    return this.#added(item)
  }

  #added({ count, weight }: T): readonly T[] {
    const { maxEntries, maxBytes } = this.#bounds
    this.count += count
    this.#weight += weight
    const dropped: T[] = []
    while (this.count > maxEntries || this.#weight > maxBytes) dropped.push(this.take()!)
    return dropped
  }
}
