// The deadlines of a client connection: for its next request, and for reading before it closes.

import type { Socket } from 'node:net'
import type { Exchange } from '../exchange/exchange.ts'
import type { Plane } from '../snapshot/plane.ts'

/** Ms for the client to read the response and close (RFC 9112 section 9.6). */
const linger = 2_000
/** Ms and bytes of a body that are still dropped: a reset would destroy the response for its sender. */
const maxLinger = 30_000
const maxLingerBytes = 1024 ** 3
/** Ms in which a draining connection still takes a request that may be on its way. */
const lastRequestTimeout = 500

export class Lifetime {
  isOpen = true
  deadline: number
  readonly #socket: Socket
  readonly #plane: Plane
  #writeTimeout = linger
  /** Ms for its next request once it has received the last response; -1 if they already count. */
  #pendingKeepAlive = -1
  /** Monotonic ms at which a client that is still sending is cut, and the bytes that it may still send. */
  #lingersUntil = 0
  #lingerBytesLeft = maxLingerBytes

  constructor(socket: Socket, plane: Plane) {
    this.#socket = socket
    this.#plane = plane
    this.deadline = plane.coarseNow + plane.snapshot.client.headerTimeout
  }

  isOver(now: number): boolean {
    if (this.#pendingKeepAlive !== -1 && this.#socket.writableLength === 0)
      this.#wait(now, this.#pendingKeepAlive)
    return now >= this.deadline
  }

  headBegun(): void {
    this.#pendingKeepAlive = -1
    this.deadline = this.#plane.coarseNow + this.#plane.snapshot.client.headerTimeout
  }

  exchangeBegun(): void {
    this.#pendingKeepAlive = -1
    this.deadline = Number.POSITIVE_INFINITY
  }

  exchangeEnded(x: Exchange): void {
    this.#writeTimeout = writeTimeoutFor(x)
  }

  awaitRequest(): void {
    const { coarseNow, isDraining, snapshot } = this.#plane
    const { keepAlive } = snapshot.client
    const ms = isDraining ? Math.min(lastRequestTimeout, keepAlive) : keepAlive
    if (this.#socket.writableLength === 0) return this.#wait(coarseNow, ms)
    // Over TLS a write never completes at once, and a callback would cost another write for each response.
    this.deadline = coarseNow + this.#writeTimeout
    this.#pendingKeepAlive = ms
  }

  awaitLastRequest(): void {
    this.#pendingKeepAlive = -1
    this.deadline = Math.min(this.deadline, this.#plane.coarseNow + lastRequestTimeout)
  }

  close(): void {
    this.isOpen = false
    this.#pendingKeepAlive = -1
    this.deadline = this.#plane.coarseNow + this.#writeTimeout
    this.#socket.end(() => {
      const { coarseNow } = this.#plane
      this.deadline = coarseNow + linger
      this.#lingersUntil = coarseNow + maxLinger
    })
  }

  receivedAfterClose(bytes: number): void {
    this.#lingerBytesLeft -= bytes
    if (this.#lingerBytesLeft < 0 || this.#plane.isDraining) return
    const latest = Math.min(this.#plane.coarseNow + linger, this.#lingersUntil)
    this.deadline = Math.max(this.deadline, latest)
  }

  #wait(now: number, ms: number): void {
    this.#pendingKeepAlive = -1
    this.deadline = now + ms
  }
}

/** Ms to receive a response: as long as an origin's stream may stall; error documents are short. */
function writeTimeoutFor(x: Exchange): number {
  if (x.route === null || x.refusal !== null) return linger
  return x.route.config.timeouts.idle || Number.POSITIVE_INFINITY
}
