// What the store still has to be told of counts, and when.

import type { Clock } from '../base/clock.ts'
import type { CountersWatch } from './counters-watch.ts'
import type { KeyCount } from './key-count.ts'

/** Ms between two looks at what still has to be told, and how long it may wait when nothing else tells it. */
const sweepPeriod = 1_000
const longestUntold = 5_000

export class Reports {
  readonly #tell: (count: KeyCount) => Promise<unknown>
  readonly #watch: CountersWatch
  readonly #clock: Clock
  #listed: KeyCount[] = []
  #sweeper: NodeJS.Timeout | undefined

  /** Takes what tells the store of a count, and never rejects. */
  constructor(tell: (count: KeyCount) => Promise<unknown>, watch: CountersWatch, clock: Clock) {
    this.#tell = tell
    this.#watch = watch
    this.#clock = clock
  }

  /** Sees to it that what a count has to tell is told some time. */
  list(count: KeyCount): void {
    if (count.isListed) return
    count.isListed = true
    this.#listed.push(count)
    this.#sweeper ??= setInterval(() => this.#sweep(), sweepPeriod).unref()
  }

  /** Sends what a count has to report now. */
  async send(count: KeyCount): Promise<void> {
    if (count.untold !== 0) await this.#sendEven(count)
  }

  /** Sees to it that what was taken back, and keeps others out, is told at the end of this turn. */
  sendSoon(count: KeyCount): void {
    this.list(count)
    if (this.#watch.isOut || count.untold >= 0 || count.isReporting) return
    count.isReporting = true
    setImmediate(() => this.#sendEven(count))
  }

  /** Finds out whether a pause is over. */
  async probe(count: KeyCount): Promise<void> {
    if (!count.isReporting) await this.#sendEven(count)
  }

  /** Ends with telling all that is listed. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper)
    if (!this.#watch.isOut) await Promise.all(this.#listed.map(count => this.send(count)))
  }

  #sweep(): void {
    const now = this.#clock.monotonic()
    if (this.#watch.isOut) {
      this.#try()
      return
    }
    const listed = this.#listed
    this.#listed = []
    for (const count of listed) {
      count.isListed = false
      if (count.untoldFor(now) < Math.min(longestUntold, count.limit.period / 10)) this.list(count)
      else void this.send(count)
    }
  }

  /** A process that counts locally has listed something. */
  #try(): void {
    const [count] = this.#listed
    if (count !== undefined && !this.#watch.isUnreachable) void this.probe(count)
  }

  /** Reports to the store of a count that has nothing new, too. */
  async #sendEven(count: KeyCount): Promise<void> {
    count.isReporting = true
    await this.#tell(count)
    count.isReporting = false
  }
}
