// One open HTTP/1.1 connection to an origin, for one exchange at a time. It decides nothing.

import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { HeldWriteError } from '../../net/socket/held-write-error.ts'
import { readNothingAhead } from '../../net/socket/read-ahead.ts'
import { reset } from '../../net/socket/reset.ts'
import { ownBytes, readInPlace } from '../../net/socket/shared-reads.ts'
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
  type LeasedConnection,
  type PinnedConnection,
  type RequestSink,
} from './lease.ts'
import { headText, type OutboundHead } from './outbound-head.ts'
import type { ResponseHandler } from './response-handler.ts'
import { type Rest, ResponseReader } from './response-reader.ts'

export interface ConnectionOwner {
  readonly target: object
  returned(connection: OriginConnection, rest: Rest): void
  closed(connection: OriginConnection): void
  pinned(connection: OriginConnection): void
  /** By how the connection ended before its response began. */
  hasRefused(connection: OriginConnection, failure: Failure): boolean
  crashed(bug: unknown): void
}

export class OriginConnection implements LeasedConnection, PinnedConnection {
  deadline = Number.POSITIVE_INFINITY
  isReused = false
  readonly times: Dial['times']
  readonly address: string
  /** The name of the origin has other addresses now, so no further exchange may use it. */
  isOutdated = false
  /** Only after the client's last message (TLS 1.3). */
  readonly isJudgedLate: boolean
  readonly #owner: ConnectionOwner
  /** Pinned to it by authentication. */
  holder: ConnectionHolder | null = null
  clientAddress = ''
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
    this.isJudgedLate = socket instanceof TLSSocket && socket.getProtocol() === 'TLSv1.3'
    this.#writeError = new HeldWriteError(socket)
    readNothingAhead(socket)
    readInPlace(socket, this)
    this.#on('data', (bytes: Buffer) => this.#read(bytes))
    this.#on('end', () => this.#onEnd())
    this.#on('error', (error: Cause) => this.#failed(failureOf(error)))
    this.#on('close', () => this.#failed(fault('GH_CLOSED')))
    this.#on('drain', () => (this.#lease?.tunnel ?? this.#lease?.handler)?.originDrained())
  }

  get origin(): object {
    return this.#owner.target
  }

  get grantedIdle(): number {
    return this.#reader.grantedIdle
  }

  get isWritten(): boolean {
    return this.#socket.writableLength === 0
  }

  lend(handler: ResponseHandler): Lease {
    if (this.#lease !== null) invariants.violated('a connection was lent twice')
    this.#reader.begin()
    // Bytes that arrive before anything could be written are not a response.
    this.#writeError.hasSent = !this.isReused
    this.deadline = Number.POSITIVE_INFINITY
    return (this.#lease = new Lease(this, handler))
  }

  send(head: OutboundHead, body: Buffer | null, trailers: readonly string[] | null): boolean {
    const { isChunked } = head.request.parts
    if (body === null && !isChunked) {
      this.write(headText(head))
      return true
    }
    const writer = new BodyWriter(this, headText(head), isChunked ? 'chunked' : 'length')
    const mayWrite = body === null || writer.data(body)
    writer.end(trailers)
    return mayWrite
  }

  begin(head: OutboundHead, lease: Lease): RequestSink {
    return new BodyWriter(lease, headText(head), head.request.parts.isChunked ? 'chunked' : 'length')
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
    // Unread bytes would become part of the next response, and unwritten ones of the next request.
    const isClean = this.#socket.readableLength === 0 && this.#socket.writableLength === 0
    if (!this.#reader.mayReuse || !isClean || this.isOutdated) return this.close()
    // Its last handler may have paused it, and events must be noticed while it is idle.
    this.#socket.resume()
    this.#owner.returned(this, this.#reader.rest)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#lease?.lose()
    this.#lease = null
    this.#socket.destroy()
    this.#owner.closed(this)
  }

  /** Leaves no state in the system, except over TLS: clients must not exhaust the ports. */
  reset(): void {
    if (!this.#isClosed && !(this.#socket instanceof TLSSocket)) reset(this.#socket)
    this.close()
  }

  receive(bytes: Buffer): void {
    const lease = this.#lease
    try {
      this.#read(bytes)
    } catch (bug) {
      this.#crashed(bug, lease)
    }
  }

  /** A bug fails the exchange of the event, even if the connection has been lent on since. */
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
    const handler = lease === null ? this.#owner : (lease.tunnel ?? lease.handler)
    handler.crashed(bug)
  }

  #read(bytes: Buffer): void {
    const lease = this.#lease
    // Bytes that no request asked for can only be the start of a desynchronization attack.
    if (lease === null) return this.close()
    if (lease.tunnel !== null) return lease.tunnel.tunnelData(ownBytes(bytes))
    this.#reader.read(lease, bytes)
    if (lease.isHeld) lease.handler.flushResponse()
  }

  #onEnd(): void {
    this.#reader.mayReuse = false
    // A reset that only the write noticed is not the end of a body or of a tunnel.
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
