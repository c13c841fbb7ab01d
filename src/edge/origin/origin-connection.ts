// One open connection to an origin, used by one exchange at a time. It reports to the handler of the response and decides nothing.

import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { HeldWriteError } from '../../net/socket/held-write-error.ts'
import { readNothingAhead } from '../../net/socket/read-ahead.ts'
import { reset } from '../../net/socket/reset.ts'
import { invariants } from '../../base/invariants.ts'
import {
  type Cause,
  type Failure,
  failureOf,
  fault,
  type OriginFault,
} from '../../errors/catalogue/origin-failure.ts'
import { BodyWriter, writeTo } from '../wire/body-writer.ts'
import type { Dial } from './dial/dial.ts'
import { guarded } from '../../base/guarded.ts'
import {
  type ConnectionHolder,
  Lease,
  type Leased,
  type PinnedConnection,
  type RequestSink,
} from './lease.ts'
import { headText, type OutboundHead } from './outbound-head.ts'
import type { ResponseHandler } from './response-handler.ts'
import { type Rest, ResponseReader } from './response-reader.ts'

/** Who keeps the connection. */
export interface ConnectionOwner {
  /** The origin that it leads to. */
  readonly target: object
  /** Takes back a connection of further use, once it has rested. */
  returned(connection: OriginConnection, rest: Rest): void
  closed(connection: OriginConnection): void
  /** Takes note that a connection belongs to one client from now on. */
  pinned(connection: OriginConnection): void
  /** Whether the origin refused the handshake, where a connection ends so before a response begins. */
  hasRefused(connection: OriginConnection, failure: Failure): boolean
  /** Takes a bug of ours that no exchange is behind. */
  crashed(bug: unknown): void
}

export class OriginConnection implements Leased, PinnedConnection {
  /** Monotonic ms at which an idle connection is to be closed. */
  deadline = Number.POSITIVE_INFINITY
  /** Whether it has served or waited before, so that its end may only mean that it was idle too long. */
  isReused = false
  /** Ms that each phase of its opening took. */
  readonly times: Dial['times']
  /** Where it leads. */
  readonly address: string
  /** Whether the name of the origin leads elsewhere by now, so that no further exchange may have it. */
  isOutdated = false
  /** Whether its server accepts or refuses the handshake only after our part of it (TLS 1.3). */
  readonly isProvenLate: boolean
  readonly #owner: ConnectionOwner
  /** The client that it belongs to, since it is authenticated for that; null where it serves any. */
  holder: ConnectionHolder | null = null
  clientAddress = ''
  /** Monotonic ms at which it came to belong to that. */
  pinnedAt = 0
  readonly #socket: Socket
  readonly #writeError: HeldWriteError
  #lease: Lease | null = null
  readonly #reader: ResponseReader
  #isClosed = false

  constructor(owner: ConnectionOwner, socket: Socket, { times, address }: Pick<Dial, 'times' | 'address'>) {
    this.#owner = owner
    this.#socket = socket
    this.#reader = new ResponseReader(this, socket)
    this.times = times
    this.address = address
    this.isProvenLate = socket instanceof TLSSocket && socket.getProtocol() === 'TLSv1.3'
    this.#writeError = new HeldWriteError(socket)
    readNothingAhead(socket)
    this.#on('data', (bytes: Buffer) => this.#read(bytes))
    this.#on('end', () => this.#ended())
    this.#on('error', (error: Cause) => this.#failed(failureOf(error)))
    this.#on('close', () => this.#failed(fault('GH_CLOSED')))
    this.#on('drain', () => (this.#lease?.tunnel ?? this.#lease?.handler)?.originDrained())
  }

  get origin(): object {
    return this.#owner.target
  }

  /** Ms that the origin grants an idle connection, or -1. */
  get grantedIdle(): number {
    return this.#reader.grantedIdle
  }

  /** Lends the connection to one exchange; it must not be lent already. */
  lend(handler: ResponseHandler): Lease {
    if (this.#lease !== null) invariants.violated('a connection was lent twice')
    this.#reader.begin()
    // On a connection that was idle, what comes although nothing could be written was no response to it.
    this.#writeError.hasSent = !this.isReused
    this.deadline = Number.POSITIVE_INFINITY
    return (this.#lease = new Lease(this, handler))
  }

  // What its lease asks of it.

  send(head: OutboundHead, body: Buffer | null, trailers: readonly string[] | null): boolean {
    if (body === null && !head.isChunked) {
      this.write(headText(head))
      return true
    }
    const writer = new BodyWriter(this, headText(head), head.isChunked ? 'chunked' : 'length')
    const mayGoOn = body === null || writer.data(body)
    writer.end(trailers)
    return mayGoOn
  }

  begin(head: OutboundHead, lease: Lease): RequestSink {
    return new BodyWriter(lease, headText(head), head.isChunked ? 'chunked' : 'length')
  }

  write(data: string | Buffer): boolean {
    return writeTo(this.#socket, data)
  }

  cork(): void {
    this.#socket.cork()
  }

  uncork(): void {
    this.#socket.uncork()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  endSending(): void {
    this.#socket.end()
  }

  pin(holder: ConnectionHolder, clientAddress: string): void {
    if (this.holder === holder) return
    if (this.holder !== null) return invariants.violated('a connection of one client was given to another')
    this.holder = holder
    this.clientAddress = clientAddress
    this.#owner.pinned(this)
  }

  takeBack(): void {
    this.#lease = null
    this.isReused = true
    // What was read already and is no part of the response would be taken for the next one; what was not written yet, for part of the next request.
    const isClean = this.#socket.readableLength === 0 && this.#socket.writableLength === 0
    if (!this.#reader.mayReuse || !isClean || this.isOutdated) return this.close()
    // Its last handler may have paused it; whatever it says while idle must be heard.
    this.#socket.resume()
    this.#owner.returned(this, this.#reader.rest)
  }

  /** Closes at once; its handler gets no more events. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#lease?.lose()
    this.#lease = null
    this.#socket.destroy()
    this.#owner.closed(this)
  }

  /** Closes at once and, but for TLS, leaves the system nothing to wait for: where clients can have many closed, ports must not run out. */
  reset(): void {
    if (!this.#isClosed && !(this.#socket instanceof TLSSocket)) reset(this.#socket)
    this.close()
  }

  /** Handles an event of the socket; a bug in that costs the one exchange that the event was for, whoever has the connection by then. */
  #on<T = void>(event: string, handle: (what: T) => void): void {
    let lease: Lease | null = null
    const handleFor = (what: T) => {
      lease = this.#lease
      handle(what)
    }
    this.#socket.on(
      event,
      guarded(handleFor, bug => this.#crashed(bug, lease)),
    )
  }

  #crashed(bug: unknown, lease: Lease | null): void {
    if (lease === null || lease.isHeld) this.close()
    const responsible = lease === null ? this.#owner : (lease.tunnel ?? lease.handler)
    responsible.crashed(bug)
  }

  #read(bytes: Buffer): void {
    const lease = this.#lease
    // Bytes that no request asked for can only be the start of a desynchronization attack.
    if (lease === null) return this.close()
    if (lease.tunnel !== null) return lease.tunnel.tunnelData(bytes)
    this.#reader.read(lease, bytes)
    if (lease.isHeld) lease.handler.flushResponse()
  }

  #ended(): void {
    this.#reader.mayReuse = false
    // A reset, which only the write was told of, is not the end of a body or of a tunnel.
    const { error } = this.#writeError
    if (error !== null) return this.#failed(failureOf(error))
    const lease = this.#lease
    if (lease !== null && lease.tunnel !== null) return lease.tunnel.tunnelEnd()
    if (lease !== null) this.#reader.end(lease)
    this.#failed(fault('GH_CLOSED'))
  }

  fail(way: OriginFault): void {
    this.#failed(fault(way))
  }

  #failed(failure: Failure): void {
    if (this.#isClosed) return
    const lease = this.#lease
    if (lease === null) return this.close()
    const hasRefused = !lease.hasResponseBegun && this.#owner.hasRefused(this, failure)
    this.close()
    const handler = lease.tunnel ?? lease.handler
    handler.failed(hasRefused ? 'handshake' : lease.phase, failure)
  }
}
