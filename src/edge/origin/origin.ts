// One origin with its connections: who gets an idle one, when a new one is opened, and who waits.

import { isIP, type Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import type { EdgeMetrics } from '../../metrics/edge-metrics.ts'
import type { Logger } from '../../log/log.ts'
import type { OriginConfig, Timeouts } from '../../config/config.ts'
import { type Failure, fault } from '../../errors/origin-failure.ts'
import { AddressBook } from '../resolver/address-book.ts'
import type { AddressGuard } from '../resolver/address-guard.ts'
import { Dial, type Dialer, type DialPhase } from './dial.ts'
import type { NameLookup } from '../resolver/name-lookup.ts'
import { type ConnectionOwner, OriginConnection, type Rest } from './origin-connection.ts'
import { Resting } from './resting.ts'
import { Uploads } from './uploads.ts'
import { hand, undialled, type Waiter, ConnectionQueue } from './connection-queue.ts'

/** How long an idle connection is kept when the origin does not say; servers commonly close theirs after 5 s. */
const defaultIdle = 4_000
const longestIdle = 60_000
/** Ms by which we close before the origin said it would, so that no request meets its closing. */
const idleMargin = 1_000
/** Ms by which a waiter should outwait what it waits for, so that those deadlines get to say what went wrong. */
const grace = 500

/** What every origin is reached with. */
export interface Means {
  readonly clock: Clock
  readonly metrics: EdgeMetrics
  readonly log: Logger
  readonly lookup: NameLookup
  readonly guard: AddressGuard
  /** Whether the process has a descriptor for another connection beside so many that are being opened. */
  readonly mayDial: (dials: number) => boolean
}

/** One origin: its addresses, its idle connections, and those who wait for one. */
export class Origin implements Dialer, ConnectionOwner {
  readonly config: OriginConfig
  /** The Host value for this origin: its default port is left out (RFC 9110 section 7.2). */
  readonly authority: string
  readonly book: AddressBook | null
  readonly guard: AddressGuard
  /** Whether it has taken a handshake of ours for certain: it gave a session for it, or an answer. */
  #isProven = false
  #session: Buffer | null = null
  readonly #clock: Clock
  readonly #metrics: EdgeMetrics
  readonly #log: Logger
  readonly #mayDial: Means['mayDial']
  /** The latest returned is the first taken: the rest may grow cold and close. */
  readonly #idle: OriginConnection[] = []
  readonly #open = new Set<OriginConnection>()
  readonly #dials = new Set<Dial>()
  readonly #resting = new Resting(this)
  /** For the first of them connections are being dialled. */
  readonly #waiting = new ConnectionQueue()
  readonly #uploads: Uploads
  /** Most connections, open and dialled. */
  readonly #most: number
  /** Whether the last attempt to connect failed: then one attempt at a time speaks for all who wait, so that a dead origin costs little. */
  #isDown = false
  /** Where it waits to be unused, once no configuration names it any more. */
  #retired: Set<Origin> | null = null
  #isDestroyed = false

  constructor(config: OriginConfig, { clock, metrics, log, lookup, guard, mayDial }: Means) {
    this.config = config
    this.authority = new URL(config.url).host
    this.guard = guard
    this.#clock = clock
    this.#metrics = metrics
    this.#log = log
    this.#mayDial = mayDial
    this.#most = config.transport.connections || Number.POSITIVE_INFINITY
    this.#uploads = new Uploads(this.#most)
    const changed = () => this.#leaveOldAddresses()
    const crashed = (bug: unknown) => this.crashed(bug)
    const { dns } = config.transport
    const parts = { name: config.host, dns, lookup, clock, metrics, changed, crashed }
    this.book = isIP(config.host) === 0 ? new AddressBook(parts) : null
  }

  get session(): Buffer | null {
    return this.#session
  }

  set session(session: Buffer) {
    this.#session = session
    this.#isProven = true
  }

  /** Counts the exchanges that hold a connection or wait for one. */
  get outstanding(): number {
    return (
      this.#uploads.waiting + this.#waiting.size + this.#open.size - this.#idle.length - this.#resting.size
    )
  }

  /** Counts those who wait although no connection is dialled for them. */
  get queueLength(): number {
    if (this.#most === Number.POSITIVE_INFINITY) return 0
    return this.#uploads.waiting + Math.max(0, this.#waiting.size - this.#dials.size)
  }

  /** Returns for how many ms a waiter may have to wait until it is told, one for an upload in two queues; 0 for any number. */
  longestWait({ connect, handshake }: Timeouts, isUpload: boolean): number {
    const { protocol, transport } = this.config
    const isTls = protocol === 'https'
    const queue = this.#most === Number.POSITIVE_INFINITY ? 0 : transport.queue.timeout
    const isEndless =
      connect === 0 || (isTls && handshake === 0) || (queue === 0 && transport.connections > 0)
    return isEndless ? 0 : (isUpload ? 2 * queue : queue) + connect + (isTls ? handshake : 0) + grace
  }

  /**
   * Hands the waiter a connection, at once when one is idle; else it waits in turn, or is refused at once where too many do. A `fresh` one was never used: who
   * asks for that had its turn already, and is not refused.
   */
  acquire(waiter: Waiter, options: { fresh: boolean }): void {
    // A request that began before a reload may come to it late.
    this.#retired?.add(this)
    if (!options.fresh && this.#handIdle(waiter)) return
    this.#makeRoom()
    if (!options.fresh && this.#isFull())
      return waiter.unconnected('connect', fault('GH_QUEUE_FULL'), undialled)
    this.#await(waiter, options)
  }

  /** The same for a request whose body is still to come: it also waits while those have their share of the connections. Ends with `endUpload`. */
  acquireForUpload(waiter: Waiter): void {
    if (this.#uploads.hasRoom) {
      this.#uploads.admit(waiter)
      return this.acquire(waiter, { fresh: false })
    }
    if (this.#uploads.waiting >= this.config.transport.queue.size)
      return waiter.unconnected('connect', fault('GH_QUEUE_FULL'), undialled)
    this.#uploads.wait(waiter, this.#clock.monotonic())
  }

  /** Whether an upload may begin whose client pauses: at once, and on a connection that nobody waits for. */
  get hasRoomForPause(): boolean {
    return this.#uploads.hasRoomForPause && (this.#idle.length > 0 || !this.#isAtMost)
  }

  /** Takes note that the body of an upload is there, that its answer has begun, or that it is given up. */
  endUpload(waiter: Waiter): void {
    const next = this.#uploads.leave(waiter)
    if (next === null || this.#handIdle(next)) return
    this.#makeRoom()
    this.#await(next, { fresh: false })
  }

  /** Takes back who no longer waits. */
  forget(waiter: Waiter): void {
    this.#waiting.remove(waiter)
  }

  returned(connection: OriginConnection, rest: Rest): void {
    this.#isProven = true
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
    for (const connection of this.#idle.splice(0)) connection.close()
  }

  /** Cuts every connection. */
  destroy(): void {
    this.#isDestroyed = true
    this.#retired ??= new Set()
    for (const dial of this.#dials) dial.abort()
    for (const connection of this.#open) connection.close()
  }

  /** Ends what has passed its deadline: dials, waiters in the queue, and connections that were idle long enough. */
  sweep(now: number): void {
    for (const dial of this.#dials) if (now >= dial.deadline) dial.expire()
    for (const connection of this.#open) if (now >= connection.deadline) connection.close()
    this.#resting.sweep(now)
    const { timeout } = this.config.transport.queue
    if (timeout > 0 && this.queueLength > 0) {
      this.#uploads.expire(now - timeout)
      this.#waiting.expire(now - timeout, this.#dials.size)
    }
    // Where requests find idle connections nobody dials, and yet the name may lead elsewhere by now.
    if (this.#open.size > 0) this.book?.refresh()
  }

  get hasDescriptor(): boolean {
    return this.#mayDial(this.#dials.size)
  }

  get isUnused(): boolean {
    return this.#open.size === 0 && this.#dials.size === 0
  }

  dialed(dial: Dial, socket: Socket): void {
    this.#dials.delete(dial)
    const connection = new OriginConnection(this, socket, dial)
    connection.isOutdated = this.#isOutdated(connection)
    this.#open.add(connection)
    this.#metrics.originConnections.inc()
    this.#isDown = false
    this.#offer(connection)
    this.#dialMore()
  }

  dialFailed(dial: Dial, phase: DialPhase, failure: Failure): void {
    this.#dials.delete(dial)
    // What this machine lacks says nothing of the origin, and the next may find it.
    const isOurs = failure.way === 'no_descriptor'
    // A timeout has only cost the oldest its whole time; the others have their own deadlines.
    const isForAll = this.#isDown && !failure.row.isTimeout && !isOurs
    this.#isDown ||= !isOurs
    this.#waiting.refuse(isForAll, phase, failure, dial.times)
    this.#dialMore()
  }

  hasRefused(connection: OriginConnection, failure: Failure): boolean {
    if (failure.way !== 'handshake_refused') {
      // What it has against the handshake is never read where a body is still being written as it resets.
      const isUnheard = failure.cause.syscall === 'write' && !connection.isReused
      return isUnheard && !this.#isProven && connection.isProvenLate
    }
    this.#isProven = false
    this.#session = null
    return true
  }

  crashed(bug: unknown): void {
    this.#log.error({ err: bug, origin: this.config.url }, 'origin connection failed: internal error')
  }

  closed(connection: OriginConnection): void {
    if (this.#open.delete(connection)) this.#metrics.originConnections.dec()
    const at = this.#idle.indexOf(connection)
    if (at !== -1) this.#idle.splice(at, 1)
    else if (this.#resting.size > 0) this.#resting.remove(connection)
    this.#dialMore()
  }

  /** Hands over an idle connection; false where there is none. */
  #handIdle(waiter: Waiter): boolean {
    const idle = this.#idle.pop()
    if (idle === undefined) return false
    hand(waiter, idle)
    return true
  }

  #await(waiter: Waiter, options: { fresh: boolean }): void {
    this.#waiting.add(waiter, this.#clock.monotonic(), options)
    this.#dialMore()
  }

  #offer(connection: OriginConnection): void {
    if (connection.isReused && this.#isWantedNew) return connection.close()
    if (this.#waiting.serve(connection)) return
    const granted = connection.grantedIdle === -1 ? defaultIdle : connection.grantedIdle - idleMargin
    if (granted <= 0 || this.#retired !== null || connection.isOutdated) return connection.close()
    connection.deadline = this.#clock.monotonic() + Math.min(granted, longestIdle)
    connection.isReused = true
    this.#idle.push(connection)
  }

  #dialMore(): void {
    if (this.#waiting.size === 0 || this.#isDestroyed) return
    const most = Math.min(this.#dialsFor(this.#waiting.size), this.#most - this.#open.size)
    while (this.#dials.size < most) {
      const dial = new Dial(this, this.#waiting.first.timeouts, this.#clock)
      this.#dials.add(dial)
      dial.start()
    }
  }

  /** How many dials so many waiters are worth. */
  #dialsFor(waiters: number): number {
    return this.#isDown ? Math.min(1, waiters) : waiters
  }

  get #isAtMost(): boolean {
    return this.#open.size + this.#dials.size >= this.#most
  }

  /** Whether somebody waits for a connection that only one less can make room for. */
  get #isWantedNow(): boolean {
    return this.#isAtMost && this.#waiting.size > this.#dials.size
  }

  /** The same of those who take only a new one. */
  get #isWantedNew(): boolean {
    return (
      this.#waiting.forNew > 0 && this.#isAtMost && this.#dials.size < this.#dialsFor(this.#waiting.forNew)
    )
  }

  /** Closes a connection that serves nobody now where it takes the place of a new one. */
  #makeRoom(): void {
    if (this.#isAtMost) (this.#idle.shift() ?? this.#resting.eldest)?.close()
  }

  /** Whether nobody more may wait; connections that are back within a turn are as good as dialled. */
  #isFull(): boolean {
    const unprovided = this.#waiting.size - this.#dials.size - this.#resting.soon
    return this.#isAtMost && unprovided >= this.config.transport.queue.size
  }

  /** Closes what leads to addresses that the name has no longer: idle connections now, the others as they come back. */
  #leaveOldAddresses(): void {
    for (const connection of this.#open) connection.isOutdated = this.#isOutdated(connection)
    for (const connection of this.#idle.filter(({ isOutdated }) => isOutdated)) connection.close()
  }

  #isOutdated({ address }: OriginConnection): boolean {
    return this.book !== null && !this.book.addresses.includes(address)
  }
}
