// One exchange on a stream, between its lease and its handler.

import { invariants } from '../../../base/invariants.ts'
import { type Failure, fault, type OriginFault } from '../../../errors/catalogue/origin-failure.ts'
import type { ClientSession } from '../../../http2/client/session.ts'
import type { ClientStream, StreamFault, StreamUser } from '../../../http2/client/stream.ts'
import type { ResponseHead } from '../../../http1/heads/response-head.ts'
import type { Phase } from '../../../errors/catalogue/phase.ts'
import type { ResponseHandler, ResponseBody } from '../response-handler.ts'
import type { Dial } from '../dial/dial.ts'
import { Lease, type LeasedConnection, type RequestSink } from '../lease.ts'
import { headLines, type OutboundHead } from '../outbound-head.ts'

interface MultiplexedConnection {
  readonly session: ClientSession
  readonly scheme: 'http' | 'https'
  readonly isReused: boolean
  readonly times: Dial['times']
  readonly address: string
  readonly now: number
  /** Another connection may accept the request. */
  refused(): void
  responded(): void
  exchangeEnded(exchange: Http2Exchange): void
}

const faults: Readonly<Record<StreamFault, OriginFault>> = {
  refused: 'GH_REFUSED_STREAM',
  http1_required: 'GH_HTTP1_REQUIRED',
  reset: 'GH_RESET_STREAM',
  bad_head: 'GH_BAD_HEAD',
  head_too_large: 'GH_HEAD_TOO_LARGE',
  bad_framing: 'GH_BAD_FRAMING',
}

const noBody: ResponseBody = { framing: 'none' }
const knownBody: ResponseBody = { framing: 'length' }
const openBody: ResponseBody = { framing: 'chunked' }

export class Http2Exchange implements LeasedConnection, StreamUser {
  readonly isWritten = true
  readonly lease: Lease
  readonly isReused: boolean
  readonly times: Dial['times']
  readonly address: string
  readonly #connection: MultiplexedConnection
  readonly #begunAt: number
  #stream: ClientStream | null = null

  constructor(connection: MultiplexedConnection, handler: ResponseHandler) {
    this.#connection = connection
    this.#begunAt = connection.now
    this.isReused = connection.isReused
    this.times = connection.times
    this.address = connection.address
    this.lease = new Lease(this, handler)
  }

  get method(): string {
    return this.lease.handler.method
  }

  send(head: OutboundHead, body: Buffer | null, trailers: readonly string[] | null): boolean {
    const isWhole = body === null && trailers === null
    const stream = this.#open(head, isWhole)
    if (isWhole) return true
    const { session } = this.#connection
    const mayWrite = body === null || session.send(stream, body)
    session.endRequest(stream, trailers && linesOf(trailers))
    return mayWrite
  }

  begin(head: OutboundHead, lease: Lease): RequestSink {
    return new Http2Body(this.#connection.session, this.#open(head, false), lease)
  }

  pause(): void {
    if (this.#stream !== null) this.#connection.session.pause(this.#stream)
  }

  resume(): void {
    if (this.#stream !== null) this.#connection.session.resume(this.#stream)
  }

  takeBack(): void {
    this.#leave()
  }

  close(): void {
    // One request after the other would run into its own timeout.
    if (!this.lease.hasResponseBegun) this.#connection.session.probe(this.#begunAt)
    this.#leave()
  }

  // Only a connection of HTTP/1.1 becomes a tunnel.

  write(): boolean {
    invariants.violated('bytes were written to a stream')
    return true
  }

  /** A multiplexed connection cannot be authenticated: such requests use HTTP/1.1. */
  pin(): void {}

  cork(): void {}
  uncork(): void {}
  endSending(): void {}

  interim(head: ResponseHead): void {
    this.lease.hasResponseBegun = true
    this.#guarded(handler => handler.interim(head))
  }

  head(head: ResponseHead, mayHaveBody: boolean): void {
    const { lease } = this
    lease.hasResponseBegun = true
    lease.phase = 'receive'
    const body = mayHaveBody ? (head.contentLength === -1 ? openBody : knownBody) : noBody
    this.#guarded(handler => handler.head(head, body))
  }

  data(bytes: Buffer): void {
    this.#guarded(handler => handler.data(bytes))
  }

  flush(): void {
    this.#guarded(handler => handler.flushResponse())
  }

  end(trailers: string[] | null): void {
    this.#connection.responded()
    this.#guarded(handler => handler.end(trailers))
  }

  drained(): void {
    this.#guarded(handler => handler.originDrained())
  }

  /** If the head came in the same read, the client has seen none of it, and gets the error. */
  failed(way: StreamFault): void {
    if (way === 'refused') this.#connection.refused()
    this.fail(this.lease.phase, fault(faults[way]))
  }

  fail(phase: Phase, failure: Failure): void {
    const { lease } = this
    if (!lease.isHeld) return
    lease.lose()
    this.#leave()
    try {
      lease.handler.failed(phase, failure)
    } catch (bug) {
      this.#crashed(lease.handler, bug)
    }
  }

  #open(head: OutboundHead, isWhole: boolean): ClientStream {
    const { session, scheme } = this.#connection
    const { method, target, authority, takesTrailers } = head.request.parts
    const lines = `${takesTrailers ? 'te: trailers\r\n' : ''}${headLines(head)}`
    this.#stream = session.open(this, { method, scheme, authority, target, lines }, isWhole)
    return this.#stream
  }

  #guarded(notify: (handler: ResponseHandler) => void): void {
    const { handler } = this.lease
    if (!this.lease.isHeld) return
    try {
      notify(handler)
    } catch (bug) {
      this.#crashed(handler, bug)
    }
  }

  #crashed(handler: ResponseHandler, bug: unknown): void {
    this.lease.lose()
    this.#leave()
    handler.crashed(bug)
  }

  #leave(): void {
    if (this.#stream !== null) this.#connection.session.cancel(this.#stream)
    this.#connection.exchangeEnded(this)
  }
}

class Http2Body implements RequestSink {
  readonly #session: ClientSession
  readonly #stream: ClientStream
  readonly #lease: Lease

  constructor(session: ClientSession, stream: ClientStream, lease: Lease) {
    this.#session = session
    this.#stream = stream
    this.#lease = lease
  }

  data(bytes: Buffer): boolean {
    return !this.#lease.isHeld || this.#session.send(this.#stream, bytes)
  }

  /** Nothing is buffered here: the frames of a turn are written together. */
  flush(): boolean {
    return true
  }

  end(trailers: readonly string[] | null): void {
    if (this.#lease.isHeld) this.#session.endRequest(this.#stream, trailers && linesOf(trailers))
  }
}

function linesOf(trailers: readonly string[]): string {
  let lines = ''
  for (let i = 0; i < trailers.length; i += 2) lines += `${trailers[i]}: ${trailers[i + 1]}\r\n`
  return lines
}
