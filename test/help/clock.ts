// A clock that stands still until a test moves it.

import type { Clock } from '../../src/base/clock.ts'

export class ManualClock implements Clock {
  #ms: number

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#ms = start
  }

  now(): number {
    return this.#ms
  }

  monotonic(): number {
    return this.#ms
  }

  advance(ms: number): void {
    this.#ms += ms
  }
}
