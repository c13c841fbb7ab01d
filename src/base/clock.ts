// The two clocks of the gateway, passed in wherever time matters so that tests can move it.

export interface Clock {
  /** Returns the time of day, in ms since the epoch. */
  now(): number
  /** Returns a time that never goes back, in ms with fractions; only differences mean anything. */
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}
