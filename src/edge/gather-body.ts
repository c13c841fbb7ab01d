// Asks a client for its body, and reads it whole for a step that can't go on without it. Called by `plan-ai.ts` and `forward-http.ts`.
import type { Exchange, Upstream } from './exchange.ts'

/** Gives the body when all of it is there; for a client that leaves before, or sends too much, the promise never settles: its exchange is over by then. */
export function gatherBody(x: Exchange): Promise<Buffer> {
  if (x.requestBody.done) return Promise.resolve(Buffer.alloc(0))
  return new Promise(resolve => {
    x.upstream = new Gathering(x, resolve)
    inviteBody(x)
    x.client.readBody()
  })
}

/** Tells a client that waits for it to send its body (RFC 9110 section 10.1.1). */
export function inviteBody({ head, client }: Exchange): void {
  if (head.expect !== null && head.minor === 1) client.write('HTTP/1.1 100 Continue\r\n\r\n')
}

class Gathering implements Upstream {
  /** The client's own deadline watches over a body. */
  readonly deadline = Number.POSITIVE_INFINITY
  readonly #x: Exchange
  readonly #done: (body: Buffer) => void
  readonly #pieces: Buffer[] = []

  constructor(x: Exchange, done: (body: Buffer) => void) {
    this.#x = x
    this.#done = done
  }

  body(bytes: Buffer): void {
    this.#pieces.push(bytes)
  }

  bodyEnd(): void {
    this.#x.upstream = null
    const [first] = this.#pieces
    this.#done(this.#pieces.length === 1 ? first! : Buffer.concat(this.#pieces))
  }

  flushBody(): void {}
  clientDrained(): void {}
  expire(): void {}
  abort(): void {}
}
