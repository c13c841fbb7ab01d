// The time of day in the hands of a test: it goes on as the system's does, so that a server's clock agrees, and can be moved ahead.
import type { Clock } from '../../src/base/clock.ts'

export class ContractClock implements Clock {
  #ahead = 0

  now(): number {
    return Date.now() + this.#ahead
  }

  monotonic(): number {
    return performance.now()
  }

  advance(ms: number): void {
    this.#ahead += ms
  }
}
