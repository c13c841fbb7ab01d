// Tracks whether the store can count, and logs when it cannot.

import type { Logger } from '../log/log.ts'
import { type Counters, StoreUnreachable } from '../store/contract/store.ts'

/** The shortest time between two identical log lines, in ms. */
const quiet = 10_000

export class CountersWatch {
  readonly #counters: Counters
  readonly #log: Logger | null
  #isPaused = false
  #quietUntil = Number.NEGATIVE_INFINITY
  #isLogged = false
  #overflowQuietUntil = Number.NEGATIVE_INFINITY

  constructor(counters: Counters, log: Logger | null) {
    this.#counters = counters
    this.#log = log
  }

  /** Whether the store itself reports that it is unreachable. */
  get isUnreachable(): boolean {
    return this.#counters.isUnreachable
  }

  /** Whether requests must not wait for the store. */
  get isOut(): boolean {
    return this.#isPaused || this.isUnreachable
  }

  /** Starts a pause after a failure, or after a request had to wait too long; during it one report at a time probes the store. */
  pause(): void {
    this.#isPaused = true
  }

  /** Records that the store failed. */
  fail(error: unknown): void {
    this.pause()
    if (!(error instanceof StoreUnreachable)) this.#log?.error({ err: error }, 'counting rate limits failed')
  }

  /** Records that this process counts locally. */
  lose(now: number): void {
    if (this.#isLogged || now < this.#quietUntil) return
    this.#isLogged = true
    this.#quietUntil = now + quiet
    this.#log?.warn('rate limit store too slow or unreachable, counting locally')
  }

  /** Records that a limit has more new keys than are reported to the store. */
  overflow(now: number, limit: string): void {
    if (now < this.#overflowQuietUntil) return
    this.#overflowQuietUntil = now + quiet
    this.#log?.warn({ limit }, 'too many new keys for a rate limit, counting them locally')
  }

  /** Records a reply that was fast enough for requests to wait for, which is all that ends a pause. */
  hear(): void {
    this.#isPaused = false
    if (!this.#isLogged) return
    this.#isLogged = false
    this.#log?.info('rate limits shared with other processes again')
  }
}
