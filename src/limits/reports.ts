// Schedules the reports of counts to the store.

import type { Clock } from '../base/clock.ts'
import type { CountersWatch } from './counters-watch.ts'
import type { KeyCount } from './key-count.ts'

/** Ms between two checks for pending reports, and the maximum delay of a report. */
const sweepPeriod = 1_000
const maxDelay = 5_000

export class Reports {
  readonly #report: (count: KeyCount) => Promise<unknown>
  readonly #watch: CountersWatch
  readonly #clock: Clock
  #listed: KeyCount[] = []
  #sweeper: NodeJS.Timeout | undefined

  /** `report` never rejects. */
  constructor(report: (count: KeyCount) => Promise<unknown>, watch: CountersWatch, clock: Clock) {
    this.#report = report
    this.#watch = watch
    this.#clock = clock
  }

  list(count: KeyCount): void {
    if (count.isListed) return
    count.isListed = true
    this.#listed.push(count)
    this.#sweeper ??= setInterval(() => this.#sweep(), sweepPeriod).unref()
  }

  async send(count: KeyCount): Promise<void> {
    if (count.unreported !== 0) await this.#sendEven(count)
  }

  /** Reports requests that were taken back at the end of this turn, since they keep others out. */
  sendSoon(count: KeyCount): void {
    this.list(count)
    if (this.#watch.isOut || count.unreported >= 0 || count.isReporting) return
    count.isReporting = true
    setImmediate(() => this.#sendEven(count))
  }

  async probe(count: KeyCount): Promise<void> {
    if (!count.isReporting) await this.#sendEven(count)
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper)
    if (!this.#watch.isOut) await Promise.all(this.#listed.map(count => this.send(count)))
  }

  #sweep(): void {
    const now = this.#clock.monotonic()
    if (this.#watch.isOut) {
      const [count] = this.#listed
      if (count !== undefined && !this.#watch.isUnreachable) void this.probe(count)
      return
    }
    const listed = this.#listed
    this.#listed = []
    for (const count of listed) {
      count.isListed = false
      if (count.unreportedFor(now) < Math.min(maxDelay, count.limit.period / 10)) this.list(count)
      else void this.send(count)
    }
  }

  async #sendEven(count: KeyCount): Promise<void> {
    count.isReporting = true
    await this.#report(count)
    count.isReporting = false
    if (count.unreported < 0) this.sendSoon(count)
  }
}
