// The queue for connections to one origin, in order of arrival.

import type { Timeouts } from '../../config/model/config.ts'
import type { Dial, DialPhase } from './dial/dial.ts'
import type { Lease } from './lease.ts'
import { type Failure, fault } from '../../errors/catalogue/origin-failure.ts'

/** A request that waits for a connection. */
export interface Waiter {
  readonly timeouts: Timeouts
  /** Whether only a connection of HTTP/1.1 will do. */
  readonly needsHttp1: boolean
  connected(lease: Lease): void
  /** `times` are those of the attempt that failed, whose phase was the last. */
  failed(phase: DialPhase, failure: Failure, times: Dial['times']): void
  /** A bug of ours was met in the waiter. */
  crashed(bug: unknown): void
}

/** The times of an attempt that came to no dial. */
export const undialled: Dial['times'] = Object.freeze({ resolve: -1, connect: -1, handshake: -1 })

/** A connection with room for an exchange. */
interface Lendable {
  readonly isReused: boolean
  lend(): Lease
}

/** Hands a connection over; a bug in the receiver stays with the receiver. */
export function hand(waiter: Waiter, connection: Lendable): void {
  const lease = connection.lend()
  try {
    waiter.connected(lease)
  } catch (bug) {
    if (lease.isHeld) lease.destroy()
    waiter.crashed(bug)
  }
}

export class ConnectionQueue {
  /** Those who take only a new connection, with the monotonic ms at which they came. They come first: they had a connection before, which its origin had closed. */
  readonly #forNew = new Map<Waiter, number>()
  readonly #forAny = new Map<Waiter, number>()
  /** Those that are refused together and have not heard of it yet. */
  #refused = new Set<Waiter>()

  get size(): number {
    return this.#forNew.size + this.#forAny.size
  }

  /** Counts those who take only a new connection. */
  get forNew(): number {
    return this.#forNew.size
  }

  /** Who came first; there must be one. */
  get first(): Waiter {
    const [first] = (this.#forNew.size > 0 ? this.#forNew : this.#forAny).keys()
    return first!
  }

  add(waiter: Waiter, now: number, { fresh }: { fresh: boolean }): void {
    ;(fresh ? this.#forNew : this.#forAny).set(waiter, now)
  }

  /** Removes a waiter, which hears nothing more. */
  remove(waiter: Waiter): void {
    if (!this.#forAny.delete(waiter) && !this.#forNew.delete(waiter)) this.#refused.delete(waiter)
  }

  /** Hands the connection to the first who takes it; false when nobody does. */
  serve(connection: Lendable): boolean {
    const line = !connection.isReused && this.#forNew.size > 0 ? this.#forNew : this.#forAny
    const [first] = line.keys()
    if (first === undefined) return false
    line.delete(first)
    hand(first, connection)
    return true
  }

  /** Hands a connection that carries many to who came first, for whom it is as good as a new one; there must be one. */
  serveFirst(connection: Lendable): void {
    const { first } = this
    this.remove(first)
    hand(first, connection)
  }

  /** Has all who wait here wait there, each for as long as before. */
  moveTo(other: ConnectionQueue): void {
    for (const [waiter, since] of this.#forNew) other.add(waiter, since, { fresh: true })
    for (const [waiter, since] of this.#forAny) other.add(waiter, since, { fresh: false })
    this.#forNew.clear()
    this.#forAny.clear()
  }

  /** Notifies the first of a dial that failed, or all when it speaks for all. */
  refuse(isForAll: boolean, phase: DialPhase, failure: Failure, times: Dial['times']): void {
    if (this.size === 0) return
    const refused = new Set(isForAll ? [...this.#forNew.keys(), ...this.#forAny.keys()] : [this.first])
    for (const waiter of refused) this.remove(waiter)
    // One that hears of it may make another one leave, which the loop then skips.
    this.#refused = refused
    for (const waiter of refused) tell(waiter, phase, failure, times)
  }

  /** Refuses those who came by that time, but not so many of the first, for whom connections are being dialled. */
  expire(by: number, dialled: number): void {
    const first = this.#forNew.size
    expireIn(this.#forNew, by, dialled)
    expireIn(this.#forAny, by, dialled - first)
  }
}

function expireIn(line: Map<Waiter, number>, by: number, dialled: number): void {
  let place = 0
  for (const [waiter, since] of line) {
    if (since > by) return
    if (place++ < dialled) continue
    line.delete(waiter)
    tell(waiter, 'connect', fault('GH_QUEUE_TIMEOUT'), undialled)
  }
}

/** Notifies a waiter of a failure; a bug in the waiter stays with it. */
function tell(waiter: Waiter, phase: DialPhase, failure: Failure, times: Dial['times']): void {
  try {
    waiter.failed(phase, failure, times)
  } catch (bug) {
    waiter.crashed(bug)
  }
}
