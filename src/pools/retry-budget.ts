// Limits the retries of a pool to a share of its requests, so that they cannot multiply the load on a failing
// pool.

import type { Clock } from '../base/clock.ts'

/** The period in which requests and retries are compared, in ms. */
const window = 10_000
/** Retries per period that need no share, so that a pool with little traffic has some, too. */
const free = 10

export class RetryBudget {
  readonly #share: number
  readonly #clock: Clock
  #since: number
  #requests = 0
  #retries = 0

  /** `share` is the share of requests that may be retried, from 0 (none at all) to 1. */
  constructor(share: number, clock: Clock) {
    this.#share = share
    this.#clock = clock
    this.#since = clock.monotonic()
  }

  copy(): RetryBudget {
    const copy = new RetryBudget(this.#share, this.#clock)
    copy.#since = this.#since
    copy.#requests = this.#requests
    copy.#retries = this.#retries
    return copy
  }

  /** Counts a request, which earns its share of a retry. */
  earn(): void {
    this.#requests++
  }

  /** Takes one retry from the budget; false if it is exhausted. */
  spend(): boolean {
    if (this.#share === 0) return false
    this.#forget(this.#clock.monotonic())
    if (this.#retries + 1 > free + this.#share * this.#requests) return false
    this.#retries++
    return true
  }

  /** Reduces counts from a longer time to the average of one period: no clock is read while nothing fails. */
  #forget(now: number): void {
    const elapsed = now - this.#since
    if (elapsed <= window) return
    this.#requests *= window / elapsed
    this.#retries *= window / elapsed
    this.#since = now - window
  }
}
