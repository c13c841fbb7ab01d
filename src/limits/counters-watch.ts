// Whether the store can be asked to count, and the log of when it could not.

import type { Logger } from '../log/log.ts'
import { type Counters, StoreUnreachable } from '../store/store.ts'

/** Ms between two lines that say the same. */
const quiet = 10_000

export class CountersWatch {
  readonly #counters: Counters
  readonly #log: Logger | null
  #isPaused = false
  #quietUntil = Number.NEGATIVE_INFINITY
  #isTold = false
  #overflowQuietUntil = Number.NEGATIVE_INFINITY

  constructor(counters: Counters, log: Logger | null) {
    this.#counters = counters
    this.#log = log
  }

  /** Whether the store itself says that it is out of reach. */
  get isUnreachable(): boolean {
    return this.#counters.isUnreachable
  }

  /** Whether no request should wait for it. */
  get isOut(): boolean {
    return this.#isPaused || this.isUnreachable
  }

  /** Begins a pause, in which one report at a time tries it: it has failed, or has let a request wait for too long. */
  pause(): void {
    this.#isPaused = true
  }

  /** Notes that the store has failed. */
  fail(error: unknown): void {
    this.pause()
    if (!(error instanceof StoreUnreachable)) this.#log?.error({ err: error }, 'counting rate limits failed')
  }

  /** Notes that this process counts alone. */
  lose(now: number): void {
    if (this.#isTold || now < this.#quietUntil) return
    this.#isTold = true
    this.#quietUntil = now + quiet
    this.#log?.warn('rate limit store too slow or unreachable, counting locally')
  }

  /** Notes that a limit has more new keys than the store is told of. */
  overflow(now: number, limit: string): void {
    if (now < this.#overflowQuietUntil) return
    this.#overflowQuietUntil = now + quiet
    this.#log?.warn({ limit }, 'too many new keys for a rate limit, counting them locally')
  }

  /** Notes an answer for which a request could have waited; only that ends a pause. */
  hear(): void {
    this.#isPaused = false
    if (!this.#isTold) return
    this.#isTold = false
    this.#log?.info('rate limits shared with other processes again')
  }
}
