// An exchange whose origin has sent everything, while the rest of the body is encoded and sent.

import type { Exchange, RequestHandler } from '../exchange/exchange.ts'
import { deadlineIn } from '../exchange/deadline.ts'

/** A body of which the client still lacks some. */
interface Unfinished {
  /** Continues when the client reads. */
  resume(): void
  /** Stops sending. */
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

  /** Restarts the idle timeout. */
  extendDeadline(): void {
    this.deadline = deadlineIn(this.#x, this.#x.route!.config.timeouts.idle)
  }

  clientDrained(): void {
    this.extendDeadline()
    this.#body.resume()
  }

  /** Abandons a client that stopped reading: nothing else is pending. */
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
