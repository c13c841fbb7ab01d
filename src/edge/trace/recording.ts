// The steps and attempts of a sampled request, recorded for its spans.

import { randomHex } from '../../base/ids/random-hex.ts'
import type { OriginConfig } from '../../config/model/config.ts'
import type { ErrorName } from '../../errors/catalogue/catalogue.ts'

type AttemptedOrigin = Pick<OriginConfig, 'url' | 'host' | 'port'>

/** An attempt at an origin; it becomes a span of its own. */
export interface AttemptRecord {
  readonly spanId: string
  readonly origin: AttemptedOrigin
  /** Monotonic ms; `end` is 0 while it is under way. */
  readonly start: number
  end: number
  /** The status of a response that was not relayed to the client; 0 for none. */
  status: number
  /** The cause of a failure; null without one. */
  error: ErrorName | null
}

export class Recording {
  /** The latest step of the request. */
  step = ''
  /** Monotonic ms at which the request was admitted; 0 before. */
  admittedAt = 0
  readonly attempts: AttemptRecord[] = []

  /** Records an attempt that begins at monotonic ms `now`, and returns the id of its span. */
  beginAttempt(origin: AttemptedOrigin, now: number): string {
    this.#end(now)
    const spanId = randomHex(16)
    this.attempts.push({ spanId, origin, start: now, end: 0, status: 0, error: null })
    return spanId
  }

  /** Records an attempt that failed, perhaps before anything was sent. */
  recordFailure(origin: AttemptedOrigin, now: number, error: ErrorName): void {
    const last = this.attempts.at(-1)
    if (last === undefined || last.end !== 0) this.beginAttempt(origin, last?.end ?? (this.admittedAt || now))
    this.attempts.at(-1)!.error = error
    this.#end(now)
  }

  /** Records a response after which the request is retried. */
  recordRetriedResponse(status: number, now: number): void {
    const last = this.attempts.at(-1)
    if (last === undefined) return
    last.status = status
    this.#end(now)
  }

  #end(now: number): void {
    const last = this.attempts.at(-1)
    if (last !== undefined && last.end === 0) last.end = now
  }
}
