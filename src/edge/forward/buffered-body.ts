// Buffers all of a small body, so that it can be sent again, and the beginning of a large one.

import { ownBytes } from '../../net/socket/shared-reads.ts'
import { GrowingBytes } from '../wire/growing-bytes.ts'
import { deliverBug } from '../exchange/deliver.ts'
import type { Exchange, RequestHandler } from '../exchange/exchange.ts'
import { callTimeout, isGrpc } from '../exchange/grpc.ts'
import { guarded } from '../../base/guarded.ts'

/**
 * Bytes up to which a body is read before the request is sent; of a larger one, as much must have come:
 * silent clients would otherwise hold all connections of an origin.
 */
const smallBody = 64 * 1024
/** Max kept bytes of a streamed body that may be refused: twice the window of HTTP/2. */
const maxKept = 2 * smallBody
/** Ms after which a client that pauses may be waiting for a response. */
const pause = 500

interface BodyOwner {
  bodyReady(): void
  /** Returns whether the call was overdue. */
  endOverdueCall(): boolean
  abort(): void
}

export class BufferedBody implements RequestHandler {
  /** When the request was sent. */
  isWhole = true
  isForgotten = false
  readonly copiesBody = true
  deadline = Number.POSITIVE_INFINITY
  readonly #x: Exchange
  readonly #owner: BodyOwner
  /** Sent at once: the server may need each message as it comes, or speak first. */
  #isCall = false
  #bytes: Buffer | null
  #pieces: GrowingBytes | null = null

  constructor(x: Exchange, owner: BodyOwner, bytes: Buffer | null) {
    this.#x = x
    this.#owner = owner
    this.#bytes = bytes
  }

  get bytes(): Buffer | null {
    return this.#pieces === null ? this.#bytes : this.#pieces.bytes
  }

  gather(): void {
    const x = this.#x
    x.handler = this
    if (isGrpc(x.head)) {
      this.#isCall = true
      this.deadline = x.deadlineIn(Math.min(pause, callTimeout(x.head)))
      // After what came with the head: a call of one message is then whole.
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

  keep(bytes: Buffer): void {
    if (this.isForgotten) return
    this.#pieces ??= new GrowingBytes()
    if (this.#pieces.size + bytes.length > maxKept) this.forget()
    else this.#pieces.append(bytes)
  }

  forget(): void {
    this.isForgotten = true
    this.#bytes = null
    this.#pieces = null
  }

  body(bytes: Buffer): void {
    const { tap, requestBody } = this.#x
    tap?.noteRequest(bytes)
    // Mostly all of it comes at once.
    if (this.#pieces === null && requestBody.done) this.#bytes = ownBytes(bytes)
    else this.#grow((this.#pieces ??= new GrowingBytes(this.#expected)), bytes)
  }

  /** Of a large body, as much as is sent in one piece. */
  get #expected(): number {
    return Math.min(this.#x.head.contentLength, maxKept)
  }

  bodyEnd(): void {
    this.#owner.bodyReady()
  }

  /** Unless complete requests are waiting for the connection. */
  expire(): void {
    if (this.#owner.endOverdueCall()) return
    this.deadline = this.#x.deadlineIn(pause)
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
      if (requestBody.framing === 'chunked' && !this.#isCall) this.deadline = this.#x.deadlineIn(pause)
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
