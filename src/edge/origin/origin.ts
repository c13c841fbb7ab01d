// One origin: its addresses, its connections of both versions, and the limits on its uploads.

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
import type { IdlePinnedConnections } from './idle/idle-pinned-connections.ts'
import type { PinnedConnections } from './idle/pinned-connections.ts'
import type { NameLookup } from '../resolver/name-lookup.ts'
import { Uploads } from './uploads.ts'
import { type Http1Owner, Http1Connections } from './http1-connections.ts'
import { noTimes, type ConnectionRequest, type ConnectionQueue } from './connection-queue.ts'

export interface OriginContext {
  readonly clock: Clock
  readonly metrics: EdgeMetrics
  readonly log: Logger
  readonly lookup: NameLookup
  readonly guard: AddressGuard
  /** Whether a descriptor is free besides those of `dials`. */
  readonly mayDial: (dials: number) => boolean
  readonly idlePinned: IdlePinnedConnections
}

export class Origin implements Http1Owner, MultiplexedOwner {
  readonly config: OriginConfig
  /** Without the default port (RFC 9110 section 7.2). */
  readonly authority: string
  readonly book: AddressBook | null
  readonly guard: AddressGuard
  readonly handshakes = new Handshakes()
  readonly #context: OriginContext
  readonly #http1: Http1Connections
  readonly #http2: Multiplexed | null
  readonly #uploads: Uploads
  readonly #maxConnections: number
  #retired: Set<Origin> | null = null
  #isDestroyed = false

  constructor(config: OriginConfig, context: OriginContext) {
    const { clock, metrics, lookup } = context
    this.config = config
    this.authority = new URL(config.url).host
    this.guard = context.guard
    this.#context = context
    this.#maxConnections = config.transport.connections || Number.POSITIVE_INFINITY
    const { http, streams } = config.transport
    this.#uploads = new Uploads(this.#maxConnections, http === '1' ? 1 : streams)
    const changed = () => this.#dropOldAddresses()
    const crashed = (bug: unknown) => this.crashed(bug)
    const { dns } = config.transport
    const { host } = config.transport.proxy ?? config
    const parts = { name: host, dns, lookup, clock, metrics, changed, crashed }
    this.book = isIP(host) === 0 ? new AddressBook(parts) : null
    this.#http1 = new Http1Connections(this, context)
    this.#http2 = http === '1' ? null : new Multiplexed(this, clock, metrics)
  }

  get outstanding(): number {
    return this.#uploads.waiting + this.#http1.outstanding + (this.#http2?.outstanding ?? 0)
  }

  get connections(): number {
    return this.#http1.open + this.http2Connections
  }

  get http2Connections(): number {
    return this.#http2?.open ?? 0
  }

  get queueLength(): number {
    const http2Queue = this.#http2?.queueLength ?? 0
    if (this.#maxConnections === Number.POSITIVE_INFINITY) return http2Queue
    return this.#uploads.waiting + this.#http1.queueLength + http2Queue
  }

  /** Refuses the request if the queue is full, unless it is for a `fresh` connection, and was queued. */
  acquire(request: ConnectionRequest, options: { fresh: boolean }): void {
    // A request that began before a reload may still need it.
    this.#retired?.add(this)
    if (this.#http2?.mayServe(request)) return this.#http2.acquire(request, options)
    if (!options.fresh && this.#http1.handIdle(request)) return
    this.makeRoom()
    if (!options.fresh && this.#http1.isFull)
      return request.failed('connect', fault('GH_QUEUE_FULL'), noTimes)
    this.#http1.enqueue(request, options)
  }

  acquirePinned(request: ConnectionRequest, pinned: PinnedConnections, clientAddress: string): boolean {
    return this.#http1.handPinned(request, pinned, clientAddress)
  }

  /** Waits for the turn of an upload first, which ends with `endUpload`. */
  acquireForUpload(request: ConnectionRequest): void {
    if (this.#uploads.hasRoom) {
      this.#uploads.admit(request)
      return this.acquire(request, { fresh: false })
    }
    if (this.#uploads.waiting >= this.config.transport.queue.size)
      return request.failed('connect', fault('GH_QUEUE_FULL'), noTimes)
    this.#uploads.enqueue(request, this.#context.clock.monotonic())
  }

  /** Whether an upload of a pausing client takes no connection from a waiting request. */
  get hasRoomForPause(): boolean {
    if (!this.#uploads.hasRoomForPause) return false
    return this.#http1.idle > 0 || this.vacancies > 0 || this.#http2?.hasRoom === true
  }

  /** Called when the body is complete, its response has begun, or it is abandoned. */
  endUpload(request: ConnectionRequest): void {
    const next = this.#uploads.leave(request)
    if (next === null) return
    if (this.#http2?.mayServe(next)) return this.#http2.acquire(next, { fresh: true })
    if (this.#http1.handIdle(next)) return
    this.makeRoom()
    this.#http1.enqueue(next, { fresh: false })
  }

  cancel(request: ConnectionRequest): void {
    this.#http1.cancel(request)
    this.#http2?.cancel(request)
  }

  /** Others close when they are returned. */
  retire(retired: Set<Origin>): void {
    this.#retired = retired.add(this)
    this.#http1.retire()
    this.#http2?.retire()
  }

  get isRetired(): boolean {
    return this.#retired !== null
  }

  get isUnused(): boolean {
    return this.#connectionsInUse === 0
  }

  destroy(): void {
    this.#isDestroyed = true
    this.#retired ??= new Set()
    this.#http1.destroy()
    this.#http2?.destroy()
  }

  sweep(now: number): void {
    this.#http1.sweep(now)
    if (this.vacancies <= 0) this.#http1.closePinned(this.queueLength, now)
    const { timeout } = this.config.transport.queue
    if (timeout > 0 && this.queueLength > 0) {
      this.#uploads.expire(now - timeout)
      this.#http1.expireQueue(now - timeout)
    }
    this.#http2?.sweep(now)
    // Without dials, the addresses may still change.
    if (this.connections > 0) this.book?.refresh()
  }

  get hasDescriptor(): boolean {
    const { clock, mayDial, idlePinned } = this.#context
    const dials = this.#http1.dials + (this.#http2?.dials ?? 0)
    return mayDial(dials) || (idlePinned.closeOldest(clock.monotonic(), null) && mayDial(dials))
  }

  get vacancies(): number {
    return this.#maxConnections - this.#connectionsInUse
  }

  get room(): number {
    return this.#isDestroyed ? 0 : this.vacancies + this.#http1.idle
  }

  makeRoom(): void {
    if (this.vacancies > 0 || this.#http1.closeIdle() || this.#http2?.closeIdle()) return
    this.#http1.closePinned(1, this.#context.clock.monotonic())
  }

  continueByHttp1(dial: Dial, socket: Socket, waiting: ConnectionQueue): void {
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
    this.#context.log.error({ err: bug, origin: this.config.url }, 'origin connection failed: internal error')
  }

  #dropOldAddresses(): void {
    this.#http1.dropOldAddresses()
    this.#http2?.dropOldAddresses()
  }

  get #connectionsInUse(): number {
    return this.#http1.open + this.#http1.dials + (this.#http2?.connections ?? 0)
  }
}
