// Whether a client makes TLS itself work on and on, such as by updates of keys (RFC 8446 section 4.6.3): each costs as much as many bytes of data, and may want
// one in return. Nothing of that reaches HTTP, so none of its limits ends it; the client connection asks at each of its sweeps.

import type { Socket } from 'node:net'

/** Bytes that a client may send without any data among them, and that TLS may have for a client which does not read, beside what HTTP has for it. */
const most = 256 * 1024
/** Bytes that a byte of data may come in: a record of one byte has 23 to 39, and more with padding. */
const mostPerByte = 256

/** A TLS socket as Node keeps it. */
interface Inner {
  /** The size is that of encrypted bytes which the system has not taken. */
  readonly _handle?: { readonly writeQueueSize?: number } | null
}

export class TlsPace {
  readonly #socket: Socket
  readonly #transport: Socket
  /** Bytes that had come by the last look, those that had come by the last data, and the data. */
  #received = 0
  #receivedWithData = 0
  #data = 0

  /** Takes the socket of a client, and the TCP connection below it. */
  constructor(socket: Socket, transport: Socket) {
    this.#socket = socket
    this.#transport = transport
  }

  /** Whether TLS has had more to do than honest clients want of it. */
  isFlooded(): boolean {
    const received = this.#transport.bytesRead
    if (received === this.#received) return false
    const data = this.#socket.bytesRead
    // What comes behind the data, before the next look, is not for it.
    const withData = Math.min(received, this.#received + (data - this.#data) * mostPerByte)
    if (data !== this.#data) this.#receivedWithData = withData
    this.#received = received
    this.#data = data
    return received - this.#receivedWithData > most || this.#unread() > most
  }

  /** Returns how many bytes wait for the client that are not HTTP's own: encrypted, those are less than twice as many. */
  #unread(): number {
    const queued = (this.#socket as Inner)._handle?.writeQueueSize ?? 0
    return queued - 2 * this.#socket.writableLength
  }
}
