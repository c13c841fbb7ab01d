// Reads what a peer has sent before a failed write ends the connection.

import type { Socket } from 'node:net'

type Done = (error?: Error | null) => void

/** Node's methods for each write of a socket; the second is for several that were corked. */
interface Inner {
  _write(chunk: unknown, encoding: BufferEncoding, done: Done): void
  _writev(chunks: unknown, done: Done): void
}

/**
 * A server that refuses an upload responds and closes: its response may still be in the receive buffer. An
 * `end` or `error` always follows; the owner must destroy the socket then.
 */
export class HeldWriteError {
  /** Until a write has succeeded, nothing received is a response, and a failure is final. */
  hasSent = true
  error: Error | null = null

  constructor(socket: Socket) {
    const inner = socket as unknown as Inner
    const write = inner._write
    const writev = inner._writev
    // A socket has one write at a time, and one callback for all.
    let done: Done
    const written: Done = error => {
      if (!error) this.hasSent = true
      else if (this.hasSent) {
        this.error = error
        return
      }
      done(error)
    }
    inner._write = (chunk, encoding, callback) => {
      done = callback
      write.call(socket, chunk, encoding, written)
    }
    inner._writev = (chunks, callback) => {
      done = callback
      writev.call(socket, chunks, written)
    }
  }
}
