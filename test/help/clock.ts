// Time in the hands of a test: a clock that stands still until it is moved, and timers that are.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
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

/** Ms between two looks at the time, and the most that it goes on at one of them. */
const beat = 10
const step = 25

/** Time that stands still while the process does, so that on a busy machine nobody is late who was in time. */
export class HaltingClock implements Clock {
  #readAt = performance.now()
  #ms = this.#readAt

  constructor(t: TestContext) {
    const timer = setInterval(() => this.monotonic(), beat)
    t.after(() => clearInterval(timer))
  }

  now(): number {
    return Date.now()
  }

  monotonic(): number {
    const now = performance.now()
    this.#ms += Math.min(now - this.#readAt, step)
    this.#readAt = now
    return this.#ms
  }
}

/** Settings of an edge whose clock leaps: no connection is cut off for it. */
export const patient = {
  client: {
    headerTimeout: Number.MAX_SAFE_INTEGER,
    bodyRate: 0,
    responseRate: 0,
    keepAlive: Number.MAX_SAFE_INTEGER,
  },
  timeouts: { connect: 0, handshake: 0, response: 0, write: 0, idle: 0, total: 0 },
} as const

/** Moves mocked timers second by second until it holds, and tells how many that took; what sockets bring meanwhile is waited for. */
export async function secondsUntil(t: TestContext, holds: () => boolean): Promise<number> {
  for (let second = 0; second < 1_000; second++) {
    for (let turn = 0; turn < 50; turn++) {
      if (holds()) return second
      await new Promise(setImmediate)
    }
    t.mock.timers.tick(1_000)
  }
  return assert.fail('it does not hold after 1,000 s')
}
