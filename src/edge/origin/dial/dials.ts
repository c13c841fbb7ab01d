// The dials in progress to one origin: as many as requests wait, or one at a time while the origin is down.

import type { Clock } from '../../../base/clock.ts'
import type { Timeouts } from '../../../config/model/config.ts'
import type { Failure } from '../../../errors/catalogue/origin-failure.ts'
import { Dial, type Dialer } from './dial.ts'

export class Dials {
  readonly #dialer: Dialer
  readonly #clock: Clock
  readonly #dials = new Set<Dial>()
  /** Then one dial at a time decides for all that wait. */
  #isDown = false

  constructor(dialer: Dialer, clock: Clock) {
    this.#dialer = dialer
    this.#clock = clock
  }

  get size(): number {
    return this.#dials.size
  }

  worth(requests: number): number {
    return this.#isDown ? Math.min(1, requests) : requests
  }

  start(timeouts: Timeouts): void {
    const dial = new Dial(this.#dialer, timeouts, this.#clock)
    this.#dials.add(dial)
    dial.start()
  }

  connected(dial: Dial): void {
    this.#dials.delete(dial)
    this.#isDown = false
  }

  /** Returns whether the failure applies to all that wait. */
  failed(dial: Dial, failure: Failure): boolean {
    this.#dials.delete(dial)
    // Local, and may be over at the next dial.
    const isLocal = failure.way === 'no_descriptor'
    // Other requests have their own deadlines.
    const isForAll = this.#isDown && !failure.row.isTimeout && !isLocal
    this.#isDown ||= !isLocal
    return isForAll
  }

  sweep(now: number): void {
    for (const dial of this.#dials) if (now >= dial.deadline) dial.expire()
  }

  abort(): void {
    for (const dial of this.#dials) dial.abort()
  }
}
