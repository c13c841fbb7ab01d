// Entries that are queued: the newest of them, within bounds.

export interface Waiting {
  /** How many entries it holds, or will hold. */
  readonly count: number
  /** Bytes of memory, approximately. */
  readonly weight: number
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

  /** Takes the newest; returns how many of the oldest entries were dropped for it. */
  push(item: T): number {
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

  /** Takes back what was removed, as the oldest; returns how many entries were dropped. */
  putBack(item: T): number {
    this.#items.unshift(item)
    return this.#added(item)
  }

  #added({ count, weight }: T): number {
    const { mostEntries, mostBytes } = this.#bounds
    this.count += count
    this.#weight += weight
    const before = this.count
    while (this.count > mostEntries || this.#weight > mostBytes) this.take()
    return before - this.count
  }
}
