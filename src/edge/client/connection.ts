// One connection of a client: bytes in, requests out one after the other, responses back. It knows where each message ends and when to close; what to
// answer is decided by the story of the request.

import type { Socket } from 'node:net'
import { canonicalAddress } from '../../base/address/address.ts'
import { ownText } from '../../base/text/own-text.ts'
import { nextRay } from '../../base/ray.ts'
import { type Refusal, refuse } from '../../errors/refusal.ts'
import { BodyReader } from '../../http1/body.ts'
import { hostName } from '../../http1/host.ts'
import { type RequestHead, requestBody } from '../../http1/request-head.ts'
import type { HeadFault } from '../../http1/request-line.ts'
import { Shown } from '../../tokens/verify.ts'
import { answer, answerBug } from '../answer.ts'
import { BodyPace } from './body-pace.ts'
import { writeTo } from '../forward/body-writer.ts'
import { type Client, Exchange } from '../exchange.ts'
import { guarded } from '../guarded.ts'
import { HalfClosed } from './half-closed.ts'
import { HeadReader } from './head-reader.ts'
import type { Plane } from '../plane.ts'
import { ReadPace } from './read-pace.ts'
import { record } from '../record.ts'
import { serve } from '../serve.ts'
import { tooLarge } from '../bound.ts'
import { nodeOf } from './way.ts'
import { salvage } from './wire.ts'

/** Bytes of further requests that are read ahead while one is being answered. */
const readAhead = 64 * 1024
/** Ms that a closing connection stays open for the client to read the answer and close (RFC 9112 section 9.6). */
const linger = 2_000
/** Ms that a client has, in a drain, for a request that was on its way when the drain began; the response to it says that the connection closes. */
const lastRequest = 500
/** Runs of body bytes that are read in one turn, of which a chunk of one byte is one. */
const mostRuns = 2_000

type State = 'open' | 'closing' | 'closed'

export class ClientConnection implements Client {
  readonly peer: string
  readonly node: string
  readonly shown = new Shown()
  isTrusted = false
  readonly #socket: Socket
  readonly #plane: Plane
  readonly #gone: (connection: ClientConnection) => void
  #state: State = 'open'
  #exchange: Exchange | null = null
  /** Received and not yet read. */
  #pending: Buffer | null = null
  readonly #heads = new HeadReader()
  /** Of the body that is being read; null as long as it has kept nobody waiting. */
  #pace: BodyPace | null = null
  /** Null as long as nothing waits for the client to read. */
  #readPace: ReadPace | null = null
  #isReading = false
  /** Whether it reads on in the next turn of the loop. */
  #isResting = false
  #isBodyWanted = false
  /** Null as long as the client may send more. */
  #halfClosed: HalfClosed | null = null
  #requests = 0
  #deadline: number
  /** Ms that a client may take for what is written and not yet sent. */
  #patience = linger
  /** The snapshot that said whether the peer is trusted. */
  #trustedBy: Plane['snapshot'] | null = null
  /** The Host of the last request, which mostly is that of the next one. */
  #host: string | null = null
  #hostName = ''

  constructor(socket: Socket, plane: Plane, gone: (connection: ClientConnection) => void) {
    this.#socket = socket
    this.#plane = plane
    this.#gone = gone
    this.peer = canonicalAddress(socket.remoteAddress ?? '') ?? ''
    this.node = nodeOf(this.peer)
    this.#takeTrust()
    this.#deadline = plane.coarseNow + plane.snapshot.client.headerTimeout
    this.#on('data', (bytes: Buffer) => this.#receive(bytes))
    this.#on('end', () => this.#ended())
    this.#on('drain', () => this.#drained())
    // A reset is told by the close that follows.
    socket.on('error', () => {})
    this.#on('close', () => this.#closed())
  }

  // ── what the steps ask of the client ──

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
    this.#isBodyWanted = true
    this.#socket.resume()
    this.#read()
    const x = this.#exchange
    if (this.#halfClosed !== null && x?.upgrade === 'done') x.upstream?.bodyEnd()
  }

  pauseBody(): void {
    this.#isBodyWanted = false
    this.#socket.pause()
  }

  finish(x: Exchange): void {
    this.#conclude(x)
    if (!x.keepAlive || !x.requestBody.done) return this.#close()
    if (this.#pending === null && this.#halfClosed !== null) return this.#close()
    const { isDraining, snapshot } = this.#plane
    this.#await(isDraining ? Math.min(lastRequest, snapshot.client.keepAlive) : snapshot.client.keepAlive)
    if (this.#pending === null) return
    this.#socket.resume()
    this.#read()
  }

  cutOff(x: Exchange, gently: boolean): void {
    this.#conclude(x)
    if (gently) this.#close()
    else this.#socket.resetAndDestroy()
  }

  abandon(x: Exchange): void {
    x.aborted = true
    x.upstream?.abort()
    this.#conclude(x)
    this.#socket.resetAndDestroy()
  }

  // ── what time and shutdown ask of it ──

  /** Acts on deadlines that have passed, its own and those of the exchange it serves. */
  sweep(now: number): void {
    try {
      const upstream = this.#exchange?.upstream
      if (upstream && now >= upstream.deadline) upstream.expire()
      this.#paceBody(now)
      if (now >= this.#deadline) this.#expire()
      if (this.#exchange !== null) this.#halfClosed?.feel()
      this.#paceReading(now)
    } catch (bug) {
      this.#crash(bug)
    }
  }

  /** Whether it was served and now waits for another request, of which nothing has come. */
  get isIdle(): boolean {
    const hasWork = this.#exchange !== null || this.#pending !== null || this.#socket.writableLength > 0
    return this.#requests > 0 && this.#state === 'open' && !hasWork
  }

  /** Closes soon when idle, else with the end of the exchange it serves, or behind it where the client was told that it may send another request. */
  drain(): void {
    if (this.#exchange?.stage === 'none') this.#exchange.keepAlive = false
    else if (this.#exchange === null && this.#socket.writableLength === 0)
      this.#deadline = Math.min(this.#deadline, this.#plane.coarseNow + lastRequest)
    else if (this.#exchange === null && !this.#isResting) this.#close()
  }

  /** Has a WebSocket closed by its ends. */
  goAway(): void {
    try {
      this.#exchange?.upstream?.goAway?.()
    } catch (bug) {
      this.#crash(bug)
    }
  }

  /** Cuts the connection; a client in the middle of an answer sees that it is cut. */
  destroy(): void {
    const x = this.#exchange
    if (x === null) return void this.#socket.destroy()
    const isWhole = x.upstream?.isFarewellSaid === true && this.#socket.writableLength === 0
    x.upstream?.abort()
    this.#conclude(x)
    if (isWhole) this.#socket.destroy()
    else this.#socket.resetAndDestroy()
  }

  // ── bytes in ──

  #receive(bytes: Buffer): void {
    if (this.#state !== 'open') return
    this.#pending = this.#pending === null ? bytes : Buffer.concat([this.#pending, bytes])
    this.#read()
  }

  /** Reads what is pending as far as possible. Answers may come while it runs, so a call from within only lets the loop go on. */
  #read(): void {
    if (this.#isReading || this.#isResting) return
    this.#isReading = true
    try {
      for (
        let runs = 1;
        this.#pending !== null && this.#state === 'open' && this.#readSome(this.#pending);
        runs++
      )
        if (this.#pending !== null && (this.#exchange === null || runs === mostRuns)) {
          this.#rest()
          break
        }
      this.#exchange?.upstream?.flushBody()
    } catch (bug) {
      this.#crash(bug)
    }
    this.#isReading = false
    if (this.#halfClosed !== null) this.#stopShort()
  }

  /** Reads on when others have had their turn: requests that are answered at once, refusals, may come by the thousand in one packet, and so may chunks. */
  #rest(): void {
    this.#isResting = true
    const goOn = () => {
      this.#isResting = false
      this.#read()
    }
    setImmediate(guarded(goOn, bug => this.#crash(bug)))
  }

  /** Abandons what can't be read to its end, since the client has sent all it will. */
  #stopShort(): void {
    if (this.#isResting) return
    const x = this.#exchange
    if (x === null && !this.#isHeldBack) this.#close()
    else if (x !== null && this.#isBodyWanted && !x.requestBody.done) this.abandon(x)
  }

  /** Handles an event of the socket; a bug in that costs this client alone. */
  #on<T = void>(event: string, handle: (what: T) => void): void {
    this.#socket.on(
      event,
      guarded(handle, bug => this.#crash(bug)),
    )
  }

  #crash(bug: unknown): void {
    const x = this.#exchange
    if (x !== null) return answerBug(x, bug)
    this.#plane.log.error({ err: bug }, 'client connection failed: internal error')
    this.destroy()
  }

  /** Reads one head or one run of body bytes; false when that has to wait. */
  #readSome(bytes: Buffer): boolean {
    const x = this.#exchange
    if (x === null) return this.#isHeldBack ? this.#holdBack(bytes) : this.#readHead(bytes)
    if (this.#isBodyWanted && !x.requestBody.done) return this.#readBodyBytes(x, bytes)
    if (this.#isBodyWanted && x.upgrade === 'done') return this.#passOn(x, bytes)
    if (x.requestBody.done) return this.#holdBack(bytes)
    this.#socket.pause()
    return false
  }

  /** Whether requests wait because the client does not read the answers to earlier ones. */
  get #isHeldBack(): boolean {
    return this.#pending !== null && this.#socket.writableNeedDrain
  }

  #holdBack(bytes: Buffer): false {
    if (bytes.length > readAhead) this.#socket.pause()
    return false
  }

  /** Goes on when the client has read what it was sent. */
  #drained(): void {
    if (this.#exchange !== null) return this.#exchange.upstream?.clientDrained()
    this.#socket.resume()
    this.#read()
  }

  #readHead(bytes: Buffer): boolean {
    const { limits, client } = this.#plane.snapshot
    const isFirst = !this.#heads.hasBegun
    const head = this.#heads.read(bytes, limits)
    if (head === null) {
      if (!this.#heads.hasBegun) this.#pending = null
      else if (isFirst) this.#deadline = this.#plane.coarseNow + client.headerTimeout
      return false
    }
    if (typeof head === 'string') {
      this.#refuse(head, bytes)
      return false
    }
    this.#pending = head.end === bytes.length ? null : bytes.subarray(head.end)
    this.#begin(head, bytes)
    return true
  }

  #begin(head: RequestHead, bytes: Buffer): void {
    if (head.host !== null && head.host !== this.#host && !this.#takeHost(head.host))
      return this.#refuse('host_invalid', bytes)
    if (this.#plane.snapshot !== this.#trustedBy) this.#takeTrust()
    const x = new Exchange(this.#plane, this, head, requestBody(head), nextRay())
    x.host = head.host === null ? '' : this.#hostName
    if (++this.#requests >= x.snapshot.limits.requestsPerConnection || this.#plane.isDraining)
      x.keepAlive = false
    this.#exchange = x
    this.#isBodyWanted = false
    this.#deadline = Number.POSITIVE_INFINITY
    if (x.requestBody.done) this.#halfClosed?.provoke(x)
    serve(x)
  }

  #takeHost(host: string): boolean {
    const name = hostName(host)
    if (name === null) return false
    this.#host = ownText(host)
    this.#hostName = ownText(name)
    return true
  }

  #takeTrust(): void {
    this.#trustedBy = this.#plane.snapshot
    this.isTrusted = this.#trustedBy.trusted.has(this.peer)
  }

  #readBodyBytes(x: Exchange, bytes: Buffer): boolean {
    const body = x.requestBody
    const at = body.next(bytes, 0)
    const { from, to } = body
    this.#pending = at === bytes.length ? null : bytes.subarray(at)
    if (body.faulty) return this.#refuseBody(x, refuse('bad_request'))
    x.bytesIn += to - from
    if (x.bytesIn > x.bodyLimit) return this.#refuseBody(x, tooLarge(x))
    if (to > from) x.upstream?.body(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to))
    if (body.done && this.#exchange === x) this.#bodyDone(x)
    return true
  }

  #bodyDone(x: Exchange): void {
    this.#isBodyWanted = false
    // The last bytes may have paused it, and only reading tells that the client leaves.
    this.#socket.resume()
    this.#halfClosed?.provoke(x)
    x.upstream?.bodyEnd()
  }

  #passOn(x: Exchange, bytes: Buffer): boolean {
    this.#pending = null
    x.bytesIn += bytes.length
    x.upstream?.body(bytes)
    return true
  }

  /** Abandons a body that comes too slowly; an origin that answers before its end may talk with the client for as long as both like. */
  #paceBody(now: number): void {
    const x = this.#exchange
    if (x === null || x.requestBody.done || x.stage !== 'none') return
    this.#pace ??= new BodyPace(x, now)
    const fault = this.#pace.look(this.#isBodyWanted, now)
    if (fault === null) return
    this.#plane.metrics.slowClients[fault].inc()
    this.#refuseBody(x, refuse('request_timeout', {}, { code: `GH_${fault.toUpperCase()}` }))
  }

  /** Cuts off a client that does not take what waits for it. */
  #paceReading(now: number): void {
    if (this.#socket.writableLength === 0) this.#readPace = null
    const { responseRate } = this.#plane.snapshot.client
    if (this.#socket.writableLength === 0 || responseRate === 0) return
    this.#readPace ??= new ReadPace(this.#socket, now)
    if (!this.#readPace.isSlow(responseRate, now)) return
    this.#readPace = null
    this.#plane.metrics.slowClients.response.inc()
    if (this.#exchange !== null) this.abandon(this.#exchange)
    else this.#socket.resetAndDestroy()
  }

  // ── endings ──

  /** Refuses bytes that never became a request. */
  #refuse(fault: HeadFault | 'request_timeout', bytes: Buffer): void {
    this.#pending = null
    const x = new Exchange(this.#plane, this, salvage(bytes), new BodyReader('none', 0), nextRay())
    x.host = hostName(x.head.host ?? '') ?? ''
    this.#exchange = x
    answer(x, refuse(fault))
  }

  /** Refuses a head that takes too long to come. */
  #refuseHead(bytes: Buffer): void {
    this.#plane.metrics.slowClients.head.inc()
    this.#refuse('request_timeout', bytes)
  }

  #refuseBody(x: Exchange, refusal: Refusal): false {
    x.upstream?.abort()
    x.keepAlive = false
    answer(x, refusal)
    return false
  }

  #expire(): void {
    this.#deadline = Number.POSITIVE_INFINITY
    if (this.#state === 'open' && this.#pending !== null) this.#refuseHead(this.#pending)
    else if (this.#socket.writableLength > 0) this.#socket.resetAndDestroy()
    else this.#socket.destroy()
  }

  #conclude(x: Exchange): void {
    this.#patience = patienceFor(x)
    x.stage = 'complete'
    x.upstream = null
    this.#exchange = null
    this.#pace = null
    record(x)
  }

  /** Allows an idle client `ms` for its next request, from when it has all of the last answer. */
  #await(ms: number): void {
    if (this.#socket.writableLength === 0) {
      this.#deadline = this.#plane.coarseNow + ms
      return
    }
    this.#deadline = this.#plane.coarseNow + this.#patience
    this.#socket.write('', () => {
      if (this.#exchange === null && this.#state === 'open') this.#deadline = this.#plane.coarseNow + ms
    })
  }

  /** Sends what is written and a FIN; then gives the client some time to read it before the connection goes. */
  #close(): void {
    if (this.#state !== 'open') return
    this.#state = 'closing'
    this.#pending = null
    this.#deadline = this.#plane.coarseNow + this.#patience
    this.#socket.end(() => {
      this.#deadline = this.#plane.coarseNow + linger
    })
    this.#socket.resume()
    if (this.#halfClosed !== null) this.#socket.destroySoon()
  }

  #ended(): void {
    this.#halfClosed = new HalfClosed(this.#socket)
    const x = this.#exchange
    if (x === null) this.#stopShort()
    else if (x.upgrade === 'done') x.upstream?.bodyEnd()
    else if (x.requestBody.done) this.#halfClosed.provoke(x)
    else if (this.#pending === null) this.abandon(x)
  }

  #closed(): void {
    this.#state = 'closed'
    // First, so that nothing that goes wrong with the exchange keeps the connection counted.
    this.#gone(this)
    if (this.#exchange !== null) this.abandon(this.#exchange)
  }
}

/** An answer of the origin may take as long as its stream might stand still; an error document is short. */
function patienceFor(x: Exchange): number {
  if (x.route === null || x.refusal !== null) return linger
  return x.route.config.timeouts.idle || Number.POSITIVE_INFINITY
}
