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

/** The owner of the connection. */
export interface Http2Owner {
  /** Requests that a connection of the origin accepts, as far as is known. */
  readonly maxRequests: number
  /** Called when its room for exchanges has changed, or none are left on it. */
  changed(connection: Http2Connection): void
  /** Called when it is closed, and nothing may be handed to it any more. */
  closed(connection: Http2Connection): void
  /** Called when the number of exchanges has changed by so many. */
  counted(exchanges: number): void
  /** Called when the origin breaks the protocol. */
  broken(fault: SessionFault): void
  /** Whether the origin refused the handshake, judged by how a connection ended before any byte arrived. */
  hasRefused(connection: Http2Connection, failure: Failure): boolean
  /** Called for each complete response. */
  responded(): void
  /** Called for an internal error outside of any exchange. */
  crashed(bug: unknown): void
}

interface Http2Options {
  readonly clock: Clock
  readonly scheme: 'http' | 'https'
  /** The maximum of concurrent exchanges. */
  readonly streams: number
}

/** Ms for which a connection gets no exchange after its origin has refused one. */
const restAfterRefusal = 1_000

/** By the names for the same faults in HTTP/1.1. */
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
  /** Monotonic ms at which an idle connection should be closed. */
  deadline = Number.POSITIVE_INFINITY
  /** Whether it was used before, so that its end may only mean that it was idle for too long. */
  isReused = false
  readonly scheme: 'http' | 'https'
  readonly times: Dial['times']
  readonly address: string
  /** Whether the name of the origin now has other addresses, so that no further exchange may use it. */
  isOutdated = false
  /** Whether another connection replaces it, since its origin might end it because of what clients did. */
  isReplaced = false
  /** Whether the server accepts or refuses the handshake only after the client's last message (TLS 1.3). */
  readonly isJudgedLate: boolean
  readonly session: ClientSession
  readonly #owner: Http2Owner
  readonly #socket: Socket
  readonly #clock: Clock
  readonly #exchanges = new Set<Http2Exchange>()
  /** Runs after the events of a turn. */
  readonly #turn: () => void
  readonly #readOn = guarded(
    () => this.#afterRead(this.#isClosed || this.session.readOn()),
    bug => this.#crashed(bug),
  )
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
    this.#turn = guarded(
      () => this.#write(),
      bug => this.#crashed(bug),
    )
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

  /** The number of exchanges on it. */
  get size(): number {
    return this.#exchanges.size
  }

  /** How many more exchanges it accepts now. */
  get room(): number {
    return this.isLeaving || this.#isClosed || this.#isResting ? 0 : this.session.room
  }

  /**
   * Whether it may accept more exchanges soon: the origin has yet to say how many, or will, once it is idle
   * or has shown that it is alive.
   */
  get isPromising(): boolean {
    const { isGreeted, isPingFresh, isPingLate } = this.session
    return (
      (this.size === 0 || !isGreeted || isPingFresh) && !isPingLate && !this.isLeaving && !this.#isResting
    )
  }

  /** Whether it accepts no more exchanges. */
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

  /** Lends a stream to one exchange; there must be room. */
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

  /** Closes at once; its exchanges get no more events. */
  close(): void {
    if (this.#isClosed) return
    this.session.leave()
    this.#write()
    for (const { lease } of this.#end()) lease.lose()
  }

  // ── for its exchanges ──

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

  // ── for its session ──

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

  /** Handles an event of the socket. */
  #on<T = void>(event: string, handle: (what: T) => void): void {
    this.#socket.on(
      event,
      guarded(handle, bug => this.#crashed(bug)),
    )
  }

  /** A bug outside of any exchange ends the connection, since the state of its session is unknown. */
  #crashed(bug: unknown): void {
    this.#owner.crashed(bug)
    this.#fail(fault('GH_CLOSED'))
  }

  #read(bytes: Buffer): void {
    this.#hasReceived = true
    if (!this.#isClosed) this.#afterRead(this.session.receive(bytes))
  }

  /** Continues in the next turn if there is too much for one, so that no other connection has to wait. */
  #afterRead(isDone: boolean): void {
    if (this.#isClosed) return
    if (isDone) return void this.#socket.resume()
    this.#socket.pause()
    setImmediate(this.#readOn)
  }

  /** Writes the output of all exchanges in a turn. */
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

  /** Closes the connection, and returns its exchanges. */
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
