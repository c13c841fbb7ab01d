// The dials that are under way to one origin: as many as requests wait, and one at a time while the origin is down.

import type { Clock } from '../../../base/clock.ts'
import type { Timeouts } from '../../../config/model/config.ts'
import type { Failure } from '../../../errors/catalogue/origin-failure.ts'
import { Dial, type Dialer } from './dial.ts'

export class Dials {
  readonly #dialer: Dialer
  readonly #clock: Clock
  readonly #dials = new Set<Dial>()
  /** Whether the last attempt to connect failed: then one attempt at a time decides for all that wait, so that an unreachable origin costs little. */
  #isDown = false

  constructor(dialer: Dialer, clock: Clock) {
    this.#dialer = dialer
    this.#clock = clock
  }

  get size(): number {
    return this.#dials.size
  }

  /** Returns how many dials so many requests are worth. */
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

  /** Takes note of a dial that failed. Whether its failure applies to all that wait. */
  failed(dial: Dial, failure: Failure): boolean {
    this.#dials.delete(dial)
    // What this machine lacks is no fault of the origin, and the next may find it.
    const isOurs = failure.way === 'no_descriptor'
    // A timeout has only cost the oldest its whole time; the others have their own deadlines.
    const isForAll = this.#isDown && !failure.row.isTimeout && !isOurs
    this.#isDown ||= !isOurs
    return isForAll
  }

  /** Ends those whose deadline has passed by monotonic ms `now`. */
  sweep(now: number): void {
    for (const dial of this.#dials) if (now >= dial.deadline) dial.expire()
  }

  abort(): void {
    for (const dial of this.#dials) dial.abort()
  }
}
