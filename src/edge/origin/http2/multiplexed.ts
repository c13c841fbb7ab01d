// The connections of HTTP/2 to one origin: who gets a stream on which of them, when another one is opened, and which requests wait.

import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Clock } from '../../../base/clock.ts'
import { type Failure, fault } from '../../../errors/catalogue/origin-failure.ts'
import type { SessionFault } from '../../../http2/client/session-fault.ts'
import type { EdgeMetrics } from '../../../metrics/counters/edge-metrics.ts'
import { ConnectionQueue, hand, undialled, type ConnectionRequest } from '../connection-queue.ts'
import type { Dial, Dialer, DialPhase, DialTarget } from '../dial/dial.ts'
import { Dials } from '../dial/dials.ts'
import { Http2Connection, type Http2Owner } from './http2-connection.ts'

/** Ms for which an idle connection is kept: servers that close theirs say so in time. */
const longestIdle = 60_000
/** Ms for which an origin that does not offer HTTP/2 is not asked again. */
const memory = 300_000
/** Fewer requests than these on a connection that its origin ends are no rule: what it refuses is sent again, and connections are dear. */
const leastRequests = 10

const alpn = ['h2', 'http/1.1']
const noAlpn: readonly string[] = []

/** The origin, which has connections of HTTP/1.1 as well. */
export interface MultiplexedOwner extends DialTarget {
  readonly isRetired: boolean
  /** How many connections more the origin may have, those included for which an idle one makes room. */
  readonly room: number
  makeRoom(): void
  isOutdated(connection: { readonly address: string }): boolean
  /** Has those who wait served by HTTP/1.1, the first by this connection. */
  goOnByHttp1(dial: Dial, socket: Socket, waiting: ConnectionQueue): void
  /** A connection has closed, whose place others may have. */
  roomMade(): void
  crashed(bug: unknown): void
}

export class Multiplexed implements Dialer, Http2Owner {
  readonly protocols: readonly string[]
  readonly target: MultiplexedOwner
  readonly #clock: Clock
  readonly #metrics: EdgeMetrics
  readonly #streams: number
  readonly #open = new Set<Http2Connection>()
  readonly #waiting = new ConnectionQueue()
  readonly #dials: Dials
  /** Monotonic ms until which the origin counts as one without HTTP/2. */
  #http1Until = 0
  /** Requests that each connection takes, since its origin ended two in a row behind so many and refused what came after; each would be sent twice. */
  mostRequests = Number.POSITIVE_INFINITY
  #mostRequestsUntil = 0
  #lastTaken = 0

  constructor(owner: MultiplexedOwner, clock: Clock, metrics: EdgeMetrics) {
    this.target = owner
    this.#clock = clock
    this.#metrics = metrics
    this.#streams = owner.config.transport.streams
    this.#dials = new Dials(this, clock)
    this.protocols = owner.config.transport.http === '2' ? alpn : noAlpn
  }

  /** Whether a request goes this way, as far as is known. */
  takes({ needsHttp1 }: ConnectionRequest): boolean {
    return !needsHttp1 && this.#clock.monotonic() >= this.#http1Until
  }

  /** Counts the connections, open and dialled. */
  get connections(): number {
    return this.#open.size + this.#dials.size
  }

  get dials(): number {
    return this.#dials.size
  }

  get open(): number {
    return this.#open.size
  }

  /** Counts the exchanges that have a stream or wait for one. */
  get outstanding(): number {
    return this.#waiting.size + this.streams
  }

  get streams(): number {
    let sum = 0
    for (const { size } of this.#open) sum += size
    return sum
  }

  /** Counts those who wait although no connection is dialled for them. */
  get queueLength(): number {
    return Math.max(0, this.#waiting.size - this.#dials.size * this.#streams)
  }

  /** Whether an exchange could begin at once, or with a connection of its own. */
  get hasRoom(): boolean {
    return this.#withRoom() !== null || this.target.room > 0
  }

  acquire(request: ConnectionRequest, { fresh }: { fresh: boolean }): void {
    const connection = this.#waiting.size === 0 || fresh ? this.#withRoom() : null
    if (connection !== null) return hand(request, connection)
    if (!fresh && this.#isFull()) return request.failed('connect', fault('GH_QUEUE_FULL'), undialled)
    this.#waiting.add(request, this.#clock.monotonic(), { fresh })
    for (const { session } of this.#open) if (session.isSilent) session.doubt()
    this.dialMore()
  }

  forget(request: ConnectionRequest): void {
    this.#waiting.remove(request)
  }

  sweep(now: number): void {
    this.#dials.sweep(now)
    // It may take more by now.
    if (now >= this.#mostRequestsUntil) this.mostRequests = Number.POSITIVE_INFINITY
    for (const connection of this.#open) connection.sweep(now)
    const { timeout } = this.target.config.transport.queue
    if (timeout > 0 && this.queueLength > 0)
      this.#waiting.expire(now - timeout, this.#dials.size * this.#streams)
    if (this.#waiting.size > 0) this.dialMore()
  }

  /** Closes what is idle now and everything else as its exchanges end. */
  retire(): void {
    for (const connection of this.#open) this.#settle(connection)
  }

  destroy(): void {
    this.#dials.abort()
    for (const connection of this.#open) connection.close()
  }

  /** Has no further exchange go to addresses that the name of the origin has no longer. */
  leaveOldAddresses(): void {
    for (const connection of this.#open) {
      connection.isOutdated = this.target.isOutdated(connection)
      this.#settle(connection)
    }
  }

  /** Closes a connection that serves nobody, for another one in its place; false where there is none. */
  closeIdle(): boolean {
    for (const connection of this.#open) {
      if (connection.size > 0) continue
      connection.close()
      return true
    }
    return false
  }

  /** Dials as many connections as those who wait are worth. */
  dialMore(): void {
    if (this.#waiting.size === 0) return
    // One that serves nobody and yet has no room has still to say how many it takes, or takes none.
    for (const { isPromising } of this.#open) if (isPromising) return
    const worth = this.#dials.worth(Math.ceil(this.#waiting.size / this.#streams))
    while (this.#dials.size < worth && this.target.room > 0) {
      this.target.makeRoom()
      this.#dials.start(this.#waiting.first.timeouts)
    }
  }

  // ── dials ──

  dialed(dial: Dial, socket: Socket): void {
    this.#dials.connected(dial)
    if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2') {
      this.#http1Until = this.#clock.monotonic() + memory
      return this.target.goOnByHttp1(dial, socket, this.#waiting)
    }
    const { protocol: scheme } = this.target.config
    const connection = new Http2Connection(this, socket, dial, {
      clock: this.#clock,
      scheme,
      streams: this.#streams,
    })
    connection.isOutdated = this.target.isOutdated(connection)
    this.#open.add(connection)
    this.#metrics.originConnections.inc()
    this.changed(connection)
  }

  dialFailed(dial: Dial, phase: DialPhase, failure: Failure): void {
    this.#waiting.refuse(this.#dials.failed(dial, failure), phase, failure, dial.times)
    this.dialMore()
    this.target.roomMade()
  }

  // ── connections ──

  changed(connection: Http2Connection): void {
    // Where no other may be opened, a connection at risk is better than none.
    if (connection.session.isWorn && this.target.room > 0) connection.isReplaced = true
    while (connection.room > 0 && this.#waiting.size > 0) this.#waiting.serveFirst(connection)
    this.#settle(connection)
    this.dialMore()
  }

  closed(connection: Http2Connection): void {
    this.#learn(connection.session.requestsTaken)
    if (this.#open.delete(connection)) this.#metrics.originConnections.dec()
    this.dialMore()
    this.target.roomMade()
  }

  counted(exchanges: number): void {
    this.#metrics.originStreams.value += exchanges
  }

  broken(fault: SessionFault): void {
    this.#metrics.originHttp2Faults[fault].inc()
  }

  hasRefused(connection: Http2Connection, failure: Failure): boolean {
    return this.target.handshakes.wasRefused(connection, failure)
  }

  responded(): void {
    this.target.handshakes.responded()
  }

  crashed(bug: unknown): void {
    this.target.crashed(bug)
  }

  /** Takes note of how many requests a connection has taken before its origin refused further ones, 0 where it has not. */
  #learn(taken: number): void {
    if (taken < leastRequests) return
    if (taken === this.#lastTaken) {
      this.mostRequests = taken
      this.#mostRequestsUntil = this.#clock.monotonic() + memory
    }
    this.#lastTaken = taken
  }

  /** Finds the first connection with room: those behind it are left to grow idle. One whose origin may be gone is only for a request that could not even wait. */
  #withRoom(): Http2Connection | null {
    let silent: Http2Connection | null = null
    for (const connection of this.#open) {
      if (connection.room === 0) continue
      if (!connection.session.isSilent) return connection
      silent ??= connection
    }
    return silent !== null && this.#isFull() ? silent : null
  }

  /** Closes a connection of no further use, or begins the time that it may be idle. */
  #settle(connection: Http2Connection): void {
    if (connection.size > 0) return
    if (this.target.isRetired || connection.isLeaving) connection.close()
    else if (connection.deadline === Number.POSITIVE_INFINITY)
      connection.deadline = this.#clock.monotonic() + longestIdle
  }

  #isFull(): boolean {
    const unprovided = this.#waiting.size - this.#dials.size * this.#streams
    return this.target.room <= 0 && unprovided >= this.target.config.transport.queue.size
  }
}
