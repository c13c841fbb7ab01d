// Step 11: carry the request to its origin and the answer back, piece by piece as it comes.

import type { Phase } from '../../metrics/edge-metrics.ts'
import type { Timeouts } from '../../config/config.ts'
import { type Failure, fault, originFailure } from '../../errors/origin-failure.ts'
import { refuse } from '../../errors/refusal.ts'
import type { BodyReader } from '../../http1/body.ts'
import { isIdempotent } from '../../http1/method.ts'
import type { ResponseHead } from '../../http1/response-head.ts'
import type { AiExchange } from '../ai/ai-exchange.ts'
import { answer, answerBug } from '../answer.ts'
import { BodyWriter } from './body-writer.ts'
import type { Exchange, Upstream } from '../exchange.ts'
import type { Dial, DialPhase } from '../origin/dial.ts'
import { EventStream } from './event-stream.ts'
import { Tunnel } from './forward-websocket.ts'
import type { Lease } from '../origin/lease.ts'
import type { Origin } from '../origin/origin.ts'
import type { ConnectionUser, TunnelUser } from '../origin/connection-user.ts'
import type { Waiter } from '../origin/waiting-line.ts'
import { forgetBody, inviteBody } from '../client/gather-body.ts'
import { redirected, RedirectTrail } from './follow-redirect.ts'
import { GrowingBytes } from '../client/growing-bytes.ts'
import { outboundHead } from './outbound.ts'
import type { EdgeMember } from '../origin/pools.ts'
import { verdictOnKey } from '../ai/provider-keys.ts'
import { keptTrailers } from '../rewrite/headers.ts'
import type { Rewriter } from '../ai/rewriter.ts'
import { anotherMember, isFaultOfMember, noteStatus, setOut } from './retries.ts'
import { relayedFraming, relayedHead, relayedInterim, relayedSwitch } from './relay.ts'

/**
 * Request bodies up to this many bytes are read whole before the origin is asked: one write, and they can be sent again. So much of a larger one is there
 * before it takes a connection, or clients that send nothing would hold all that an origin may have.
 */
const SMALL_BODY = 64 * 1024
/** Ms after which a client that pauses in a body without a length may wait for an answer to what it has sent. */
const PAUSE = 500

/** Starts carrying; always null, since every failure is answered when it comes. */
export function forward(x: Exchange): null {
  const attempt = new Attempt(x)
  x.upstream = attempt
  attempt.start()
  return null
}

type Stage =
  | 'gathering the body'
  | 'connecting'
  | 'sending'
  | 'waiting'
  | 'draining a redirect'
  | 'relaying'
  | 'over'

class Attempt implements Upstream, Waiter, ConnectionUser {
  readonly wantsUpgrade: boolean
  readonly timeouts: Timeouts
  readonly #x: Exchange
  /** Monotonic ms by which the head of an answer must have come, over all attempts; counted from the first. */
  #totalDeadline = Number.POSITIVE_INFINITY
  #stage: Stage = 'gathering the body'
  #stageDeadline = Number.POSITIVE_INFINITY
  /** Whether the attempt sets out with the whole body, which it then keeps to send it again. */
  #isWhole = true
  /** The body, or so much of it as the attempt sets out with. */
  #smallBody: Buffer | null = null
  /** The pieces that it comes in; null where it came in one. */
  #gathered: GrowingBytes | null = null
  /** The origin that it was sent to before its body was there, as long as that still comes. */
  #uploadsTo: Origin | null = null
  /** Held from when a connection is handed over until the attempt is done with it. */
  #lease: Lease | null = null
  /** Where the request goes when its body is passed on as it comes, so that it can't be sent again. */
  #streamed: BodyWriter | null = null
  #answer: BodyWriter | null = null
  #rewriter: Rewriter | null = null
  #hasAskedNameAgain = false
  #hasAskedAgain = false
  /** The members that failed it; null while none has. */
  #tried: EdgeMember[] | null = null
  /** Whether the answer that is being read was held against the member. */
  #isBlamed = false
  /** Where redirects have led so far; null where none was followed. */
  #trail: RedirectTrail | null = null
  /** Whether the origin waits for the client to read. */
  #isClientBehind = false

  constructor(x: Exchange) {
    this.#x = x
    this.wantsUpgrade = x.upgrade === 'asked'
    this.timeouts = x.route!.config.timeouts
  }

  get method(): string {
    return this.#x.outgoing.method
  }

  get deadline(): number {
    return this.#answer === null ? Math.min(this.#stageDeadline, this.#totalDeadline) : this.#stageDeadline
  }

  start(): void {
    const { requestBody, client, ai } = this.#x
    if (ai !== null) ai.isUnderWay = true
    this.#smallBody = ai?.body ?? null
    if (requestBody.done) return this.#setOut()
    inviteBody(this.#x)
    client.readBody()
  }

  // What the origin's connection says.

  connected(lease: Lease): void {
    const x = this.#x
    this.#lease = lease
    lease.user = this
    x.sentAt = x.plane.clock.monotonic()
    if (!lease.isReused) x.openingTimes = lease.times
    const head = outboundHead(x, lease.address)
    if (this.#isWhole) this.#sendWhole(lease, head)
    else this.#sendStreamed(lease, head)
  }

  unconnected(phase: DialPhase, failure: Failure, times: Dial['times']): void {
    const x = this.#x
    this.#endUpload()
    x.openingTimes = times
    if (failure.way === 'name_unanswered' && !this.#hasAskedNameAgain) {
      this.#hasAskedNameAgain = true
      return this.#connect(this.#hasAskedAgain)
    }
    // Who has waited its time in one queue must not wait as long in the next.
    this.#lose(phase, failure, failure.way !== 'GH_QUEUE_TIMEOUT')
  }

  interim(head: ResponseHead): void {
    if (head.status === 100 || this.#x.head.minor === 0) return
    if (!this.#x.client.write(relayedInterim(head))) this.#lease?.pause()
  }

  head(head: ResponseHead, body: BodyReader): void {
    const x = this.#x
    if (head.status < 500) x.member!.health.answered(x)
    else if (this.#goesElsewhere(head.status)) return
    if (x.ai !== null && this.#isAboutKey(x.ai, head)) return
    if (x.route!.config.redirects > 0 && this.#beginRedirect(head, body)) return
    // Answers may go on for long, and nothing is sent again.
    this.#smallBody = null
    if (x.ai !== null) forgetBody(x, x.ai)
    this.#endUpload()
    x.answeredAt = x.plane.clock.monotonic()
    x.status = head.status
    // The client still sends what nobody will read: its connection has no future.
    if (!x.requestBody.done) x.keepAlive = false
    if (head.isEventStream && body.framing !== 'none') x.becomeEventStream(new EventStream(head))
    if (!this.#beginRewriting(head)) return
    x.responseFraming = relayedFraming(x, body, this.#rewriter !== null)
    this.#answer = new BodyWriter(x.client, relayedHead(x, head), x.responseFraming)
    this.#enter('relaying', this.timeouts.idle)
  }

  data(bytes: Buffer): void {
    if (this.#stage === 'draining a redirect')
      return this.#trail!.drain(bytes) ? undefined : this.#skipDraining()
    this.#x.ai?.noteAnswer(bytes, this.#x.plane.clock)
    this.#stageDeadline = this.#deadlineIn(this.timeouts.idle)
    const rewritten = this.#rewriter === null ? bytes : this.#rewriter.push(bytes)
    if (rewritten === false) this.#spoil()
    else if (rewritten !== null) this.#relay(rewritten)
  }

  flushAnswer(): void {
    if (this.#answer !== null && !this.#rewriter?.holdsHead) this.#relayed(this.#answer.flush())
  }

  end(trailers: string[] | null): void {
    const x = this.#x
    if (!this.#isBlamed) x.member!.health.succeeded()
    if (this.#stage === 'draining a redirect') {
      this.#takeLease().giveBack()
      return this.#connect(false)
    }
    if (this.#rewriter !== null && !this.#endRewriting(this.#rewriter)) return
    const lease = this.#takeLease()
    this.#over()
    this.#answer!.end(keptTrailers(x.answerChanges, trailers))
    lease.giveBack()
    x.client.finish(x)
  }

  switched(head: ResponseHead): TunnelUser {
    const x = this.#x
    x.member!.health.answered(x)
    x.member!.health.succeeded()
    const tunnel = new Tunnel(x, this.#takeLease(), this.timeouts.idle)
    this.#over()
    x.answeredAt = x.plane.clock.monotonic()
    x.becomeTunnel(tunnel)
    x.client.write(relayedSwitch(x, head))
    x.client.readBody()
    if (x.plane.isGoingAway) tunnel.goAway()
    return tunnel
  }

  originDrained(): void {
    if (this.#stage === 'sending') this.#stageDeadline = Number.POSITIVE_INFINITY
    if (!this.#x.requestBody.done) this.#x.client.readBody()
    else if (this.#stage === 'sending' && this.#streamed === null) this.#await(this.#lease!)
  }

  failed(phase: Phase, failure: Failure): void {
    const isRepeatable = this.#isRepeatable || this.#isUnread(phase, failure)
    const lease = this.#takeLease()
    if (this.#stage === 'draining a redirect') return this.#connect(false)
    // The origin closed an idle connection as we wrote to it. It has most likely seen nothing, and where it has, asking again does no harm.
    const wasIdle = lease.isReused && !lease.hasAnswerBegun
    if (!wasIdle || !failure.row.isLoss) return this.#lose(phase, failure, isRepeatable && !this.wantsUpgrade)
    if (isRepeatable && !this.#hasAskedAgain) return this.#askAgain()
    this.#x.member!.health.released(this.#x)
    this.#fail(phase, failure)
  }

  crashed(bug: unknown): void {
    answerBug(this.#x, bug)
  }

  // What the client's side says.

  body(bytes: Buffer): void {
    this.#x.ai?.request?.take(bytes)
    if (this.#stage === 'gathering the body') return this.#gather(bytes)
    // An answer that came early is as alive as the request that still goes on.
    if (this.#stage === 'relaying') this.#stageDeadline = this.#deadlineIn(this.timeouts.idle)
    this.#sent(this.#streamed!.data(bytes))
  }

  flushBody(): void {
    if (this.#streamed !== null) this.#sent(this.#streamed.flush())
  }

  bodyEnd(): void {
    if (this.#stage === 'gathering the body') return this.#setOut()
    const x = this.#x
    this.#endUpload()
    this.#streamed!.end(trailersOf(x))
    x.awaitedAt = x.plane.clock.monotonic()
    this.#await(this.#lease!)
  }

  clientDrained(): void {
    this.#isClientBehind = false
    if (this.#stage === 'relaying') this.#stageDeadline = this.#deadlineIn(this.timeouts.idle)
    this.#lease?.resume()
  }

  abort(): void {
    const { health } = this.#x.member!
    this.#letGo()
    // Streams often end so, and who leaves one leaves an origin that was answering.
    if (this.#answer !== null && !this.#isBlamed) health.succeeded()
    health.released(this.#x)
    this.#over()
  }

  expire(): void {
    const stage = this.#stage
    if (stage === 'gathering the body') return this.#setOutForPause()
    if (stage === 'relaying' && this.#isClientBehind) return this.#x.client.abandon(this.#x)
    const isTotal = this.#answer === null && this.#x.plane.clock.monotonic() >= this.#totalDeadline
    const isRepeatable = this.#isRepeatable && !this.wantsUpgrade
    this.#letGo()
    if (isTotal) this.#lose('wait', fault('GH_TOTAL_TIMEOUT'), false)
    else if (stage === 'draining a redirect') this.#connect(false)
    else if (stage === 'connecting') this.#lose('connect', fault('GH_CONNECT_TIMEOUT'), true)
    else if (stage === 'sending') this.#lose('send', fault('GH_WRITE_TIMEOUT'), isRepeatable)
    else if (stage === 'waiting') this.#lose('wait', fault('GH_RESPONSE_TIMEOUT'), isRepeatable)
    else this.#lose('receive', fault('GH_IDLE_TIMEOUT'), false)
  }

  #gather(bytes: Buffer): void {
    const { requestBody, client } = this.#x
    // Mostly all of it comes at once.
    if (this.#gathered === null && requestBody.done) this.#smallBody = bytes
    else (this.#gathered ??= new GrowingBytes()).append(bytes)
    if (this.#gathered === null) return
    if (this.#gathered.size <= SMALL_BODY) {
      if (requestBody.framing === 'chunked') this.#stageDeadline = this.#deadlineIn(PAUSE)
      return
    }
    this.#isWhole = false
    if (requestBody.done) return
    client.pauseBody()
    this.#setOut()
  }

  /** Sets out with what there is, where no request that is there whole has to wait for that. */
  #setOutForPause(): void {
    const { origin, client } = this.#x
    this.#stageDeadline = this.#deadlineIn(PAUSE)
    if (!origin!.hasRoomForPause) return
    this.#isWhole = false
    client.pauseBody()
    this.#setOut()
  }

  #setOut(): void {
    if (this.#gathered !== null) this.#smallBody = this.#gathered.bytes
    this.#gathered = null
    setOut(this.#x)
    this.#connect(false)
  }

  #connect(fresh: boolean): void {
    if (this.#totalDeadline === Number.POSITIVE_INFINITY)
      this.#totalDeadline = this.#deadlineIn(this.timeouts.total)
    const origin = this.#x.origin!
    const isUpload = !this.#isWhole && !this.#x.requestBody.done
    this.#enter('connecting', origin.longestWait(this.timeouts, isUpload))
    if (!isUpload) return origin.acquire(this, { fresh })
    this.#uploadsTo = origin
    origin.acquireForUpload(this)
  }

  /** Whether the request may be sent again after it was sent once: it is whole and idempotent, and nothing came back. */
  get #isRepeatable(): boolean {
    return (
      (this.#stage === 'waiting' || this.#stage === 'sending') &&
      this.#streamed === null &&
      isIdempotent(this.method) &&
      this.#lease?.hasAnswerBegun === false
    )
  }

  /** Whether the origin surely has read nothing of a request that is here whole: it refused the handshake behind which that was sent. */
  #isUnread(phase: Phase, failure: Failure): boolean {
    return (
      phase === 'handshake' &&
      failure.way === 'handshake_refused' &&
      this.#isWhole &&
      this.#lease?.isReused === false
    )
  }

  /** Holds the failure against the member if it was its fault, and sends the request to another one where that may be, or fails. */
  #lose(phase: Phase, failure: Failure, isRepeatable: boolean): void {
    const x = this.#x
    const { health } = x.member!
    if (!this.#isBlamed && isFaultOfMember(x, phase, failure)) health.failed(x)
    else health.released(x)
    const another = isRepeatable ? anotherMember(x, (this.#tried ??= [])) : null
    if (another === null) return this.#fail(phase, failure)
    this.#ask(another)
  }

  /** Holds an answer of this status against the member where its pool says so; true where the request goes to another one in place of the answer. */
  #goesElsewhere(status: number): boolean {
    const x = this.#x
    const { pool } = x.route!
    this.#isBlamed = pool.ejectOn.has(status)
    noteStatus(x, this.#isBlamed)
    const isRepeatable = this.#streamed === null && x.requestBody.done && isIdempotent(this.method)
    if (!isRepeatable || this.wantsUpgrade || !pool.retryOn.has(status)) return false
    const another = anotherMember(x, (this.#tried ??= []))
    if (another === null) return false
    this.#letGo()
    this.#ask(another)
    return true
  }

  #ask(another: EdgeMember): void {
    this.#x.member = another
    this.#isBlamed = false
    this.#hasAskedAgain = false
    this.#retry(false)
  }

  /** Whether the answer tells of a key of ours, and not of the call: then it is made with another key, or refused where all rest. */
  #isAboutKey(ai: AiExchange, head: ResponseHead): boolean {
    const x = this.#x
    const verdict = verdictOnKey(x, ai, head, this.#streamed === null && x.requestBody.done)
    if (verdict === null) return false
    x.member!.health.succeeded()
    this.#letGo()
    if (verdict === 'another') {
      this.#hasAskedAgain = false
      this.#retry(false)
    } else {
      this.#over()
      if (!x.requestBody.done) x.keepAlive = false
      answer(x, verdict)
    }
    return true
  }

  /** Sets out to follow a redirect; false when it is the client's. */
  #beginRedirect(head: ResponseHead, body: BodyReader): boolean {
    const x = this.#x
    const request = x.requestBody.done ? redirected(x, head) : null
    if (request === null || (this.#streamed !== null && request.method === this.method)) return false
    this.#trail ??= new RedirectTrail(x.outgoing)
    if (!this.#trail.goOn(request, x.route!.config.redirects)) {
      this.#letGo()
      this.#over()
      answer(x, refuse('too_many_redirects'))
      return true
    }
    if (request.method !== this.method) this.#smallBody = null
    this.#streamed = null
    this.#isWhole = true
    this.#hasAskedAgain = false
    x.awaitedAt = 0
    x.outgoing = request
    this.#enter('draining a redirect', this.timeouts.idle)
    if (body.framing === 'close') this.#skipDraining()
    return true
  }

  /** Drops the connection of a redirect rather than read its body. */
  #skipDraining(): void {
    this.#x.member!.health.succeeded()
    this.#letGo()
    this.#connect(false)
  }

  #letGo(): void {
    this.#x.origin!.forget(this)
    this.#lease?.destroy()
    this.#lease = null
    this.#endUpload()
  }

  /** Takes the connection out of the hands of the attempt; there must be one. */
  #takeLease(): Lease {
    const lease = this.#lease!
    this.#lease = null
    this.#endUpload()
    return lease
  }

  /** Makes room for another upload. */
  #endUpload(): void {
    const origin = this.#uploadsTo
    if (origin === null) return
    this.#uploadsTo = null
    origin.endUpload(this)
  }

  #askAgain(): void {
    this.#hasAskedAgain = true
    this.#retry(true)
  }

  #retry(fresh: boolean): void {
    this.#x.retries++
    this.#x.plane.metrics.retry()
    this.#connect(fresh)
  }

  #sendWhole(lease: Lease, head: string): void {
    const x = this.#x
    const isChunked = x.ai?.body == null && x.outgoing.chunked
    if (this.#smallBody === null && !isChunked) lease.write(head)
    else {
      const whole = new BodyWriter(lease, head, isChunked ? 'chunked' : 'length')
      const mayGoOn = this.#smallBody === null || whole.data(this.#smallBody)
      whole.end(trailersOf(x))
      if (!mayGoOn) return this.#enter('sending', this.timeouts.write)
    }
    this.#await(lease)
  }

  #sendStreamed(lease: Lease, head: string): void {
    this.#streamed = new BodyWriter(lease, head, this.#x.requestBody.framing)
    this.#enter('sending', 0)
    const mayGoOn = this.#streamed.data(this.#smallBody!)
    this.#smallBody = null
    if (this.#x.requestBody.done) this.bodyEnd()
    else if (mayGoOn) this.#x.client.readBody()
    else this.#sent(false)
  }

  /** Lets the client wait while the origin does not read. */
  #sent(mayGoOn: boolean): void {
    if (mayGoOn) return
    this.#x.client.pauseBody()
    if (this.#stage === 'sending') this.#stageDeadline = this.#deadlineIn(this.timeouts.write)
  }

  /** Finds out whether the answer must be rewritten; false when it must but can't be. */
  #beginRewriting(head: ResponseHead): boolean {
    const rewriter = this.#x.ai?.beginAnswer(head) ?? null
    if (rewriter === false) this.#spoil()
    else this.#rewriter = rewriter
    return rewriter !== false
  }

  /** Sends what is left of a rewritten answer; false when there is no whole one. */
  #endRewriting(rewriter: Rewriter): boolean {
    const rest = rewriter.end()
    if (rest === false) this.#spoil()
    else if (rest !== null) this.#relay(rest)
    return rest !== false
  }

  /** Fails for an answer that came whole and yet is none. */
  #spoil(): void {
    this.#letGo()
    this.#fail('receive', fault('GH_BAD_ANSWER'))
  }

  #relay(bytes: Buffer): void {
    const x = this.#x
    x.bytesOut += bytes.length
    if (x.eventStream !== null) x.eventStream.note(bytes)
    this.#relayed(this.#answer!.data(bytes))
  }

  /** Lets the origin wait while the client does not read. */
  #relayed(mayGoOn: boolean): void {
    if (this.#answer!.hasBegun) this.#x.stage = 'begun'
    if (mayGoOn) return
    this.#isClientBehind = true
    this.#lease?.pause()
  }

  #await(lease: Lease): void {
    lease.wait()
    if (this.#stage !== 'relaying') this.#enter('waiting', this.timeouts.response)
  }

  #fail(phase: Phase, failure: Failure): void {
    const x = this.#x
    // What came sound before the fault is the client's; while nothing was sent, an error can still take its place.
    if (x.stage === 'begun') this.#answer?.flush()
    this.#over()
    const error = originFailure(phase, failure)
    // No fault of the origin and none of a line of code: what this machine has run out of.
    if (failure.way === 'no_descriptor') x.plane.noteShortage(failure.cause)
    else if (error === 'internal_server_error')
      x.plane.log.error(
        { err: failure.cause, ray: x.ray, phase },
        'local failure while connecting to the origin',
      )
    answer(x, refuse(error, {}, failure.cause))
  }

  #over(): void {
    this.#stage = 'over'
    this.#stageDeadline = Number.POSITIVE_INFINITY
    this.#x.upstream = null
  }

  #enter(stage: Stage, timeout: number): void {
    this.#stage = stage
    this.#stageDeadline = this.#deadlineIn(timeout)
  }

  #deadlineIn(timeout: number): number {
    return timeout === 0 ? Number.POSITIVE_INFINITY : this.#x.plane.coarseNow + timeout
  }
}

/** Returns the trailers that go on: what ends at the gateway ends there behind the body too, and no provider asks for any. */
function trailersOf(x: Exchange): string[] | null {
  return x.ai === null ? keptTrailers(x.requestChanges, x.requestBody.trailers) : null
}
