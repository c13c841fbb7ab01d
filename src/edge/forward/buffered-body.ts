// What a request sets out with of its body: all of a small one, which is kept so that it can be sent again, and the beginning of a large one.

import { GrowingBytes } from '../wire/growing-bytes.ts'
import { answerBug } from '../exchange/deliver.ts'
import type { Exchange, RequestHandler } from '../exchange/exchange.ts'
import { callTimeout, isGrpc } from '../exchange/grpc.ts'
import { guarded } from '../../base/guarded.ts'
import { deadlineIn } from '../exchange/deadline.ts'

/**
 * Request bodies up to this many bytes are read whole before the origin is asked: one write, and they can be sent again. So much of a larger one is there
 * before it takes a connection, or clients that send nothing would hold all that an origin may have.
 */
const smallBody = 64 * 1024
/** Bytes of one that is passed on as it comes that are kept while its origin may refuse it: twice the window that an origin grants by default. */
const mostKept = 2 * smallBody
/** Ms after which a client that pauses in a body without a length may wait for a response to what it has sent. */
const pause = 500

/** What sends the body on. */
interface BodyOwner {
  /** So much of it is there as the request sets out with. */
  setOut(): void
  /** Ends a gRPC call whose time is over; returns whether it did. */
  endOverdueCall(): boolean
  /** The client has left. */
  abort(): void
}

export class KeptBody implements RequestHandler {
  /** Whether the request sets out with all of it. */
  isWhole = true
  /** Whether some of what was sent is no longer here. */
  isForgotten = false
  deadline = Number.POSITIVE_INFINITY
  readonly #x: Exchange
  readonly #owner: BodyOwner
  /** Whether it sets out at once, however it comes: each message of a call is for the server as soon as it is there, and the server may speak first. */
  #isCall = false
  #bytes: Buffer | null
  /** The pieces that it comes in; null where it came in one. */
  #pieces: GrowingBytes | null = null

  /** `bytes` are all of a body that was gathered before; null for one that is yet to come. */
  constructor(x: Exchange, owner: BodyOwner, bytes: Buffer | null) {
    this.#x = x
    this.#owner = owner
    this.#bytes = bytes
  }

  /** What is there; null for nothing. */
  get bytes(): Buffer | null {
    return this.#pieces === null ? this.#bytes : this.#pieces.bytes
  }

  /** Has the client send it. */
  gather(): void {
    const x = this.#x
    x.handler = this
    if (isGrpc(x.head)) {
      this.#isCall = true
      this.deadline = deadlineIn(x, Math.min(pause, callTimeout(x.head)))
      // Behind what was read together with the head: a call of one message is then whole, and can be sent again.
      setImmediate(
        guarded(
          () => this.#setOutAtOnce(),
          bug => answerBug(x, bug),
        ),
      )
    }
    if (x.head.expect !== null) x.client.invite(x)
    x.client.readBody()
  }

  /** Keeps what is sent beyond what it set out with, as long as that is little. */
  keep(bytes: Buffer): void {
    if (this.isForgotten) return
    this.#pieces ??= new GrowingBytes()
    if (this.#pieces.size + bytes.length > mostKept) this.forget()
    else this.#pieces.append(bytes)
  }

  /** Lets go of the bytes, so that the body cannot be sent again. */
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
    this.#owner.setOut()
  }

  /** Sets out with what there is, where no request that is there whole has to wait for that. */
  expire(): void {
    if (this.#owner.endOverdueCall()) return
    this.deadline = deadlineIn(this.#x, pause)
    if (this.#x.origin!.hasRoomForPause) this.#setOutWithPart()
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
    else this.#setOutWithPart()
  }

  #setOutAtOnce(): void {
    const { handler, origin } = this.#x
    if (handler === this && origin!.hasRoomForPause) this.#setOutWithPart()
  }

  #setOutWithPart(): void {
    this.isWhole = false
    this.#x.client.pauseBody()
    this.#owner.setOut()
  }
}
