// Writes one message to its next hop; the bytes of one read leave in one write, however small their pieces.

import type { Socket } from 'node:net'
import { ownBytes, unsharedBytes } from '../../net/socket/shared-reads.ts'
import type { Framing } from '../../http1/body/body.ts'
import { chunkSize, chunkText, lastChunk } from '../../http1/body/chunk.ts'

/** Bytes up to which a copy costs less than another write. */
const maxCopied = 16 * 1024
/** Bytes of a body from which text, which V8 has twice, costs more than a buffer. */
const minJoined = 512

/** Writing methods here and below return false when the peer should be given time to read. */
export interface ByteSink {
  /** Whether the system has taken all that was written. */
  readonly isWritten: boolean
  write(data: string | Buffer): boolean
  cork(): void
  uncork(): void
}

/** Writes text as latin1. */
export function writeTo(socket: Socket, data: string | Buffer): boolean {
  return typeof data === 'string' ? socket.write(data, 'latin1') : socket.write(data)
}

export class BodyWriter {
  readonly copiesData = true
  hasBegun = false
  readonly #sink: ByteSink
  readonly #isChunked: boolean
  #pending: string | Buffer

  constructor(sink: ByteSink, head: string, framing: Framing) {
    this.#sink = sink
    this.#pending = head
    this.#isChunked = framing === 'chunked'
  }

  data(bytes: Buffer): boolean {
    if (bytes.length > maxCopied) return this.#writeLarge(bytes)
    if (!this.#isChunked && !this.hasBegun) {
      if (typeof this.#pending !== 'string') this.flush()
      else if (bytes.length >= minJoined) return this.#join(this.#pending, bytes)
    }
    this.#pending += this.#isChunked ? chunkText(bytes) : bytes.toString('latin1')
    return true
  }

  flush(): boolean {
    if (this.#pending.length === 0) return true
    const pending = this.#pending
    this.#pending = ''
    this.hasBegun = true
    return this.#sink.write(pending)
  }

  end(trailers: readonly string[] | null): void {
    if (this.#isChunked) this.#pending += lastChunk(trailers)
    this.flush()
  }

  #join(text: string, bytes: Buffer): true {
    const message = Buffer.allocUnsafe(text.length + bytes.length)
    message.write(text, 'latin1')
    message.set(bytes, text.length)
    this.#pending = message
    return true
  }

  #writeLarge(bytes: Buffer): boolean {
    this.#sink.cork()
    if (this.#isChunked) this.#pending += chunkSize(bytes.length)
    this.flush()
    this.hasBegun = true
    const hasRoom = this.#sink.write(unsharedBytes(bytes))
    if (this.#isChunked) this.#sink.write('\r\n')
    this.#sink.uncork()
    if (this.#sink.isWritten) return true
    ownBytes(bytes)
    return hasRoom
  }
}
