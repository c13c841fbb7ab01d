// Holds connections of clients that exceeded limits of HTTP/2, before they are read.

import type { AcceptedConnection } from '../../net/socket/accepted-connection.ts'
import { Offenders } from '../client/http2/http2-offenders.ts'
import { guarded } from '../../base/guarded.ts'
import type { Plane } from '../snapshot/plane.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import type { RefusedClients } from './refused-clients.ts'
import { type HeldConnection, Tarpit } from './tarpit.ts'

/** Ms between two checks, and connections released at each: any may continue an attack. */
const checkInterval = 10
const maxReleased = 3

/** `accepted` is despite a penalty. */
type Verdict = 'no_penalty' | 'accepted' | 'held'

export class Penalties {
  readonly offenders = new Offenders()
  readonly #plane: Plane
  readonly #limits: ConnectionLimits
  readonly #refused: RefusedClients
  readonly #tarpit = new Tarpit()
  #timer: NodeJS.Timeout | null = null

  constructor(plane: Plane, limits: ConnectionLimits, refused: RefusedClients) {
    this.#plane = plane
    this.#limits = limits
    this.#refused = refused
  }

  /** A held connection counts under the limits until it is released. */
  screen(connection: AcceptedConnection): Verdict {
    const verdict = this.offenders.isEmpty ? 'no_penalty' : this.#verdictOn(connection.peer)
    if (verdict !== 'held') return verdict
    const { peer } = connection
    const limit = this.#limits.take(peer, false, connection.descriptor, this.#plane.snapshot.client)
    if (limit === null) this.#hold({ connection, peer, isCounted: true })
    else {
      connection.reset()
      this.#refused.count(limit)
    }
    return verdict
  }

  /** Until its release, the connection counts as one of the balancer's. */
  hold(peer: string, connection: HeldConnection['connection']): boolean {
    if (this.#verdictOn(peer) !== 'held') return false
    this.#hold({ connection, peer, isCounted: false })
    return true
  }

  close(): void {
    clearTimeout(this.#timer ?? undefined)
    this.#timer = null
    for (const held of this.#tarpit.empty()) {
      this.#leave(held)
      held.connection.reset()
    }
  }

  #verdictOn(peer: string): Verdict {
    const now = this.#plane.clock.monotonic()
    if (!this.offenders.hasPenalty(peer, now)) return 'no_penalty'
    // A new connection must not overtake held ones.
    return this.#tarpit.has(peer) || this.offenders.refuses(peer, now) ? 'held' : 'accepted'
  }

  #hold(held: HeldConnection): void {
    this.#plane.metrics.heldConnections.inc()
    const newest = this.#tarpit.hold(held, this.#plane.clock.monotonic())
    if (newest !== undefined) this.#refuse(newest)
    this.#plan()
  }

  #plan(): void {
    this.#timer ??= setTimeout(this.#turn, checkInterval)
  }

  readonly #turn = guarded(
    () => {
      this.#timer = null
      const now = this.#plane.clock.monotonic()
      const mayRelease = ({ peer }: HeldConnection) => !this.offenders.refuses(peer, now)
      for (const held of this.#tarpit.release(maxReleased, now, mayRelease)) this.#release(held)
      if (this.#tarpit.size > 0) this.#plan()
    },
    bug => this.#plane.log.error({ err: bug }, 'accepting a client failed: internal error'),
  )

  #release(held: HeldConnection): void {
    this.#leave(held)
    held.connection.serve()
  }

  #refuse(held: HeldConnection): void {
    this.#leave(held)
    held.connection.reset()
    this.#refused.count('penalty')
  }

  #leave({ peer, isCounted }: HeldConnection): void {
    if (isCounted) this.#limits.leave(peer)
    this.#plane.metrics.heldConnections.dec()
  }
}
