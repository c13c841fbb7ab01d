// The HTTP/2 connections to one origin.

import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Clock } from '../../../base/clock.ts'
import { type Failure, fault } from '../../../errors/catalogue/origin-failure.ts'
import type { SessionFault } from '../../../http2/client/session-fault.ts'
import type { EdgeMetrics } from '../../../metrics/counters/edge-metrics.ts'
import { ConnectionQueue, hand, noTimes, type ConnectionRequest } from '../connection-queue.ts'
import type { Dial, Dialer, DialPhase, DialTarget } from '../dial/dial.ts'
import { Dials } from '../dial/dials.ts'
import { Http2Connection, type Http2Owner } from './http2-connection.ts'

/** Servers that close idle ones earlier announce it. */
const maxIdle = 60_000
/** Ms before HTTP/2 is tried again. */
const memory = 300_000
/** Fewer requests before the end set no rule. */
const minRequests = 10

const alpn = ['h2', 'http/1.1']
const noAlpn: readonly string[] = []

export interface MultiplexedOwner extends DialTarget {
  readonly isRetired: boolean
  /** Counting idle connections that can be replaced. */
  readonly room: number
  makeRoom(): void
  isOutdated(connection: { readonly address: string }): boolean
  continueByHttp1(dial: Dial, socket: Socket, waiting: ConnectionQueue): void
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
  readonly #queue = new ConnectionQueue()
  readonly #dials: Dials
  #http1Until = 0
  /** Learned when the origin ended two connections in a row after that many requests. */
  maxRequests = Number.POSITIVE_INFINITY
  #maxRequestsUntil = 0
  #lastAccepted = 0

  constructor(owner: MultiplexedOwner, clock: Clock, metrics: EdgeMetrics) {
    this.target = owner
    this.#clock = clock
    this.#metrics = metrics
    this.#streams = owner.config.transport.streams
    this.#dials = new Dials(this, clock)
    this.protocols = owner.config.transport.http === '2' ? alpn : noAlpn
  }

  mayServe({ needsHttp1 }: ConnectionRequest): boolean {
    return !needsHttp1 && this.#clock.monotonic() >= this.#http1Until
  }

  get connections(): number {
    return this.#open.size + this.#dials.size
  }

  get dials(): number {
    return this.#dials.size
  }

  get open(): number {
    return this.#open.size
  }

  get outstanding(): number {
    return this.#queue.size + this.streams
  }

  get streams(): number {
    let sum = 0
    for (const { size } of this.#open) sum += size
    return sum
  }

  get queueLength(): number {
    return Math.max(0, this.#queue.size - this.#dials.size * this.#streams)
  }

  get hasRoom(): boolean {
    return this.#withRoom() !== null || this.target.room > 0
  }

  acquire(request: ConnectionRequest, { fresh }: { fresh: boolean }): void {
    const connection = this.#queue.size === 0 || fresh ? this.#withRoom() : null
    if (connection !== null) return hand(request, connection)
    if (!fresh && this.#isFull()) return request.failed('connect', fault('GH_QUEUE_FULL'), noTimes)
    this.#queue.add(request, this.#clock.monotonic(), { fresh })
    for (const { session } of this.#open) if (session.isSilent) session.probe()
    this.dialMore()
  }

  cancel(request: ConnectionRequest): void {
    this.#queue.remove(request)
  }

  sweep(now: number): void {
    this.#dials.sweep(now)
    // The origin may accept more by now.
    if (now >= this.#maxRequestsUntil) this.maxRequests = Number.POSITIVE_INFINITY
    for (const connection of this.#open) connection.sweep(now)
    const { timeout } = this.target.config.transport.queue
    if (timeout > 0 && this.queueLength > 0)
      this.#queue.expire(now - timeout, this.#dials.size * this.#streams)
    if (this.#queue.size > 0) this.dialMore()
  }

  retire(): void {
    for (const connection of this.#open) this.#settle(connection)
  }

  destroy(): void {
    this.#dials.abort()
    for (const connection of this.#open) connection.close()
  }

  dropOldAddresses(): void {
    for (const connection of this.#open) {
      connection.isOutdated = this.target.isOutdated(connection)
      this.#settle(connection)
    }
  }

  closeIdle(): boolean {
    const idle = this.#open.values().find(({ size }) => size === 0)
    idle?.close()
    return idle !== undefined
  }

  dialMore(): void {
    if (this.#queue.size === 0) return
    // An idle one without room has yet to say how many exchanges it accepts, or accepts none.
    for (const { isPromising } of this.#open) if (isPromising) return
    const worth = this.#dials.worth(Math.ceil(this.#queue.size / this.#streams))
    while (this.#dials.size < worth && this.target.room > 0) {
      this.target.makeRoom()
      this.#dials.start(this.#queue.first.timeouts)
    }
  }

  dialed(dial: Dial, socket: Socket): void {
    this.#dials.connected(dial)
    if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2') {
      this.#http1Until = this.#clock.monotonic() + memory
      return this.target.continueByHttp1(dial, socket, this.#queue)
    }
    const options = { clock: this.#clock, scheme: this.target.config.protocol, streams: this.#streams }
    const connection = new Http2Connection(this, socket, dial, options)
    connection.isOutdated = this.target.isOutdated(connection)
    this.#open.add(connection)
    this.#metrics.originConnections.inc()
    this.changed(connection)
  }

  dialFailed(dial: Dial, phase: DialPhase, failure: Failure): void {
    this.#queue.refuse(this.#dials.failed(dial, failure), phase, failure, dial.times)
    this.dialMore()
    this.target.roomMade()
  }

  changed(connection: Http2Connection): void {
    // If no other may be opened, a connection at risk is better than none.
    if (connection.session.hasCancelledMany && this.target.room > 0) connection.isReplaced = true
    while (connection.room > 0 && this.#queue.size > 0) this.#queue.serveFirst(connection)
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

  #learn(accepted: number): void {
    if (accepted < minRequests) return
    if (accepted === this.#lastAccepted) {
      this.maxRequests = accepted
      this.#maxRequestsUntil = this.#clock.monotonic() + memory
    }
    this.#lastAccepted = accepted
  }

  /**
   * Fills the first ones, so that later ones become idle. A silent one, whose origin may be gone, is only for
   * a request that could not even be queued.
   */
  #withRoom(): Http2Connection | null {
    let silent: Http2Connection | null = null
    for (const connection of this.#open) {
      if (connection.room === 0) continue
      if (!connection.session.isSilent) return connection
      silent ??= connection
    }
    return silent !== null && this.#isFull() ? silent : null
  }

  #settle(connection: Http2Connection): void {
    if (connection.size > 0) return
    if (this.target.isRetired || connection.isLeaving) connection.close()
    else if (connection.deadline === Number.POSITIVE_INFINITY)
      connection.deadline = this.#clock.monotonic() + maxIdle
  }

  #isFull(): boolean {
    const unserved = this.#queue.size - this.#dials.size * this.#streams
    return this.target.room <= 0 && unserved >= this.target.config.transport.queue.size
  }
}
