// The open client connections: which are accepted, which makes room, and how all are closed.

import type { Socket } from 'node:net'
import { canonicalAddress } from '../../net/address/address.ts'
import { clientKey } from '../../net/address/client-key.ts'
import type { AcceptedConnection } from '../../net/socket/accepted-connection.ts'
import { descriptorOf } from '../../net/socket/descriptors.ts'
import { ignoreErrors } from '../../net/socket/closed-socket.ts'
import { inSlices } from '../../base/turns/slices.ts'
import { type AnnouncedClient, type Arrival, ClientConnection } from '../client/connection.ts'
import type { Listener } from '../../config/model/config.ts'
import type { Http2Shared } from '../client/http2/http2-account.ts'
import { Http2Connection } from '../client/http2/http2-connection.ts'
import { Http2Addresses } from '../client/http2/http2-address.ts'
import { Http2Turns } from '../client/http2/http2-turns.ts'
import type { ClientTls } from '../exchange/exchange.ts'
import type { LogThrottle } from '../../log/log-throttle.ts'
import { guarded } from '../../base/guarded.ts'
import type { Plane } from '../snapshot/plane.ts'
import { type ConnectionFault, ConnectionLimits } from './connection-limits.ts'
import { Evictions } from './evictions.ts'
import { Handshake } from './handshake.ts'
import { Newcomers } from './unproven-connections.ts'
import { ProtocolSniff } from './protocol-sniff.ts'
import { Penalties } from './penalties.ts'
import { ProxiedConnection } from './proxied-connection.ts'
import { RefusedClients } from './refused-clients.ts'
import { allConnections, Share, type ShareClaim } from './connection-share.ts'

const maxSearched = 1_000

const maxEnded = 64

type Connection = ClientConnection | Http2Connection | EarlyStage
type EarlyStage = Handshake | ProxiedConnection | ProtocolSniff

type ListenerKind = Pick<Listener, 'tls' | 'proxyProtocol' | 'h2c'>

const plainListener: ListenerKind = { tls: false }

export class Clients {
  readonly limits: ConnectionLimits
  readonly #share: Share
  readonly #plane: Plane
  readonly #refused: RefusedClients
  readonly #penalties: Penalties
  readonly #newcomers: Newcomers
  readonly #evictions = new Evictions<Connection>()
  readonly #http2: Http2Shared
  readonly #connections = new Set<Connection>()
  #drained: (() => void) | null = null
  readonly #onClosed = (connection: Connection): void => this.#closed(connection)

  constructor(plane: Plane, warnings: LogThrottle, share = new Share()) {
    this.#plane = plane
    this.#refused = new RefusedClients(plane.metrics, warnings)
    this.#share = share
    this.limits = new ConnectionLimits(share)
    this.#penalties = new Penalties(plane, this.limits, this.#refused)
    this.#newcomers = new Newcomers(plane, this.limits, connection => {
      if (this.#penalties.screen(connection) !== 'held') connection.serve()
    })
    this.#penalties.offenders.penalized = peer => this.#endSilent(peer)
    this.#http2 = {
      offenders: this.#penalties.offenders,
      turns: new Http2Turns(),
      addresses: new Http2Addresses(),
    }
    share.settled = outcome => plane.metrics.shareRequests[outcome].inc()
  }

  /** Only on HTTP/2 listeners where the address is that of the client. */
  hold(connection: AcceptedConnection): boolean {
    try {
      const verdict = this.#penalties.screen(connection)
      return verdict === 'held' || (verdict === 'no_penalty' && this.#newcomers.hold(connection))
    } catch (bug) {
      this.#plane.log.error({ err: bug }, 'accepting a client failed: internal error')
      return false
    }
  }

  /** Accepts a connection, or closes it at a limit; waits if other workers may have room. */
  accept(socket: Socket, listener: ListenerKind = plainListener): void {
    try {
      if (socket.destroyed) return
      const peer = canonicalAddress(socket.remoteAddress ?? '') ?? ''
      if (listener.proxyProtocol && !this.#plane.snapshot.trusted.has(peer))
        return this.#refused.refuseUntrusted(socket, peer)
      const limit = this.#take(peer, descriptorOf(socket))
      if (limit !== null) {
        const retry = () => this.accept(socket, listener)
        const outcome = this.#findRoom(limit, peer, () => this.#take(peer, -1), retry)
        if (outcome === 'later') return ignoreErrors(socket)
        if (outcome !== null) return this.#refused.refuse(socket, outcome)
      }
      const connection = this.#connect(socket, peer, listener)
      this.#plane.metrics.clientConnections.inc()
      this.#add(connection)
      if (isNew(connection) && !this.#plane.snapshot.trusted.has(peer)) this.#newcomers.add(connection)
    } catch (bug) {
      socket.destroy()
      this.#plane.log.error({ err: bug }, 'accepting a client failed: internal error')
    }
  }

  sweep(now: number): void {
    this.#share.sweep()
    this.#newcomers.sweep()
    for (const connection of this.#connections) connection.sweep(now)
  }

  /** Resolves when all have closed, or after `grace` ms. */
  async drain(grace: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#drained = resolve
    this.#share.close()
    this.#penalties.close()
    this.#newcomers.close()
    for (const connection of this.#connections) connection.drain()
    const timer = setTimeout(resolve, grace)
    if (this.#connections.size === 0) resolve()
    await promise
    clearTimeout(timer)
  }

  /** Closes connections whose client certificates were checked by other rules, or not at all. */
  retire(): void {
    const { zones } = this.#plane.snapshot
    for (const connection of this.#connections) {
      const isOpen = connection instanceof ClientConnection || connection instanceof Http2Connection
      const tls = isOpen ? connection.tls : null
      if (isOpen && tls !== null && tls.trust !== (zones.find(tls.host)?.trust ?? '')) connection.retire()
    }
  }

  grantShare(key: string, count: number): void {
    this.#share.grant(key, count)
  }

  leaveShare({ key, what, count }: ShareClaim): number {
    const { connections, connectionsPerAddress } = this.#plane.snapshot.client
    const limit = key === allConnections ? connections : connectionsPerAddress
    const unused =
      limit === 0 ? Number.POSITIVE_INFINITY : this.#share.partOf(key, limit) - this.limits.count(key)
    const free = Math.max(0, unused)
    let left = Math.min(
      free,
      what === 'half' ? Math.ceil(free / 2) : what === 'surplus' ? this.#share.surplus(key) : count,
    )
    if (what === 'idle') while (left < count && this.#evict(key)) left++
    this.#share.leave(key, left)
    return left
  }

  goAway(): void {
    void inSlices(this.#farewells())
  }

  destroy(): void {
    this.#penalties.close()
    this.#newcomers.close()
    for (const connection of this.#connections) connection.destroy()
  }

  /** The descriptor is -1 if another connection has just made room. */
  #take(peer: string, descriptor: number): ConnectionFault | null {
    const { client, trusted } = this.#plane.snapshot
    return this.limits.take(peer, trusted.has(peer), descriptor, client)
  }

  /** Looks in the shares of other workers, then closes one here, then has others close one. */
  #findRoom(
    limit: ConnectionFault,
    peer: string,
    take: () => ConnectionFault | null,
    retry: () => void,
  ): ConnectionFault | 'later' | null {
    if (this.#requestShare(limit, peer, false, retry)) return 'later'
    const key = limit === 'connections_per_address' ? clientKey(peer) : allConnections
    const next = this.#evict(key, peer) ? take() : limit
    return next !== null && this.#requestShare(next, peer, true, retry) ? 'later' : next
  }

  #requestShare(limit: ConnectionFault, peer: string, closing: boolean, retry: () => void): boolean {
    const { connections, connectionsPerAddress } = this.#plane.snapshot.client
    if (limit === 'descriptors') return false
    if (limit === 'connections') return this.#share.request(allConnections, connections, closing, retry)
    return this.#share.request(clientKey(peer), connectionsPerAddress, closing, retry)
  }

  /** False if a short search finds none; `peer` is null if it did not arrive here. */
  #evict(key: string, peer: string | null = null): boolean {
    const connection =
      this.#evictions.find(key, this.#plane.coarseNow) ??
      this.#findAny(key) ??
      (peer === null ? null : this.#evictions.findNew(key, peer))
    if (connection === null) return false
    this.#refused.countEvicted(connection.hasRequested ? 'idle' : 'silent')
    connection.destroy()
    this.#closed(connection)
    return true
  }

  #findAny(key: string): Connection | null {
    const { trusted } = this.#plane.snapshot
    const hasMore = this.#connections.size > maxSearched
    let left = Math.min(this.#connections.size, maxSearched)
    for (const connection of this.#connections) {
      if (left-- === 0) return null
      const { peer, isIdle, hasRequested } = connection
      const canClose = isIdle || (!hasRequested && trusted.has(peer))
      if (canClose && (key === allConnections || clientKey(peer) === key)) return connection
      if (!hasMore) continue
      // The next search begins after these busy ones.
      this.#connections.delete(connection)
      this.#connections.add(connection)
    }
    return null
  }

  #endSilent(peer: string): void {
    for (const connection of this.#evictions.silentOf(clientKey(peer), this.#plane.coarseNow, maxEnded)) {
      // The one that brought the penalty still tells its client why.
      if (!isNew(connection) || (connection instanceof Http2Connection && connection.hasFailed)) continue
      this.#refused.count('penalty')
      connection.destroy()
      this.#closed(connection)
    }
  }

  #connect(socket: Socket, peer: string, listener: ListenerKind): Connection {
    try {
      if (listener.proxyProtocol) return this.#readProxyHeader(socket, peer, listener)
      if (listener.tls) return this.#shakeHands(socket)
      if (listener.h2c) return this.#sniff(socket)
      return new ClientConnection(socket, this.#plane, this.#onClosed)
    } catch (bug) {
      this.limits.leave(peer)
      throw bug
    }
  }

  #shakeHands(
    transport: Socket,
    proxied: ProxiedConnection | null = null,
    client: AnnouncedClient | null = null,
  ): Handshake {
    const owner = {
      completed: (handshake: Handshake, socket: Socket, tls: ClientTls | null, isHttp2: boolean) =>
        this.#promote(handshake, socket, { tls, isPlaintextOnTls: tls === null, transport, client }, isHttp2),
      failed: (handshake: Handshake) => this.#closed(handshake),
    }
    return new Handshake(transport, this.#plane, owner, proxied)
  }

  #sniff(
    socket: Socket,
    proxied: ProxiedConnection | null = null,
    client: AnnouncedClient | null = null,
  ): ProtocolSniff {
    const owner = {
      detected: (sniff: ProtocolSniff, isHttp2: boolean) =>
        this.#promote(
          sniff,
          socket,
          { tls: null, isPlaintextOnTls: false, transport: socket, client },
          isHttp2,
        ),
      failed: (sniff: ProtocolSniff) => this.#closed(sniff),
    }
    return new ProtocolSniff(socket, this.#plane, owner, proxied)
  }

  #readProxyHeader(socket: Socket, peer: string, listener: ListenerKind): ProxiedConnection {
    return new ProxiedConnection(socket, peer, this.#plane, {
      announced: (proxied, client) => this.#announce(proxied, client, listener),
      failed: (proxied, failure) => {
        this.#closed(proxied)
        this.#refused.countProxyFailure(failure, peer)
      },
    })
  }

  /** From here on the connection counts as that of the client behind the load balancer. */
  #announce(
    proxied: ProxiedConnection,
    client: AnnouncedClient,
    listener: ListenerKind,
    mayBeHeld = true,
  ): void {
    const { tls, h2c } = listener
    const { socket } = proxied
    if (socket.destroyed) return this.#closed(proxied)
    const end = () => {
      proxied.destroy()
      this.#closed(proxied)
    }
    const retry = guarded(
      () => this.#announce(proxied, client, listener, false),
      bug => {
        end()
        this.#plane.log.error({ err: bug }, 'accepting a client failed: internal error')
      },
    )
    const canOffend = (tls || h2c) && !client.isAnonymous
    if (canOffend && mayBeHeld && this.#penalties.hold(client.peer, { serve: retry, reset: end })) return
    const limit = this.#move(proxied, client.peer, retry)
    if (limit === 'later') return
    if (limit !== null) {
      this.#closed(proxied)
      return this.#refused.refuse(socket, limit)
    }
    if (!tls && !h2c)
      return this.#promote(proxied, socket, { tls: null, isPlaintextOnTls: false, transport: socket, client })
    this.#replace(
      proxied,
      tls ? this.#shakeHands(socket, proxied, client) : this.#sniff(socket, proxied, client),
    )
    socket.resume()
  }

  #move(proxied: ProxiedConnection, peer: string, retry: () => void): ConnectionFault | 'later' | null {
    const { client, trusted } = this.#plane.snapshot
    const move = () => this.limits.move(proxied.peer, peer, trusted.has(peer), client)
    const limit = move()
    const outcome = limit === null ? null : this.#findRoom(limit, peer, move, retry)
    if (outcome === null) proxied.peer = peer
    return outcome
  }

  #promote(stage: EarlyStage, socket: Socket, arrival: Arrival, isHttp2 = false): void {
    const connection = isHttp2
      ? new Http2Connection(socket, this.#plane, this.#onClosed, arrival, this.#http2)
      : new ClientConnection(socket, this.#plane, this.#onClosed, arrival)
    this.#replace(stage, connection)
    if (this.#plane.isDraining) connection.drain()
    socket.resume()
  }

  #replace(stage: EarlyStage, connection: Connection): void {
    this.#connections.delete(stage)
    this.#evictions.delete(stage)
    this.#add(connection)
    if (!isNew(stage)) return
    if (isNew(connection)) this.#newcomers.replace(stage, connection)
    else this.#newcomers.delete(stage)
  }

  #add(connection: Connection): void {
    const { coarseNow, snapshot } = this.#plane
    this.#connections.add(connection)
    if (!snapshot.trusted.has(connection.peer)) this.#evictions.add(connection, coarseNow)
  }

  #closed(connection: Connection): void {
    if (!this.#connections.delete(connection)) return
    this.#evictions.delete(connection)
    this.#plane.metrics.clientConnections.dec()
    if (isNew(connection)) this.#newcomers.delete(connection)
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

function isNew(connection: Connection): connection is Handshake | ProtocolSniff | Http2Connection {
  return !(connection instanceof ClientConnection || connection instanceof ProxiedConnection)
}
