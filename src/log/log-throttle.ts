// Limits warnings that could occur a thousand times a second to one a minute each.

import type { Clock } from '../base/clock.ts'
import type { Logger } from './log.ts'

const quiet = 60_000

export class LogThrottle {
  readonly #log: Logger
  readonly #clock: Clock
  readonly #warnings = new Map<string, { quietUntil: number; count: number }>()

  constructor(log: Logger, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  /** `count` in the line is the number of occurrences since the last one. */
  warn(key: string, facts: object, message: string): void {
    let warning = this.#warnings.get(key)
    if (warning === undefined)
      this.#warnings.set(key, (warning = { quietUntil: Number.NEGATIVE_INFINITY, count: 0 }))
    warning.count++
    const now = this.#clock.monotonic()
    if (now < warning.quietUntil) return
    this.#log.warn({ ...facts, count: warning.count }, message)
    warning.quietUntil = now + quiet
    warning.count = 0
  }
}
