// The queue for connections to one origin, in order of arrival.

import type { Timeouts } from '../../config/model/config.ts'
import type { Dial, DialPhase } from './dial/dial.ts'
import type { Lease } from './lease.ts'
import type { ResponseHandler } from './response-handler.ts'
import type { Phase } from '../../errors/catalogue/phase.ts'
import { type Failure, fault } from '../../errors/catalogue/origin-failure.ts'

export interface ConnectionRequest extends ResponseHandler {
  readonly timeouts: Timeouts
  readonly needsHttp1: boolean
  connected(lease: Lease): void
  /** `times` are those of the failed dial, the last in `phase`. */
  failed(phase: Phase, failure: Failure, times?: Dial['times']): void
}

export const noTimes: Dial['times'] = Object.freeze({ resolve: -1, connect: -1, handshake: -1 })

interface Lendable {
  readonly isReused: boolean
  lend(handler: ResponseHandler): Lease
}

/** A bug in the receiver is reported to the receiver. */
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
  /** With the monotonic ms of their arrival. They go first: the origin closed their previous connection. */
  readonly #forNew = new Map<ConnectionRequest, number>()
  readonly #forAny = new Map<ConnectionRequest, number>()
  #refused = new Set<ConnectionRequest>()

  get size(): number {
    return this.#forNew.size + this.#forAny.size
  }

  get forNew(): number {
    return this.#forNew.size
  }

  /** The queue must not be empty. */
  get first(): ConnectionRequest {
    const [first] = (this.#forNew.size > 0 ? this.#forNew : this.#forAny).keys()
    return first!
  }

  add(request: ConnectionRequest, now: number, { fresh }: { fresh: boolean }): void {
    ;(fresh ? this.#forNew : this.#forAny).set(request, now)
  }

  remove(request: ConnectionRequest): void {
    if (!this.#forAny.delete(request) && !this.#forNew.delete(request)) this.#refused.delete(request)
  }

  serve(connection: Lendable): boolean {
    const queue = !connection.isReused && this.#forNew.size > 0 ? this.#forNew : this.#forAny
    const [first] = queue.keys()
    if (first === undefined) return false
    queue.delete(first)
    hand(first, connection)
    return true
  }

  /** A stream is as good as a new connection; the queue must not be empty. */
  serveFirst(connection: Lendable): void {
    const { first } = this
    this.remove(first)
    hand(first, connection)
  }

  moveTo(other: ConnectionQueue): void {
    for (const [request, since] of this.#forNew) other.add(request, since, { fresh: true })
    for (const [request, since] of this.#forAny) other.add(request, since, { fresh: false })
    this.#forNew.clear()
    this.#forAny.clear()
  }

  refuse(isForAll: boolean, phase: DialPhase, failure: Failure, times: Dial['times']): void {
    if (this.size === 0) return
    const refused = new Set(isForAll ? [...this.#forNew.keys(), ...this.#forAny.keys()] : [this.first])
    for (const request of refused) this.remove(request)
    // A request may remove another one when notified; the loop then skips it.
    this.#refused = refused
    for (const request of refused) notify(request, phase, failure, times)
  }

  /** Spares the first requests, which have a dial. */
  expire(by: number, dialled: number): void {
    const first = this.#forNew.size
    expireAll(this.#forNew, by, dialled)
    expireAll(this.#forAny, by, dialled - first)
  }
}

function expireAll(queue: Map<ConnectionRequest, number>, by: number, dialled: number): void {
  let position = 0
  for (const [request, since] of queue) {
    if (since > by) return
    if (position++ < dialled) continue
    queue.delete(request)
    notify(request, 'connect', fault('GH_QUEUE_TIMEOUT'), noTimes)
  }
}

function notify(request: ConnectionRequest, phase: DialPhase, failure: Failure, times: Dial['times']): void {
  try {
    request.failed(phase, failure, times)
  } catch (bug) {
    request.crashed(bug)
  }
}
