// Writes one message to its next hop, head and body. The bytes of one read leave in one write, however small
// their pieces.

import type { Socket } from 'node:net'
import type { Framing } from '../../http1/body/body.ts'
import { chunkSize, chunkText, lastChunk } from '../../http1/body/chunk.ts'

/**
 * Pieces up to this many bytes are copied into the text of the same write: saving a write is worth the copy.
 */
const maxCopied = 16 * 1024

/** The connection to the next hop. */
export interface ByteSink {
  /** Writes text (latin1) or bytes; false when the peer should be given time to read. */
  write(data: string | Buffer): boolean
  /** Joins the writes between the two calls into one packet. */
  cork(): void
  uncork(): void
}

/** Writes text as latin1, and bytes as they are; false when the peer should be given time to read. */
export function writeTo(socket: Socket, data: string | Buffer): boolean {
  return typeof data === 'string' ? socket.write(data, 'latin1') : socket.write(data)
}

export class BodyWriter {
  /** Whether anything was written. */
  hasBegun = false
  readonly #sink: ByteSink
  readonly #isChunked: boolean
  /** What is written with the next flush. */
  #pending: string

  constructor(sink: ByteSink, head: string, framing: Framing) {
    this.#sink = sink
    this.#pending = head
    this.#isChunked = framing === 'chunked'
  }

  /** Writes body bytes; false when the peer should be given time to read. */
  data(bytes: Buffer): boolean {
    if (bytes.length > maxCopied) return this.#writeLarge(bytes)
    this.#pending += this.#isChunked ? chunkText(bytes) : bytes.toString('latin1')
    return true
  }

  /** Writes what is held back; false when the peer should be given time to read. */
  flush(): boolean {
    if (this.#pending === '') return true
    const pending = this.#pending
    this.#pending = ''
    this.hasBegun = true
    return this.#sink.write(pending)
  }

  /** Ends the body; the trailers are flat, null for none. */
  end(trailers: readonly string[] | null): void {
    if (this.#isChunked) this.#pending += lastChunk(trailers)
    this.flush()
  }

  #writeLarge(bytes: Buffer): boolean {
    this.#sink.cork()
    if (this.#isChunked) this.#pending += chunkSize(bytes.length)
    this.flush()
    this.hasBegun = true
    const hasRoom = this.#sink.write(bytes)
    if (this.#isChunked) this.#sink.write('\r\n')
    this.#sink.uncork()
    return hasRoom
  }
}
