// Whether a client makes TLS do needless work, such as key updates (RFC 8446 section 4.6.3). HTTP sees none
// of it, so none of its limits applies.

import type { Socket } from 'node:net'

/** Bytes that a client may send without data, and that TLS may buffer beyond HTTP's own. */
const maxWithoutData = 256 * 1024
/** A record of one byte takes 23 to 39, and more with padding. */
const maxPerByte = 256

interface SocketInternals {
  readonly _handle?: { readonly writeQueueSize?: number } | null
}

export class TlsPace {
  readonly #socket: Socket
  readonly #transport: Socket
  #received = 0
  #receivedWithData = 0
  #data = 0

  constructor(socket: Socket, transport: Socket) {
    this.#socket = socket
    this.#transport = transport
  }

  isFlooded(): boolean {
    const received = this.#transport.bytesRead
    if (received === this.#received) return false
    const data = this.#socket.bytesRead
    // What arrives after the data, before the next check, is not credited to it.
    const withData = Math.min(received, this.#received + (data - this.#data) * maxPerByte)
    if (data !== this.#data) this.#receivedWithData = withData
    this.#received = received
    this.#data = data
    return received - this.#receivedWithData > maxWithoutData || this.#unreadBytes() > maxWithoutData
  }

  #unreadBytes(): number {
    const queued = (this.#socket as SocketInternals)._handle?.writeQueueSize ?? 0
    return queued - 2 * this.#socket.writableLength
  }
}
