// One request of a client and its response.

import { SendingStream } from '../session/sending-stream.ts'

const minHeld = 1024

/** Its first fields are for the code that serves it, the others for the session. */
export class Stream<Owner> extends SendingStream {
  owner: Owner | null = null
  /** Some of it may wait to be read. */
  isRequestWhole: boolean
  /** An extended CONNECT (RFC 8441); the head is that of a WebSocket handshake over HTTP/1. */
  isTunnel = false
  hasKey = false
  /** Bytes that the client may still send, and bytes that were read but not given back yet. */
  receiveWindow: number
  toGiveBack = 0
  bodyLeft = -1
  isBodyWanted = false
  isBodyOver = false
  requestTrailers: readonly string[] | null = null
  hasResponded = false
  /** Monotonic ms until which the client may still finish the request after its response; 0 before. */
  lingersUntil = 0
  /** Ms in which something waited, and the part of them that the bytes read since make up for. */
  waited = 0
  earned = 0
  #held: Buffer | null = null
  #heldLength = 0

  constructor(id: number, isRequestWhole: boolean, receiveWindow: number, sendWindow: number) {
    super(id, sendWindow)
    this.isRequestWhole = this.isBodyOver = isRequestWhole
    this.receiveWindow = receiveWindow
  }

  /** Copies the bytes: many small ones would keep as many large packets alive. */
  hold(bytes: Buffer, at: number, end: number): void {
    const length = this.#heldLength + end - at
    if (this.#held === null || this.#held.length < length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(2 * length, minHeld))
      this.#held?.copy(grown, 0, 0, this.#heldLength)
      this.#held = grown
    }
    bytes.copy(this.#held, this.#heldLength, at, end)
    this.#heldLength = length
  }

  takeHeld(): Buffer | null {
    const held = this.#held?.subarray(0, this.#heldLength) ?? null
    this.#held = null
    this.#heldLength = 0
    return held
  }

  override close(): void {
    super.close()
    this.#held = null
  }
}
