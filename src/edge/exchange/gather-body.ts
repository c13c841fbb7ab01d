// Reads the whole body of a request for a step that cannot proceed without it.

import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { deliver } from './deliver.ts'
import type { MaybeAtOnce } from '../../store/contract/store.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange, RequestHandler } from './exchange.ts'
import { ownBytes } from '../../net/socket/shared-reads.ts'
import { GrowingBytes } from '../wire/growing-bytes.ts'

/** What has the bytes of a body, until it is released. */
interface BodyOwner {
  /** Counted against the shared limit. */
  gatheredBytes: number
  body: Buffer | null
}

/** However steadily it arrives, it takes memory until then. */
const timeout = 5 * 60 * 1000

/**
 * Returns the body at once if it came with the head. Refuses if there is no room (503). The promise never
 * settles if the exchange ends first.
 */
export function gatherBody(x: Exchange, owner: BodyOwner = x.ai!): MaybeAtOnce<Buffer> | Refusal {
  if (x.requestBody.done) return noBody
  const { plane, head } = x
  const { bodyBytes } = plane.metrics.ai
  if (bodyBytes.value + Math.max(0, head.contentLength) > plane.snapshot.gatherLimit) return noRoom
  const gathering = new Gathering(x, owner)
  x.handler = gathering
  if (head.expect !== null) x.client.sendContinue(x)
  x.client.readBody()
  return gathering.whole ?? new Promise(resolve => gathering.onWhole(resolve))
}

const noBody = Buffer.alloc(0)

const noRoom = refuse('service_unavailable', {}, { code: 'GH_BODY_MEMORY' })

export function releaseBody(x: Exchange, owner: BodyOwner): void {
  x.plane.metrics.ai.bodyBytes.value -= owner.gatheredBytes
  owner.gatheredBytes = 0
  owner.body = null
}

export function releaseCall(x: Exchange, ai: AiExchange): void {
  releaseBody(x, ai)
  ai.received = null
  if (ai.course !== null) ai.course.body = null
}

class Gathering implements RequestHandler {
  readonly deadline: number
  readonly copiesBody = true
  readonly #x: Exchange
  readonly #owner: BodyOwner
  /** Once all of it has come. */
  whole: Buffer | null = null
  #then: ((body: Buffer) => void) | null = null
  #bytes: Buffer | null = null
  #pieces: GrowingBytes | null = null

  constructor(x: Exchange, owner: BodyOwner) {
    this.deadline = x.plane.coarseNow + timeout
    this.#x = x
    this.#owner = owner
  }

  onWhole(then: (body: Buffer) => void): void {
    this.#then = then
  }

  body(bytes: Buffer): void {
    const { plane, requestBody, head } = this.#x
    const { bodyBytes, callsWithoutRoom } = plane.metrics.ai
    this.#owner.gatheredBytes += bytes.length
    bodyBytes.value += bytes.length
    // The usual case: it arrives at once.
    if (this.#pieces === null && requestBody.done) this.#bytes = ownBytes(bytes)
    else (this.#pieces ??= new GrowingBytes(head.contentLength)).append(bytes)
    if (bodyBytes.value <= plane.snapshot.gatherLimit) return
    callsWithoutRoom.inc()
    this.#stop(noRoom)
  }

  bodyEnd(): void {
    this.#x.handler = null
    // A chunked body may turn out to be empty.
    this.whole = this.#bytes ?? this.#pieces?.bytes ?? noBody
    this.#then?.(this.whole)
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
