// The client of one HTTP/2 exchange: one stream of a connection that may have many.

import { invariants } from '../../../base/invariants.ts'
import type { Framing } from '../../../http1/body/body.ts'
import { errorCode } from '../../../http2/frames/frames.ts'
import type { ServerSession } from '../../../http2/server/session.ts'
import type { Stream } from '../../../http2/server/stream.ts'
import type { LastToken } from '../../../tokens/verify.ts'
import type {
  Client,
  ClientTls,
  Exchange,
  RequestBody,
  ResponseSink,
  ResponseTop,
} from '../../exchange/exchange.ts'
import type { PinnedConnections } from '../../origin/idle/pinned-connections.ts'
import { BodyPace, type SlowBody } from '../pace/body-pace.ts'
import type { LastRequest } from '../../exchange/request-reuse.ts'

export type ClientStream = Stream<StreamClient>

export interface StreamConnection {
  readonly peer: string
  readonly node: string
  readonly tls: ClientTls | null
  readonly lastToken: LastToken
  readonly last: LastRequest
  pinned: PinnedConnections | null
  readonly session: ServerSession<StreamClient>
  concludedWithout(x: Exchange): void
  concluded(client: StreamClient, exchange: Exchange): void
  resetBehind(stream: ClientStream): void
}

export class StreamBody implements RequestBody {
  readonly framing: Framing
  done: boolean
  trailers: string[] | null = null

  constructor(contentLength: number, done: boolean) {
    this.done = done
    this.framing = done ? 'none' : contentLength === -1 ? 'chunked' : 'length'
  }
}

export class StreamClient implements Client, ResponseSink {
  readonly peer: string
  readonly node: string
  readonly tls: ClientTls | null
  readonly lastToken: LastToken
  readonly last: LastRequest
  readonly isPlaintextOnTls = false
  isTrusted = false
  exchange: Exchange | null = null
  readonly body: StreamBody
  readonly stream: ClientStream
  hasBegun = false
  readonly #connection: StreamConnection
  #isBodyWanted = false
  #pace: BodyPace | null = null
  #top: ResponseTop | null = null
  #held: Buffer[] | null = null

  constructor(connection: StreamConnection, stream: ClientStream, body: StreamBody) {
    this.#connection = connection
    this.stream = stream
    this.body = body
    this.peer = connection.peer
    this.node = connection.node
    this.tls = connection.tls
    this.lastToken = connection.lastToken
    this.last = connection.last
  }

  get pinned(): PinnedConnections | null {
    return this.#connection.pinned
  }

  set pinned(pinned: PinnedConnections | null) {
    this.#connection.pinned = pinned
  }

  sendContinue(): void {
    if (this.#mayUse('sendContinue')) this.#session.interim(this.stream, 100, '')
  }

  interim(_: Exchange, { status, lines, neverIndexed }: ResponseTop): boolean {
    if (this.#mayUse('interim')) this.#session.interim(this.stream, status, lines, neverIndexed)
    return true
  }

  respond(_: Exchange, { status, lines }: ResponseTop, body: string): void {
    const { stream } = this
    if (!this.#mayUse('respond')) return
    if (this.#opensTunnel(status)) return this.#session.reset(stream, errorCode.connect)
    this.#session.respond(stream, status, lines, body === '')
    if (body === '') return
    this.#session.write(stream, Buffer.from(body, 'latin1'))
    this.#session.end(stream, null)
  }

  relay(_: Exchange, top: ResponseTop): ResponseSink {
    this.#top = top
    this.#held = null
    return this
  }

  append(_: Exchange, text: string): void {
    if (this.#mayUse('append')) this.#session.write(this.stream, Buffer.from(text, 'latin1'))
  }

  endBody(x: Exchange): void {
    this.end(null)
    this.finish(x)
  }

  /** Opens the tunnel with 200; Sec-WebSocket-Accept only if the client sent a key (RFC 8441 section 5). */
  switchProtocols(_: Exchange, { lines }: ResponseTop): void {
    if (!this.#mayUse('switchProtocols')) return
    const sentLines = this.stream.hasKey ? lines : lines.replace(acceptLine, '')
    this.#session.respond(this.stream, 200, sentLines, false)
  }

  write(bytes: Buffer): boolean {
    return !this.#mayUse('write') || this.#session.write(this.stream, bytes)
  }

  /** Responds at once: the rest of the body cannot be mistaken for the next request. */
  discardBody(): boolean {
    return false
  }

  readBody(): void {
    this.#isBodyWanted = true
    this.#session.readBody(this.stream)
    // The rest of the body may depend on a response to what has arrived.
    this.exchange?.handler?.flushBody()
  }

  pauseBody(): void {
    this.#isBodyWanted = false
    this.#session.pauseBody(this.stream)
  }

  finish(x: Exchange): void {
    const isTunnel = x.upgrade === 'done'
    this.#conclude(x)
    if (isTunnel) this.#session.end(this.stream, null)
  }

  cutOff(x: Exchange, gently: boolean, trailers?: readonly string[]): void {
    this.#conclude(x)
    if (trailers !== undefined) this.#session.end(this.stream, trailers)
    else if (gently) this.#connection.resetBehind(this.stream)
    else this.#session.reset(this.stream, errorCode.internal)
  }

  abandon(x: Exchange): void {
    this.clientLeft(x)
    this.#session.reset(this.stream, errorCode.cancel)
  }

  requireHttp1(x: Exchange): void {
    this.#conclude(x)
    this.#session.reset(this.stream, errorCode.http11Required)
  }

  endedWithout(x: Exchange): void {
    this.#connection.concludedWithout(x)
  }

  data(bytes: Buffer): boolean {
    if (this.#held === null) this.#held = [bytes]
    else this.#held.push(bytes)
    return true
  }

  flush(): boolean {
    if (!this.#mayUse('flush')) return true
    this.#begin(false)
    const held = this.#held
    if (held === null) return true
    this.#held = null
    let mayWrite = true
    for (const bytes of held) mayWrite = this.#session.write(this.stream, bytes)
    return mayWrite
  }

  end(trailers: readonly string[] | null): void {
    if (!this.#mayUse('end')) return
    if (this.#top !== null && this.#held === null && trailers === null) return this.#begin(true)
    this.flush()
    this.#session.end(this.stream, trailers)
  }

  clientLeft(x: Exchange): void {
    x.aborted = true
    x.handler?.abort()
    this.#conclude(x)
  }

  cut(x: Exchange): void {
    x.handler?.abort()
    this.#conclude(x)
  }

  bodyFault(x: Exchange, now: number): SlowBody | null {
    if (this.body.done || x.stage !== 'none') return null
    this.#pace ??= new BodyPace(x, now)
    return this.#pace.check(this.#isBodyWanted, now)
  }

  get #session(): ServerSession<StreamClient> {
    return this.#connection.session
  }

  #begin(isWhole: boolean): void {
    const top = this.#top
    if (top === null) return
    this.#top = null
    this.hasBegun = true
    this.#session.respond(this.stream, top.status, top.lines, isWhole, top.neverIndexed)
  }

  /** Use after the end is an internal error; in production it does nothing. */
  #mayUse(use: string): boolean {
    if (this.exchange !== null) return true
    invariants.violated(`${use} on a stream whose exchange is over`)
    return false
  }

  #opensTunnel(status: number): boolean {
    return this.stream.isTunnel && status < 300
  }

  #conclude(x: Exchange): void {
    this.#held = null
    this.exchange = null
    if (x.client === this) {
      x.stage = 'complete'
      x.handler = null
    }
    this.#connection.concluded(this, x)
  }
}

const acceptLine = /^sec-websocket-accept:.*\r\n/im
