// An AI call whose caller has left while its provider may finish, so that its usage is known.

import { invariants } from '../../base/invariants.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import type { Remainder, Tap } from '../ai-call/tap.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Lease } from '../origin/lease.ts'
import type { ResponseHandler, TunnelHandler } from '../origin/response-handler.ts'

/** Ms, and bytes: more than 4,000 tokens of any stream. */
const maxTime = 60_000
const maxBytes = 1024 * 1024
const maxCalls = 1_000

export class AbandonedCall implements ResponseHandler, Remainder {
  readonly deadline: number
  readonly wantsUpgrade = false
  readonly method: string
  isWhole = false
  onEnd: (() => void) | null = null
  readonly #x: Exchange
  readonly #tap: Tap
  readonly #lease: Lease
  #bytes = 0

  /** The lease must be held. */
  constructor(x: Exchange, tap: Tap, lease: Lease) {
    this.#x = x
    this.#tap = tap
    this.#lease = lease
    this.method = x.outgoing.method
    this.deadline = x.deadlineIn(maxTime)
    lease.handler = this
    tap.remainder = this
    x.plane.abandoned.add(this)
    lease.resume()
  }

  static isAllowed({ ai, tap, plane, requestBody, upgrade }: Exchange): boolean {
    if (ai === null || !tap?.isUnderWay || ai.gateway?.onAbandon !== 'drain') return false
    return requestBody.done && upgrade === 'none' && plane.abandoned.size < maxCalls
  }

  /** The provider has taken too long, or this process ends. */
  expire(): void {
    this.#lease.destroy()
    this.#over()
  }

  head(head: ResponseHead): void {
    this.#tap.noteHead(head, false)
  }

  data(bytes: Buffer): void {
    this.#tap.noteResponse(bytes, this.#x.plane.clock)
    this.#bytes += bytes.length
    if (this.#bytes > maxBytes) this.expire()
  }

  end(): void {
    this.isWhole = true
    this.#lease.giveBack()
    this.#over()
  }

  failed(): void {
    this.#over()
  }

  crashed(bug: unknown): void {
    this.#x.plane.log.error(
      { err: bug, ray: this.#x.ray },
      'reading an abandoned call failed: internal error',
    )
    this.#over()
  }

  flushResponse(): void {}
  originDrained(): void {}
  interim(): void {}

  acceptsUpgrade(): boolean {
    return false
  }

  switchProtocols(): TunnelHandler {
    invariants.violated('a switch of protocols that nobody asked for')
    throw new Error('a switch of protocols that nobody asked for')
  }

  #over(): void {
    if (this.#x.plane.abandoned.delete(this)) this.onEnd?.()
  }
}
