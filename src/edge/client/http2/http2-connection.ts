// One HTTP/2 connection of a client, with many concurrent requests.

import type { Socket } from 'node:net'
import { canonicalAddress } from '../../../net/address/address.ts'
import { forget, ignoreErrors } from '../../../net/socket/closed-socket.ts'
import { readNothingAhead } from '../../../net/socket/read-ahead.ts'
import { reset } from '../../../net/socket/reset.ts'
import type { HeadLimits, RequestHead } from '../../../http1/heads/request-head.ts'
import type { HeadFault } from '../../../http1/heads/request-line.ts'
import { errorCode } from '../../../http2/frames/frames.ts'
import { ServerSession } from '../../../http2/server/session.ts'
import type { SessionFault, SessionUser, StreamFault } from '../../../http2/server/session-user.ts'
import { LastToken } from '../../../tokens/verify.ts'
import type { ClientTls, Exchange } from '../../exchange/exchange.ts'
import { guarded } from '../../../base/guarded.ts'
import type { PinnedConnections } from '../../origin/idle/pinned-connections.ts'
import type { Plane } from '../../snapshot/plane.ts'
import { record } from '../../serve/record.ts'
import type { Arrival } from '../connection.ts'
import { ClientPace } from '../pace/client-pace.ts'
import { Http2Account, type Http2Shared } from './http2-account.ts'
import { Http2Reader, type ReadProgress } from './http2-reader.ts'
import { Http2Requests } from './http2-requests.ts'
import type { ClientStream, StreamClient, StreamConnection } from './http2-stream.ts'
import type { Http2Turns } from './http2-turns.ts'
import { Http2Writer } from './http2-writer.ts'
import { LastRequest } from '../../exchange/request-reuse.ts'
import { Lifetime } from '../lifetime.ts'
import { TlsPace } from '../pace/tls-pace.ts'
import { nodeOf } from '../../exchange/forwarded-trust.ts'

/** Ms between two checks of the pace of streams. */
const paceInterval = 1_000

export class Http2Connection implements StreamConnection, SessionUser<StreamClient> {
  readonly peer: string
  readonly isAnonymous: boolean
  readonly node: string
  readonly tls: ClientTls | null
  readonly lastToken = new LastToken()
  readonly last = new LastRequest()
  pinned: PinnedConnections | null = null
  readonly session: ServerSession<StreamClient>
  readonly #socket: Socket
  readonly #transport: Socket
  readonly #plane: Plane
  readonly #closed: (connection: Http2Connection) => void
  readonly #lifetime: Lifetime
  readonly #requests: Http2Requests
  readonly #pace = new ClientPace()
  readonly #tlsPace: TlsPace | null
  readonly #ending = new Set<ClientStream>()
  readonly #turns: Http2Turns
  readonly #account: Http2Account
  readonly #reader: Http2Reader
  readonly #writer: Http2Writer
  #isShutDown = false
  #isClosed = false
  #checkedAt = 0

  constructor(
    socket: Socket,
    plane: Plane,
    closed: (connection: Http2Connection) => void,
    { tls, transport, client }: Arrival,
    peers: Http2Shared,
  ) {
    const { offenders, turns } = peers
    this.#socket = socket
    this.#transport = transport
    this.tls = tls
    this.#tlsPace = tls === null ? null : new TlsPace(socket, transport)
    this.#plane = plane
    this.#closed = closed
    this.peer = client?.peer ?? canonicalAddress(transport.remoteAddress ?? '') ?? ''
    this.isAnonymous = client?.isAnonymous ?? false
    this.node = nodeOf(this.peer)
    this.#requests = new Http2Requests(this, plane)
    this.#lifetime = new Lifetime(socket, plane)
    this.#turns = turns
    this.#account = new Http2Account(this, plane, peers)
    this.#reader = new Http2Reader(this, socket, plane, this.#requests, this.#account, turns)
    this.#writer = new Http2Writer(this, socket, this.#account)
    const { coarseNow: now, snapshot } = plane
    const budgets = offenders.budgetsOf(this.peer, now)
    this.session = new ServerSession(this, snapshot.http2, now, budgets, turns.work)
    readNothingAhead(socket)
    this.#on('data', (bytes: Buffer) => this.#receive(bytes))
    // A client that cannot send cannot acknowledge what it receives: in HTTP/2 a FIN ends the connection.
    this.#on('end', () => {
      this.#leave()
      this.#cut()
    })
    ignoreErrors(socket)
    this.#on('close', (isBroken: boolean) => this.#onClose(isBroken))
    if (this.session.hasOutput) this.outputReady()
  }

  get progress(): ReadProgress {
    return this.#reader.progress
  }

  get hasRequested(): boolean {
    return this.session.requestCount > 0
  }

  /** Whether the client broke its rules, which ends the connection once it has been told. */
  get hasFailed(): boolean {
    return this.#reader.hasEnded
  }

  get hasSentHello(): boolean {
    return this.tls !== null
  }

  get isIdle(): boolean {
    const hasWork = this.session.streamCount > 0 || this.session.hasOutput || this.#socket.writableLength > 0
    return this.session.requestCount > 0 && !hasWork
  }

  sweep(now: number): void {
    this.#requests.sweep(now)
    try {
      this.#account.rejoin()
      if (now - this.#checkedAt >= paceInterval) this.#checkPace(now)
      if (this.#lifetime.isOver(now)) this.#expire(now)
      if (this.#tlsPace?.isFlooded()) this.#cut()
      this.#settle()
    } catch (bug) {
      this.crashed(bug)
    }
  }

  drain(): void {
    try {
      this.#shutDown()
    } catch (bug) {
      this.crashed(bug)
    }
  }

  /** Closes after the exchanges: the client's handshake was checked by rules no longer in effect. */
  retire(): void {
    this.drain()
  }

  goAway(): void {
    this.#requests.goAway()
  }

  /** Closes at once, with a reset in the middle of a response, so that the client notices. */
  destroy(): void {
    const isSent = this.#socket.writableLength === 0 && !this.session.hasOutput
    if (this.#requests.cut() && isSent) this.#socket.destroy()
    else reset(this.#socket, this.#transport)
  }

  get isIndebted(): boolean {
    return this.#account.isIndebted
  }

  readOn(work: number): void {
    try {
      if (this.#lifetime.isOpen) this.#reader.readOn(work)
    } catch (bug) {
      this.crashed(bug)
    }
  }

  /** Ends up to `max` requests of a departed client; returns how many are left of that number. */
  endSome(max: number): number {
    try {
      return this.#requests.abandon(max)
    } catch (bug) {
      this.crashed(bug)
      return max
    } finally {
      this.#leaveIfOver()
    }
  }

  concluded(client: StreamClient, x: Exchange): void {
    this.#requests.concluded(client)
    if (this.#requests.count === 0 && this.#lifetime.isOpen) {
      this.#lifetime.exchangeEnded(x)
      this.#lifetime.awaitRequest()
    }
    x.releaseLongWork()
    // If not, it goes on for others.
    if (x.client === client) record(x)
  }

  concludedWithout(x: Exchange): void {
    record(x)
  }

  requestBegun(maxRequests: number): void {
    this.#lifetime.exchangeBegun()
    if (this.session.requestCount >= maxRequests) this.#shutDown()
  }

  resetBehind(stream: ClientStream): void {
    this.#ending.add(stream)
    this.outputReady()
  }

  get limits(): HeadLimits {
    return this.#plane.snapshot.limits
  }

  get headTimeout(): number {
    return this.#plane.snapshot.client.headerTimeout
  }

  begin(stream: ClientStream, head: RequestHead, fault: HeadFault | null): void {
    this.#requests.begin(stream, head, fault)
  }

  body(stream: ClientStream, bytes: Buffer): void {
    this.#requests.body(stream, bytes)
  }

  bodyEnd(stream: ClientStream, trailers: readonly string[] | null): void {
    this.#requests.bodyEnd(stream, trailers)
  }

  aborted(stream: ClientStream, fault: StreamFault): void {
    // Streams of a closed session are ended in turns.
    if (fault !== 'session') this.#requests.aborted(stream, fault)
  }

  drained(stream: ClientStream): void {
    this.#requests.drained(stream)
  }

  outputReady(): void {
    this.#writer.plan()
  }

  failed(fault: SessionFault, detail: string): void {
    this.#plane.metrics.http2Failures[fault].inc()
    this.#reader.hasEnded = true
    this.#account.noteOffence(fault)
    this.#plane.log.debug(
      { client: this.peer, fault, detail },
      'HTTP/2 connection closed: the client broke its rules',
    )
    this.#turns.end(this)
    this.outputReady()
  }

  #receive(bytes: Buffer): void {
    if (this.#lifetime.isOpen) this.#reader.receive(bytes)
    else this.#lifetime.receivedAfterClose(bytes.length)
  }

  wrote(isAll: boolean): void {
    if (isAll) this.#reader.outputSent()
    this.#account.count()
    this.#settle()
  }

  /** Resets streams that were cut short (RFC 8441 section 5) once they have sent everything. */
  #settle(): void {
    for (const stream of this.#ending) {
      if (!stream.isClosed && stream.waiting > 0) continue
      this.#ending.delete(stream)
      this.session.reset(stream, stream.isTunnel ? errorCode.cancel : errorCode.internal)
    }
    const isDone = this.session.isDone && !this.session.hasOutput && !this.#writer.isWriting
    if (!isDone || !this.#lifetime.isOpen) return
    // A client that broke the protocol is not given time to read.
    if (this.#reader.hasEnded) this.#socket.destroySoon()
    else this.#lifetime.close()
  }

  #checkPace(now: number): void {
    this.#checkedAt = now
    const { responseRate } = this.#plane.snapshot.client
    this.session.sweep(now, responseRate, this.#account.isOverdrawn)
    this.#account.countAll()
    if (!this.#pace.readsTooSlowly(this.#socket, responseRate, now)) return
    this.#plane.metrics.slowClients.response.inc()
    this.#cut()
  }

  #expire(now: number): void {
    this.#lifetime.deadline = Number.POSITIVE_INFINITY
    if (this.#lifetime.isOpen) {
      if (this.session.requestCount === 0) this.#plane.metrics.slowClients.head.inc()
      this.session.shutdown(now)
    } else if (this.#socket.writableLength > 0) reset(this.#socket, this.#transport)
    else this.#socket.destroy()
  }

  #shutDown(): void {
    if (this.#isShutDown) return
    this.#isShutDown = true
    this.session.shutdown(this.#plane.coarseNow)
  }

  #cut(): void {
    this.#abandonAll()
    reset(this.#socket, this.#transport)
  }

  #abandonAll(): void {
    this.#lifetime.isOpen = false
    this.session.close()
    this.#turns.end(this)
  }

  #onClose(isBroken: boolean): void {
    if (isBroken) this.#leave()
    this.#abandonAll()
    this.#isClosed = true
    this.#account.close()
    forget(this.#socket)
    this.#leaveIfOver()
  }

  /** The connection counts until all of its requests are ended. */
  #leaveIfOver(): void {
    if (!this.#isClosed || this.#requests.count > 0) return
    this.pinned?.close()
    this.#closed(this)
  }

  #leave(): void {
    this.session.leave(this.#plane.coarseNow)
    this.#account.chargeAddress()
  }

  crashed(bug: unknown): void {
    this.#plane.log.error({ err: bug }, 'client connection failed: internal error')
    this.destroy()
  }

  #on<T = void>(event: string, handle: (what: T) => void): void {
    this.#socket.on(
      event,
      guarded(handle, bug => this.crashed(bug)),
    )
  }
}
