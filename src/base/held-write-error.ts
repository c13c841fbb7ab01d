// Reads what a peer has sent before a failed write is believed.

import type { Socket } from 'node:net'

type Done = (error?: Error | null) => void

/** What Node calls on a socket for each write; the second is for several that were corked. */
interface Inner {
  _write(chunk: unknown, encoding: BufferEncoding, done: Done): void
  _writev(chunks: unknown, done: Done): void
}

/**
 * Keeps Node from destroying a socket for a failed write. A server that refuses an upload responds, closes, and resets the connection for what it has not read; Node
 * would then close the socket for the first write that fails, with the response in the system's buffer. A held error leaves the write unfinished, so that nothing
 * more is written, and the socket readable. An `end` or an `error` always follows what is left to read, since a
 * reset ends both directions; the owner must then destroy the socket.
 */
export class HeldWriteError {
  /** Whether the peer may respond to what was written. Where not so much as one write was taken, whatever it has sent was sent before, and the socket fails at once. */
  hasSent = true
  /** Why a write failed, where the socket is read to its end in spite of that; null as long as none has. */
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
