// One client connection over HTTP/1, with one exchange at a time.

import type { Socket } from 'node:net'
import { forget, ignoreErrors } from '../../net/socket/closed-socket.ts'
import { readNothingAhead } from '../../net/socket/read-ahead.ts'
import { reset } from '../../net/socket/reset.ts'
import { readInPlace } from '../../net/socket/shared-reads.ts'
import { canonicalAddress } from '../../net/address/address.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { BodyReader } from '../../http1/body/body.ts'
import { lastChunk } from '../../http1/body/chunk.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import type { HeadFault } from '../../http1/heads/request-line.ts'
import { LastToken } from '../../tokens/verify.ts'
import { deliver, deliverBug } from '../exchange/deliver.ts'
import type { Client, ClientTls, Exchange, ResponseSink, ResponseTop } from '../exchange/exchange.ts'
import { BodyWriter, type ByteSink, writeTo } from '../wire/body-writer.ts'
import type { PinnedConnections } from '../origin/idle/pinned-connections.ts'
import type { Plane } from '../snapshot/plane.ts'
import { record } from '../serve/record.ts'
import { serve } from '../serve/serve.ts'
import { ClientPace } from './pace/client-pace.ts'
import { discardBody } from './discard-body.ts'
import { Exchanges } from './exchanges.ts'
import { HalfClosed } from './half-closed.ts'
import { headText, interimText, partText, switchText, wholeText } from './http1-response.ts'
import { LastRequest } from '../exchange/request-reuse.ts'
import { review } from '../protect/review.ts'
import { Lifetime } from './lifetime.ts'
import { RequestReader } from './request-reader.ts'
import { TlsPace } from './pace/tls-pace.ts'
import { nodeOf } from '../exchange/forwarded-trust.ts'

export interface AnnouncedClient {
  readonly peer: string
  readonly isAnonymous: boolean
}

export interface Arrival {
  readonly tls: ClientTls | null
  readonly isPlaintextOnTls: boolean
  readonly transport: Socket
  readonly client: AnnouncedClient | null
}

const owner = Symbol('owner')

interface OwnedSocket extends Socket {
  [owner]: ClientConnection | null
}

/** Closures per connection would take a quarter of the memory of an idle one. */
function handler<T = void>(handle: (connection: ClientConnection, what: T) => void) {
  return function (this: Socket, what: T): void {
    const connection = (this as OwnedSocket)[owner]
    if (connection === null) return
    try {
      handle(connection, what)
    } catch (bug) {
      connection.crashed(bug)
    }
  }
}

export class ClientConnection implements Client, ByteSink {
  readonly peer: string
  readonly isAnonymous: boolean
  readonly node: string
  readonly tls: ClientTls | null
  readonly isPlaintextOnTls: boolean
  readonly lastToken = new LastToken()
  readonly last = new LastRequest()
  pinned: PinnedConnections | null = null
  isTrusted = false
  exchange: Exchange | null = null
  readonly #socket: Socket
  readonly #transport: Socket
  readonly #plane: Plane
  readonly #closed: (connection: ClientConnection) => void
  readonly #lifetime: Lifetime
  readonly #reader: RequestReader
  readonly #pace = new ClientPace()
  readonly #tlsPace: TlsPace | null
  readonly #exchanges: Exchanges
  #halfClosed: HalfClosed | null = null

  constructor(
    socket: Socket,
    plane: Plane,
    closed: (connection: ClientConnection) => void,
    arrival: Arrival = { tls: null, isPlaintextOnTls: false, transport: socket, client: null },
  ) {
    this.#socket = socket
    this.#transport = arrival.transport
    this.tls = arrival.tls
    this.isPlaintextOnTls = arrival.isPlaintextOnTls
    this.#tlsPace = arrival.tls === null ? null : new TlsPace(socket, arrival.transport)
    this.#plane = plane
    this.#closed = closed
    this.peer = arrival.client?.peer ?? canonicalAddress(arrival.transport.remoteAddress ?? '') ?? ''
    this.isAnonymous = arrival.client?.isAnonymous ?? false
    this.node = nodeOf(this.peer)
    this.#exchanges = new Exchanges(this, plane)
    this.#lifetime = new Lifetime(socket, plane)
    this.#reader = new RequestReader(this, socket, plane, this.#lifetime)
    readNothingAhead(socket)
    readInPlace(socket, this)
    const owned = socket as OwnedSocket
    owned[owner] = this
    owned.on('data', ClientConnection.#onData)
    owned.on('end', ClientConnection.#onEnd)
    owned.on('drain', ClientConnection.#onDrain)
    ignoreErrors(socket)
    owned.on('close', ClientConnection.#onClose)
  }

  receive(bytes: Buffer): void {
    try {
      this.#reader.receive(bytes)
    } catch (bug) {
      this.crashed(bug)
    }
  }

  sendContinue(x: Exchange): void {
    this.interim(x, { status: 100, reason: 'Continue', lines: '' })
  }

  interim(x: Exchange, top: ResponseTop): boolean {
    return x.head.minor === 0 || this.write(interimText(top))
  }

  respond(x: Exchange, top: ResponseTop, body: string): void {
    this.write(wholeText(x, top, body))
  }

  relay(x: Exchange, top: ResponseTop): ResponseSink {
    const head = headText(x, top)
    return new BodyWriter(this, head, x.responseFraming)
  }

  append(x: Exchange, text: string): void {
    this.write(partText(x, text))
  }

  endBody(x: Exchange): void {
    if (x.responseFraming === 'chunked') this.write(lastChunk(null))
    this.finish(x)
  }

  switchProtocols(_: Exchange, top: ResponseTop): void {
    this.write(switchText(top))
  }

  discardBody(x: Exchange, then: () => void): boolean {
    return discardBody(x, then)
  }

  write(data: string | Buffer): boolean {
    return this.#halfClosed === null ? writeTo(this.#socket, data) : this.#halfClosed.write(data)
  }

  cork(): void {
    this.#socket.cork()
  }

  uncork(): void {
    this.#socket.uncork()
  }

  readBody(): void {
    this.#reader.isBodyWanted = true
    this.#readOn()
    const x = this.exchange
    if (this.#halfClosed !== null && x?.upgrade === 'done') x.handler?.bodyEnd()
  }

  pauseBody(): void {
    this.#reader.isBodyWanted = false
    this.#socket.pause()
  }

  finish(x: Exchange): void {
    this.#conclude(x)
    if (!x.keepAlive || !x.requestBody.done) return this.#close()
    const hasMore = this.#reader.pending !== null
    if (!hasMore && this.#halfClosed !== null) return this.#close()
    this.#lifetime.awaitRequest()
    if (hasMore) this.#readOn()
  }

  cutOff(x: Exchange, gently: boolean): void {
    this.#conclude(x)
    if (gently) this.#close()
    else this.#reset()
  }

  abandon(x: Exchange): void {
    x.aborted = true
    x.handler?.abort()
    this.#conclude(x)
    this.#reset()
  }

  endedWithout(x: Exchange): void {
    record(x)
  }

  sweep(now: number): void {
    try {
      const handler = this.exchange?.handler
      if (handler && now >= handler.deadline) handler.expire()
      if (this.#plane.isReviewing && this.exchange !== null) review(this.exchange)
      this.#refuseSlowBody(now)
      if (this.#lifetime.isOver(now)) this.#expire()
      if (this.exchange !== null) this.#halfClosed?.detectReset()
      this.#cutOffSlowReader(now)
      if (this.#tlsPace?.isFlooded()) this.#cut()
    } catch (bug) {
      this.crashed(bug)
    }
  }

  get isWritten(): boolean {
    return this.#socket.writableLength === 0
  }

  get hasRequested(): boolean {
    return this.#exchanges.count > 0 || this.exchange !== null
  }

  get hasSentHello(): boolean {
    return this.tls !== null
  }

  /** Whether it waits for another request, of which a part may have come. */
  get isIdle(): boolean {
    const hasWork = this.exchange !== null || this.#reader.isReadPlanned || this.#socket.writableLength > 0
    return this.#exchanges.count > 0 && !hasWork
  }

  /** Closes soon if idle, else after the exchange, or one more if its response has promised keep-alive. */
  drain(): void {
    if (this.exchange?.stage === 'none') this.exchange.keepAlive = false
    else if (this.exchange === null && this.#socket.writableLength === 0) this.#lifetime.awaitLastRequest()
    else if (this.exchange === null && !this.#reader.isReadPlanned) this.#close()
  }

  /** Closes after the exchange: the client's handshake was checked by rules no longer in effect. */
  retire(): void {
    if (this.exchange !== null) this.exchange.keepAlive = false
    else this.#close()
  }

  goAway(): void {
    try {
      this.exchange?.handler?.goAway?.()
    } catch (bug) {
      this.crashed(bug)
    }
  }

  /** Closes at once, with a reset in the middle of a response, so that the client notices. */
  destroy(): void {
    const x = this.exchange
    if (x === null) return void this.#socket.destroy()
    const isWhole = x.handler?.isFullySent === true && this.#socket.writableLength === 0
    x.handler?.abort()
    this.#conclude(x)
    if (isWhole) this.#socket.destroy()
    else this.#reset()
  }

  begin(head: RequestHead, body: BodyReader, bytes: Buffer): void {
    const x = this.#exchanges.of(head, body, this)
    if (x === null) return this.refuse('host_invalid', bytes)
    this.exchange = x
    x.holdLongWork()
    this.#lifetime.exchangeBegun()
    if (x.requestBody.done) this.#halfClosed?.provoke(x)
    serve(x)
  }

  refuse(fault: HeadFault | 'request_timeout', bytes: Buffer): void {
    this.#reader.pending = null
    this.exchange = this.#exchanges.ofBytes(bytes, this)
    deliver(this.exchange, refuse(fault))
  }

  refuseBody(x: Exchange, refusal: Refusal): void {
    x.handler?.abort()
    x.keepAlive = false
    deliver(x, refusal)
  }

  bodyDone(x: Exchange): void {
    this.#halfClosed?.provoke(x)
    x.handler?.bodyEnd()
  }

  readAfterFin(): void {
    if (!this.#reader.isCutShort) return
    if (this.exchange === null) this.#close()
    else this.abandon(this.exchange)
  }

  crashed(bug: unknown): void {
    const x = this.exchange
    if (x !== null) return deliverBug(x, bug)
    this.#plane.log.error({ err: bug }, 'client connection failed: internal error')
    this.destroy()
  }

  static readonly #onData = handler((connection, bytes: Buffer) => connection.#reader.receive(bytes))
  static readonly #onDrain = handler(connection => connection.#drained())
  static readonly #onEnd = handler(connection => connection.#ended())
  static readonly #onClose = handler(connection => connection.#socketClosed())

  #drained(): void {
    if (this.exchange !== null) return this.exchange.handler?.clientDrained()
    this.#readOn()
  }

  #ended(): void {
    this.#halfClosed = new HalfClosed(this.#socket, this.#transport)
    this.#reader.isEnded = true
    const x = this.exchange
    if (x === null) this.readAfterFin()
    else if (x.upgrade === 'done') x.handler?.bodyEnd()
    else if (x.requestBody.done) this.#halfClosed.provoke(x)
    else if (this.#reader.pending === null) this.abandon(x)
  }

  #socketClosed(): void {
    this.#lifetime.isOpen = false
    // Called first, so that a bug in the exchange cannot leave the connection counted.
    this.#closed(this)
    if (this.exchange !== null) this.abandon(this.exchange)
    this.pinned?.close()
    forget(this.#socket)
    ;(this.#socket as OwnedSocket)[owner] = null
  }

  #readOn(): void {
    this.#socket.resume()
    this.#reader.read()
  }

  #refuseSlowBody(now: number): void {
    const x = this.exchange
    const fault = x === null ? null : this.#pace.bodyFault(x, this.#reader.isBodyWanted, now)
    if (fault === null) return
    this.#plane.metrics.slowClients[fault].inc()
    this.refuseBody(x!, refuse('request_timeout', {}, { code: `GH_${fault.toUpperCase()}` }))
  }

  #cutOffSlowReader(now: number): void {
    const { responseRate } = this.#plane.snapshot.client
    if (!this.#pace.readsTooSlowly(this.#socket, responseRate, now)) return
    this.#plane.metrics.slowClients.response.inc()
    this.#cut()
  }

  #cut(): void {
    if (this.exchange !== null) this.abandon(this.exchange)
    else this.#reset()
  }

  #expire(): void {
    this.#lifetime.deadline = Number.POSITIVE_INFINITY
    const { pending } = this.#reader
    if (this.#lifetime.isOpen && pending !== null) {
      this.#plane.metrics.slowClients.head.inc()
      this.refuse('request_timeout', pending)
    } else if (this.#socket.writableLength > 0) this.#reset()
    else this.#socket.destroy()
  }

  #conclude(x: Exchange): void {
    x.releaseLongWork()
    this.#lifetime.exchangeEnded(x)
    this.#pace.exchangeEnded()
    this.exchange = null
    // It goes on for others.
    if (x.client !== this) return
    x.stage = 'complete'
    x.handler = null
    record(x)
  }

  #reset(): void {
    reset(this.#socket, this.#transport)
  }

  #close(): void {
    if (!this.#lifetime.isOpen) return
    this.#reader.pending = null
    this.#lifetime.close()
    this.#socket.resume()
    if (this.#halfClosed !== null) this.#socket.destroySoon()
  }
}
