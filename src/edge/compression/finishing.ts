// An exchange whose origin has sent all, while the last of it is encoded and read by the client.

import type { Exchange, RequestHandler } from '../exchange/exchange.ts'
import { deadlineIn } from '../exchange/deadline.ts'

/** A body of which the client has yet to get some. */
interface Unfinished {
  /** Goes on as the client reads. */
  goOn(): void
  /** Sends no more. */
  close(): void
}

export class Finishing implements RequestHandler {
  deadline = 0
  readonly #x: Exchange
  readonly #body: Unfinished

  constructor(x: Exchange, body: Unfinished) {
    this.#x = x
    this.#body = body
    this.stay()
  }

  /** Takes note that the client reads. */
  stay(): void {
    this.deadline = deadlineIn(this.#x, this.#x.route!.config.timeouts.idle)
  }

  clientDrained(): void {
    this.stay()
    this.#body.goOn()
  }

  /** Abandons a client that reads no more: it waits for nothing else. */
  expire(): void {
    this.#x.client.abandon(this.#x)
  }

  abort(): void {
    this.#body.close()
    this.#x.handler = null
  }

  // What still comes of the request nobody reads.
  body(): void {}
  flushBody(): void {}
  bodyEnd(): void {}
}
