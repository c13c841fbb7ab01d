// How many requests of a pool may be sent again: a share of them, so that retries can't multiply the load on a pool that is failing.

import type { Clock } from '../base/clock.ts'

/** Ms over which requests and retries are weighed against each other. */
const window = 10_000
/** Retries in a window that need no share, so that a pool of little traffic has some too. */
const free = 10

export class RetryBudget {
  readonly #share: number
  readonly #clock: Clock
  #since: number
  #requests = 0
  #retries = 0

  /** Takes the share of requests that may be retried, 0 (none at all) to 1. */
  constructor(share: number, clock: Clock) {
    this.#share = share
    this.#clock = clock
    this.#since = clock.monotonic()
  }

  /** Returns a budget of the same counts, apart from this one. */
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

  /** Takes one retry out of the budget; false when it is spent. */
  spend(): boolean {
    if (this.#share === 0) return false
    this.#forget(this.#clock.monotonic())
    if (this.#retries + 1 > free + this.#share * this.#requests) return false
    this.#retries++
    return true
  }

  /** Cuts what was counted for longer than the window down to what one window had of it on average: no clock is read where nothing fails. */
  #forget(now: number): void {
    const elapsed = now - this.#since
    if (elapsed <= window) return
    this.#requests *= window / elapsed
    this.#retries *= window / elapsed
    this.#since = now - window
  }
}
