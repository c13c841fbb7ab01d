// The deadlines of a client connection: for its next request, and for the client to read what was written
// before the connection closes.

import type { Socket } from 'node:net'
import type { Exchange } from '../exchange/exchange.ts'
import type { Plane } from '../snapshot/plane.ts'

/**
 * Ms that a closing connection stays open for the client to read the response and close (RFC 9112 section
 * 9.6).
 */
const linger = 2_000
/**
 * Ms and bytes for which the rest of a body is still read and dropped: a reset would destroy the response for
 * a client that reads it only after sending everything.
 */
const maxLinger = 30_000
const maxLingerBytes = 1024 ** 3
/**
 * Ms in which a draining connection still takes a request, which may already be on its way; its response
 * announces the close.
 */
const lastRequestTimeout = 500

export class Lifetime {
  isOpen = true
  deadline: number
  readonly #socket: Socket
  readonly #plane: Plane
  /** Ms that a client may take to receive what is written. */
  #writeTimeout = linger
  /**
   * Ms for its next request, counted once it has received all of the last response; -1 if they already count.
   */
  #pendingKeepAlive = -1
  /**
   * Monotonic ms at which the connection closes even if the client is still sending, and the bytes that it
   * may still send.
   */
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

  /** Starts the timeout of a head, whose first bytes have arrived. */
  headBegun(): void {
    this.#pendingKeepAlive = -1
    this.deadline = this.#plane.coarseNow + this.#plane.snapshot.client.headerTimeout
  }

  /** Suspends the deadline: the exchange that begins has its own. */
  exchangeBegun(): void {
    this.#pendingKeepAlive = -1
    this.deadline = Number.POSITIVE_INFINITY
  }

  exchangeEnded(x: Exchange): void {
    this.#writeTimeout = writeTimeoutFor(x)
  }

  /** Starts the keep-alive timeout of an idle client once it has received all of the last response. */
  awaitRequest(): void {
    const { coarseNow, isDraining, snapshot } = this.#plane
    const { keepAlive } = snapshot.client
    const ms = isDraining ? Math.min(lastRequestTimeout, keepAlive) : keepAlive
    if (this.#socket.writableLength === 0) return this.#wait(coarseNow, ms)
    // Over TLS a write never completes at once, and a callback would cost another write for each response.
    this.deadline = coarseNow + this.#writeTimeout
    this.#pendingKeepAlive = ms
  }

  /** Leaves an idle client of a draining gateway some time for a request on its way. */
  awaitLastRequest(): void {
    this.#pendingKeepAlive = -1
    this.deadline = Math.min(this.deadline, this.#plane.coarseNow + lastRequestTimeout)
  }

  /**
   * Sends what is written and a FIN, then leaves the client some time to read before the socket is closed.
   */
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

  /** Extends the deadline of a closing connection whose client is still sending, except in a drain. */
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

/**
 * Returns the ms that a client may take to receive a response: for one from an origin, as long as its stream
 * may stall; error documents are short.
 */
function writeTimeoutFor(x: Exchange): number {
  if (x.route === null || x.refusal !== null) return linger
  return x.route.config.timeouts.idle || Number.POSITIVE_INFINITY
}
