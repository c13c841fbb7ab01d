// One origin with its connections: who gets an idle one, when a new one is opened, and which requests wait.

import { isIP, type Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import type { EdgeMetrics } from '../../metrics/counters/edge-metrics.ts'
import type { Logger } from '../../log/log.ts'
import type { OriginConfig } from '../../config/model/config.ts'
import { type Failure, fault } from '../../errors/catalogue/origin-failure.ts'
import { AddressBook } from '../resolver/address-book.ts'
import type { AddressGuard } from '../resolver/address-guard.ts'
import type { Dial, Dialer, DialPhase } from './dial/dial.ts'
import { Multiplexed, type MultiplexedOwner } from './http2/multiplexed.ts'
import { Dials } from './dial/dials.ts'
import { Handshakes } from './dial/handshakes.ts'
import { IdleConnections } from './idle/idle-connections.ts'
import type { IdlePinned } from './idle/idle-pinned-connections.ts'
import type { PinnedConnections } from './idle/pinned-connections.ts'
import type { NameLookup } from '../resolver/name-lookup.ts'
import { type ConnectionOwner, OriginConnection } from './origin-connection.ts'
import type { ConnectionHolder } from './lease.ts'
import type { Rest } from './response-reader.ts'
import { Resting } from './idle/resting-connections.ts'
import { Uploads } from './uploads.ts'
import { hand, undialled, type ConnectionRequest, ConnectionQueue } from './connection-queue.ts'

/** Ms that a client has for the messages of a handshake, although others wait for its connection. */
const turn = 3_000

/** What every origin is reached with. */
export interface Means {
  readonly clock: Clock
  readonly metrics: EdgeMetrics
  readonly log: Logger
  readonly lookup: NameLookup
  readonly guard: AddressGuard
  /** Whether the process has a descriptor for another connection beside so many that are being opened. */
  readonly mayDial: (dials: number) => boolean
  /** The idle connections of all origins that belong to one client each. */
  readonly idlePinned: IdlePinned
}

/** One origin: its addresses, its idle connections, and the requests that wait for one. */
export class Origin implements Dialer, ConnectionOwner, MultiplexedOwner {
  readonly config: OriginConfig
  /** The Host value for this origin: its default port is left out (RFC 9110 section 7.2). */
  readonly authority: string
  readonly book: AddressBook | null
  readonly guard: AddressGuard
  readonly handshakes = new Handshakes()
  readonly protocols = ['http/1.1']
  readonly #clock: Clock
  readonly #metrics: EdgeMetrics
  readonly #log: Logger
  readonly #mayDial: Means['mayDial']
  readonly #idle = new IdleConnections()
  readonly #idlePinned: IdlePinned
  /** Counts those of this origin. */
  #pinned = 0
  readonly #open = new Set<OriginConnection>()
  readonly #dials: Dials
  readonly #resting = new Resting(this)
  /** Its connections of HTTP/2; null where it is to have none. */
  readonly #multiplexed: Multiplexed | null
  /** For the first of them connections are being dialled. */
  readonly #waiting = new ConnectionQueue()
  readonly #uploads: Uploads
  /** Most connections, open and dialled. */
  readonly #most: number
  /** Where it waits to be unused, once no configuration names it any more. */
  #retired: Set<Origin> | null = null
  #isDestroyed = false

  constructor(config: OriginConfig, { clock, metrics, log, lookup, guard, mayDial, idlePinned }: Means) {
    this.config = config
    this.authority = new URL(config.url).host
    this.guard = guard
    this.#clock = clock
    this.#metrics = metrics
    this.#log = log
    this.#mayDial = mayDial
    this.#idlePinned = idlePinned
    this.#most = config.transport.connections || Number.POSITIVE_INFINITY
    const { http, streams } = config.transport
    this.#uploads = new Uploads(this.#most, http === '1' ? 1 : streams)
    this.#dials = new Dials(this, clock)
    const changed = () => this.#leaveOldAddresses()
    const crashed = (bug: unknown) => this.crashed(bug)
    const { dns } = config.transport
    const { host } = config.transport.proxy ?? config
    const parts = { name: host, dns, lookup, clock, metrics, changed, crashed }
    this.book = isIP(host) === 0 ? new AddressBook(parts) : null
    this.#multiplexed = http === '1' ? null : new Multiplexed(this, clock, metrics)
  }

  /** Counts the exchanges that hold a connection or wait for one. */
  get outstanding(): number {
    const unused = this.#idle.size + this.#resting.size + this.#pinned
    const byHttp1 = this.#waiting.size + this.#open.size - unused
    return this.#uploads.waiting + byHttp1 + (this.#multiplexed?.outstanding ?? 0)
  }

  /** Counts the open connections. */
  get connections(): number {
    return this.#open.size + (this.#multiplexed?.open ?? 0)
  }

  /** Counts those among them that speak HTTP/2. */
  get http2Connections(): number {
    return this.#multiplexed?.open ?? 0
  }

  /** Counts those who wait although no connection is dialled for them. */
  get queueLength(): number {
    const shared = this.#multiplexed?.queueLength ?? 0
    if (this.#most === Number.POSITIVE_INFINITY) return shared
    return this.#uploads.waiting + Math.max(0, this.#waiting.size - this.#dials.size) + shared
  }

  /**
   * Hands the request a connection, at once when one is idle; else it waits in turn, or is refused at once where too many do. A `fresh` one was never used: who
   * asks for that had its turn already, and is not refused.
   */
  acquire(request: ConnectionRequest, options: { fresh: boolean }): void {
    // A request that began before a reload may come to it late.
    this.#retired?.add(this)
    if (this.#multiplexed?.takes(request)) return this.#multiplexed.acquire(request, options)
    if (!options.fresh && this.#handIdle(request)) return
    this.makeRoom()
    if (!options.fresh && this.#isFull()) return request.failed('connect', fault('GH_QUEUE_FULL'), undialled)
    this.#await(request, options)
  }

  /** Hands the request an idle connection that belongs to its client; false where there is none. */
  acquirePinned(request: ConnectionRequest, pinned: PinnedConnections, clientAddress: string): boolean {
    const connection = pinned.take(this, clientAddress)
    if (connection === null) return false
    if (this.#idlePinned.delete(connection)) this.#pinned--
    hand(request, connection)
    return true
  }

  /** The same as `acquire` for a request whose body is still to come: it also waits while those have their share of the connections. Ends with `endUpload`. */
  acquireForUpload(request: ConnectionRequest): void {
    if (this.#uploads.hasRoom) {
      this.#uploads.admit(request)
      return this.acquire(request, { fresh: false })
    }
    if (this.#uploads.waiting >= this.config.transport.queue.size)
      return request.failed('connect', fault('GH_QUEUE_FULL'), undialled)
    this.#uploads.wait(request, this.#clock.monotonic())
  }

  /** Whether an upload may begin whose client pauses: at once, and on a connection that nobody waits for. */
  get hasRoomForPause(): boolean {
    if (!this.#uploads.hasRoomForPause) return false
    return this.#idle.size > 0 || !this.#isAtMost || this.#multiplexed?.hasRoom === true
  }

  /** Takes note that the body of an upload is there, that its response has begun, or that it is given up. */
  endUpload(request: ConnectionRequest): void {
    const next = this.#uploads.leave(request)
    if (next === null) return
    if (this.#multiplexed?.takes(next)) return this.#multiplexed.acquire(next, { fresh: true })
    if (this.#handIdle(next)) return
    this.makeRoom()
    this.#await(next, { fresh: false })
  }

  /** Removes one that no longer waits. */
  forget(request: ConnectionRequest): void {
    this.#waiting.remove(request)
    this.#multiplexed?.forget(request)
  }

  returned(connection: OriginConnection, rest: Rest): void {
    this.handshakes.responded()
    // What strays behind a response of its own client harms nobody else, and the next message of a handshake must find it.
    if (connection.holder !== null) return this.#keepPinned(connection, connection.holder)
    if (rest === 'none') return this.#offer(connection)
    if (rest === 'turn') return this.#resting.addForTurn(connection)
    const rests = !this.#isWantedNow && this.#resting.addForWhile(connection, this.#clock.monotonic())
    if (!rests) connection.reset()
  }

  rested(connection: OriginConnection): void {
    this.#offer(connection)
  }

  /** Closes what is idle now and everything else as it comes back: no configuration names this origin any more. */
  retire(retired: Set<Origin>): void {
    this.#retired = retired.add(this)
    for (const connection of this.#idle.takeAll()) connection.close()
    for (const connection of this.#open) if (this.#idlePinned.has(connection)) connection.close()
    this.#multiplexed?.retire()
  }

  get isRetired(): boolean {
    return this.#retired !== null
  }

  /** Cuts every connection. */
  destroy(): void {
    this.#isDestroyed = true
    this.#retired ??= new Set()
    this.#dials.abort()
    for (const connection of this.#open) connection.close()
    this.#multiplexed?.destroy()
  }

  /** Ends what has passed its deadline: dials, requests in the queue, and connections that were idle long enough. */
  sweep(now: number): void {
    this.#dials.sweep(now)
    for (const connection of this.#open) if (now >= connection.deadline) connection.close()
    this.#resting.sweep(now)
    if (this.#pinned > 0 && this.#isAtMost)
      for (let i = this.queueLength; i > 0 && this.#idlePinned.closeEldest(now, this); i--);
    const { timeout } = this.config.transport.queue
    if (timeout > 0 && this.queueLength > 0) {
      this.#uploads.expire(now - timeout)
      this.#waiting.expire(now - timeout, this.#dials.size)
    }
    // Where requests find idle connections there is no dial, and yet the name may lead elsewhere by now.
    this.#multiplexed?.sweep(now)
    if (this.connections > 0) this.book?.refresh()
  }

  get hasDescriptor(): boolean {
    return this.mayDial()
  }

  get isUnused(): boolean {
    return this.#open.size === 0 && this.#dials.size === 0 && !this.#multiplexed?.connections
  }

  // What its connections of HTTP/2 ask.

  mayDial(): boolean {
    const dials = this.#dials.size + (this.#multiplexed?.dials ?? 0)
    if (this.#mayDial(dials)) return true
    return this.#idlePinned.closeEldest(this.#clock.monotonic(), null) && this.#mayDial(dials)
  }

  get room(): number {
    return this.#isDestroyed ? 0 : this.#most - this.#used + this.#idle.size
  }

  goOnByHttp1(dial: Dial, socket: Socket, waiting: ConnectionQueue): void {
    waiting.moveTo(this.#waiting)
    this.#take(dial, socket)
  }

  roomMade(): void {
    this.#dialMore()
  }

  dialed(dial: Dial, socket: Socket): void {
    this.#dials.connected(dial)
    this.#take(dial, socket)
  }

  #take(dial: Dial, socket: Socket): void {
    const connection = new OriginConnection(this, socket, dial)
    connection.isOutdated = this.isOutdated(connection)
    this.#open.add(connection)
    this.#metrics.originConnections.inc()
    this.#offer(connection)
    this.#dialMore()
  }

  dialFailed(dial: Dial, phase: DialPhase, failure: Failure): void {
    this.#waiting.refuse(this.#dials.failed(dial, failure), phase, failure, dial.times)
    this.#dialMore()
  }

  hasRefused(connection: OriginConnection, failure: Failure): boolean {
    return this.handshakes.wasRefused(connection, failure)
  }

  crashed(bug: unknown): void {
    this.#log.error({ err: bug, origin: this.config.url }, 'origin connection failed: internal error')
  }

  pinned(connection: OriginConnection): void {
    connection.pinnedAt = this.#clock.monotonic()
    this.#metrics.pinnedConnections.inc()
  }

  closed(connection: OriginConnection): void {
    if (this.#open.delete(connection)) this.#metrics.originConnections.dec()
    if (connection.holder !== null) this.#forgetPinned(connection, connection.holder)
    else if (!this.#idle.remove(connection) && this.#resting.size > 0) this.#resting.remove(connection)
    this.#dialMore()
    this.#multiplexed?.dialMore()
  }

  /** Hands over an idle connection; false where there is none. */
  #handIdle(request: ConnectionRequest): boolean {
    const idle = this.#idle.take()
    if (idle === undefined) return false
    hand(request, idle)
    return true
  }

  #keepPinned(connection: OriginConnection, holder: ConnectionHolder): void {
    const now = this.#clock.monotonic()
    if (this.#isUnwanted(connection) || this.#isOwed(connection, now) || !holder.keep(connection))
      return connection.close()
    this.#pinned++
    this.#idlePinned.add(connection, now)
    if (!this.#mayDial(this.#dials.size + this.#idlePinned.size)) this.#idlePinned.closeFirst()
  }

  /** Whether others wait, and the client of a connection has had its share: one that comes again all the time is never idle for long, and would shut them out. */
  #isOwed({ pinnedAt }: OriginConnection, now: number): boolean {
    return this.#isWantedNow && (this.#pinned >= this.#most / 2 || now - pinnedAt >= turn)
  }

  #forgetPinned(connection: OriginConnection, holder: ConnectionHolder): void {
    this.#metrics.pinnedConnections.dec()
    if (this.#idlePinned.delete(connection)) this.#pinned--
    holder.remove(connection)
  }

  #await(request: ConnectionRequest, options: { fresh: boolean }): void {
    this.#waiting.add(request, this.#clock.monotonic(), options)
    this.#dialMore()
  }

  #offer(connection: OriginConnection): void {
    if (connection.isReused && this.#isWantedNew) return connection.close()
    if (this.#waiting.serve(connection)) return
    const isKept = !this.#isUnwanted(connection) && this.#idle.keep(connection, this.#clock.monotonic())
    if (!isKept) connection.close()
  }

  /** Whether nobody is to use a connection again. */
  #isUnwanted({ isOutdated }: OriginConnection): boolean {
    return this.#retired !== null || isOutdated
  }

  #dialMore(): void {
    if (this.#waiting.size === 0 || this.#isDestroyed) return
    const most = Math.min(this.#dials.worth(this.#waiting.size), this.#most - this.#used + this.#dials.size)
    while (this.#dials.size < most) this.#dials.start(this.#waiting.first.timeouts)
  }

  get #isAtMost(): boolean {
    return this.#used >= this.#most
  }

  /** Counts the connections that it has, or is to have. */
  get #used(): number {
    return this.#open.size + this.#dials.size + (this.#multiplexed?.connections ?? 0)
  }

  /** Whether somebody waits for a connection that only one less can make room for. */
  get #isWantedNow(): boolean {
    return this.#isAtMost && this.#waiting.size > this.#dials.size
  }

  /** The same of those who take only a new one. */
  get #isWantedNew(): boolean {
    return (
      this.#waiting.forNew > 0 && this.#isAtMost && this.#dials.size < this.#dials.worth(this.#waiting.forNew)
    )
  }

  /** Closes a connection that serves nobody now where it takes the place of a new one. */
  makeRoom(): void {
    if (!this.#isAtMost) return
    const idle = this.#idle.takeEldest() ?? this.#resting.eldest
    if (idle !== undefined) idle.close()
    else if (this.#multiplexed?.closeIdle() !== true && this.#pinned > 0)
      this.#idlePinned.closeEldest(this.#clock.monotonic(), this)
  }

  /** Whether nobody more may wait; connections that are back within a turn are as good as dialled. */
  #isFull(): boolean {
    const unprovided = this.#waiting.size - this.#dials.size - this.#resting.soon
    return this.#isAtMost && unprovided >= this.config.transport.queue.size
  }

  /** Closes what leads to addresses that the name has no longer: idle connections now, the others as they come back. */
  #leaveOldAddresses(): void {
    for (const connection of this.#open) connection.isOutdated = this.isOutdated(connection)
    for (const connection of this.#idle.outdated()) connection.close()
    for (const connection of this.#open)
      if (connection.isOutdated && this.#idlePinned.has(connection)) connection.close()
    this.#multiplexed?.leaveOldAddresses()
  }

  isOutdated({ address }: { readonly address: string }): boolean {
    return this.book !== null && !this.book.addresses.includes(address)
  }
}
