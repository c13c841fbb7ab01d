// Buffers a request body before the request is sent: all of a small one, so that it can be sent again, and
// the beginning of a large one.

import { GrowingBytes } from '../wire/growing-bytes.ts'
import { deliverBug } from '../exchange/deliver.ts'
import type { Exchange, RequestHandler } from '../exchange/exchange.ts'
import { callTimeout, isGrpc } from '../exchange/grpc.ts'
import { guarded } from '../../base/guarded.ts'
import { deadlineIn } from '../exchange/deadline.ts'

/**
 * Bodies up to this many bytes are read to their end before the request is sent: they take one write, and can
 * be sent again. Of a larger one, this much must have come before the request takes a connection. Otherwise,
 * clients that send nothing would hold all connections that an origin may have.
 */
const smallBody = 64 * 1024
/**
 * Max bytes of a streamed body that are kept while its origin may refuse it: twice the default window of
 * HTTP/2.
 */
const maxKept = 2 * smallBody
/**
 * Ms after which a client that pauses in a body without a length may be waiting for a response to what it has
 * sent.
 */
const pause = 500

/** What sends the request. */
interface BodyOwner {
  /** Enough of the body is there to send the request. */
  bodyReady(): void
  /** Ends a gRPC call whose time is over; returns whether it did. */
  endOverdueCall(): boolean
  /** The client has left. */
  abort(): void
}

export class BufferedBody implements RequestHandler {
  /** Whether all of it was there when the request was sent. */
  isWhole = true
  /** Whether some of what was sent has been dropped. */
  isForgotten = false
  deadline = Number.POSITIVE_INFINITY
  readonly #x: Exchange
  readonly #owner: BodyOwner
  /**
   * Whether it is a gRPC call, which is sent at once: each message is for the server as it comes, which may
   * also speak first.
   */
  #isCall = false
  #bytes: Buffer | null
  /** Null for a body that came in one piece. */
  #pieces: GrowingBytes | null = null

  /** `bytes` is a body that was read before; null for one that is yet to come. */
  constructor(x: Exchange, owner: BodyOwner, bytes: Buffer | null) {
    this.#x = x
    this.#owner = owner
    this.#bytes = bytes
  }

  /** What is buffered; null for nothing. */
  get bytes(): Buffer | null {
    return this.#pieces === null ? this.#bytes : this.#pieces.bytes
  }

  /** Reads it from the client. */
  gather(): void {
    const x = this.#x
    x.handler = this
    if (isGrpc(x.head)) {
      this.#isCall = true
      this.deadline = deadlineIn(x, Math.min(pause, callTimeout(x.head)))
      // Behind what was read together with the head: a call of one message is then whole, and can be sent
      // again.
      setImmediate(
        guarded(
          () => this.#sendAtOnce(),
          bug => deliverBug(x, bug),
        ),
      )
    }
    if (x.head.expect !== null) x.client.sendContinue(x)
    x.client.readBody()
  }

  /** Keeps bytes that are streamed to the origin, up to a limit. */
  keep(bytes: Buffer): void {
    if (this.isForgotten) return
    this.#pieces ??= new GrowingBytes()
    if (this.#pieces.size + bytes.length > maxKept) this.forget()
    else this.#pieces.append(bytes)
  }

  /** Drops the bytes, so that the body cannot be sent again. */
  forget(): void {
    this.isForgotten = true
    this.#bytes = null
    this.#pieces = null
  }

  body(bytes: Buffer): void {
    const { tap, requestBody } = this.#x
    tap?.noteRequest(bytes)
    // Mostly all of it comes at once.
    if (this.#pieces === null && requestBody.done) this.#bytes = bytes
    else this.#grow((this.#pieces ??= new GrowingBytes()), bytes)
  }

  bodyEnd(): void {
    this.#owner.bodyReady()
  }

  /** Sends what has arrived, unless complete requests are waiting for the connection. */
  expire(): void {
    if (this.#owner.endOverdueCall()) return
    this.deadline = deadlineIn(this.#x, pause)
    if (this.#x.origin!.hasRoomForPause) this.#sendPart()
  }

  abort(): void {
    this.#owner.abort()
  }

  flushBody(): void {}
  clientDrained(): void {}

  #grow(pieces: GrowingBytes, bytes: Buffer): void {
    const { requestBody } = this.#x
    pieces.append(bytes)
    if (pieces.size <= smallBody) {
      if (requestBody.framing === 'chunked' && !this.#isCall) this.deadline = deadlineIn(this.#x, pause)
    } else if (requestBody.done) this.isWhole = false
    else this.#sendPart()
  }

  #sendAtOnce(): void {
    const { handler, origin } = this.#x
    if (handler === this && origin!.hasRoomForPause) this.#sendPart()
  }

  #sendPart(): void {
    this.isWhole = false
    this.#x.client.pauseBody()
    this.#owner.bodyReady()
  }
}
