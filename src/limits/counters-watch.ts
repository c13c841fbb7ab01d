// Tracks whether the store can count, and logs when it cannot.

import type { Logger } from '../log/log.ts'
import { type Counters, StoreUnreachable } from '../store/contract/store.ts'

/** Min ms between two identical log lines. */
const quiet = 10_000

export class CountersWatch {
  readonly #counters: Counters
  readonly #log: Logger | null
  #isPaused = false
  /** The code of the last failure; null if there was none since the store counted in time. */
  #reason: string | null = null
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

  /** Starts a pause, in which one report at a time probes the store; without a reason, it was too slow. */
  pause(reason: string | null = null): void {
    this.#isPaused = true
    this.#reason = reason
  }

  fail(error: unknown): void {
    if (error instanceof StoreUnreachable) return this.pause(error.reason ?? error.state)
    this.pause('internal error')
    this.#log?.error({ err: error }, 'counting rate limits failed')
  }

  lose(now: number): void {
    if (this.#isLogged || now < this.#quietUntil) return
    this.#isLogged = true
    this.#quietUntil = now + quiet
    const reason = this.#reason ?? (this.isUnreachable ? 'store unreachable' : 'ETIMEDOUT')
    this.#log?.warn({ reason }, 'rate limits no longer shared with other processes, counting locally')
  }

  overflow(now: number, limit: string): void {
    if (now < this.#overflowQuietUntil) return
    this.#overflowQuietUntil = now + quiet
    this.#log?.warn({ limit }, 'too many new keys for a rate limit, counting them locally')
  }

  /** Only a reply that was fast enough for requests to wait for ends a pause. */
  hear(): void {
    this.#isPaused = false
    this.#reason = null
    if (!this.#isLogged) return
    this.#isLogged = false
    this.#log?.info('rate limits shared with other processes again')
  }
}
