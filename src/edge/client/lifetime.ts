// How long the connection of a client lasts: the time it has for its next request, and the time that it has to read what was written before it closes.

import type { Socket } from 'node:net'
import type { Exchange } from '../exchange/exchange.ts'
import type { Plane } from '../snapshot/plane.ts'

/** Ms that a closing connection stays open for the client to read the response and close (RFC 9112 section 9.6). */
const linger = 2_000
/** Ms, and bytes, for which the rest of a body is still read and dropped: a reset would take the response from a client that reads it only behind what it sends. */
const longestLinger = 30_000
const mostLingering = 1024 ** 3
/** Ms that a client has, in a drain, for a request that was on its way when the drain began; the response to it says that the connection closes. */
const lastRequest = 500

export class Lifetime {
  /** Whether requests are still taken. */
  isOpen = true
  /** Monotonic ms by which something must have happened. */
  deadline: number
  readonly #socket: Socket
  readonly #plane: Plane
  /** Ms that a client may take for what is written and not yet sent. */
  #patience = linger
  /** Ms that it has for its next request once it has all of the last response; -1 where these count already. */
  #next = -1
  /** Monotonic ms by which it is closed even where the client goes on sending, and the bytes that it may still send. */
  #lingersUntil = 0
  #lingeringLeft = mostLingering

  constructor(socket: Socket, plane: Plane) {
    this.#socket = socket
    this.#plane = plane
    this.deadline = plane.coarseNow + plane.snapshot.client.headerTimeout
  }

  /** Whether the time of the client is over by monotonic ms `now`. */
  isOver(now: number): boolean {
    if (this.#next !== -1 && this.#socket.writableLength === 0) this.#wait(now, this.#next)
    return now >= this.deadline
  }

  /** Counts the time for a head from now on, since the first of it has come. */
  headBegun(): void {
    this.#next = -1
    this.deadline = this.#plane.coarseNow + this.#plane.snapshot.client.headerTimeout
  }

  /** Leaves deadlines to the exchange that has begun. */
  exchangeBegun(): void {
    this.#next = -1
    this.deadline = Number.POSITIVE_INFINITY
  }

  exchangeEnded(x: Exchange): void {
    this.#patience = patienceFor(x)
  }

  /** Allows an idle client its time for the next request, from when it has all of the last response. */
  awaitRequest(): void {
    const { coarseNow, isDraining, snapshot } = this.#plane
    const { keepAlive } = snapshot.client
    const ms = isDraining ? Math.min(lastRequest, keepAlive) : keepAlive
    if (this.#socket.writableLength === 0) return this.#wait(coarseNow, ms)
    // Over TLS a write is never complete at once, and to be told of it would cost another one for each response.
    this.deadline = coarseNow + this.#patience
    this.#next = ms
  }

  /** Leaves an idle client, in a drain, the time for a request that is on its way. */
  awaitLastRequest(): void {
    this.#next = -1
    this.deadline = Math.min(this.deadline, this.#plane.coarseNow + lastRequest)
  }

  /** Sends what is written and a FIN; then leaves the client some time to read it before the connection goes. */
  close(): void {
    this.isOpen = false
    this.#next = -1
    this.deadline = this.#plane.coarseNow + this.#patience
    this.#socket.end(() => {
      const { coarseNow } = this.#plane
      this.deadline = coarseNow + linger
      this.#lingersUntil = coarseNow + longestLinger
    })
  }

  /** Takes note that the client of a closing connection has sent so many bytes: it is left more time to read the response, except in a drain. */
  receivedBehind(bytes: number): void {
    this.#lingeringLeft -= bytes
    if (this.#lingeringLeft < 0 || this.#plane.isDraining) return
    const most = Math.min(this.#plane.coarseNow + linger, this.#lingersUntil)
    this.deadline = Math.max(this.deadline, most)
  }

  #wait(now: number, ms: number): void {
    this.#next = -1
    this.deadline = now + ms
  }
}

/** Returns the ms that a client may take for a response: one of the origin as long as its stream might stand still; an error document is short. */
function patienceFor(x: Exchange): number {
  if (x.route === null || x.refusal !== null) return linger
  return x.route.config.timeouts.idle || Number.POSITIVE_INFINITY
}
