// Reads and discards the rest of a small request body, so that a refused client can keep its connection: a
// new one would cost both sides more than the bytes.

import type { Exchange, RequestHandler } from '../exchange/exchange.ts'

/** Bodies up to this many bytes are read to the end; with larger ones, the connection is closed. */
const maxDiscarded = 64 * 1024

/** Ms that a client may take to send it. */
const timeout = 2_000

/**
 * Returns whether the rest of the body will be read, and calls back once it is; false if it is too long, or
 * the client waits for a 100 (Continue).
 */
export function discardBody(x: Exchange, then: () => void): boolean {
  const { contentLength, expect } = x.head
  if (contentLength <= 0 || contentLength > maxDiscarded || expect !== null) return false
  x.handler = new BodyDiscarder(x, then, x.plane.coarseNow + timeout)
  x.client.readBody()
  return true
}

class BodyDiscarder implements RequestHandler {
  readonly deadline: number
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
  /** Responds before the rest of the body, which costs the connection. */
  expire(): void {
    this.#x.client.pauseBody()
    this.#then()
  }
  abort(): void {}
}
