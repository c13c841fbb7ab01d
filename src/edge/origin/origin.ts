// One origin: how it is reached, its connections of either version, and what uploads may have of them.

import { isIP, type Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import type { EdgeMetrics } from '../../metrics/counters/edge-metrics.ts'
import type { Logger } from '../../log/log.ts'
import type { OriginConfig } from '../../config/model/config.ts'
import { fault } from '../../errors/catalogue/origin-failure.ts'
import { AddressBook } from '../resolver/address-book.ts'
import type { AddressGuard } from '../resolver/address-guard.ts'
import type { Dial } from './dial/dial.ts'
import { Multiplexed, type MultiplexedOwner } from './http2/multiplexed.ts'
import { Handshakes } from './dial/handshakes.ts'
import type { IdlePinned } from './idle/idle-pinned-connections.ts'
import type { PinnedConnections } from './idle/pinned-connections.ts'
import type { NameLookup } from '../resolver/name-lookup.ts'
import { Uploads } from './uploads.ts'
import { type Http1Owner, Http1Connections } from './http1-connections.ts'
import { undialled, type ConnectionRequest, type ConnectionQueue } from './connection-queue.ts'

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

/** One origin, with its connections and the requests that wait for one. */
export class Origin implements Http1Owner, MultiplexedOwner {
  readonly config: OriginConfig
  /** The Host value for this origin: its default port is left out (RFC 9110 section 7.2). */
  readonly authority: string
  readonly book: AddressBook | null
  readonly guard: AddressGuard
  readonly handshakes = new Handshakes()
  readonly #clock: Clock
  readonly #log: Logger
  readonly #mayDial: Means['mayDial']
  readonly #idlePinned: IdlePinned
  readonly #http1: Http1Connections
  /** Null where it is to have no connections of HTTP/2. */
  readonly #http2: Multiplexed | null
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
    this.#log = log
    this.#mayDial = mayDial
    this.#idlePinned = idlePinned
    this.#most = config.transport.connections || Number.POSITIVE_INFINITY
    const { http, streams } = config.transport
    this.#uploads = new Uploads(this.#most, http === '1' ? 1 : streams)
    const changed = () => this.#leaveOldAddresses()
    const crashed = (bug: unknown) => this.crashed(bug)
    const { dns } = config.transport
    const { host } = config.transport.proxy ?? config
    const parts = { name: host, dns, lookup, clock, metrics, changed, crashed }
    this.book = isIP(host) === 0 ? new AddressBook(parts) : null
    this.#http1 = new Http1Connections(this, { clock, metrics, idlePinned, mayDial })
    this.#http2 = http === '1' ? null : new Multiplexed(this, clock, metrics)
  }

  /** Counts the exchanges that hold a connection or wait for one. */
  get outstanding(): number {
    return this.#uploads.waiting + this.#http1.outstanding + (this.#http2?.outstanding ?? 0)
  }

  /** Counts the open connections. */
  get connections(): number {
    return this.#http1.open + this.http2Connections
  }

  /** Counts those among them that speak HTTP/2. */
  get http2Connections(): number {
    return this.#http2?.open ?? 0
  }

  /** Counts those who wait although no connection is dialled for them. */
  get queueLength(): number {
    const shared = this.#http2?.queueLength ?? 0
    if (this.#most === Number.POSITIVE_INFINITY) return shared
    return this.#uploads.waiting + this.#http1.queueLength + shared
  }

  // ── requests ──

  /**
   * Hands the request a connection, at once when one is idle; else it waits in turn, or is refused at once
   * where too many do. A `fresh` one was never used: who asks for that had its turn already, and is not
   * refused.
   */
  acquire(request: ConnectionRequest, options: { fresh: boolean }): void {
    // A request that began before a reload may come to it late.
    this.#retired?.add(this)
    if (this.#http2?.takes(request)) return this.#http2.acquire(request, options)
    if (!options.fresh && this.#http1.handIdle(request)) return
    this.makeRoom()
    if (!options.fresh && this.#http1.isFull)
      return request.failed('connect', fault('GH_QUEUE_FULL'), undialled)
    this.#http1.await(request, options)
  }

  /** Hands the request an idle connection that belongs to its client; false where there is none. */
  acquirePinned(request: ConnectionRequest, pinned: PinnedConnections, clientAddress: string): boolean {
    return this.#http1.handPinned(request, pinned, clientAddress)
  }

  /**
   * The same as `acquire` for a request whose body is still to come: it also waits while those have their
   * share of the connections. Ends with `endUpload`.
   */
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
    return this.#http1.idle > 0 || this.vacancies > 0 || this.#http2?.hasRoom === true
  }

  /** Takes note that the body of an upload is there, that its response has begun, or that it is given up. */
  endUpload(request: ConnectionRequest): void {
    const next = this.#uploads.leave(request)
    if (next === null) return
    if (this.#http2?.takes(next)) return this.#http2.acquire(next, { fresh: true })
    if (this.#http1.handIdle(next)) return
    this.makeRoom()
    this.#http1.await(next, { fresh: false })
  }

  /** Removes one that no longer waits. */
  forget(request: ConnectionRequest): void {
    this.#http1.forget(request)
    this.#http2?.forget(request)
  }

  // ── its configuration and the clock ──

  /**
   * Closes what is idle now and everything else as it comes back: no configuration names this origin any
   * more.
   */
  retire(retired: Set<Origin>): void {
    this.#retired = retired.add(this)
    this.#http1.retire()
    this.#http2?.retire()
  }

  get isRetired(): boolean {
    return this.#retired !== null
  }

  get isUnused(): boolean {
    return this.#used === 0
  }

  /** Cuts every connection. */
  destroy(): void {
    this.#isDestroyed = true
    this.#retired ??= new Set()
    this.#http1.destroy()
    this.#http2?.destroy()
  }

  /**
   * Ends what has passed its deadline: dials, requests in the queue, and connections that were idle long
   * enough.
   */
  sweep(now: number): void {
    this.#http1.sweep(now)
    if (this.vacancies <= 0) this.#http1.closePinned(this.queueLength, now)
    const { timeout } = this.config.transport.queue
    if (timeout > 0 && this.queueLength > 0) {
      this.#uploads.expire(now - timeout)
      this.#http1.expireQueue(now - timeout)
    }
    this.#http2?.sweep(now)
    // Where requests find idle connections there is no dial, and yet the name may lead elsewhere by now.
    if (this.connections > 0) this.book?.refresh()
  }

  // ── its connections ──

  get hasDescriptor(): boolean {
    const dials = this.#http1.dials + (this.#http2?.dials ?? 0)
    if (this.#mayDial(dials)) return true
    return this.#idlePinned.closeEldest(this.#clock.monotonic(), null) && this.#mayDial(dials)
  }

  get vacancies(): number {
    return this.#most - this.#used
  }

  get room(): number {
    return this.#isDestroyed ? 0 : this.vacancies + this.#http1.idle
  }

  /** Closes a connection that serves nobody now where it takes the place of a new one. */
  makeRoom(): void {
    if (this.vacancies > 0 || this.#http1.closeIdle() || this.#http2?.closeIdle()) return
    this.#http1.closePinned(1, this.#clock.monotonic())
  }

  goOnByHttp1(dial: Dial, socket: Socket, waiting: ConnectionQueue): void {
    this.#http1.adopt(dial, socket, waiting)
  }

  roomMade(): void {
    this.#http1.dialMore()
    this.#http2?.dialMore()
  }

  isOutdated({ address }: { readonly address: string }): boolean {
    return this.book !== null && !this.book.addresses.includes(address)
  }

  crashed(bug: unknown): void {
    this.#log.error({ err: bug, origin: this.config.url }, 'origin connection failed: internal error')
  }

  #leaveOldAddresses(): void {
    this.#http1.leaveOldAddresses()
    this.#http2?.leaveOldAddresses()
  }

  /** Counts the connections that it has, or is to have. */
  get #used(): number {
    return this.#http1.open + this.#http1.dials + (this.#http2?.connections ?? 0)
  }
}
