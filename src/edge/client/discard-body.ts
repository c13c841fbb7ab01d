// Discards the rest of a small body of a refused request, which costs less than a new connection.

import type { Exchange, RequestHandler } from '../exchange/exchange.ts'

const maxDiscarded = 64 * 1024

/** Ms that a client may take to send it. */
const timeout = 2_000

/** Calls back once the rest is read; false if it is too long, or the client waits for a 100 (Continue). */
export function discardBody(x: Exchange, then: () => void): boolean {
  const { contentLength, expect } = x.head
  if (contentLength <= 0 || contentLength > maxDiscarded || expect !== null) return false
  x.handler = new BodyDiscarder(x, then, x.plane.coarseNow + timeout)
  x.client.readBody()
  return true
}

class BodyDiscarder implements RequestHandler {
  readonly deadline: number
  readonly copiesBody = true
  readonly #x: Exchange
  readonly #then: () => void

  constructor(x: Exchange, then: () => void, deadline: number) {
    this.deadline = deadline
    this.#x = x
    this.#then = then
  }

  bodyEnd(): void {
    this.#x.handler = null
    this.#then()
  }

  body(): void {}
  flushBody(): void {}
  clientDrained(): void {}
  expire(): void {
    this.#x.client.pauseBody()
    this.#then()
  }
  abort(): void {}
}
