// What clients have to bear whose connections have met limits of HTTP/2: each next one is held before it is read, and few are taken then.

import type { AcceptedConnection } from '../../base/accepted-connection.ts'
import { Offenders } from '../client/http2-offenders.ts'
import type { Plane } from '../plane.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import type { RefusedClients } from './refused-clients.ts'
import { type Held, Tarpit } from './tarpit.ts'

export class Penalties {
  readonly offenders = new Offenders()
  readonly #plane: Plane
  readonly #limits: ConnectionLimits
  readonly #refused: RefusedClients
  readonly #tarpit = new Tarpit(held => this.#release(held))

  constructor(plane: Plane, limits: ConnectionLimits, refused: RefusedClients) {
    this.#plane = plane
    this.#limits = limits
    this.#refused = refused
  }

  /** Whether a connection is not to be served, at least not yet: it is held where its client has a penalty, and reset where it meets a limit. Until it is released it counts as any other one. */
  holds(connection: AcceptedConnection): boolean {
    const { coarseNow: now, snapshot, metrics } = this.#plane
    if (this.offenders.isEmpty) return false
    const { peer } = connection
    if (!this.offenders.penalizes(peer, now)) return false
    const limit = this.#tarpit.isFull
      ? 'penalty'
      : this.#limits.take(peer, false, connection.descriptor, snapshot.client)
    if (limit === null) {
      this.#tarpit.hold(connection, peer, now)
      metrics.heldConnections.inc()
    } else {
      connection.reset()
      this.#refused.count(limit)
    }
    return true
  }

  /** Whether a connection is refused, which is not one of the few that are taken during a penalty. */
  refuses(peer: string): boolean {
    return this.offenders.refuses(peer, this.#plane.coarseNow)
  }

  /** Releases connections whose time is over by monotonic ms `now`. */
  sweep(now: number): void {
    this.#tarpit.sweep(now)
  }

  /** Resets all that are held. */
  close(): void {
    for (const held of this.#tarpit.empty()) {
      this.#leave(held)
      held.connection.reset()
    }
  }

  #release(held: Held): void {
    this.#leave(held)
    held.connection.serve()
  }

  #leave({ peer }: Held): void {
    this.#limits.leave(peer)
    this.#plane.metrics.heldConnections.dec()
  }
}
