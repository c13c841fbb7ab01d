// What is noted of a sampled request while it is served, for its spans.

import { randomHex } from '../../base/ids/random-hex.ts'
import type { OriginConfig } from '../../config/model/config.ts'
import type { ErrorName } from '../../errors/catalogue/catalogue.ts'

type AttemptedOrigin = Pick<OriginConfig, 'url' | 'host' | 'port'>

/** An attempt at an origin, which is a span of its own. */
export interface AttemptNote {
  readonly spanId: string
  readonly origin: AttemptedOrigin
  /** Monotonic ms; `end` is 0 while it goes on. */
  readonly start: number
  end: number
  /** The status of a response that the client did not get; 0 for none. */
  status: number
  /** Why it failed; null where it did not. */
  error: ErrorName | null
}

export class Recording {
  /** The step that the request is at, or was refused at. */
  step = ''
  /** Monotonic ms at which the request was let through to its origin; 0 before. */
  admittedAt = 0
  readonly attempts: AttemptNote[] = []

  /** Takes note of an attempt that begins at `now`, and returns its span. */
  begin(origin: AttemptedOrigin, now: number): string {
    this.#end(now)
    const spanId = randomHex(16)
    this.attempts.push({ spanId, origin, start: now, end: 0, status: 0, error: null })
    return spanId
  }

  /** Takes note of an attempt that failed, perhaps before anything was sent. */
  failed(origin: AttemptedOrigin, now: number, error: ErrorName): void {
    const last = this.attempts.at(-1)
    if (last === undefined || last.end !== 0) this.begin(origin, last?.end ?? (this.admittedAt || now))
    this.attempts.at(-1)!.error = error
    this.#end(now)
  }

  /** Takes note of a response in whose place another attempt is made. */
  passedOver(status: number, now: number): void {
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
