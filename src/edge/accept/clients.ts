// The open connections of clients: how many there may be, which one makes room for another, and how all of them end.

import type { Socket } from 'node:net'
import { canonicalAddress } from '../../base/address/address.ts'
import { clientKey } from '../../base/address/client-key.ts'
import { descriptorOf } from '../../base/descriptors.ts'
import { reset } from '../../base/reset.ts'
import { inSlices } from '../../base/turns/slices.ts'
import { ClientConnection } from '../client/connection.ts'
import type { ClientTls } from '../exchange.ts'
import type { LogThrottle } from '../log-throttle.ts'
import type { Plane } from '../plane.ts'
import { type ConnectionFault, ConnectionLimits } from './connection-limits.ts'
import { Handshake } from './handshake.ts'

/** How many connections are looked at for one that is idle, before a client is refused. */
const mostLookedAt = 100

export class Clients {
  readonly limits = new ConnectionLimits()
  readonly #plane: Plane
  readonly #warnings: LogThrottle
  readonly #connections = new Set<ClientConnection | Handshake>()
  #drained: (() => void) | null = null

  constructor(plane: Plane, warnings: LogThrottle) {
    this.#plane = plane
    this.#warnings = warnings
  }

  /** Takes a connection, or closes it where it meets a limit; one that was served and is idle makes room for one that was not. */
  accept(socket: Socket, isTls = false): void {
    try {
      const peer = canonicalAddress(socket.remoteAddress ?? '') ?? ''
      let limit = this.#take(peer, descriptorOf(socket))
      if (limit !== null && this.#closeIdle(limit, peer)) limit = this.#take(peer, -1)
      if (limit !== null) return this.#turnAway(socket, limit)
      const connection = this.#connect(socket, peer, isTls)
      this.#plane.metrics.clientConnections.inc()
      this.#connections.add(connection)
    } catch (bug) {
      socket.destroy()
      this.#plane.log.error({ err: bug }, 'accepting a client failed: internal error')
    }
  }

  /** Acts on the deadlines that have passed by monotonic ms `now`. */
  sweep(now: number): void {
    for (const connection of this.#connections) connection.sweep(now)
  }

  /** Closes each connection with the end of its exchange, the idle ones soon; resolves when all have closed, or after `grace` ms. */
  async drain(grace: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#drained = resolve
    for (const connection of this.#connections) connection.drain()
    const timer = setTimeout(resolve, grace)
    if (this.#connections.size === 0) resolve()
    await promise
    clearTimeout(timer)
  }

  /** Has clients connect again whose certificates were checked by other rules than those in effect, or not at all. */
  retire(): void {
    const { zones } = this.#plane.snapshot
    for (const connection of this.#connections) {
      const tls = connection instanceof ClientConnection ? connection.tls : null
      if (tls !== null && tls.trust !== (zones.find(tls.host)?.trust ?? ''))
        (connection as ClientConnection).retire()
    }
  }

  /** Has WebSockets closed by their ends. */
  goAway(): void {
    void inSlices(this.#farewells())
  }

  /** Cuts every connection. */
  destroy(): void {
    for (const connection of this.#connections) connection.destroy()
  }

  /** Takes a connection, or names its limit; -1 for the descriptor where another one was just released for it. */
  #take(peer: string, descriptor: number): ConnectionFault | null {
    const { client, trusted } = this.#plane.snapshot
    return this.limits.take(peer, trusted.has(peer), descriptor, client)
  }

  /** Closes an idle connection that makes room for one from `peer`, one of the oldest; false where none was found soon. */
  #closeIdle(limit: ConnectionFault, peer: string): boolean {
    const key = limit === 'connections_per_address' ? clientKey(peer) : null
    let left = Math.min(this.#connections.size, mostLookedAt)
    for (const connection of this.#connections) {
      if (left-- === 0) return false
      if (connection.isIdle && (key === null || clientKey(connection.peer) === key)) {
        connection.destroy()
        this.#closed(connection)
        return true
      }
      // The next look begins behind those who are busy.
      this.#connections.delete(connection)
      this.#connections.add(connection)
    }
    return false
  }

  #connect(socket: Socket, peer: string, isTls: boolean): ClientConnection | Handshake {
    try {
      return isTls
        ? this.#shakeHands(socket)
        : new ClientConnection(socket, this.#plane, closed => this.#closed(closed))
    } catch (bug) {
      this.limits.leave(peer)
      throw bug
    }
  }

  #shakeHands(transport: Socket): Handshake {
    return new Handshake(transport, this.#plane, {
      shaken: (handshake, socket, tls) => this.#replace(handshake, socket, { tls, transport }),
      failed: handshake => this.#closed(handshake),
    })
  }

  /** Puts the connection that a handshake has led to in its place. */
  #replace(
    handshake: Handshake,
    socket: Socket,
    { tls, transport }: { readonly tls: ClientTls | null; readonly transport: Socket },
  ): void {
    const arrival = { tls, isMisplaced: tls === null, transport }
    const connection = new ClientConnection(socket, this.#plane, closed => this.#closed(closed), arrival)
    this.#connections.delete(handshake)
    this.#connections.add(connection)
    if (this.#plane.isDraining) connection.drain()
    socket.resume()
  }

  /** Closes a connection that meets a limit, with a reset, which leaves nothing behind in the system. */
  #turnAway(socket: Socket, limit: ConnectionFault): void {
    socket.on('error', () => {})
    reset(socket)
    this.#plane.metrics.refusedConnections[limit].inc()
    this.#warnings.warn(limit, { limit }, 'client connections refused')
  }

  #closed(connection: ClientConnection | Handshake): void {
    if (!this.#connections.delete(connection)) return
    this.#plane.metrics.clientConnections.dec()
    this.limits.leave(connection.peer)
    if (this.#connections.size === 0) this.#drained?.()
  }

  *#farewells(): Generator<void> {
    for (const connection of this.#connections) {
      connection.goAway()
      yield
    }
  }
}
