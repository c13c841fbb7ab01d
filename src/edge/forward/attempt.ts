// One attempt at a request: the wait for a connection, and its use until it is given back.

import type { Timeouts } from '../../config/model/config.ts'
import { type Failure, fault, type OriginFault } from '../../errors/catalogue/origin-failure.ts'
import { authenticatesConnection } from '../../http1/fields/connection-authentication.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import type { Phase } from '../../errors/catalogue/phase.ts'
import { AbandonedCall } from './abandoned-call.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { shareEnd } from '../answers/share.ts'
import type { Tap } from '../ai-call/tap.ts'
import { asEventStream, EventFrames, hasEventFrames } from '../ai-call/event-frames.ts'
import { FirstContent, isErrorBody, isSound } from '../ai-call/content-start.ts'
import { maxReasonSize, mayRefuseUsage, refusesUsage } from '../ai/usage-refusal.ts'
import { deliverBug } from '../exchange/deliver.ts'
import { Pieces } from '../wire/growing-bytes.ts'
import { withholdCredentialsFrom } from '../exchange/gateway-credentials.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ConnectionRequest } from '../origin/connection-queue.ts'
import type { ResponseBody, TunnelHandler } from '../origin/response-handler.ts'
import type { Dial } from '../origin/dial/dial.ts'
import type { Lease, RequestSink } from '../origin/lease.ts'
import { maxWait } from '../origin/longest-wait.ts'
import type { Origin } from '../origin/origin.ts'
import type { OutboundHead } from '../origin/outbound-head.ts'
import { PinnedConnections } from '../origin/idle/pinned-connections.ts'
import type { AttemptEvent, ForwardState, ResponseEvent } from './decide.ts'
import { acceptsKey } from './websocket-key.ts'
import { Tunnel } from './forward-websocket.ts'
import type { BufferedBody } from './buffered-body.ts'
import { outboundHead } from './outbound-request.ts'
import { relayedInterim, relayedSwitch } from './response-heads.ts'
import { type Relaying, relay } from './relaying.ts'
import { trailersOf } from './sending.ts'

interface AttemptOwner {
  readonly isHttp1Required: boolean
  /** The attempt may be over when it returns. */
  report(event: AttemptEvent): void
  /** Nothing else can take the place of the response to a call. */
  begun(): void
  /** The body of a call with a course has begun, and is held to its end. */
  contentBegan(): void
}

/**
 * The beginning of a response that is read before the client gets any: an error whose reason is looked for,
 * or one that another attempt may replace.
 */
interface HeldResponse {
  readonly head: ResponseHead
  readonly body: ResponseBody
  readonly bytes: Pieces
  readonly isError: boolean
  /** Null unless it is a stream. */
  readonly content: FirstContent | null
  readonly maxSize: number
}

/** Of a stream before its content, and of any other response. */
const maxHeldStream = 64 * 1024
const maxHeldBody = 512 * 1024

const nothing = { status: 0, reason: '', lines: '' }

type Wait = 'connecting' | 'sending' | 'waiting' | 'relaying'

const timeoutFaults: Readonly<Record<Wait, readonly [Phase, OriginFault]>> = {
  connecting: ['connect', 'GH_CONNECT_TIMEOUT'],
  sending: ['send', 'GH_WRITE_TIMEOUT'],
  waiting: ['wait', 'GH_RESPONSE_TIMEOUT'],
  relaying: ['receive', 'GH_IDLE_TIMEOUT'],
}

export class Attempt implements ConnectionRequest {
  deadline = Number.POSITIVE_INFINITY
  readonly timeouts: Timeouts
  readonly isFresh: boolean
  /** Against the member of the pool. */
  isBlamed = false
  readonly #x: Exchange
  readonly #owner: AttemptOwner
  readonly #origin: Origin
  readonly #body: BufferedBody | null
  #wait: Wait = 'connecting'
  #isUpload = false
  #framing: ResponseBody['framing'] = 'none'
  #isReleased = false
  #lease: Lease | null = null
  #streamed: RequestSink | null = null
  /** While the origin may refuse the request and nothing sent has been dropped. */
  #bufferedBody: BufferedBody | null = null
  #relaying: Relaying | null = null
  #held: HeldResponse | null = null
  /** Of a stream that is decoded for callers of another API. */
  #frames: EventFrames | null = null
  /** The end of a response of which some is held back. */
  #heldEnd: { readonly trailers: string[] | null } | null = null
  /** Null once content has begun, and for other responses. */
  #firstContent: FirstContent | null = null

  constructor(x: Exchange, owner: AttemptOwner, body: BufferedBody | null, isFresh: boolean) {
    this.#x = x
    this.#owner = owner
    this.#origin = x.origin!
    this.#body = body
    this.timeouts = x.route!.config.timeouts
    this.isFresh = isFresh
  }

  get method(): string {
    return this.#x.outgoing.method
  }

  get wantsUpgrade(): boolean {
    return this.#x.upgrade === 'requested'
  }

  /** For WebSockets, connection-based authentication, or at the origin's demand. */
  get needsHttp1(): boolean {
    return this.#owner.isHttp1Required || this.wantsUpgrade || authenticatesConnection(this.#x.outgoing)
  }

  get copiesBody(): boolean {
    return this.#streamed?.copiesData === true
  }

  get copiesData(): boolean {
    return this.#relaying?.copiesData === true
  }

  get stage(): ForwardState['stage'] {
    if (this.#relaying !== null) return 'relaying'
    return this.#wait === 'connecting' ? 'connecting' : 'awaiting'
  }

  get isReused(): boolean {
    return this.#lease?.isReused === true
  }

  get hasResponseBegun(): boolean {
    return this.#lease?.hasResponseBegun === true
  }

  get sentBody(): ForwardState['sentBody'] {
    if (this.#streamed === null) return 'whole'
    return this.#bufferedBody?.isForgotten === false ? 'so_far' : 'gone'
  }

  get isClientBehind(): boolean {
    return this.#relaying?.isClientBehind === true
  }

  start(): void {
    const x = this.#x
    const isUpload = this.#body?.isWhole === false && !x.requestBody.done
    this.deadline = x.deadlineIn(maxWait(this.#origin.config, this.timeouts, isUpload))
    const key = x.ai === null || x.ai.made === null ? null : x.ai.made.ensure()
    if (key === null) return this.#acquire(isUpload)
    if (typeof key === 'string') return this.#keyMade(key, isUpload)
    this.deadline = Number.POSITIVE_INFINITY
    key.then(failure => this.#keyMade(failure, isUpload)).catch(bug => this.crashed(bug))
  }

  /** Of a provider whose keys are made. */
  #keyMade(failure: string | null, isUpload: boolean): void {
    if (this.#isReleased) return
    const x = this.#x
    this.deadline = x.deadlineIn(maxWait(this.#origin.config, this.timeouts, isUpload))
    if (failure === null) this.#acquire(isUpload)
    else this.failed('connect', { ...fault('GH_NO_KEY'), cause: { code: failure } })
  }

  #acquire(isUpload: boolean): void {
    const { client, clientAddress } = this.#x
    if (
      !this.isFresh &&
      client.pinned !== null &&
      this.#origin.acquirePinned(this, client.pinned, clientAddress)
    )
      return
    if (!isUpload) return this.#origin.acquire(this, { fresh: this.isFresh })
    this.#isUpload = true
    this.#origin.acquireForUpload(this)
  }

  release(): void {
    this.#isReleased = true
    this.#relaying?.close()
    if (this.#lease === null) this.#origin.cancel(this)
    else this.takeLease().destroy()
    this.endUpload()
  }

  endUpload(): void {
    if (!this.#isUpload) return
    this.#isUpload = false
    this.#origin.endUpload(this)
  }

  takeLease(): Lease {
    const lease = this.#lease!
    this.#lease = null
    return lease
  }

  /** False before the request is sent. */
  abandon(): boolean {
    if (this.#lease === null || this.#wait === 'connecting' || this.#wait === 'sending') return false
    const { ai, tap, plane } = this.#x
    const held = this.#held
    // Nobody looks at a response that has no reader.
    if (this.#relaying === null) ai!.isGuarded = ai!.guard?.holdsResponses === true
    this.#relaying?.close()
    const call = new AbandonedCall(this.#x, tap!, this.takeLease())
    if (held === null) return true
    call.head(held.head)
    tap!.noteResponse(held.bytes.bytes, plane.clock)
    return true
  }

  /** The client has left, and the call goes on for others. */
  detach(): void {
    this.#relaying?.detach(this.#x.client.relay(this.#x, nothing))
  }

  /** Notes what came of a response that another attempt replaces. */
  noteHeld(tap: Tap): void {
    if (this.#held === null) return
    tap.noteHead(this.#held.head, false)
    if (this.#held.bytes.size > 0) tap.noteResponse(this.#held.bytes.bytes, this.#x.plane.clock)
  }

  expire(): void {
    const [phase, way] = timeoutFaults[this.#wait]
    this.#owner.report({ type: 'failure', phase, failure: fault(way) })
  }

  relay({ head, body, whole = null }: ResponseEvent): void {
    this.endUpload()
    this.#framing = body.framing
    const circumstances = { whole, isDecoded: this.#frames !== null, owner: this }
    const relaying = relay(this.#x, this.#lease!, head, body, circumstances)
    if (relaying === null) return this.#reportUnusable('GH_BAD_ANSWER')
    if ('error' in relaying) return this.#reportGuarded(relaying)
    this.#relaying = relaying
    // One that was held to its end has begun.
    if (this.#x.ai !== null && body.framing !== 'none' && whole === null)
      this.#firstContent = new FirstContent(head)
    this.#awaitMore()
  }

  body(bytes: Buffer): void {
    // A response that came early is as alive as the request that still goes on.
    if (this.#relaying !== null) this.#awaitMore()
    if (this.#heldEnd !== null) return
    this.#bufferedBody?.keep(bytes)
    this.#sent(this.#streamed!.data(bytes))
  }

  flushBody(): void {
    if (this.#streamed !== null && this.#heldEnd === null) this.#sent(this.#streamed.flush())
  }

  bodyEnd(): void {
    const x = this.#x
    this.endUpload()
    if (this.#heldEnd !== null) return
    this.#streamed!.end(trailersOf(x))
    x.bodySentAt = x.plane.clock.monotonic()
    this.#await(this.#lease!)
  }

  clientDrained(): void {
    if (this.#relaying === null) return this.#lease?.resume()
    this.#awaitMore()
    this.#relaying.clientDrained()
  }

  breakOff(): void {
    this.#relaying?.breakOff()
  }

  connected(lease: Lease): void {
    this.#lease = lease
    this.#wait = 'sending'
    this.deadline = Number.POSITIVE_INFINITY
    const refusal = withholdCredentialsFrom(this.#x, lease.address)
    if (refusal === null) this.#send(lease)
    else this.#owner.report({ type: 'refusal', refusal })
  }

  interim(head: ResponseHead): void {
    if (head.status === 100 || this.#x.ai?.course != null) return
    if (!this.#x.client.interim(this.#x, relayedInterim(this.#x, head))) this.#lease?.pause()
  }

  head(received: ResponseHead, body: ResponseBody): void {
    const { ai } = this.#x
    const head = ai !== null && ai.provider!.hasFrames ? this.#unframed(ai, received) : received
    // Over HTTP/2 it would open the tunnel that the origin does not (RFC 8441 section 5).
    if (this.wantsUpgrade && this.#x.head.version === '2' && head.status < 300)
      return this.#reportUnusable('GH_BAD_UPGRADE')
    if (head.authenticatesConnection) this.#pin(this.#lease!)
    this.#bufferedBody?.forget()
    this.#bufferedBody = null
    if (ai === null || body.framing === 'none' || this.#streamed !== null)
      return this.#owner.report({ type: 'response', head, body })
    const isError = mayRefuseUsage(ai, head)
    if (!isError && (ai.course === null || head.status < 200 || head.status > 299))
      return this.#owner.report({ type: 'response', head, body })
    const maxSize = isError ? maxReasonSize : head.isEventStream ? maxHeldStream : maxHeldBody
    const content = isError || !head.isEventStream ? null : new FirstContent(head)
    this.#held = { head, body, bytes: new Pieces(), isError, content, maxSize }
    this.#enter('waiting', this.timeouts.response)
  }

  data(bytes: Buffer): void {
    if (this.#frames === null) return this.#take(bytes)
    const events = this.#frames.push(bytes)
    if (events === false) this.#reportUnusable('GH_BAD_ANSWER')
    else if (events !== null) this.#take(events)
  }

  #take(bytes: Buffer): void {
    if (this.#held !== null) return this.#hold(this.#held, bytes)
    if (this.#firstContent?.push(bytes)) this.#firstContent = null
    this.#awaitMore()
    if (!this.#relaying!.data(bytes)) this.#reportStopped(this.#relaying!)
  }

  flushResponse(): void {
    if (this.#relaying === null) return
    this.#relaying.flush()
    if (this.#relaying.isHeldUp) this.#awaitMore()
    if (this.#x.ai?.course != null && this.#x.stage !== 'none') this.#owner.begun()
  }

  end(trailers: string[] | null): void {
    const x = this.#x
    if (this.#frames?.isWhole === false) return this.#reportUnusable('GH_BAD_ANSWER')
    if (this.#held !== null && !this.#endHeld(this.#held)) return
    if (!this.isBlamed) x.member!.health.succeeded()
    if (!this.#relaying!.bodyEnd()) return this.#reportStopped(this.#relaying!)
    if (!this.#relaying!.isAsking) return this.#finish(this.takeLease(), trailers)
    this.#heldEnd = { trailers }
    this.takeLease().giveBack()
    this.#awaitMore()
  }

  #finish(lease: Lease | null, trailers: string[] | null): void {
    const x = this.#x
    if (x.ai !== null && x.ai.flight !== null) shareEnd(x, x.ai, x.ai.flight, this.#framing)
    x.handler = null
    const isSent = this.#relaying!.end(trailers)
    lease?.giveBack()
    if (isSent) x.client.finish(x)
  }

  decided(): void {
    const relaying = this.#relaying!
    if (relaying.refusal !== null) return this.#reportStopped(relaying)
    if (this.#x.ai!.course !== null && this.#x.stage !== 'none') this.#owner.begun()
    if (this.#heldEnd !== null && !relaying.isAsking) return this.#finish(null, this.#heldEnd.trailers)
    this.#awaitMore()
    if (!relaying.isClientBehind) relaying.resume()
  }

  acceptsUpgrade(head: ResponseHead): boolean {
    // Over HTTP/1 the client looks by itself.
    return this.#x.head.version !== '2' || acceptsKey(this.#x.outgoing, head)
  }

  switchProtocols(head: ResponseHead): TunnelHandler {
    const x = this.#x
    const { health } = x.member!
    const tunnel = new Tunnel(x, this.takeLease(), this.timeouts.idle)
    this.endUpload()
    health.responded(x)
    health.succeeded()
    x.respondedAt = x.plane.clock.monotonic()
    x.becomeTunnel(tunnel)
    x.client.switchProtocols(x, relayedSwitch(x, head))
    x.client.readBody()
    if (x.plane.isGoingAway) tunnel.goAway()
    return tunnel
  }

  originDrained(): void {
    if (this.#wait === 'sending') this.deadline = Number.POSITIVE_INFINITY
    if (!this.#x.requestBody.done) this.#x.client.readBody()
    else if (this.#wait === 'sending' && this.#streamed === null) this.#await(this.#lease!)
  }

  failed(phase: Phase, failure: Failure, times: Dial['times'] | null = null): void {
    if (times !== null) this.#x.openingTimes = times
    this.#owner.report({ type: 'failure', phase, failure })
  }

  crashed(bug: unknown): void {
    deliverBug(this.#x, bug)
  }

  #send(lease: Lease): void {
    const x = this.#x
    const body = this.#body
    x.sentAt = x.plane.clock.monotonic()
    // Providers think before they respond.
    if (x.ai !== null) {
      x.releaseLongWork()
      x.ai.mayHaveWorked = true
    }
    if (!lease.isReused) x.openingTimes = lease.times
    if (authenticatesConnection(x.outgoing)) this.#pin(lease)
    const head = outboundHead(x, lease.address)
    if (body?.isWhole === false) this.#stream(lease, head, body)
    else if (lease.send(head, body === null ? null : body.bytes, trailersOf(x))) this.#await(lease)
    else this.#enter('sending', this.timeouts.write)
  }

  #pin(lease: Lease): void {
    const { client, clientAddress } = this.#x
    lease.pin((client.pinned ??= new PinnedConnections()), clientAddress)
  }

  #stream(lease: Lease, head: OutboundHead, body: BufferedBody): void {
    this.#streamed = lease.begin(head)
    const mayGoOn = body.bytes === null || this.#streamed.data(body.bytes)
    // By HTTP/1.1 no origin says that it has done nothing with a request.
    if (this.#origin.config.transport.http === '1') body.forget()
    else this.#bufferedBody = body
    if (this.#x.requestBody.done) this.bodyEnd()
    else if (mayGoOn) this.#x.client.readBody()
    else this.#sent(false)
  }

  #sent(mayGoOn: boolean): void {
    if (mayGoOn) return
    this.#x.client.pauseBody()
    if (this.#wait === 'sending') this.deadline = this.#x.deadlineIn(this.timeouts.write)
  }

  #await(lease: Lease): void {
    lease.wait()
    if (this.#relaying === null) this.#enter('waiting', this.timeouts.response)
  }

  /** Until its content begins, a provider is still thinking. */
  #awaitMore(): void {
    const isHeldUp = this.#heldEnd !== null || this.#relaying?.isHeldUp === true
    if (isHeldUp) this.deadline = Number.POSITIVE_INFINITY
    else if (this.#firstContent === null) this.#enter('relaying', this.timeouts.idle)
    else this.#enter('waiting', this.timeouts.response)
  }

  /** A native caller reads frames by itself. */
  #unframed({ target }: AiExchange, head: ResponseHead): ResponseHead {
    if (target.api === 'native' || !hasEventFrames(head)) return head
    this.#frames = new EventFrames()
    return asEventStream(head)
  }

  #hold(held: HeldResponse, bytes: Buffer): void {
    const { head, isError, content, maxSize } = held
    held.bytes.append(bytes)
    if (held.bytes.size > maxSize) return this.#releaseHeld(held)
    if (isError) return
    if (content === null) {
      // It is held to its end: until then it may break off.
      this.#owner.contentBegan()
      return this.#enter('waiting', this.timeouts.idle)
    }
    if (!content.push(bytes)) return this.#enter('waiting', this.timeouts.response)
    if (content.isError) this.#reportFailedStart(head, true)
    else this.#releaseHeld(held)
  }

  /** Returns whether the response is being relayed. */
  #endHeld(held: HeldResponse): boolean {
    const { head, isError, bytes } = held
    if (isError && refusesUsage(bytes.bytes)) this.#owner.report({ type: 'usage_refused', head })
    else if (!isError && !isSound(head, bytes.bytes))
      this.#reportFailedStart(head, isErrorBody(head, bytes.bytes))
    else this.#releaseHeld(held, bytes.bytes)
    return this.#relaying !== null && this.#lease !== null
  }

  #releaseHeld({ head, body, bytes }: HeldResponse, whole: Buffer | null = null): void {
    this.#held = null
    this.#owner.report({ type: 'response', head, body, whole })
    if (this.#relaying !== null && bytes.size > 0) this.#take(bytes.bytes)
  }

  #reportFailedStart(head: ResponseHead, isError: boolean): void {
    const failure = fault('GH_STREAM_ERROR')
    this.#owner.report({ type: 'failed_start', isError, head, phase: 'receive', failure })
    this.#held = null
  }

  #reportStopped({ refusal }: Relaying): void {
    if (refusal === null) this.#reportUnusable('GH_BAD_ANSWER')
    else this.#reportGuarded(refusal)
  }

  /** The provider has done its part. */
  #reportGuarded(refusal: Refusal): void {
    if (!this.isBlamed) this.#x.member!.health.succeeded()
    this.#owner.report({ type: 'refusal', refusal })
  }

  #reportUnusable(way: OriginFault): void {
    this.#owner.report({ type: 'unusable', phase: 'receive', failure: fault(way) })
  }

  #enter(wait: Wait, timeout: number): void {
    this.#wait = wait
    this.deadline = this.#x.deadlineIn(timeout)
  }
}
