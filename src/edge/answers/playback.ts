// Sends a response to a caller whose call it was not: one that is stored, or one that is still on its way.

import type { Answer, AnswerHead, AnswerUse } from '../../answers/answer.ts'
import { Flight, type Follower } from '../../answers/flight.ts'
import { refuse } from '../../errors/catalogue/refusal.ts'
import { field } from '../../http1/fields/fields.ts'
import { ResponseHead } from '../../http1/heads/response-head.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { deliver, deliverBug } from '../exchange/deliver.ts'
import { EventStream } from '../exchange/event-stream.ts'
import { type Exchange, logIdOf, type RequestHandler, type ResponseSink } from '../exchange/exchange.ts'
import { ownStatusLines } from '../exchange/status-lines.ts'

/** Bytes that are written at once. */
const pieceSize = 64 * 1024

/** Sends a stored response: a stream as one, and each with the bytes that its first caller got. */
export function replay(x: Exchange, ai: AiExchange, answer: Answer): void {
  const flight = Flight.of(answer, pieceSize, x.plane.ai!.answers!.room)
  const playback = new Playback(x, ai, flight, unjoined)
  x.handler = playback
  playback.moved()
  // Only a caller that reads slowly holds it.
  if (x.handler === playback) flight.follow(playback)
}

/** What becomes of a call that waits for another one. */
interface Waiting {
  accepts(head: AnswerHead): boolean
  responded(): void
  /** The response is not for this call, which may join the next one if the first caller only left. */
  goOn(mayJoin: boolean): void
}

/** Sends the response to a call under way as it comes. */
export function join(x: Exchange, ai: AiExchange, flight: Flight, waiting: Waiting): void {
  const playback = new Playback(x, ai, flight, waiting)
  x.handler = playback
  flight.follow(playback)
  if (flight.state !== 'waiting') playback.moved()
}

const unjoined: Waiting = { accepts: () => true, responded: () => {}, goOn: () => {} }

class Playback implements RequestHandler, Follower {
  deadline: number
  at = 0
  readonly #x: Exchange
  readonly #ai: AiExchange
  readonly #flight: Flight
  readonly #waiting: Waiting
  #sink: ResponseSink | null = null
  #isBehind = false

  constructor(x: Exchange, ai: AiExchange, flight: Flight, waiting: Waiting) {
    this.#x = x
    this.#ai = ai
    this.#flight = flight
    this.#waiting = waiting
    this.deadline = x.deadlineIn(x.route!.config.timeouts.response)
  }

  moved(): void {
    try {
      if (this.#sink === null && !this.#begin()) return
      if (!this.#isBehind) this.#send()
    } catch (bug) {
      this.#flight.leave(this)
      deliverBug(this.#x, bug)
    }
  }

  failed(mayJoin: boolean): void {
    if (this.#sink === null) return this.#goOn(mayJoin)
    this.#flight.leave(this)
    this.#x.handler = null
    deliver(this.#x, this.#flight.refusal ?? cutOff)
  }

  clientDrained(): void {
    this.#isBehind = false
    this.moved()
  }

  /** The call that it waits for takes too long, or its client reads too slowly. */
  expire(): void {
    if (this.#sink === null) this.#goOn(false)
    else this.#x.client.abandon(this.#x)
  }

  abort(): void {
    this.#flight.leave(this)
  }

  body(): void {}
  flushBody(): void {}
  bodyEnd(): void {}

  #goOn(mayJoin: boolean): void {
    this.#flight.leave(this)
    this.#x.handler = null
    this.#waiting.goOn(mayJoin)
  }

  /** False if the response has not begun, or is not for this call. */
  #begin(): boolean {
    const x = this.#x
    const { head, storedAt } = this.#flight
    if (head === null) return false
    if (!this.#waiting.accepts(head)) {
      this.#goOn(false)
      return false
    }
    if (this.#isHeld) {
      this.deadline = Number.POSITIVE_INFINITY
      return false
    }
    const isHit = storedAt !== null
    const { metrics } = x.plane
    if (this.#ai.idempotencyKey === null) metrics.answers.calls[isHit ? 'hit' : 'join'].inc()
    const status =
      this.#ai.idempotencyKey === null ? 'svc-aig-cache-status: HIT' : 'svc-aig-idempotency-replayed: true'
    x.releaseLongWork()
    this.#ai.reused = unknownUse
    x.status = head.status
    // Known once the response is over.
    this.#ai.reused = this.#flight.use ?? unknownUse
    this.deadline = Number.POSITIVE_INFINITY
    if (x.tap !== null) {
      x.tap.isUnderWay = true
      x.tap.noteHead(responseHeadOf(head), false)
    }
    if (head.isEventStream) x.becomeEventStream(new EventStream(head.isEncoded, x.audience.numbersEvents))
    x.responseFraming = isHit ? 'length' : 'chunked'
    const length = isHit ? `Content-Length: ${this.#flight.size}\r\nAge: ${ageOf(x, storedAt)}\r\n` : ''
    const lines = `${linesOf(head)}${length}Cache-Control: no-store\r\nDate: ${x.plane.date()}\r\n${status}\r\n${x.addedLines}${this.#evidence()}${ownStatusLines(x)}svc-ray: ${x.ray}\r\n`
    this.#sink = x.client.relay(x, { status: head.status, reason: head.reason, lines })
    this.#waiting.responded()
    return true
  }

  /** Nothing of it has been let pass yet, so that an error may still take its place. */
  get #isHeld(): boolean {
    const { isHeld, state } = this.#flight
    return isHeld && state === 'begun' && this.#flight.piece(this.at) === null
  }

  #evidence(): string {
    const { provider, model, dropped } = this.#ai
    const logId = logIdOf(this.#x)
    const named = model !== null && /^[!-~]+$/.test(model) ? `svc-aig-model: ${model}\r\n` : ''
    return `${logId === null ? '' : `svc-aig-log-id: ${logId}\r\n`}${dropped.length === 0 ? '' : `svc-aig-dropped: ${dropped.join(', ')}\r\n`}svc-aig-provider: ${provider!.name}\r\n${named}`
  }

  #send(): void {
    const x = this.#x
    const sink = this.#sink!
    const flight = this.#flight
    let mayGoOn = true
    for (let piece = flight.piece(this.at); piece !== null && mayGoOn; piece = flight.piece(this.at)) {
      this.at++
      x.bytesOut += piece.length
      x.eventStream?.note(piece)
      if (x.tap !== null) x.tap.noteResponse(piece, x.plane.clock)
      mayGoOn = sink.data(piece)
    }
    const isOver = flight.state === 'ended' && flight.piece(this.at) === null
    if (isOver && mayGoOn) return this.#end()
    mayGoOn = sink.flush() && mayGoOn
    if (sink.hasBegun) x.stage = 'begun'
    if (!mayGoOn) {
      this.#isBehind = true
      this.deadline = x.deadlineIn(x.route!.config.timeouts.idle)
    } else this.deadline = Number.POSITIVE_INFINITY
    flight.progressed()
  }

  #end(): void {
    const x = this.#x
    this.#ai.reused = this.#flight.use ?? unknownUse
    this.#flight.leave(this)
    x.handler = null
    this.#sink!.end(null)
    x.client.finish(x)
  }
}

const unknownUse: AnswerUse = { tokensIn: null, tokensOut: null, cost: null }

const cutOff = refuse('origin_bad_gateway')

/** Seconds. */
function ageOf({ plane }: Exchange, storedAt: number): number {
  return Math.max(0, Math.floor((plane.clock.now() - storedAt) / 1000))
}

function linesOf({ fields }: AnswerHead): string {
  let lines = ''
  for (let i = 0; i < fields.length; i += 2) lines += `${fields[i]}: ${fields[i + 1]}\r\n`
  return lines
}

/** As the log reads it. */
function responseHeadOf({ status, contentType, isEncoded }: AnswerHead): ResponseHead {
  const head = new ResponseHead()
  head.status = status
  if (contentType !== null) head.field('Content-Type', contentType, field.contentType)
  if (isEncoded) head.field('Content-Encoding', 'unknown', field.contentEncoding)
  return head
}
