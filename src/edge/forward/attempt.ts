// One attempt at a request: the life of one connection to an origin, from when it is handed over until it is given back. What follows is decided elsewhere.

import type { Timeouts } from '../../config/model/config.ts'
import { type Failure, fault, type OriginFault } from '../../errors/catalogue/origin-failure.ts'
import { authenticatesConnection } from '../../http1/fields/connection-authentication.ts'
import { isIdempotent } from '../../http1/heads/method.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import type { Phase } from '../../errors/catalogue/phase.ts'
import { FirstContent } from '../ai-call/content-start.ts'
import { largestReason } from '../ai/usage-refusal.ts'
import { answerBug } from '../exchange/deliver.ts'
import { GrowingBytes } from '../wire/growing-bytes.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ConnectionUser, ResponseBody, TunnelUser } from '../origin/connection-user.ts'
import type { Lease, RequestSink } from '../origin/lease.ts'
import type { OutboundHead } from '../origin/outbound-head.ts'
import { PinnedConnections } from '../origin/idle/pinned-connections.ts'
import type { Carrier } from './carrier.ts'
import { deadlineIn } from '../exchange/deadline.ts'
import { acceptsKey } from './websocket-key.ts'
import { Tunnel } from './forward-websocket.ts'
import type { KeptBody } from './buffered-body.ts'
import { outboundHead } from './outbound-request.ts'
import { relayedInterim, relayedSwitch } from './response-heads.ts'
import { type Relaying, relay } from './relaying.ts'
import { trailersOf } from './sending.ts'

/** A response that the client does not have yet. */
interface HeldResponse {
  readonly head: ResponseHead
  readonly body: ResponseBody
  readonly reason: GrowingBytes
}

type Stage = 'sending' | 'waiting' | 'relaying'

/** What is wrong when a stage takes too long. */
const slownesses: Readonly<Record<Stage, readonly [Phase, OriginFault]>> = {
  sending: ['send', 'GH_WRITE_TIMEOUT'],
  waiting: ['wait', 'GH_RESPONSE_TIMEOUT'],
  relaying: ['receive', 'GH_IDLE_TIMEOUT'],
}

export class Attempt implements ConnectionUser {
  /** Monotonic ms at which `expire` is to be called. */
  deadline = Number.POSITIVE_INFINITY
  readonly #x: Exchange
  readonly #carrier: Carrier
  readonly #timeouts: Timeouts
  #stage: Stage = 'sending'
  /** Held until the attempt is done with it. */
  #lease: Lease | null
  /** Where the request goes when its body is passed on as it comes, so that it can't be sent again. */
  #streamed: RequestSink | null = null
  /** The body that is passed on, while the origin may refuse the request and it can be sent again; null otherwise. */
  #kept: KeptBody | null = null
  #relaying: Relaying | null = null
  /** An error whose reason decides whether the client gets it; null for none. */
  #held: HeldResponse | null = null
  /** Looks for the content of a provider's response; null once that has begun, and for other responses. */
  #firstContent: FirstContent | null = null

  constructor(x: Exchange, carrier: Carrier, lease: Lease) {
    this.#x = x
    this.#carrier = carrier
    this.#timeouts = x.route!.config.timeouts
    this.#lease = lease
    lease.user = this
  }

  get method(): string {
    return this.#x.outgoing.method
  }

  get wantsUpgrade(): boolean {
    return this.#x.upgrade === 'asked'
  }

  get isRelaying(): boolean {
    return this.#relaying !== null
  }

  /** Whether the body is passed on as it comes. */
  get isStreamed(): boolean {
    return this.#streamed !== null
  }

  /** Whether only the client keeps the response from going on. */
  get isClientBehind(): boolean {
    return this.#relaying?.isClientBehind === true
  }

  send(body: KeptBody | null): void {
    const x = this.#x
    const lease = this.#lease!
    x.sentAt = x.plane.clock.monotonic()
    // Providers think before they respond.
    if (x.ai !== null) x.endShortPhase()
    if (!lease.isReused) x.openingTimes = lease.times
    if (authenticatesConnection(x.outgoing)) this.#pin(lease)
    const head = outboundHead(x, lease.address)
    if (body?.isWhole === false) this.#stream(lease, head, body)
    else if (lease.send(head, body === null ? null : body.bytes, trailersOf(x))) this.#await(lease)
    else this.#enter('sending', this.#timeouts.write)
  }

  /** Drops the connection. */
  letGo(): void {
    this.#relaying?.letGo()
    this.#lease?.destroy()
    this.#lease = null
  }

  /** Takes the connection out of the hands of the attempt; there must be one. */
  takeLease(): Lease {
    const lease = this.#lease!
    this.#lease = null
    return lease
  }

  /** Fails since a stage has taken too long. */
  expire(): void {
    const [phase, way] = slownesses[this.#stage]
    const isRepeatable = this.#isRepeatable && !this.wantsUpgrade
    this.letGo()
    this.#carrier.lost(phase, fault(way), isRepeatable)
  }

  // Events on the client's side.

  body(bytes: Buffer): void {
    // A response that came early is as alive as the request that still goes on.
    if (this.#relaying !== null) this.#awaitMore()
    this.#kept?.keep(bytes)
    this.#sent(this.#streamed!.data(bytes))
  }

  flushBody(): void {
    if (this.#streamed !== null) this.#sent(this.#streamed.flush())
  }

  bodyEnd(): void {
    const x = this.#x
    this.#streamed!.end(trailersOf(x))
    x.awaitedAt = x.plane.clock.monotonic()
    this.#await(this.#lease!)
  }

  clientDrained(): void {
    if (this.#relaying === null) return this.#lease?.resume()
    this.#awaitMore()
    this.#relaying.clientDrained()
  }

  /** Sends the client what it can still have of a response that failed. */
  breakOff(): void {
    this.#relaying?.breakOff()
  }

  // Events on the origin's connection.

  interim(head: ResponseHead): void {
    if (head.status === 100) return
    if (!this.#x.client.interim(this.#x, relayedInterim(this.#x, head))) this.#lease?.pause()
  }

  head(head: ResponseHead, body: ResponseBody): void {
    // Over HTTP/2 it would open the tunnel that the origin does not (RFC 8441 section 5).
    if (this.wantsUpgrade && this.#x.head.version === '2' && head.status < 300)
      return this.#spoil('GH_BAD_UPGRADE')
    if (head.authenticatesConnection) this.#pin(this.#lease!)
    this.#kept?.forget()
    this.#kept = null
    if (body.framing !== 'none' && this.#carrier.mayRepeat(head)) {
      this.#held = { head, body, reason: new GrowingBytes() }
      return this.#enter('waiting', this.#timeouts.response)
    }
    this.#take(head, body)
  }

  data(bytes: Buffer): void {
    if (this.#held !== null) return this.#hold(this.#held, bytes)
    if (this.#firstContent?.push(bytes)) this.#firstContent = null
    this.#awaitMore()
    if (!this.#relaying!.data(bytes)) this.#spoil()
  }

  flushResponse(): void {
    this.#relaying?.flush()
  }

  end(trailers: string[] | null): void {
    const x = this.#x
    if (this.#held !== null && !this.#endHeld(this.#held)) return
    this.#carrier.responded()
    if (!this.#relaying!.bodyEnd()) return this.#spoil()
    const lease = this.takeLease()
    x.upstream = null
    const isSent = this.#relaying!.end(trailers)
    lease.giveBack()
    if (isSent) x.client.finish(x)
  }

  #take(head: ResponseHead, body: ResponseBody): void {
    if (!this.#carrier.takes(head, body)) return
    this.#relaying = relay(this.#x, this.#lease!, head, body)
    if (this.#relaying === null) return this.#spoil()
    if (this.#x.ai !== null && body.framing !== 'none') this.#firstContent = new FirstContent(head)
    this.#awaitMore()
  }

  /** Keeps the reason of an error until all of it is there, unless it is too long to be one. */
  #hold({ reason }: HeldResponse, bytes: Buffer): void {
    reason.append(bytes)
    if (reason.size > largestReason) this.#release(this.#held!)
  }

  /** Has the client get an error after all; false where it cannot. */
  #release({ head, body, reason }: HeldResponse): boolean {
    this.#held = null
    this.#take(head, body)
    if (this.#relaying !== null) this.data(reason.bytes)
    return this.#relaying !== null && this.#lease !== null
  }

  /** Decides about an error that is all there; false where there is nothing more to be done with it. */
  #endHeld(held: HeldResponse): boolean {
    if (!this.#carrier.repeats(held.head, held.reason.bytes)) return this.#release(held)
    return false
  }

  completes(head: ResponseHead): boolean {
    // Over HTTP/1 the client looks by itself.
    return this.#x.head.version !== '2' || acceptsKey(this.#x.outgoing, head)
  }

  switched(head: ResponseHead): TunnelUser {
    const x = this.#x
    const tunnel = new Tunnel(x, this.takeLease(), this.#timeouts.idle)
    this.#carrier.switched()
    x.answeredAt = x.plane.clock.monotonic()
    x.becomeTunnel(tunnel)
    x.client.switched(x, relayedSwitch(x, head))
    x.client.readBody()
    if (x.plane.isGoingAway) tunnel.goAway()
    return tunnel
  }

  originDrained(): void {
    if (this.#stage === 'sending') this.deadline = Number.POSITIVE_INFINITY
    if (!this.#x.requestBody.done) this.#x.client.readBody()
    else if (this.#stage === 'sending' && this.#streamed === null) this.#await(this.#lease!)
  }

  failed(phase: Phase, failure: Failure): void {
    const isRepeatable = this.#isRepeatable || this.#isUnread(phase, failure)
    const lease = this.takeLease()
    const { isLoss, isUnprocessed } = failure.row
    // It sends on once there is another connection.
    if (isRepeatable && !this.#x.requestBody.done) this.#x.client.pauseBody()
    const wasIdle = (lease.isReused || isUnprocessed) && !lease.hasResponseBegun && isLoss
    if (wasIdle) this.#carrier.lostIdle(phase, failure, isRepeatable)
    else this.#carrier.lost(phase, failure, isRepeatable && !this.wantsUpgrade)
  }

  crashed(bug: unknown): void {
    answerBug(this.#x, bug)
  }

  /** Whether the request may be sent again after it was sent once: it is whole and idempotent, and nothing came back. */
  get #isRepeatable(): boolean {
    return (
      (this.#stage === 'waiting' || this.#stage === 'sending') &&
      this.#streamed === null &&
      isIdempotent(this.method) &&
      this.#lease?.hasResponseBegun === false
    )
  }

  /** Whether the origin surely has done nothing with a request of which all that was sent is here: it refused its stream, or the handshake behind which that was sent. */
  #isUnread(phase: Phase, { way, row }: Failure): boolean {
    if (this.#streamed !== null) return row.isUnprocessed && this.#kept?.isForgotten === false
    return (
      row.isUnprocessed || (phase === 'handshake' && way === 'handshake_refused' && !this.#lease!.isReused)
    )
  }

  /** Has the connection serve this client alone, before it can be anybody's. */
  #pin(lease: Lease): void {
    const { client, clientAddress } = this.#x
    lease.pin((client.pinned ??= new PinnedConnections()), clientAddress)
  }

  #stream(lease: Lease, head: OutboundHead, body: KeptBody): void {
    this.#streamed = lease.begin(head)
    const mayGoOn = body.bytes === null || this.#streamed.data(body.bytes)
    // By HTTP/1.1 no origin says that it has done nothing with a request.
    if (this.#x.origin!.config.transport.http === '1') body.forget()
    else this.#kept = body
    if (this.#x.requestBody.done) this.bodyEnd()
    else if (mayGoOn) this.#x.client.readBody()
    else this.#sent(false)
  }

  /** Lets the client wait while the origin does not read. */
  #sent(mayGoOn: boolean): void {
    if (mayGoOn) return
    this.#x.client.pauseBody()
    if (this.#stage === 'sending') this.deadline = deadlineIn(this.#x, this.#timeouts.write)
  }

  #await(lease: Lease): void {
    lease.wait()
    if (this.#relaying === null) this.#enter('waiting', this.#timeouts.response)
  }

  /** Counts the time for more of the response: a provider whose content has not begun is still thinking, however soon its head came. */
  #awaitMore(): void {
    if (this.#firstContent === null) this.#enter('relaying', this.#timeouts.idle)
    else this.#enter('waiting', this.#timeouts.response)
  }

  /** Fails for a response that came whole and yet is none. */
  #spoil(way: OriginFault = 'GH_BAD_ANSWER'): void {
    this.letGo()
    this.#carrier.fail('receive', fault(way))
  }

  #enter(stage: Stage, timeout: number): void {
    this.#stage = stage
    this.deadline = deadlineIn(this.#x, timeout)
  }
}
