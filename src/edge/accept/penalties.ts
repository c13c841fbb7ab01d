// What clients have to bear whose connections have met limits of HTTP/2: few of the next ones are taken at a time, and the others are held before they are read.

import type { AcceptedConnection } from '../../base/accepted-connection.ts'
import { Offenders } from '../client/http2-offenders.ts'
import type { Plane } from '../plane.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import type { RefusedClients } from './refused-clients.ts'
import { type Held, Tarpit } from './tarpit.ts'

/** How many are released at one look, since each may go on with an attack. */
const mostReleased = 8

/** What becomes of a connection: its client has no penalty, or it is one of the few that are taken in spite of it, or it is held or reset. */
type Verdict = 'no_penalty' | 'taken' | 'kept'

export class Penalties {
  readonly offenders = new Offenders()
  readonly #plane: Plane
  readonly #limits: ConnectionLimits
  readonly #refused: RefusedClients
  readonly #tarpit = new Tarpit()

  constructor(plane: Plane, limits: ConnectionLimits, refused: RefusedClients) {
    this.#plane = plane
    this.#limits = limits
    this.#refused = refused
  }

  /** Looks at a connection before it is served. One that is kept counts as any other one until it is released. */
  screen(connection: AcceptedConnection): Verdict {
    const verdict = this.offenders.isEmpty ? 'no_penalty' : this.#verdictOn(connection.peer)
    if (verdict !== 'kept') return verdict
    const { peer } = connection
    const limit = this.#limits.take(peer, false, connection.descriptor, this.#plane.snapshot.client)
    if (limit === null) this.#hold({ connection, peer, isCounted: true })
    else {
      connection.reset()
      this.#refused.count(limit)
    }
    return verdict
  }

  /** Whether a connection is kept that a load balancer has announced for `peer`; it counts as one of the balancer until it is released. */
  holds(peer: string, connection: Held['connection']): boolean {
    if (this.#verdictOn(peer) !== 'kept') return false
    this.#hold({ connection, peer, isCounted: false })
    return true
  }

  /** Releases connections whose clients have no penalty any more by monotonic ms `now`, or may have another one taken; those that were held for long are reset. */
  sweep(now: number): void {
    for (const held of this.#tarpit.expire(now))
      if (this.offenders.penalizes(held.peer, now)) this.#refuse(held)
      else this.#release(held)
    for (const held of this.#tarpit.release(mostReleased, ({ peer }) => !this.offenders.refuses(peer, now)))
      this.#release(held)
  }

  /** Resets all that are held. */
  close(): void {
    for (const held of this.#tarpit.empty()) {
      this.#leave(held)
      held.connection.reset()
    }
  }

  #verdictOn(peer: string): Verdict {
    const { coarseNow: now } = this.#plane
    if (!this.offenders.penalizes(peer, now)) return 'no_penalty'
    return this.offenders.refuses(peer, now) ? 'kept' : 'taken'
  }

  #hold(held: Held): void {
    this.#plane.metrics.heldConnections.inc()
    const oldest = this.#tarpit.hold(held, this.#plane.coarseNow)
    if (oldest !== undefined) this.#refuse(oldest)
  }

  #release(held: Held): void {
    this.#leave(held)
    held.connection.serve()
  }

  #refuse(held: Held): void {
    this.#leave(held)
    held.connection.reset()
    this.#refused.count('penalty')
  }

  #leave({ peer, isCounted }: Held): void {
    if (isCounted) this.#limits.leave(peer)
    this.#plane.metrics.heldConnections.dec()
  }
}
