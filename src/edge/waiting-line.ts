// Those who wait for a connection to one origin, in the order that they came. Kept by `origin.ts`, for whom it tells them the news.
import type { Timeouts } from '../config/config.ts'
import type { Dial, DialPhase } from './dial.ts'
import type { Failure, OriginConnection } from './origin-connection.ts'

/** Who wants a connection. */
export interface Waiter {
  readonly timeouts: Timeouts
  connected(connection: OriginConnection): void
  /** `times` are those of the attempt that failed, whose phase was the last. */
  unconnected(phase: DialPhase, failure: Failure, times: Dial['times']): void
  /** A bug of ours was met while the waiter was told. */
  crashed(bug: unknown): void
}

/** The times of an attempt that came to no dial. */
export const undialled: Dial['times'] = Object.freeze({ resolve: -1, connect: -1, handshake: -1 })

export class WaitingLine {
  /** With the monotonic ms at which they came. */
  readonly #waiters = new Map<Waiter, number>()

  get size(): number {
    return this.#waiters.size
  }

  /** Who came first; there must be one. */
  get first(): Waiter {
    const [first] = this.#waiters.keys()
    return first!
  }

  add(waiter: Waiter, now: number): void {
    this.#waiters.set(waiter, now)
  }

  remove(waiter: Waiter): void {
    this.#waiters.delete(waiter)
  }

  /** Hands the connection to the first; false when nobody waits. */
  serve(connection: OriginConnection): boolean {
    if (this.#waiters.size === 0) return false
    const { first } = this
    this.#waiters.delete(first)
    tell(first, () => first.connected(connection))
    return true
  }

  /** Tells the first of a dial that failed, or all when it speaks for all. */
  refuse(isForAll: boolean, phase: DialPhase, failure: Failure, times: Dial['times']): void {
    if (this.#waiters.size === 0) return
    const unlucky = isForAll ? [...this.#waiters.keys()] : [this.first]
    for (const waiter of unlucky) this.#waiters.delete(waiter)
    for (const waiter of unlucky) tell(waiter, () => waiter.unconnected(phase, failure, times))
  }

  /** Refuses those who came by that time, but not so many of the first, for whom connections are being dialled. */
  expire(by: number, dialled: number): void {
    let place = 0
    for (const [waiter, since] of this.#waiters) {
      if (since > by) return
      if (place++ < dialled) continue
      this.#waiters.delete(waiter)
      tell(waiter, () => waiter.unconnected('connect', { code: 'GH_QUEUE_TIMEOUT' }, undialled))
    }
  }
}

/** Tells a waiter its news; a bug that it meets is its own, and no affair of whoever brought them. */
function tell(waiter: Waiter, news: () => void): void {
  try {
    news()
  } catch (bug) {
    waiter.crashed(bug)
  }
}
