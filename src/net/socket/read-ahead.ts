// How much Node reads of a socket that is paused.

import type { Socket } from 'node:net'

/** What Node keeps of the readable side; its bound is given to a socket when that is made, and Node's servers give it to the writable side as well. */
interface Inner {
  readonly _readableState: { highWaterMark: number; readingMore: boolean }
}

/**
 * Has Node stop reading with the first bytes that come while the socket is paused. By default it goes on up to `highWaterMark` bytes, however small the pieces: a client that sends a few bytes
 * at a time has each become a read, a turn of the stream and a Buffer that waits, thousands of them for one connection.
 *
 * It also spares each read the tick in which Node would look for more to read, which never finds a socket that is not read already. Marked as planned, it is not planned again.
 */
export function readNothingAhead(socket: Socket): void {
  const readable = (socket as Socket & Inner)._readableState
  readable.highWaterMark = 0
  readable.readingMore = true
}
