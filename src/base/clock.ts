// The two clocks of the gateway, passed in wherever time matters so that tests can control it.

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
