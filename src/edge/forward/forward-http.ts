// Carries the request to its origin and the response back, in as many attempts as that takes.

import { fault, type OriginFault, originFailure } from '../../errors/catalogue/origin-failure.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { isIdempotent } from '../../http1/heads/method.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import { type PreparedAttempt, takeAttempt } from '../ai/next-attempt.ts'
import { verdictOnKey } from '../ai/provider-keys.ts'
import { noteNoResponse, noteResponse } from '../ai/provider-states.ts'
import { AbsentCaller } from '../answers/absent-caller.ts'
import { shareNext } from '../answers/recall.ts'
import { retryWithoutUsage, noteUsageRefusal } from '../ai/usage-refusal.ts'
import { chargeAttempt } from '../meter/observe-call.ts'
import { isMetered } from '../ai/open-log.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { boundAgain } from '../meter/reserve.ts'
import { reserveAttempt } from '../meter/reserve-attempt.ts'
import { deliver, deliverBug } from '../exchange/deliver.ts'
import { callTimeout, isGrpc } from '../exchange/grpc.ts'
import { releaseBody, releaseCall } from '../exchange/gather-body.ts'
import type { Exchange, RequestHandler } from '../exchange/exchange.ts'
import type { EdgeMember } from '../origin/pools.ts'
import { refusalOfFailure } from './failure-refusal.ts'
import { AbandonedCall } from './abandoned-call.ts'
import { Attempt } from './attempt.ts'
import { CallAttempts } from './call-attempts.ts'
import {
  type AttemptEvent,
  decide,
  type FailureEvent,
  type ForwardState,
  isIdleLoss,
  type ResponseEvent,
  type Verdict,
} from './decide.ts'
import { redirected, RedirectTrail } from './follow-redirect.ts'
import { BufferedBody } from './buffered-body.ts'
import { RedirectBody } from './redirect-body.ts'
import { pickAnotherMember, noteFailure, noteStatus, retryRefused, beginAtMember } from './retries.ts'

/** What steps have read of it before. */
function gatheredBody({ ai, mcp }: Exchange): Buffer | null {
  if (ai !== null) return ai.body
  return mcp === null ? null : mcp.body
}

/** Calls that go on without their callers, or anybody else who waits. */
const maxAbsent = 1_000

/** Always null, since failures are reported to the client as they come. */
export function forward(x: Exchange): null {
  new Forwarding(x).start()
  return null
}

class Forwarding implements RequestHandler, ForwardState {
  hasRepeatedLookup = false
  mayRetry = true
  aboutKey: ForwardState['aboutKey'] = null
  redirect: ForwardState['redirect'] = 'none'
  isHttp1Required = false
  readonly #x: Exchange
  #body: BufferedBody | null = null
  /** Null before the first, and while the body of a redirect is read. */
  #attempt: Attempt | null = null
  #redirectBody: RedirectBody | null = null
  /** Monotonic ms for the head of a response, over all attempts. */
  #totalDeadline = Number.POSITIVE_INFINITY
  /** Monotonic ms for a gRPC call. */
  #callDeadline = Number.POSITIVE_INFINITY
  /** Monotonic ms by which an origin must accept the request, once one has refused it. */
  #refusedUntil = Number.POSITIVE_INFINITY
  #tried: EdgeMember[] | null = null
  #trail: RedirectTrail | null = null
  #redirected: RequestHead | null = null
  readonly #calls: CallAttempts | null
  /** Monotonic ms; 0 unless the next attempt at a call waits. */
  #resumeAt = 0

  constructor(x: Exchange) {
    this.#x = x
    this.#calls = x.ai === null ? null : new CallAttempts(x, x.ai)
  }

  start(): void {
    const { requestBody, head, startedAt } = this.#x
    if (isGrpc(head)) this.#callDeadline = startedAt + callTimeout(head)
    const gathered = gatheredBody(this.#x)
    if (gathered !== null || !requestBody.done) this.#body = new BufferedBody(this.#x, this, gathered)
    if (requestBody.done) this.bodyReady()
    else this.#body!.gather()
  }

  get deadline(): number {
    if (this.#resumeAt !== 0) return this.#resumeAt
    const { deadline } = this.#attempt ?? this.#redirectBody!
    const first = this.stage === 'relaying' ? Number.POSITIVE_INFINITY : this.#firstDeadline
    return Math.min(deadline, first, this.#callDeadline)
  }

  get #firstDeadline(): number {
    return Math.min(this.#totalDeadline, this.#contentDeadline)
  }

  get #contentDeadline(): number {
    return this.#calls === null ? Number.POSITIVE_INFINITY : this.#calls.contentDeadline
  }

  get copiesBody(): boolean {
    return this.#attempt?.copiesBody === true
  }

  body(bytes: Buffer): void {
    this.#x.tap?.noteRequest(bytes)
    this.#attempt!.body(bytes)
  }

  flushBody(): void {
    this.#attempt?.flushBody()
  }

  bodyEnd(): void {
    this.#attempt!.bodyEnd()
  }

  clientDrained(): void {
    this.#attempt?.clientDrained()
    this.#redirectBody?.clientDrained()
  }

  abort(): void {
    if (this.#goesOnForOthers()) return
    const { health } = this.#x.member!
    const attempt = this.#attempt
    if (this.stage !== 'none') this.#calls?.noteLeft(this.stage)
    const isLeftToProvider = attempt !== null && AbandonedCall.isAllowed(this.#x) && attempt.abandon()
    if (!isLeftToProvider) this.#release()
    // Streams often end so, and the origin was responding.
    if (attempt?.stage === 'relaying' && !attempt.isBlamed) health.succeeded()
    health.released(this.#x)
    this.#x.handler = null
  }

  #goesOnForOthers(): boolean {
    const x = this.#x
    const flight = x.ai === null ? null : x.ai.flight
    if (flight === null || !x.requestBody.done) return false
    const mayStay = flight.isPersistent && flight.isWhole && x.plane.abandoned.size < maxAbsent
    if (!flight.isFollowed && !mayStay) return false
    AbsentCaller.replace(x)
    this.#attempt?.detach()
    return true
  }

  expire(): void {
    if (this.#resumeAt !== 0) return this.#resume()
    if (this.endOverdueCall()) return
    if (this.#attempt?.isClientBehind) return this.#x.client.abandon(this.#x)
    if (this.stage !== 'relaying' && this.#isOver(this.#totalDeadline))
      return this.#failOverdue('GH_TOTAL_TIMEOUT')
    if (this.stage !== 'relaying' && this.#isOver(this.#contentDeadline))
      return this.#failOverdue('GH_CONTENT_TIMEOUT')
    const present = this.#attempt ?? this.#redirectBody!
    present.expire()
  }

  endOverdueCall(): boolean {
    const isOverdue = this.#isOver(this.#callDeadline)
    if (isOverdue) this.#failOverdue('GH_CALL_TIMEOUT')
    return isOverdue
  }

  #isOver(deadline: number): boolean {
    return this.#x.plane.clock.monotonic() >= deadline
  }

  #failOverdue(way: OriginFault): void {
    const phase = this.stage === 'relaying' ? 'receive' : 'wait'
    this.report({ type: 'failure', phase, failure: fault(way) })
  }

  get stage(): ForwardState['stage'] {
    return this.#attempt === null ? 'none' : this.#attempt.stage
  }

  get isIdempotent(): boolean {
    return isIdempotent(this.#x.outgoing.method)
  }

  get wantsUpgrade(): boolean {
    return this.#x.upgrade === 'requested'
  }

  get sentBody(): ForwardState['sentBody'] {
    return this.#attempt!.sentBody
  }

  get isFresh(): boolean {
    return this.#attempt!.isFresh
  }

  get isReused(): boolean {
    return this.#attempt!.isReused
  }

  get hasResponseBegun(): boolean {
    return this.#attempt?.hasResponseBegun === true
  }

  get isInTime(): boolean {
    return this.#x.plane.coarseNow < this.#refusedUntil
  }

  get retryOn(): ReadonlySet<number> {
    return this.#x.route!.pool.retryOn
  }

  get isByHttp2(): boolean {
    return this.#x.client.requireHttp1 !== undefined
  }

  get failoverOn(): readonly number[] | null {
    const { ai } = this.#x
    return ai === null || ai.course === null ? null : ai.course.statuses
  }

  get isUnsent(): boolean {
    return this.#x.stage === 'none'
  }

  get hasNextAttempt(): boolean {
    return this.#calls!.next !== null
  }

  bodyReady(): void {
    const { tap, route } = this.#x
    this.#x.handler = this
    if (tap !== null) tap.isUnderWay = true
    beginAtMember(this.#x)
    this.#totalDeadline = this.#x.deadlineIn(route!.config.timeouts.total)
    this.#startAttempt(false)
  }

  report(event: AttemptEvent): void {
    const { addedLines } = this.#x
    if (event.type === 'response') this.#noteResponse(event.head)
    this.#calls?.reported(event, this.stage)
    const verdict = decide(this, event)
    if (event.type === 'failure' && verdict !== 'look_up_again') this.#noteFailure(event)
    this.#noteVerdict(verdict, event)
    // They were about a response that the client does not get.
    if (verdict === 'next_attempt') this.#x.addedLines = addedLines
    this.#act(verdict, event)
  }

  redirectRead(): void {
    this.#startAttempt(false)
  }

  #noteResponse(head: ResponseHead): void {
    const x = this.#x
    const { ai, route } = x
    const { health } = x.member!
    const attempt = this.#attempt!
    if (ai !== null) noteResponse(x, ai, head)
    if (head.status < 500) health.responded(x)
    else noteStatus(x, (attempt.isBlamed = route!.pool.ejectOn.has(head.status)))
    if (ai !== null) {
      this.aboutKey = verdictOnKey(x, ai, head, attempt.sentBody === 'whole')
      if (this.aboutKey !== null) health.succeeded()
    }
    if (route!.config.redirects > 0) this.#noteRedirect(head, route!.config.redirects)
  }

  #noteRedirect(head: ResponseHead, maxRedirects: number): void {
    const x = this.#x
    const request = x.requestBody.done ? redirected(x, head) : null
    if (request === null || (this.sentBody !== 'whole' && request.method === x.outgoing.method)) return
    this.#trail ??= new RedirectTrail(x.outgoing)
    this.#redirected = request
    this.redirect = this.#trail.goOn(request, maxRedirects) ? 'follow' : 'too_many'
  }

  /** For the trace, for later decisions, and against the member if it was its fault. */
  #noteFailure({ phase, failure }: FailureEvent): void {
    const x = this.#x
    const { trace, origin, plane, route } = x
    const attempt = this.#attempt
    trace?.recording?.recordFailure(origin!.config, plane.clock.monotonic(), originFailure(phase, failure))
    if (failure.way === 'GH_HTTP1_REQUIRED') this.isHttp1Required = true
    if (failure.row.isUnprocessed)
      this.#refusedUntil = Math.min(this.#refusedUntil, x.deadlineIn(route!.config.timeouts.response))
    if (attempt !== null && !attempt.isBlamed && !isIdleLoss(this, failure))
      noteFailure(x, phase, failure, attempt.needsHttp1)
  }

  #act(verdict: Verdict, event: AttemptEvent): void {
    const x = this.#x
    switch (verdict) {
      case 'relay':
        return this.#relay(event as ResponseEvent)
      case 'redirect':
        return this.#followRedirect(event as ResponseEvent)
      case 'require_http1':
        return this.#requireHttp1(event as ResponseEvent)
      case 'look_up_again':
        this.hasRepeatedLookup = true
        this.#release()
        return this.#startAttempt(this.#attempt!.isFresh)
      case 'retry':
        if (event.type === 'usage_refused') this.#takeBackUsage()
        return this.#retry(event, false)
      case 'retry_fresh':
        return this.#retry(event, true)
      case 'retry_refused':
        return retryRefused(x) ? this.#retry(event, true) : this.#stopRetrying(event)
      case 'retry_elsewhere': {
        const another = pickAnotherMember(x, (this.#tried ??= []))
        if (another === null) return this.#stopRetrying(event)
        x.member = another
        return this.#retry(event, false)
      }
      case 'next_attempt':
        return this.#nextAttempt(event, this.#calls!.next!)
      case 'refuse':
        return this.#refuse(event)
    }
  }

  #stopRetrying(event: AttemptEvent): void {
    this.mayRetry = false
    const verdict = decide(this, event)
    this.#noteVerdict(verdict, event)
    this.#act(verdict, event)
  }

  #noteVerdict(verdict: Verdict, event: AttemptEvent): void {
    if (verdict === 'relay') this.#x.respondedAt = this.#x.plane.clock.monotonic()
    this.#calls?.note(this, verdict, event)
  }

  #relay(event: ResponseEvent): void {
    const x = this.#x
    if (x.ai !== null) noteUsageRefusal(x, x.ai, event.head)
    if (x.ai?.course == null) this.begun()
    this.#attempt!.relay(event)
  }

  contentBegan(): void {
    this.#calls!.contentBegan()
  }

  begun(): void {
    const x = this.#x
    // Responses may go on for long, and nothing is sent again.
    this.#body?.forget()
    if (x.ai !== null) releaseCall(x, x.ai)
    if (x.mcp !== null) releaseBody(x, x.mcp)
  }

  #followRedirect({ head, body }: ResponseEvent): void {
    const x = this.#x
    const request = this.#redirected!
    if (request.method !== x.outgoing.method) this.#body = null
    this.#notePassedOver(head)
    x.bodySentAt = 0
    x.outgoing = request
    this.redirect = 'none'
    this.#redirectBody = new RedirectBody(x, this, this.#attempt!.takeLease())
    this.#attempt = null
    this.#redirectBody.read(body)
  }

  #requireHttp1({ head }: ResponseEvent): void {
    const x = this.#x
    x.member!.health.succeeded()
    this.#release()
    this.#notePassedOver(head)
    x.status = head.status
    x.client.requireHttp1!(x)
  }

  /** Repeats the call on the same connection, without the request for usage. */
  #takeBackUsage(): void {
    const x = this.#x
    const { health } = x.member!
    health.responded(x)
    health.succeeded()
    this.#attempt!.takeLease().giveBack()
    retryWithoutUsage(x.ai!)
    if (x.ai!.budget !== null) x.ai!.body = boundAgain(x, x.ai!)
    this.#body = new BufferedBody(x, this, x.ai!.body)
  }

  /** Goes on once a model fits into the spend limits. */
  #reserveNext(verdict: ReturnType<typeof reserveAttempt>, delay: number): void {
    if (!(verdict instanceof Promise)) return this.#goOn(verdict, delay)
    this.#attempt = null
    this.#resumeAt = Number.POSITIVE_INFINITY
    verdict.then(
      verdict => {
        if (this.#x.stage === 'none') this.#goOn(verdict, delay)
      },
      bug => deliverBug(this.#x, bug),
    )
  }

  #goOn(refusal: Refusal | null, delay: number): void {
    const x = this.#x
    if (refusal === null) {
      const { body } = x.ai!
      this.#body = body === null ? null : new BufferedBody(x, this, body)
      return this.#resumeIn(delay)
    }
    x.handler = null
    deliver(x, refusal)
  }

  #nextAttempt(event: AttemptEvent, prepared: PreparedAttempt): void {
    const x = this.#x
    const ai = x.ai!
    if (event.type === 'failure')
      noteNoResponse(x, ai, originFailure(event.phase, event.failure), event.failure.cause)
    else if (event.type === 'failed_start') x.member!.health.responded(x)
    if (this.stage === 'relaying') x.takeBackResponse()
    const isCharged = this.#chargeAttempt(ai)
    this.#release()
    if ('head' in event) this.#notePassedOver(event.head)
    x.member!.health.released(x)
    takeAttempt(x, ai, ai.course!, prepared)
    if (prepared.type === 'next') shareNext(x, ai)
    x.retries++
    x.plane.metrics.retry()
    this.#body = ai.body === null ? null : new BufferedBody(x, this, ai.body)
    this.hasRepeatedLookup = false
    this.mayRetry = true
    this.aboutKey = null
    this.isHttp1Required = false
    this.#tried = null
    this.#refusedUntil = Number.POSITIVE_INFINITY
    const delay = prepared.type === 'retry' ? prepared.delay : 0
    if ((prepared.type === 'next' || isCharged) && isMetered(x, ai))
      return this.#reserveNext(reserveAttempt(x, ai), delay)
    this.#resumeIn(delay)
  }

  /** False if the attempt cost nothing: what it reserved is there for the next one. */
  #chargeAttempt(ai: AiExchange): boolean {
    const { tap } = this.#x
    const isCharged = tap !== null && ai.budget !== null && ai.mayHaveWorked
    if (isCharged) {
      this.#attempt!.noteHeld(tap)
      chargeAttempt(this.#x, ai, tap)
    }
    tap?.forgetResponse()
    return isCharged
  }

  #resumeIn(delay: number): void {
    if (delay === 0) return this.#resume()
    this.#attempt = null
    this.#resumeAt = this.#x.plane.clock.monotonic() + delay
  }

  #resume(): void {
    this.#resumeAt = 0
    beginAtMember(this.#x)
    this.#startAttempt(false)
  }

  #retry(event: AttemptEvent, isFresh: boolean): void {
    const x = this.#x
    this.#release()
    if ('head' in event) this.#notePassedOver(event.head)
    // The body goes on once there is another connection.
    if (!x.requestBody.done) x.client.pauseBody()
    x.retries++
    x.plane.metrics.retry()
    this.#startAttempt(isFresh)
  }

  #startAttempt(isFresh: boolean): void {
    this.#redirectBody = null
    this.#calls?.begin()
    this.#attempt = new Attempt(this.#x, this, this.#body, isFresh)
    this.#attempt.start()
  }

  #refuse(event: AttemptEvent): void {
    const x = this.#x
    this.#attempt?.breakOff()
    this.#release()
    if ('head' in event) this.#notePassedOver(event.head)
    x.member!.health.released(x)
    x.handler = null
    deliver(x, this.#refusalFor(event))
  }

  #refusalFor(event: AttemptEvent): Refusal {
    if (event.type === 'refusal') return event.refusal
    if ('failure' in event) return refusalOfFailure(this.#x, event.phase, event.failure)
    return this.redirect === 'too_many' ? refuse('too_many_redirects') : (this.aboutKey as Refusal)
  }

  #notePassedOver({ status }: ResponseHead): void {
    const { trace, plane } = this.#x
    trace?.recording?.recordRetriedResponse(status, plane.clock.monotonic())
  }

  #release(): void {
    this.#attempt?.release()
    this.#redirectBody?.release()
  }
}
