// The queue for connections to one origin, in order of arrival.

import type { Timeouts } from '../../config/model/config.ts'
import type { Dial, DialPhase } from './dial/dial.ts'
import type { Lease } from './lease.ts'
import type { ResponseHandler } from './response-handler.ts'
import type { Phase } from '../../errors/catalogue/phase.ts'
import { type Failure, fault } from '../../errors/catalogue/origin-failure.ts'

/** A request for a connection, which then handles the response on it. */
export interface ConnectionRequest extends ResponseHandler {
  readonly timeouts: Timeouts
  /** Whether only a connection of HTTP/1.1 will do. */
  readonly needsHttp1: boolean
  connected(lease: Lease): void
  /** `times` are those of a dial that failed, whose phase was the last. */
  failed(phase: Phase, failure: Failure, times?: Dial['times']): void
}

/** The times of an attempt that came to no dial. */
export const undialled: Dial['times'] = Object.freeze({ resolve: -1, connect: -1, handshake: -1 })

/** A connection with room for an exchange. */
interface Lendable {
  readonly isReused: boolean
  lend(handler: ResponseHandler): Lease
}

/** Hands a connection over; a bug in the receiver stays with the receiver. */
export function hand(request: ConnectionRequest, connection: Lendable): void {
  const lease = connection.lend(request)
  try {
    request.connected(lease)
  } catch (bug) {
    if (lease.isHeld) lease.destroy()
    request.crashed(bug)
  }
}

export class ConnectionQueue {
  /** Those who take only a new connection, with the monotonic ms at which they came. They come first: they had a connection before, which its origin had closed. */
  readonly #forNew = new Map<ConnectionRequest, number>()
  readonly #forAny = new Map<ConnectionRequest, number>()
  /** Those that are refused together and have not heard of it yet. */
  #refused = new Set<ConnectionRequest>()

  get size(): number {
    return this.#forNew.size + this.#forAny.size
  }

  /** Counts those who take only a new connection. */
  get forNew(): number {
    return this.#forNew.size
  }

  /** Who came first; there must be one. */
  get first(): ConnectionRequest {
    const [first] = (this.#forNew.size > 0 ? this.#forNew : this.#forAny).keys()
    return first!
  }

  add(request: ConnectionRequest, now: number, { fresh }: { fresh: boolean }): void {
    ;(fresh ? this.#forNew : this.#forAny).set(request, now)
  }

  /** Removes a request, which hears nothing more. */
  remove(request: ConnectionRequest): void {
    if (!this.#forAny.delete(request) && !this.#forNew.delete(request)) this.#refused.delete(request)
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
    for (const [request, since] of this.#forNew) other.add(request, since, { fresh: true })
    for (const [request, since] of this.#forAny) other.add(request, since, { fresh: false })
    this.#forNew.clear()
    this.#forAny.clear()
  }

  /** Notifies the first of a dial that failed, or all when it speaks for all. */
  refuse(isForAll: boolean, phase: DialPhase, failure: Failure, times: Dial['times']): void {
    if (this.size === 0) return
    const refused = new Set(isForAll ? [...this.#forNew.keys(), ...this.#forAny.keys()] : [this.first])
    for (const request of refused) this.remove(request)
    // One that hears of it may make another one leave, which the loop then skips.
    this.#refused = refused
    for (const request of refused) tell(request, phase, failure, times)
  }

  /** Refuses those who came by that time, but not so many of the first, for whom connections are being dialled. */
  expire(by: number, dialled: number): void {
    const first = this.#forNew.size
    expireIn(this.#forNew, by, dialled)
    expireIn(this.#forAny, by, dialled - first)
  }
}

function expireIn(line: Map<ConnectionRequest, number>, by: number, dialled: number): void {
  let place = 0
  for (const [request, since] of line) {
    if (since > by) return
    if (place++ < dialled) continue
    line.delete(request)
    tell(request, 'connect', fault('GH_QUEUE_TIMEOUT'), undialled)
  }
}

/** Notifies a request of a failure; a bug in the request stays with it. */
function tell(request: ConnectionRequest, phase: DialPhase, failure: Failure, times: Dial['times']): void {
  try {
    request.failed(phase, failure, times)
  } catch (bug) {
    request.crashed(bug)
  }
}
