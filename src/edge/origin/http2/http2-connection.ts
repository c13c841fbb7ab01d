// One open connection of HTTP/2 to an origin, which carries many exchanges at a time.

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

/** Who keeps the connection. */
export interface Http2Owner {
  /** Requests that a connection of the origin takes, as far as is known. */
  readonly mostRequests: number
  /** It has room for more exchanges, or less, or none is left on it. */
  changed(connection: Http2Connection): void
  /** It is closed; nothing is handed to it any more. */
  closed(connection: Http2Connection): void
  /** An exchange more is on it, or one less. */
  counted(exchanges: number): void
  /** The origin broke the protocol. */
  broken(fault: SessionFault): void
  /** Whether the origin refused the handshake, where a connection ends so before it has said anything. */
  hasRefused(connection: Http2Connection, failure: Failure): boolean
  /** A response has come whole. */
  responded(): void
  /** Takes a bug of ours that no exchange is behind. */
  crashed(bug: unknown): void
}

interface Parts {
  readonly clock: Clock
  readonly scheme: 'http' | 'https'
  /** Most exchanges at a time. */
  readonly streams: number
}

/** Ms for which no exchange goes to a connection whose origin has refused one there. */
const restAfterRefusal = 1_000

/** By the names that broken responses of HTTP/1.1 have. */
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
  /** Monotonic ms at which an idle connection is to be closed. */
  deadline = Number.POSITIVE_INFINITY
  /** Whether it has served before, so that its end may only mean that it was idle too long. */
  isReused = false
  readonly scheme: 'http' | 'https'
  readonly times: Dial['times']
  readonly address: string
  /** Whether the name of the origin leads elsewhere by now, so that no further exchange may have it. */
  isOutdated = false
  /** Whether another connection takes its place, since its origin might end it for what clients did. */
  isReplaced = false
  /** Whether its server accepts or refuses the handshake only after our part of it (TLS 1.3). */
  readonly isProvenLate: boolean
  readonly session: ClientSession
  readonly #owner: Http2Owner
  readonly #socket: Socket
  readonly #clock: Clock
  readonly #exchanges = new Set<Http2Exchange>()
  /** Runs behind the events of a turn. */
  readonly #turn: () => void
  readonly #readOn = guarded(
    () => this.#wasRead(this.#isClosed || this.session.readOn()),
    bug => this.#crashed(bug),
  )
  #hasHeard = false
  #restsUntil = 0
  #isClosed = false

  constructor(
    owner: Http2Owner,
    socket: Socket,
    { times, address }: Pick<Dial, 'times' | 'address'>,
    { clock, scheme, streams }: Parts,
  ) {
    this.#owner = owner
    this.#socket = socket
    this.#clock = clock
    this.scheme = scheme
    this.times = times
    this.address = address
    this.isProvenLate = socket instanceof TLSSocket && socket.getProtocol() === 'TLSv1.3'
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

  /** Counts the exchanges on it. */
  get size(): number {
    return this.#exchanges.size
  }

  /** How many exchanges more it takes now. */
  get room(): number {
    return this.isLeaving || this.#isClosed || this.#isResting ? 0 : this.session.room
  }

  /** Whether it will take more exchanges: the origin has yet to say how many, serves none now, or is about to show that it is there. */
  get isPromising(): boolean {
    const { isGreeted, isQuestioned, isGivenUp } = this.session
    return (
      (this.size === 0 || !isGreeted || isQuestioned) && !isGivenUp && !this.isLeaving && !this.#isResting
    )
  }

  /** Whether it takes none any more. */
  get isLeaving(): boolean {
    return (
      this.isOutdated ||
      this.isReplaced ||
      this.session.isLeaving ||
      this.session.requests >= this.#owner.mostRequests
    )
  }

  get #isResting(): boolean {
    return this.now < this.#restsUntil
  }

  get now(): number {
    return this.#clock.monotonic()
  }

  /** Lends a part of the connection to one exchange; there must be room. */
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

  // ── its exchanges ──

  refused(): void {
    this.#restsUntil = this.now + restAfterRefusal
  }

  responded(): void {
    this.#restsUntil = 0
    this.#owner.responded()
  }

  left(exchange: Http2Exchange): void {
    if (!this.#exchanges.delete(exchange)) return
    this.#owner.counted(-1)
    this.changed()
  }

  // ── its session ──

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

  /** A bug that is no exchange's own ends the connection: what its session makes of further bytes is unknown. */
  #crashed(bug: unknown): void {
    this.#owner.crashed(bug)
    this.#fail(fault('GH_CLOSED'))
  }

  #read(bytes: Buffer): void {
    this.#hasHeard = true
    if (!this.#isClosed) this.#wasRead(this.session.receive(bytes))
  }

  /** Leaves what is too much for one turn to the next one, so that no other connection waits for it. */
  #wasRead(isDone: boolean): void {
    if (this.#isClosed) return
    if (isDone) return void this.#socket.resume()
    this.#socket.pause()
    setImmediate(this.#readOn)
  }

  /** Writes what the exchanges of a turn have to say. */
  #write(): void {
    if (this.#isClosed) return
    const bytes = this.session.take()
    if (bytes.length > 0) this.session.written(this.#socket.write(bytes))
  }

  #fail(failure: Failure): void {
    if (this.#isClosed) return
    const hasRefused = !this.#hasHeard && this.#owner.hasRefused(this, failure)
    for (const exchange of this.#end())
      exchange.fail(hasRefused ? 'handshake' : exchange.lease.phase, failure)
  }

  /** Closes the connection, and returns the exchanges that it had. */
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
