// One request of a client and its response: what has arrived of the request before it was asked for, and the
// windows both ways.

import { SendingStream } from '../session/sending-stream.ts'

const minHeld = 1024

/** Its first fields are for the code that serves it, the others for the session. */
export class Stream<Owner> extends SendingStream {
  /** Set and read only by the code that serves the request. */
  owner: Owner | null = null
  /** Whether all of the request has come, some of which may wait to be asked for. */
  isRequestWhole: boolean
  /**
   * Whether the client asked for a tunnel by an extended CONNECT (RFC 8441); the head is that of a WebSocket
   * handshake over HTTP/1.
   */
  isTunnel = false
  /** Whether it brought the key of that handshake itself. */
  hasKey = false
  /** Bytes that the client may still send, and bytes that were read but not given back yet. */
  receiveWindow: number
  toGiveBack = 0
  /** Bytes of the body that must still come, -1 if unknown. */
  bodyLeft = -1
  isBodyWanted = false
  /** Whether the end of the body was handed over. */
  isBodyOver = false
  requestTrailers: readonly string[] | null = null
  /** Whether the final head of the response was written. */
  hasResponded = false
  /**
   * Monotonic ms until which the client may still send the rest of a request that has its response; 0 for
   * other streams.
   */
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

  /**
   * Keeps bytes of the body until they are asked for: copied, since many small ones would keep as many large
   * packets.
   */
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

  /** Takes out what was held; null for nothing. */
  takeHeld(): Buffer | null {
    const held = this.#held?.subarray(0, this.#heldLength) ?? null
    this.#held = null
    this.#heldLength = 0
    return held
  }

  /** Drops what waits, both ways. */
  override close(): void {
    super.close()
    this.#held = null
  }
}
