// What happened in the last so many ms, counted in buckets. The limiter counts alone with it, the store in SQLite keeps it; counters of Redis reckon alike.

/** Into how many buckets a period is divided: what an event may count longer than the period, as a part of it. */
const division = 60

/** Returns the ms of one bucket. */
export function bucketWidth(period: number): number {
  return Math.max(1, Math.ceil(period / division))
}

/** Returns how many buckets after its own an event still counts. */
export function bucketReach(period: number): number {
  return Math.ceil(period / bucketWidth(period))
}

/** A window as it can be kept: the number of its newest bucket, and the count of each in a ring. */
interface KeptWindow {
  readonly newest: number
  readonly counts: Int32Array
}

/** Counts events for a period and at most a sixtieth more, never less: a bucket counts until the last moment of it is a period ago. */
export class SlidingWindow {
  readonly #width: number
  readonly #reach: number
  readonly #counts: Int32Array
  #newest: number
  #total: number

  /** Goes on with what was kept, of a window of the same period. */
  constructor(period: number, kept: KeptWindow | null = null) {
    this.#width = bucketWidth(period)
    this.#reach = bucketReach(period)
    this.#counts = kept?.counts ?? new Int32Array(this.#reach + 1)
    this.#newest = kept?.newest ?? 0
    this.#total = this.#counts.reduce((sum, count) => sum + count, 0)
  }

  get kept(): KeptWindow {
    return { newest: this.#newest, counts: this.#counts }
  }

  /** Returns how many events count at `now`. */
  count(now: number): number {
    this.#advance(now)
    return this.#total
  }

  /** Counts events; a negative number takes some back. */
  add(now: number, events: number): void {
    this.#advance(now)
    this.#counts[this.#newest % this.#counts.length]! += events
    this.#total += events
  }

  /** Counts events of the period before `now` of which nobody knows when they were: evenly. */
  spread(now: number, events: number): void {
    this.#advance(now)
    const { length } = this.#counts
    for (let i = 0; i < length; i++)
      this.#counts[i]! += Math.floor((events * (i + 1)) / length) - Math.floor((events * i) / length)
    this.#total += events
  }

  /** Returns in how many ms one more event fits under the limit; 0 when it does now. */
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

  /** Lets go of buckets that no longer count; a clock that was put back leaves all as it is. */
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
