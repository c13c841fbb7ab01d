// Reads the whole body of a request for a step that cannot proceed without it.

import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { deliver } from './deliver.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange, RequestHandler } from './exchange.ts'
import { GrowingBytes } from '../wire/growing-bytes.ts'

/** However steadily it arrives, it takes memory until then. */
const timeout = 5 * 60 * 1000

/** Refuses if there is no room (503). The promise never settles if the exchange ends first. */
export function gatherBody(x: Exchange): Promise<Buffer> | Refusal {
  if (x.requestBody.done) return Promise.resolve(Buffer.alloc(0))
  const { plane, head } = x
  const { bodyBytes } = plane.metrics.ai
  if (bodyBytes.value + Math.max(0, head.contentLength) > plane.snapshot.gatherLimit) return noRoom
  return new Promise(resolve => {
    x.handler = new Gathering(x, x.ai!, resolve)
    if (head.expect !== null) x.client.sendContinue(x)
    x.client.readBody()
  })
}

const noRoom = refuse('service_unavailable', {}, { code: 'GH_BODY_MEMORY' })

export function releaseBody(x: Exchange, ai: AiExchange): void {
  x.plane.metrics.ai.bodyBytes.value -= ai.gatheredBytes
  ai.gatheredBytes = 0
  ai.body = null
  if (ai.course !== null) ai.course.body = null
}

class Gathering implements RequestHandler {
  readonly deadline: number
  readonly #x: Exchange
  readonly #ai: AiExchange
  readonly #done: (body: Buffer) => void
  #whole: Buffer | null = null
  #pieces: GrowingBytes | null = null

  constructor(x: Exchange, ai: AiExchange, done: (body: Buffer) => void) {
    this.deadline = x.plane.coarseNow + timeout
    this.#x = x
    this.#ai = ai
    this.#done = done
  }

  body(bytes: Buffer): void {
    const { plane, requestBody, head } = this.#x
    const { bodyBytes, callsWithoutRoom } = plane.metrics.ai
    this.#ai.gatheredBytes += bytes.length
    bodyBytes.value += bytes.length
    // The usual case: it arrives at once.
    if (this.#pieces === null && requestBody.done) this.#whole = bytes
    else (this.#pieces ??= new GrowingBytes(head.contentLength)).append(bytes)
    if (bodyBytes.value <= plane.snapshot.gatherLimit) return
    callsWithoutRoom.inc()
    this.#stop(noRoom)
  }

  bodyEnd(): void {
    this.#x.handler = null
    // A chunked body may turn out to be empty.
    this.#done(this.#whole ?? this.#pieces?.bytes ?? Buffer.alloc(0))
  }

  expire(): void {
    this.#stop(refuse('request_timeout'))
  }

  flushBody(): void {}
  clientDrained(): void {}
  abort(): void {}

  #stop(refusal: Refusal): void {
    this.#x.handler = null
    this.#x.keepAlive = false
    deliver(this.#x, refusal)
  }
}
