// The HTTP/1.1 connections to one origin: hands out idle ones, dials new ones, and queues requests.

import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import type { Failure } from '../../errors/catalogue/origin-failure.ts'
import type { EdgeMetrics } from '../../metrics/counters/edge-metrics.ts'
import { ConnectionQueue, type ConnectionRequest, hand } from './connection-queue.ts'
import type { Dial, Dialer, DialPhase, DialTarget } from './dial/dial.ts'
import { Dials } from './dial/dials.ts'
import { IdleConnections } from './idle/idle-connections.ts'
import type { IdlePinnedConnections } from './idle/idle-pinned-connections.ts'
import type { PinnedConnections } from './idle/pinned-connections.ts'
import { RestingConnections } from './idle/resting-connections.ts'
import type { ConnectionHolder } from './lease.ts'
import { type ConnectionOwner, OriginConnection } from './origin-connection.ts'
import type { Rest } from './response-reader.ts'

/** While others wait for its connection. */
const authenticationTurn = 3_000

export interface Http1Owner extends DialTarget {
  readonly isRetired: boolean
  readonly vacancies: number
  isOutdated(connection: { readonly address: string }): boolean
  roomMade(): void
  crashed(bug: unknown): void
}

interface Shared {
  readonly clock: Clock
  readonly metrics: EdgeMetrics
  readonly idlePinned: IdlePinnedConnections
  /** Whether a descriptor is free besides those of `dials`. */
  readonly mayDial: (dials: number) => boolean
}

export class Http1Connections implements Dialer, ConnectionOwner {
  readonly target: Http1Owner
  readonly protocols = ['http/1.1']
  readonly #shared: Shared
  readonly #open = new Set<OriginConnection>()
  readonly #idle = new IdleConnections()
  readonly #resting = new RestingConnections(this)
  #pinned = 0
  /** The first have a dial. */
  readonly #queue = new ConnectionQueue()
  readonly #dials: Dials
  #isDestroyed = false

  constructor(origin: Http1Owner, shared: Shared) {
    this.target = origin
    this.#shared = shared
    this.#dials = new Dials(this, shared.clock)
  }

  handIdle(request: ConnectionRequest): boolean {
    const idle = this.#idle.take()
    if (idle === undefined) return false
    hand(request, idle)
    return true
  }

  handPinned(request: ConnectionRequest, pinned: PinnedConnections, clientAddress: string): boolean {
    const connection = pinned.take(this.target, clientAddress)
    if (connection === null) return false
    if (this.#shared.idlePinned.delete(connection)) this.#pinned--
    hand(request, connection)
    return true
  }

  /** Connections that return within a turn count like dialled ones. */
  get isFull(): boolean {
    const unserved = this.#queue.size - this.#dials.size - this.#resting.returningSoon
    return this.#isAtMax && unserved >= this.target.config.transport.queue.size
  }

  /** A `fresh` connection is one never used before. */
  enqueue(request: ConnectionRequest, options: { fresh: boolean }): void {
    this.#queue.add(request, this.#shared.clock.monotonic(), options)
    this.dialMore()
  }

  cancel(request: ConnectionRequest): void {
    this.#queue.remove(request)
  }

  get open(): number {
    return this.#open.size
  }

  get dials(): number {
    return this.#dials.size
  }

  get idle(): number {
    return this.#idle.size
  }

  get outstanding(): number {
    const unused = this.#idle.size + this.#resting.size + this.#pinned
    return this.#queue.size + this.#open.size - unused
  }

  get queueLength(): number {
    return Math.max(0, this.#queue.size - this.#dials.size)
  }

  /** Takes over a connection dialled for HTTP/2, and the requests waiting for it. */
  adopt(dial: Dial, socket: Socket, queue: ConnectionQueue): void {
    queue.moveTo(this.#queue)
    this.#add(dial, socket)
  }

  dialMore(): void {
    if (this.#queue.size === 0 || this.#isDestroyed) return
    const worth = this.#dials.worth(this.#queue.size)
    while (this.#dials.size < worth && this.target.vacancies > 0)
      this.#dials.start(this.#queue.first.timeouts)
  }

  closeIdle(): boolean {
    const idle = this.#idle.takeOldest() ?? this.#resting.oldest
    idle?.close()
    return idle !== undefined
  }

  closePinned(count: number, now: number): void {
    if (this.#pinned > 0)
      for (let i = count; i > 0 && this.#shared.idlePinned.closeOldest(now, this.target); i--);
  }

  sweep(now: number): void {
    this.#dials.sweep(now)
    for (const connection of this.#open) if (now >= connection.deadline) connection.close()
    this.#resting.sweep(now)
  }

  /** Spares requests with a dial. */
  expireQueue(by: number): void {
    this.#queue.expire(by, this.#dials.size)
  }

  retire(): void {
    for (const connection of this.#idle.takeAll()) connection.close()
    for (const connection of this.#open) if (this.#shared.idlePinned.has(connection)) connection.close()
  }

  destroy(): void {
    this.#isDestroyed = true
    this.#dials.abort()
    for (const connection of this.#open) connection.close()
  }

  /** Others close when they return. */
  dropOldAddresses(): void {
    for (const connection of this.#open) connection.isOutdated = this.target.isOutdated(connection)
    for (const connection of this.#idle.outdated()) connection.close()
    for (const connection of this.#open)
      if (connection.isOutdated && this.#shared.idlePinned.has(connection)) connection.close()
  }

  dialed(dial: Dial, socket: Socket): void {
    this.#dials.connected(dial)
    this.#add(dial, socket)
  }

  dialFailed(dial: Dial, phase: DialPhase, failure: Failure): void {
    this.#queue.refuse(this.#dials.failed(dial, failure), phase, failure, dial.times)
    this.dialMore()
  }

  returned(connection: OriginConnection, rest: Rest): void {
    this.target.handshakes.responded()
    // Stray bytes only harm this client, whose authentication needs this connection.
    if (connection.holder !== null) return this.#keepPinned(connection, connection.holder)
    if (rest === 'none') return this.#offer(connection)
    if (rest === 'turn') return this.#resting.addForTurn(connection)
    const rests = !this.#isWantedNow && this.#resting.addForWhile(connection, this.#shared.clock.monotonic())
    if (!rests) connection.reset()
  }

  rested(connection: OriginConnection): void {
    this.#offer(connection)
  }

  hasRefused(connection: OriginConnection, failure: Failure): boolean {
    return this.target.handshakes.wasRefused(connection, failure)
  }

  pinned(connection: OriginConnection): void {
    connection.pinnedAt = this.#shared.clock.monotonic()
    this.#shared.metrics.pinnedConnections.inc()
  }

  closed(connection: OriginConnection): void {
    if (this.#open.delete(connection)) this.#shared.metrics.originConnections.dec()
    if (connection.holder !== null) this.#forgetPinned(connection, connection.holder)
    else if (!this.#idle.remove(connection) && this.#resting.size > 0) this.#resting.remove(connection)
    this.dialMore()
    this.target.roomMade()
  }

  crashed(bug: unknown): void {
    this.target.crashed(bug)
  }

  #add(dial: Dial, socket: Socket): void {
    const connection = new OriginConnection(this, socket, dial)
    connection.isOutdated = this.target.isOutdated(connection)
    this.#open.add(connection)
    this.#shared.metrics.originConnections.inc()
    this.#offer(connection)
    this.dialMore()
  }

  #keepPinned(connection: OriginConnection, holder: ConnectionHolder): void {
    const now = this.#shared.clock.monotonic()
    if (this.#isUnwanted(connection) || this.#isOwedToOthers(connection, now) || !holder.keep(connection))
      return connection.close()
    this.#pinned++
    this.#shared.idlePinned.add(connection, now)
    if (!this.#shared.mayDial(this.#dials.size + this.#shared.idlePinned.size))
      this.#shared.idlePinned.closeFirst()
  }

  /** Whether others wait and the client, which may never be idle for long, had its share. */
  #isOwedToOthers({ pinnedAt }: OriginConnection, now: number): boolean {
    const { connections } = this.target.config.transport
    return this.#isWantedNow && (this.#pinned >= connections / 2 || now - pinnedAt >= authenticationTurn)
  }

  #forgetPinned(connection: OriginConnection, holder: ConnectionHolder): void {
    this.#shared.metrics.pinnedConnections.dec()
    if (this.#shared.idlePinned.delete(connection)) this.#pinned--
    holder.remove(connection)
  }

  #offer(connection: OriginConnection): void {
    if (connection.isReused && this.#isWantedNew) return connection.close()
    if (this.#queue.serve(connection)) return
    const isIdle =
      !this.#isUnwanted(connection) && this.#idle.keep(connection, this.#shared.clock.monotonic())
    if (!isIdle) connection.close()
  }

  #isUnwanted({ isOutdated }: OriginConnection): boolean {
    return this.target.isRetired || isOutdated
  }

  get #isAtMax(): boolean {
    return this.target.vacancies <= 0
  }

  get #isWantedNow(): boolean {
    return this.#isAtMax && this.#queue.size > this.#dials.size
  }

  get #isWantedNew(): boolean {
    return this.#queue.forNew > 0 && this.#isAtMax && this.#dials.size < this.#dials.worth(this.#queue.forNew)
  }
}
