// A client that has sent its FIN. That says that nothing more will be sent, and perhaps that the client has left: both look the same until something is sent to
// it, which a system answers with a reset where the program has closed its socket. So one byte is sent at once that belongs to what follows anyway, whatever
// that will be; where no such byte can be known, the next of the response will tell, or the system, which asks without any (RFC 9293 section 3.8.4).

import type { Socket } from 'node:net'
import type { Exchange } from '../exchange/exchange.ts'
import { writeTo } from '../wire/body-writer.ts'

/** Ms after which the system begins to ask a client that has sent its last, and has nothing sent to it, whether it is still there. */
const askAfter = 1_000

export class HalfClosed {
  readonly #socket: Socket
  readonly #transport: Socket
  /** Whether the first byte of the next head was sent before the rest. */
  #hasBegunHead = false

  /** Takes the socket that is written to, and the TCP connection, which is another one below TLS. */
  constructor(socket: Socket, transport: Socket) {
    this.#socket = socket
    this.#transport = transport
  }

  /** Writes what follows the bytes that were sent in advance; false when the client should be given time to read. */
  write(data: string | Buffer): boolean {
    if (!this.#hasBegunHead) return writeTo(this.#socket, data)
    this.#hasBegunHead = false
    return writeTo(this.#socket, data.slice(1))
  }

  /** Sends a byte to which the system of a client that has left responds with a reset. */
  provoke(x: Exchange): void {
    this.#transport.setKeepAlive(true, askAfter)
    if (x.stage === 'none') this.#beginHead()
    // The size of a chunk may begin with any number of zeros (RFC 9112 section 7.1), and every turn ends between two chunks.
    else if (x.responseFraming === 'chunked') this.#socket.write('0')
    else if (x.eventStream?.mayAddComment && x.responseFraming === 'close') this.#socket.write(':\n')
  }

  /** Finds out whether a reset has come: the system reports one only to a write, even an empty one. */
  feel(): void {
    if (this.#socket.writableLength === 0) this.#transport.write('')
  }

  /** Sends what every head begins with, interim and final ones of any status. */
  #beginHead(): void {
    if (this.#hasBegunHead) return
    this.#hasBegunHead = true
    this.#socket.write('H')
  }
}
