// The end of an exchange after its origin, while the rest of the body is encoded and sent.

import type { Exchange, RequestHandler } from '../exchange/exchange.ts'

interface Unfinished {
  resume(): void
  close(): void
}

export class Finishing implements RequestHandler {
  deadline = 0
  readonly #x: Exchange
  readonly #body: Unfinished

  constructor(x: Exchange, body: Unfinished) {
    this.#x = x
    this.#body = body
    this.extendDeadline()
  }

  extendDeadline(): void {
    this.deadline = this.#x.deadlineIn(this.#x.route!.config.timeouts.idle)
  }

  clientDrained(): void {
    this.extendDeadline()
    this.#body.resume()
  }

  /** Nothing else is pending for a client that stopped reading. */
  expire(): void {
    this.#x.client.abandon(this.#x)
  }

  abort(): void {
    this.#body.close()
    this.#x.handler = null
  }

  // The rest of the request is not read.
  body(): void {}
  flushBody(): void {}
  bodyEnd(): void {}
}
