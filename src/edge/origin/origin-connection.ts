// One open connection to an origin, used by one exchange at a time. It reads answers and tells its user; it decides nothing.

import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { misuse } from '../../base/misuse.ts'
import { type Cause, type Failure, failureOf, fault, type OriginFault } from '../../errors/origin-failure.ts'
import type { BodyReader } from '../../http1/body.ts'
import { endOfHead, mayContinue } from '../../http1/head.ts'
import { parseResponseHead, type ResponseHead, responseBody } from '../../http1/response-head.ts'
import { writeTo } from '../forward/body-writer.ts'
import type { Dial } from './dial.ts'
import { guarded } from '../guarded.ts'
import { Lease } from './lease.ts'

/** Most bytes that the head of an answer may have; more is 520. */
const largestHead = 64 * 1024

/** How long a connection is listened to before it serves again: not at all, until the loop has polled once more, or for a while. */
export type Rest = 'none' | 'turn' | 'while'

/** Who keeps the connection. */
export interface ConnectionOwner {
  /** Takes back a connection of further use, once it has rested. */
  returned(connection: OriginConnection, rest: Rest): void
  closed(connection: OriginConnection): void
  /** Whether the origin refused the handshake, where a connection ends so before an answer begins. */
  hasRefused(connection: OriginConnection, failure: Failure): boolean
  /** Told of a bug of ours that no exchange is behind. */
  crashed(bug: unknown): void
}

export class OriginConnection {
  /** Monotonic ms at which an idle connection is to be closed. */
  deadline = Number.POSITIVE_INFINITY
  /** Whether it has served or waited before, so that its end may only mean that it was idle too long. */
  isReused = false
  /** Ms that the origin grants an idle connection, or -1. */
  grantedIdle = -1
  /** Ms that each phase of its opening took. */
  readonly times: Dial['times']
  /** Where it leads. */
  readonly address: string
  /** Whether the name of the origin leads elsewhere by now, so that no further exchange may have it. */
  isOutdated = false
  /** Whether its server tells what it thinks of the handshake only after our part of that (TLS 1.3). */
  readonly isProvenLate: boolean
  readonly #owner: ConnectionOwner
  readonly #socket: Socket
  #lease: Lease | null = null
  #partial: Buffer | null = null
  #body: BodyReader | null = null
  #isClosed = false
  #mayReuse = true
  #rest: Rest = 'none'

  constructor(owner: ConnectionOwner, socket: Socket, { times, address }: Pick<Dial, 'times' | 'address'>) {
    this.#owner = owner
    this.#socket = socket
    this.times = times
    this.address = address
    this.isProvenLate = socket instanceof TLSSocket && socket.getProtocol() === 'TLSv1.3'
    this.#on('data', (bytes: Buffer) => this.#read(bytes))
    this.#on('end', () => this.#ended())
    this.#on('error', (error: Cause) => this.#failed(failureOf(error)))
    this.#on('close', () => this.#failed(fault('GH_CLOSED')))
    this.#on('drain', () => (this.#lease?.tunnel ?? this.#lease?.user)?.originDrained())
  }

  /** Lends the connection to one exchange; nobody may have it. */
  lend(): Lease {
    if (this.#lease !== null) misuse.tell('a connection was lent twice')
    this.#body = null
    this.#mayReuse = true
    this.deadline = Number.POSITIVE_INFINITY
    return (this.#lease = new Lease(this))
  }

  // What its lease asks of it.

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

  takeBack(): void {
    this.#lease = null
    this.isReused = true
    // What was read already and is no part of the answer would be taken for the next one; what was not written yet, for part of the next request.
    const isClean = this.#socket.readableLength === 0 && this.#socket.writableLength === 0
    if (!this.#mayReuse || !isClean || this.isOutdated) return this.close()
    // Its last user may have paused it; whatever it says while idle must be heard.
    this.#socket.resume()
    this.#owner.returned(this, this.#rest)
  }

  /** Closes at once; its user gets no more events. */
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
    if (!this.#isClosed && !(this.#socket instanceof TLSSocket)) this.#socket.resetAndDestroy()
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
    const user = lease?.tunnel ?? lease?.user
    if (user) user.crashed(bug)
    else this.#owner.crashed(bug)
  }

  #read(bytes: Buffer): void {
    const lease = this.#lease
    // Bytes that nobody asked for can only be the start of somebody's desynchronisation.
    if (lease === null) return this.close()
    if (lease.tunnel !== null) return lease.tunnel.tunnelData(bytes)
    if (this.#body === null) this.#readHead(lease, bytes)
    else this.#readBody(lease, bytes, 0)
    if (lease.isHeld) lease.user!.flushAnswer()
  }

  #readHead(lease: Lease, chunk: Buffer): void {
    lease.hasAnswerBegun = true
    const before = this.#partial
    const bytes = before === null ? chunk : Buffer.concat([before, chunk])
    const from = before === null ? 0 : Math.max(0, before.length - 3)
    this.#partial = null
    let start = 0
    let end = endOfHead(bytes, from)
    while (end !== -1 && this.#body === null) {
      if (end - start > largestHead) return this.#fail('GH_HEAD_TOO_LARGE')
      const head = parseResponseHead(bytes, start, end)
      if (typeof head === 'string') return this.#fail(head === 'framing' ? 'GH_BAD_FRAMING' : 'GH_BAD_HEAD')
      if (!this.#takeHead(lease, head, bytes)) return
      start = end
      if (this.#body === null) end = endOfHead(bytes, start)
    }
    if (this.#body === null) this.#keepPartial(bytes, start)
    else this.#readBody(lease, bytes, start)
  }

  /** Takes one head; false when no further reading of this chunk is wanted. */
  #takeHead(lease: Lease, head: ResponseHead, bytes: Buffer): boolean {
    const user = lease.user!
    if (head.status === 101) return this.#switch(lease, head, bytes)
    if (head.status < 200) {
      user.interim(head)
      return lease.isHeld
    }
    const body = responseBody(head, user.method)
    if (typeof body === 'string') return this.#refuse('GH_BAD_FRAMING')
    // A body where none is allowed: read on, it would pass for the next response.
    if (body.framing === 'none' && bytes.length > head.end && user.method !== 'HEAD')
      return this.#refuse('GH_BAD_FRAMING')
    // An answer to half a request leaves it open what the origin makes of the rest.
    const isEarly = lease.phase === 'send' || this.#socket.writableLength > 0
    this.#mayReuse = head.keepAlive && body.framing !== 'close' && !isEarly
    this.#rest = body.framing === 'none' ? restAfter(head) : 'none'
    lease.phase = 'receive'
    this.#body = body
    this.grantedIdle = head.keepAliveTimeout < 0 ? -1 : head.keepAliveTimeout * 1000
    user.head(head, body)
    return lease.isHeld
  }

  #switch(lease: Lease, head: ResponseHead, bytes: Buffer): boolean {
    const user = lease.user!
    if (!user.wantsUpgrade || head.upgrade?.toLowerCase() !== 'websocket')
      return this.#refuse('GH_BAD_UPGRADE')
    this.#mayReuse = false
    lease.phase = 'receive'
    lease.tunnel = user.switched(head)
    if (bytes.length > head.end && lease.isHeld) lease.tunnel.tunnelData(bytes.subarray(head.end))
    return false
  }

  #keepPartial(bytes: Buffer, start: number): void {
    const rest = bytes.subarray(start)
    if (rest.length > largestHead) return this.#fail('GH_HEAD_TOO_LARGE')
    if (!mayContinue(rest, 0) || !mayBeHttp(rest)) return this.#fail('GH_BAD_HEAD')
    this.#partial = rest
  }

  #readBody(lease: Lease, bytes: Buffer, start: number): void {
    const body = this.#body!
    const user = lease.user!
    let at = start
    while (at < bytes.length && !body.done) {
      at = body.next(bytes, at)
      if (body.to > body.from)
        user.data(body.from === 0 && body.to === bytes.length ? bytes : bytes.subarray(body.from, body.to))
      if (!lease.isHeld) return
      if (body.faulty) return this.#fail('GH_BAD_FRAMING')
    }
    if (!body.done) return
    if (at < bytes.length) this.#mayReuse = false
    user.end(body.trailers)
  }

  #ended(): void {
    this.#mayReuse = false
    const lease = this.#lease
    if (lease !== null && lease.tunnel !== null) return lease.tunnel.tunnelEnd()
    const body = this.#body
    if (lease !== null && body !== null && body.framing === 'close') {
      body.end()
      lease.user!.end(null)
    }
    this.#failed(fault('GH_CLOSED'))
  }

  #fail(way: OriginFault): void {
    this.#failed(fault(way))
  }

  /** `#fail` for places that answer whether to read on. */
  #refuse(way: OriginFault): false {
    this.#fail(way)
    return false
  }

  #failed(failure: Failure): void {
    if (this.#isClosed) return
    const lease = this.#lease
    if (lease === null) return this.close()
    const hasRefused = !lease.hasAnswerBegun && this.#owner.hasRefused(this, failure)
    this.close()
    const user = lease.tunnel ?? lease.user
    user?.failed(hasRefused ? 'handshake' : lease.phase, failure)
  }
}

/** Returns how long to listen for a body that must not come: the longer where the answer announces one. */
function restAfter({ contentLength, chunked }: ResponseHead): Rest {
  return contentLength > 0 || chunked ? 'while' : 'turn'
}

/** Whether the first bytes of an unfinished head still agree with `HTTP/1.`, so that a peer of another protocol fails at once and not by timeout. */
function mayBeHttp(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, 7)
  return bytes.toString('latin1', 0, length) === 'HTTP/1.'.slice(0, length)
}
