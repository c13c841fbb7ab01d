// Tracks whether the store can count, and logs when it cannot.

import type { Logger } from '../log/log.ts'
import { type Counters, StoreUnreachable } from '../store/contract/store.ts'

/** Min ms between two identical log lines. */
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

  get isUnreachable(): boolean {
    return this.#counters.isUnreachable
  }

  get isOut(): boolean {
    return this.#isPaused || this.isUnreachable
  }

  /** Starts a pause, during which one report at a time probes the store. */
  pause(): void {
    this.#isPaused = true
  }

  fail(error: unknown): void {
    this.pause()
    if (!(error instanceof StoreUnreachable)) this.#log?.error({ err: error }, 'counting rate limits failed')
  }

  lose(now: number): void {
    if (this.#isLogged || now < this.#quietUntil) return
    this.#isLogged = true
    this.#quietUntil = now + quiet
    this.#log?.warn('rate limit store too slow or unreachable, counting locally')
  }

  overflow(now: number, limit: string): void {
    if (now < this.#overflowQuietUntil) return
    this.#overflowQuietUntil = now + quiet
    this.#log?.warn({ limit }, 'too many new keys for a rate limit, counting them locally')
  }

  /** Only a reply that was fast enough for requests to wait for ends a pause. */
  hear(): void {
    this.#isPaused = false
    if (!this.#isLogged) return
    this.#isLogged = false
    this.#log?.info('rate limits shared with other processes again')
  }
}
