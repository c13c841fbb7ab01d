// The two clocks of the gateway, passed in wherever time matters so that tests can control it.

// The global of this name is looked up by a getter each time.
import { performance } from 'node:perf_hooks'

export interface Clock {
  /** Ms since the epoch. */
  now(): number
  /** Ms with fractions that never go back; only differences are meaningful. */
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}
