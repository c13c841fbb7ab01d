// Whether a client makes TLS itself do needless work, such as key updates (RFC 8446 section 4.6.3): each
// costs as much as many bytes of data, and may demand one in return. HTTP sees none of it, so none of its
// limits applies. The connection checks at each of its sweeps.

import type { Socket } from 'node:net'

/**
 * Bytes that a client may send without any data among them, and that TLS may buffer for a client that does
 * not read, beyond HTTP's own.
 */
const maxWithoutData = 256 * 1024
/** Encrypted bytes per byte of data: a record of one byte takes 23 to 39, and more with padding. */
const maxPerByte = 256

/** Node's internals of a TLS socket. */
interface SocketInternals {
  /** The encrypted bytes that the system has not taken. */
  readonly _handle?: { readonly writeQueueSize?: number } | null
}

export class TlsPace {
  readonly #socket: Socket
  readonly #transport: Socket
  /** Encrypted bytes at the last check and at the last data, and the bytes of data. */
  #received = 0
  #receivedWithData = 0
  #data = 0

  /** Takes the socket of a client, and the TCP connection under it. */
  constructor(socket: Socket, transport: Socket) {
    this.#socket = socket
    this.#transport = transport
  }

  /** Whether TLS has more to do than an honest client would ask for. */
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

  /**
   * Returns the bytes that wait for the client beyond HTTP's own, which are less than doubled by encryption.
   */
  #unreadBytes(): number {
    const queued = (this.#socket as SocketInternals)._handle?.writeQueueSize ?? 0
    return queued - 2 * this.#socket.writableLength
  }
}
