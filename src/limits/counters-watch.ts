// Whether the store can be asked to count, and the log of when it could not. limiter.ts looks before each question.
import type { Logger } from '../base/log.ts'
import { type Counters, StoreAway } from '../store/store.ts'

/** For how long nobody asks a store that has failed, in ms. */
const pause = 1_000
/** Ms between two lines that say that it is away. */
const quiet = 10_000

export class CountersWatch {
  readonly #counters: Counters
  readonly #log: Logger | null
  #outUntil = Number.NEGATIVE_INFINITY
  #quietUntil = Number.NEGATIVE_INFINITY
  #isTold = false

  constructor(counters: Counters, log: Logger | null) {
    this.#counters = counters
    this.#log = log
  }

  isOut(now: number): boolean {
    return now < this.#outUntil || this.#counters.isAway
  }

  /** Notes that the store has failed. */
  fail(now: number, error: unknown): void {
    this.#outUntil = now + pause
    if (!(error instanceof StoreAway)) this.#log?.error({ err: error }, 'rate limits could not be counted')
  }

  /** Notes that this process counts alone. */
  lose(now: number): void {
    if (this.#isTold || now < this.#quietUntil) return
    this.#isTold = true
    this.#quietUntil = now + quiet
    this.#log?.warn('the store does not count rate limits in time: this process counts alone')
  }

  /** Notes that the store has answered. */
  hear(): void {
    if (!this.#isTold) return
    this.#isTold = false
    this.#log?.info('rate limits are counted with the other processes again')
  }
}
