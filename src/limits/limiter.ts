// Counts requests against limits, here and with all who share the store. The edge asks once a request and rule.
import type { Clock } from '../base/clock.ts'

/** What a request may cost a key of a rule. */
export interface Spent {
  readonly isAllowed: boolean
  /** How many more fit now. */
  readonly remaining: number
  /** Ms until the next one fits, where it is not allowed; until the window is as good as empty, else. */
  readonly wait: number
}

export interface LimiterOptions {
  readonly clock: Clock
}

export class Limiter {
  constructor(_options: LimiterOptions) {}
}
