// The steps and attempts of a sampled request, recorded for its spans.

import { randomHex } from '../../base/ids/random-hex.ts'
import type { OriginConfig } from '../../config/model/config.ts'
import type { ErrorName } from '../../errors/catalogue/catalogue.ts'

type AttemptedOrigin = Pick<OriginConfig, 'url' | 'host' | 'port'>

export interface AttemptRecord {
  readonly spanId: string
  readonly origin: AttemptedOrigin
  /** Monotonic ms; `end` is 0 while it is under way. */
  readonly start: number
  end: number
  /** 0 for a response that was relayed, or none. */
  status: number
  error: ErrorName | null
}

export class Recording {
  step = ''
  /** Monotonic ms; 0 before. */
  admittedAt = 0
  readonly attempts: AttemptRecord[] = []
  /** Monotonic ms at which each attempt of an AI call's ledger had its first content, or failed. */
  readonly callAttemptTimes: number[] = []

  beginAttempt(origin: AttemptedOrigin, now: number): string {
    this.#end(now)
    const spanId = randomHex(16)
    this.attempts.push({ spanId, origin, start: now, end: 0, status: 0, error: null })
    return spanId
  }

  /** It may have failed before anything was sent. */
  recordFailure(origin: AttemptedOrigin, now: number, error: ErrorName): void {
    const last = this.attempts.at(-1)
    if (last === undefined || last.end !== 0) this.beginAttempt(origin, last?.end ?? (this.admittedAt || now))
    this.attempts.at(-1)!.error = error
    this.#end(now)
  }

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
