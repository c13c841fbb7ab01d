// Carry the request to its origin and the response back, piece by piece as it comes, in as many attempts as that takes.

import {
  type Failure,
  fault,
  type OriginFault,
  originFailure,
} from '../../errors/catalogue/origin-failure.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { continuesHandshake } from '../../http1/fields/connection-authentication.ts'
import { isIdempotent } from '../../http1/heads/method.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import type { Phase } from '../../errors/catalogue/phase.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { verdictOnKey } from '../ai/provider-keys.ts'
import { noteNoResponse, noteResponse } from '../ai/provider-states.ts'
import { askWithoutUsage, mayRefuseUsage, noteUsageRefusal } from '../ai/usage-refusal.ts'
import { answer } from '../exchange/deliver.ts'
import { callTimeout, isGrpc } from '../exchange/grpc.ts'
import { forgetBody } from '../exchange/gather-body.ts'
import { keepCredentialsFrom } from '../exchange/gateway-credentials.ts'
import type { Exchange, Upstream } from '../exchange/exchange.ts'
import type { Lease } from '../origin/lease.ts'
import type { EdgeMember } from '../origin/pools.ts'
import { answerFailure } from './answer-failure.ts'
import { Attempt } from './attempt.ts'
import type { Carrier } from './carrier.ts'
import { Connecting } from './connecting.ts'
import { deadlineIn } from '../exchange/deadline.ts'
import { redirected, RedirectTrail } from './follow-redirect.ts'
import { KeptBody } from './buffered-body.ts'
import { RedirectBody } from './redirect-body.ts'
import {
  anotherMember,
  isFailureOfMember,
  isFaultOfMember,
  noteStatus,
  sendsRefused,
  setOut,
} from './retries.ts'
import type { ResponseBody } from '../origin/connection-user.ts'

/** Starts carrying; always null, since every failure is answered as it comes. */
export function forward(x: Exchange): null {
  new Forwarding(x).start()
  return null
}

/** What outlives an attempt: the body that can be sent again, the way so far, and the time that is left. */
class Forwarding extends Connecting implements Upstream, Carrier {
  readonly #x: Exchange
  /** What is there of the body before the request sets out; null for none. */
  #body: KeptBody | null = null
  /** The latest; null while it has no connection. */
  #attempt: Attempt | null = null
  /** Of the redirect that is being followed, until it is read; null for none. */
  #redirectBody: RedirectBody | null = null
  /** Monotonic ms by which the head of a response must have come, over all attempts; counted from the first. */
  #totalDeadline = Number.POSITIVE_INFINITY
  /** Monotonic ms by which the client wants its gRPC call to be over. */
  #callDeadline = Number.POSITIVE_INFINITY
  #hasAskedAgain = false
  /** Monotonic ms by which an origin must have taken it, once one has refused it. */
  #refusedUntil = Number.POSITIVE_INFINITY
  /** The members that failed it; null while none has. */
  #tried: EdgeMember[] | null = null
  /** Whether the response that is being read was held against the member. */
  #isBlamed = false
  /** Where redirects have led so far; null where none was followed. */
  #trail: RedirectTrail | null = null

  constructor(x: Exchange) {
    super(x)
    this.#x = x
  }

  start(): void {
    const { requestBody, ai, head, startedAt } = this.#x
    if (isGrpc(head)) this.#callDeadline = startedAt + callTimeout(head)
    const gathered = ai === null ? null : ai.body
    if (gathered !== null || !requestBody.done) this.#body = new KeptBody(this.#x, this, gathered)
    if (requestBody.done) this.setOut()
    else this.#body!.gather()
  }

  // Events on the client's side, and deadlines.

  get deadline(): number {
    if (this.#attempt?.isRelaying) return Math.min(this.#attempt.deadline, this.#callDeadline)
    const stage = this.#attempt ?? this.#redirectBody
    const deadline = stage === null ? this.waitDeadline : stage.deadline
    return Math.min(deadline, this.#totalDeadline, this.#callDeadline)
  }

  body(bytes: Buffer): void {
    this.#x.tap?.noteRequest(bytes)
    this.#attempt!.body(bytes)
  }

  flushBody(): void {
    this.#attempt?.flushBody()
  }

  bodyEnd(): void {
    this.endUpload()
    this.#attempt!.bodyEnd()
  }

  clientDrained(): void {
    this.#attempt?.clientDrained()
    this.#redirectBody?.clientDrained()
  }

  abort(): void {
    const { health } = this.#x.member!
    const attempt = this.#attempt
    this.#letGo()
    // Streams often end so, and the origin was responding.
    if (attempt?.isRelaying && !this.#isBlamed) health.succeeded()
    health.released(this.#x)
    this.#x.upstream = null
  }

  expire(): void {
    const attempt = this.#attempt
    const now = this.#x.plane.clock.monotonic()
    if (this.endsOverdue()) return
    if (attempt?.isClientBehind) return this.#x.client.abandon(this.#x)
    if (!attempt?.isRelaying && now >= this.#totalDeadline) return this.#overdue('GH_TOTAL_TIMEOUT')
    const stage = attempt ?? this.#redirectBody
    if (stage !== null) return stage.expire()
    this.#letGo()
    this.lost('connect', fault('GH_CONNECT_TIMEOUT'), true)
  }

  endsOverdue(): boolean {
    const isOverdue = this.#x.plane.clock.monotonic() >= this.#callDeadline
    if (isOverdue) this.#overdue('GH_CALL_TIMEOUT')
    return isOverdue
  }

  #overdue(way: OriginFault): void {
    const phase = this.#attempt?.isRelaying ? 'receive' : 'wait'
    this.#letGo()
    this.lost(phase, fault(way), false)
  }

  // What becomes of an attempt, and of the wait for a connection.

  setOut(): void {
    const { tap } = this.#x
    this.#x.upstream = this
    if (tap !== null) tap.isUnderWay = true
    setOut(this.#x)
    this.connect(false)
  }

  connect(fresh: boolean): void {
    this.#attempt = null
    this.#redirectBody = null
    if (this.#totalDeadline === Number.POSITIVE_INFINITY)
      this.#totalDeadline = deadlineIn(this.#x, this.timeouts.total)
    this.ask(fresh, this.#body)
  }

  connected(lease: Lease): void {
    const refusal = keepCredentialsFrom(this.#x, lease.address)
    if (refusal !== null) return this.#keepBack(lease, refusal)
    this.#attempt = new Attempt(this.#x, this, lease)
    this.#attempt.send(this.#body)
  }

  takes(head: ResponseHead, body: ResponseBody): boolean {
    const x = this.#x
    if (x.ai !== null) noteResponse(x, x.ai, head)
    if (head.status < 500) x.member!.health.answered(x)
    else if (this.#goesElsewhere(head.status)) return false
    if (head.authenticatesConnection && this.#sendsToHttp1(head)) return false
    if (x.ai !== null && this.#isAboutKey(x.ai, head)) return false
    if (x.route!.config.redirects > 0 && this.#beginRedirect(head, body)) return false
    // Responses may go on for long, and nothing is sent again.
    this.#body = null
    if (x.ai !== null) {
      forgetBody(x, x.ai)
      noteUsageRefusal(x, x.ai, head)
    }
    this.endUpload()
    return true
  }

  mayRepeat(head: ResponseHead): boolean {
    const { ai } = this.#x
    return ai !== null && mayRefuseUsage(ai, head) && this.#isKept
  }

  repeats(head: ResponseHead, reason: Buffer): boolean {
    const x = this.#x
    if (!askWithoutUsage(x.ai!, reason)) return false
    const { health } = x.member!
    health.answered(x)
    health.succeeded()
    this.#attempt!.takeLease().giveBack()
    this.#notePassedOver(head.status)
    this.#body = new KeptBody(x, this, x.ai!.body)
    this.#hasAskedAgain = false
    this.#retry(false)
    return true
  }

  responded(): void {
    if (!this.#isBlamed) this.#x.member!.health.succeeded()
  }

  switched(): void {
    const { health } = this.#x.member!
    this.endUpload()
    health.answered(this.#x)
    health.succeeded()
  }

  /** Holds the failure against the member if it was its fault, and sends the request to another one where that may be, or fails. */
  lost(phase: Phase, failure: Failure, isRepeatable: boolean): void {
    const x = this.#x
    const { health } = x.member!
    this.endUpload()
    this.#noteFailed(phase, failure)
    if (!this.#isBlamed && isFaultOfMember(x, phase, failure, this.needsHttp1)) health.failed(x)
    else if (!this.#isBlamed && isFailureOfMember(x, phase, failure, this.needsHttp1))
      health.failedUnblamed(x)
    else health.released(x)
    const another = isRepeatable ? anotherMember(x, (this.#tried ??= [])) : null
    if (another === null) return this.fail(phase, failure)
    this.#ask(another)
  }

  lostIdle(phase: Phase, failure: Failure, isRepeatable: boolean): void {
    this.endUpload()
    this.#noteFailed(phase, failure)
    if (failure.way === 'GH_HTTP1_REQUIRED') this.requireHttp1()
    if (isRepeatable && !this.#hasAskedAgain) {
      this.#hasAskedAgain = true
      return this.#retry(true)
    }
    if (isRepeatable && failure.row.isUnprocessed && this.#isInTime && sendsRefused(this.#x))
      return this.#retry(true)
    this.#x.member!.health.released(this.#x)
    this.fail(phase, failure)
  }

  fail(phase: Phase, failure: Failure): void {
    const x = this.#x
    this.#attempt?.breakOff()
    x.upstream = null
    if (x.ai !== null) noteNoResponse(x, x.ai, originFailure(phase, failure), failure.cause)
    answerFailure(x, phase, failure)
  }

  /** Holds a response of this status against the member where its pool says so; true where the request goes to another one in place of the response. */
  #goesElsewhere(status: number): boolean {
    const x = this.#x
    const { pool } = x.route!
    this.#isBlamed = pool.ejectOn.has(status)
    noteStatus(x, this.#isBlamed)
    const isRepeatable = this.#isKept && isIdempotent(x.outgoing.method) && x.upgrade !== 'asked'
    if (!isRepeatable || !pool.retryOn.has(status)) return false
    const another = anotherMember(x, (this.#tried ??= []))
    if (another === null) return false
    this.#letGo()
    this.#notePassedOver(status)
    this.#ask(another)
    return true
  }

  /** Whether all of the request was sent at once, so that it can be sent again. */
  get #isKept(): boolean {
    return !this.#attempt!.isStreamed && this.#x.requestBody.done
  }

  /** Whether a request that was refused may still wait to be taken: its total time may have no end. */
  get #isInTime(): boolean {
    if (this.#refusedUntil === Number.POSITIVE_INFINITY)
      this.#refusedUntil = deadlineIn(this.#x, this.timeouts.response)
    return this.#x.plane.coarseNow < this.#refusedUntil
  }

  #ask(another: EdgeMember): void {
    this.#x.member = another
    this.#isBlamed = false
    this.#hasAskedAgain = false
    this.#retry(false)
  }

  #retry(fresh: boolean): void {
    this.#x.retries++
    this.#x.plane.metrics.retry()
    this.connect(fresh)
  }

  /** Whether the response is about a key of ours, and not about the call: then it is made with another key, or refused where all rest. */
  #isAboutKey(ai: AiExchange, head: ResponseHead): boolean {
    const x = this.#x
    const verdict = verdictOnKey(x, ai, head, this.#isKept)
    if (verdict === null) return false
    x.member!.health.succeeded()
    this.#letGo()
    this.#notePassedOver(head.status)
    if (verdict === 'another') {
      this.#hasAskedAgain = false
      this.#retry(false)
    } else {
      x.upstream = null
      answer(x, verdict)
    }
    return true
  }

  /** Sends an HTTP/2 client to HTTP/1.1 where the response continues a handshake, whose next message must come on the same connection: streams share one. */
  #sendsToHttp1(head: ResponseHead): boolean {
    const x = this.#x
    if (x.client.requireHttp1 === undefined || head.status !== 401 || !continuesHandshake(head)) return false
    x.member!.health.succeeded()
    this.#letGo()
    this.#notePassedOver(head.status)
    x.status = head.status
    x.client.requireHttp1(x)
    return true
  }

  /** Sets out to follow a redirect; false when it is the client's. */
  #beginRedirect(head: ResponseHead, body: ResponseBody): boolean {
    const x = this.#x
    const request = x.requestBody.done ? redirected(x, head) : null
    if (request === null || (this.#attempt!.isStreamed && request.method === x.outgoing.method)) return false
    this.#trail ??= new RedirectTrail(x.outgoing)
    if (!this.#trail.goOn(request, x.route!.config.redirects)) {
      this.#letGo()
      x.upstream = null
      answer(x, refuse('too_many_redirects'))
      return true
    }
    if (request.method !== x.outgoing.method) this.#body = null
    this.#hasAskedAgain = false
    this.#notePassedOver(head.status)
    x.awaitedAt = 0
    x.outgoing = request
    this.#redirectBody = new RedirectBody(x, this, this.#attempt!.takeLease())
    this.#attempt = null
    this.#redirectBody.read(body)
    return true
  }

  /** For the spans of the request, where it has any. */
  #noteFailed(phase: Phase, failure: Failure): void {
    const { trace, origin, plane } = this.#x
    trace?.recording?.failed(origin!.config, plane.clock.monotonic(), originFailure(phase, failure))
  }

  /** The same for a response that the client does not get. */
  #notePassedOver(status: number): void {
    const { trace, plane } = this.#x
    trace?.recording?.passedOver(status, plane.clock.monotonic())
  }

  /** Refuses the request before anything of it is sent. */
  #keepBack(lease: Lease, refusal: Refusal): void {
    const x = this.#x
    lease.destroy()
    this.endUpload()
    x.member!.health.released(x)
    x.upstream = null
    answer(x, refusal)
  }

  #letGo(): void {
    this.#attempt?.letGo()
    this.#redirectBody?.letGo()
    this.waitNoLonger()
  }
}
