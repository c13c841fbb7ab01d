// Counts the events of the last so many ms in buckets, like the counters in Redis.

/** In a period; an event may count longer than the period by one bucket. */
const division = 60

export function bucketWidth(period: number): number {
  return Math.max(1, Math.ceil(period / division))
}

/** Buckets after its own in which an event still counts. */
export function bucketReach(period: number): number {
  return Math.ceil(period / bucketWidth(period))
}

/** The number of the newest bucket, and the counts of all in a ring. */
interface KeptWindow {
  readonly newest: number
  readonly counts: Int32Array
}

/** Counts events for a period and at most a sixtieth more, never less. */
export class SlidingWindow {
  readonly #width: number
  readonly #reach: number
  readonly #counts: Int32Array
  #newest: number
  #total: number

  constructor(period: number, state: KeptWindow | null = null) {
    this.#width = bucketWidth(period)
    this.#reach = bucketReach(period)
    this.#counts = state?.counts ?? new Int32Array(this.#reach + 1)
    this.#newest = state?.newest ?? 0
    this.#total = this.#counts.reduce((sum, count) => sum + count, 0)
  }

  get state(): KeptWindow {
    return { newest: this.#newest, counts: this.#counts }
  }

  count(now: number): number {
    this.#advance(now)
    return this.#total
  }

  /** A negative number takes some back. */
  add(now: number, events: number): void {
    this.#advance(now)
    this.#counts[this.#newest % this.#counts.length]! += events
    this.#total += events
  }

  /** Spreads events of unknown times evenly over the period before `now`. */
  spread(now: number, events: number): void {
    this.#advance(now)
    const { length } = this.#counts
    for (let i = 0; i < length; i++)
      this.#counts[i]! += Math.floor((events * (i + 1)) / length) - Math.floor((events * i) / length)
    this.#total += events
  }

  /** Ms until one more event fits under the limit; 0 if it does now. */
  wait(now: number, limit: number): number {
    this.#advance(now)
    let excess = this.#total + 1 - limit
    if (excess <= 0) return 0
    for (let bucket = this.#newest - this.#reach; bucket <= this.#newest; bucket++) {
      excess -= this.#counts[((bucket % this.#counts.length) + this.#counts.length) % this.#counts.length]!
      if (excess <= 0) return (bucket + this.#reach + 1) * this.#width - now
    }
    return (this.#newest + this.#reach + 1) * this.#width - now
  }

  /** A clock that was set back changes nothing. */
  #advance(now: number): void {
    const current = Math.floor(now / this.#width)
    const { length } = this.#counts
    if (current - this.#newest >= length) {
      this.#counts.fill(0)
      this.#total = 0
      this.#newest = current
    }
    while (this.#newest < current) {
      const slot = ++this.#newest % length
      this.#total -= this.#counts[slot]!
      this.#counts[slot] = 0
    }
  }
}
