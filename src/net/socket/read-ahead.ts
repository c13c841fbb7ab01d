// How much Node reads from a paused socket.

import type { Socket } from 'node:net'

/**
 * Node's state of the readable side; its bound is set when a socket is made, and Node's servers apply it to
 * the writable side as well.
 */
interface Inner {
  readonly _readableState: { highWaterMark: number; readingMore: boolean }
}

/**
 * Makes Node stop reading at the first bytes that come while the socket is paused. By default it goes on up
 * to `highWaterMark` bytes, however small the pieces: for a client that sends a few bytes at a time, each
 * becomes a read, a turn of the stream and a waiting Buffer, thousands of them for one connection. It also
 * spares each read the tick in which Node would look for more to read, which never finds anything on a socket
 * that is being read. A tick that is marked as planned is not planned again.
 */
export function readNothingAhead(socket: Socket): void {
  const readable = (socket as Socket & Inner)._readableState
  readable.highWaterMark = 0
  readable.readingMore = true
}
