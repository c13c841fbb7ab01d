// A client that has sent its FIN. It may only have finished sending, or may have left: both look the same
// until something is sent to it, to which a system responds with a reset if the program has closed its
// socket. So one byte of the coming response is sent early, where it is the same whatever that response will
// be. Otherwise the next write of the response will tell, or a keep-alive probe of the system (RFC 9293
// section 3.8.4).

import type { Socket } from 'node:net'
import type { Exchange } from '../exchange/exchange.ts'
import { writeTo } from '../wire/body-writer.ts'

/** Ms of silence after which the system begins to probe the client. */
const probeDelay = 1_000

export class HalfClosed {
  readonly #socket: Socket
  readonly #transport: Socket
  #hasBegunHead = false

  /** Under TLS, `transport` is the TCP connection below the socket. */
  constructor(socket: Socket, transport: Socket) {
    this.#socket = socket
    this.#transport = transport
  }

  /** Writes the bytes that were not sent in advance; false when the client should be given time to read. */
  write(data: string | Buffer): boolean {
    if (!this.#hasBegunHead) return writeTo(this.#socket, data)
    this.#hasBegunHead = false
    return writeTo(this.#socket, data.slice(1))
  }

  /** Sends a byte, which provokes a reset if the client has left. */
  provoke(x: Exchange): void {
    this.#transport.setKeepAlive(true, probeDelay)
    if (x.stage === 'none') this.#beginHead()
    // A chunk size may begin with zeros (RFC 9112 section 7.1), and every chunk is complete between turns.
    else if (x.responseFraming === 'chunked') this.#socket.write('0')
    else if (x.eventStream?.mayAddComment && x.responseFraming === 'close') this.#socket.write(':\n')
  }

  /** Detects a reset: the system reports one only to a write, even an empty one. */
  detectReset(): void {
    if (this.#socket.writableLength === 0) this.#transport.write('')
  }

  #beginHead(): void {
    if (this.#hasBegunHead) return
    this.#hasBegunHead = true
    this.#socket.write('H')
  }
}
