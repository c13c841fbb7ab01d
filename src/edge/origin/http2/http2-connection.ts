// One open HTTP/2 connection to an origin, which carries many exchanges at a time.

import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { HeldWriteError } from '../../../net/socket/held-write-error.ts'
import type { Clock } from '../../../base/clock.ts'
import {
  type Cause,
  type Failure,
  failureOf,
  fault,
  type OriginFault,
} from '../../../errors/catalogue/origin-failure.ts'
import { ClientSession } from '../../../http2/client/session.ts'
import type { SessionFault } from '../../../http2/client/session-fault.ts'
import { guarded } from '../../../base/guarded.ts'
import type { Dial } from '../dial/dial.ts'
import type { Lease } from '../lease.ts'
import type { ResponseHandler } from '../response-handler.ts'
import { Http2Exchange } from './http2-exchange.ts'

export interface Http2Owner {
  readonly maxRequests: number
  /** Called when its room has changed, or no exchange is left. */
  changed(connection: Http2Connection): void
  closed(connection: Http2Connection): void
  counted(exchanges: number): void
  broken(fault: SessionFault): void
  /** By how the connection ended before any byte arrived. */
  hasRefused(connection: Http2Connection, failure: Failure): boolean
  responded(): void
  crashed(bug: unknown): void
}

interface Http2Options {
  readonly clock: Clock
  readonly scheme: 'http' | 'https'
  readonly streams: number
}

/** After a refusal by the origin. */
const restAfterRefusal = 1_000

/** The names for the same faults in HTTP/1.1. */
const faults: Readonly<Record<SessionFault, OriginFault>> = {
  protocol: 'GH_BAD_HEAD',
  compression: 'GH_BAD_HEAD',
  frame_size: 'GH_BAD_HEAD',
  flow_control: 'GH_BAD_FRAMING',
  head_too_large: 'GH_HEAD_TOO_LARGE',
  flood: 'GH_FLOOD',
  silence: 'GH_CLOSED',
}

export class Http2Connection {
  deadline = Number.POSITIVE_INFINITY
  isReused = false
  readonly scheme: 'http' | 'https'
  readonly times: Dial['times']
  readonly address: string
  isOutdated = false
  /** Its origin might end it because of what clients did. */
  isReplaced = false
  readonly isJudgedLate: boolean
  readonly session: ClientSession
  readonly #owner: Http2Owner
  /** The state of its session is unknown then. */
  readonly #crashed = (bug: unknown): void => {
    this.#owner.crashed(bug)
    this.#fail(fault('GH_CLOSED'))
  }
  readonly #socket: Socket
  readonly #clock: Clock
  readonly #exchanges = new Set<Http2Exchange>()
  readonly #turn = guarded(() => this.#write(), this.#crashed)
  readonly #readOn = guarded(() => this.#afterRead(this.#isClosed || this.session.readOn()), this.#crashed)
  #hasReceived = false
  #restsUntil = 0
  #isClosed = false

  constructor(
    owner: Http2Owner,
    socket: Socket,
    { times, address }: Pick<Dial, 'times' | 'address'>,
    { clock, scheme, streams }: Http2Options,
  ) {
    this.#owner = owner
    this.#socket = socket
    this.#clock = clock
    this.scheme = scheme
    this.times = times
    this.address = address
    this.isJudgedLate = socket instanceof TLSSocket && socket.getProtocol() === 'TLSv1.3'
    const writeError = new HeldWriteError(socket)
    this.session = new ClientSession(this, streams, clock.monotonic())
    this.#on('data', (bytes: Buffer) => this.#read(bytes))
    this.#on('end', () =>
      this.#fail(writeError.error === null ? fault('GH_CLOSED') : failureOf(writeError.error)),
    )
    this.#on('error', (error: Cause) => this.#fail(failureOf(error)))
    this.#on('close', () => this.#fail(fault('GH_CLOSED')))
    this.#on('drain', () => this.session.written(true))
    this.mayFlush()
  }

  get size(): number {
    return this.#exchanges.size
  }

  get room(): number {
    return this.isLeaving || this.#isClosed || this.#isResting ? 0 : this.session.room
  }

  /** Whether it may accept more exchanges soon: it is new, idle, or known to be alive. */
  get isPromising(): boolean {
    const { isGreeted, isPingFresh, isPingLate } = this.session
    return (
      (this.size === 0 || !isGreeted || isPingFresh) && !isPingLate && !this.isLeaving && !this.#isResting
    )
  }

  get isLeaving(): boolean {
    return (
      this.isOutdated ||
      this.isReplaced ||
      this.session.isLeaving ||
      this.session.requests >= this.#owner.maxRequests
    )
  }

  get #isResting(): boolean {
    return this.now < this.#restsUntil
  }

  get now(): number {
    return this.#clock.monotonic()
  }

  /** There must be room. */
  lend(handler: ResponseHandler): Lease {
    this.deadline = Number.POSITIVE_INFINITY
    const exchange = new Http2Exchange(this, handler)
    this.#exchanges.add(exchange)
    this.#owner.counted(1)
    this.isReused = true
    return exchange.lease
  }

  sweep(now: number): void {
    if (now >= this.deadline) return this.close()
    this.session.tick(now)
    if (this.#restsUntil !== 0 && now >= this.#restsUntil) {
      this.#restsUntil = 0
      this.#owner.changed(this)
    }
  }

  close(): void {
    if (this.#isClosed) return
    this.session.leave()
    this.#write()
    for (const { lease } of this.#end()) lease.lose()
  }

  refused(): void {
    this.#restsUntil = this.now + restAfterRefusal
  }

  responded(): void {
    this.#restsUntil = 0
    this.#owner.responded()
  }

  exchangeEnded(exchange: Http2Exchange): void {
    if (!this.#exchanges.delete(exchange)) return
    this.#owner.counted(-1)
    this.changed()
  }

  mayFlush(): void {
    setImmediate(this.#turn)
  }

  changed(): void {
    if (!this.#isClosed) this.#owner.changed(this)
  }

  broken(fault_: SessionFault): void {
    this.#owner.broken(fault_)
    this.#write()
    this.#fail(fault(faults[fault_]))
  }

  #on<T = void>(event: string, handle: (what: T) => void): void {
    this.#socket.on(event, guarded(handle, this.#crashed))
  }

  #read(bytes: Buffer): void {
    this.#hasReceived = true
    if (!this.#isClosed) this.#afterRead(this.session.receive(bytes))
  }

  #afterRead(isDone: boolean): void {
    if (this.#isClosed) return
    if (isDone) return void this.#socket.resume()
    this.#socket.pause()
    setImmediate(this.#readOn)
  }

  #write(): void {
    if (this.#isClosed) return
    const bytes = this.session.take()
    if (bytes.length > 0) this.session.written(this.#socket.write(bytes))
  }

  #fail(failure: Failure): void {
    if (this.#isClosed) return
    const hasRefused = !this.#hasReceived && this.#owner.hasRefused(this, failure)
    for (const exchange of this.#end())
      exchange.fail(hasRefused ? 'handshake' : exchange.lease.phase, failure)
  }

  #end(): readonly Http2Exchange[] {
    this.#isClosed = true
    const exchanges = [...this.#exchanges]
    this.#exchanges.clear()
    this.#owner.counted(-exchanges.length)
    this.session.close()
    this.#socket.destroy()
    this.#owner.closed(this)
    return exchanges
  }
}
