// What waits for its turn: the newest of it, within bounds. The queue fills and empties it.

export interface Waiting {
  /** How many entries it is, or will be. */
  readonly count: number
  /** Bytes of memory, about. */
  readonly weight: number
}

export interface Bounds {
  readonly mostEntries: number
  readonly mostBytes: number
}

export class Backlog<T extends Waiting> {
  /** How many entries wait. */
  count = 0
  readonly #bounds: Bounds
  readonly #items: T[] = []
  #weight = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /** Takes the newest; gives how many of the oldest entries had to go for it. */
  push(item: T): number {
    this.#items.push(item)
    return this.#added(item)
  }

  /** Hands out the oldest. */
  take(): T | undefined {
    const item = this.#items.shift()
    if (item === undefined) return undefined
    this.count -= item.count
    this.#weight -= item.weight
    return item
  }

  /** Lets go of everything; gives how many entries that were. */
  clear(): number {
    const { count } = this
    while (this.take() !== undefined) {}
    return count
  }

  /** Takes back what was handed out, as the oldest; gives how many entries had to go. */
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
