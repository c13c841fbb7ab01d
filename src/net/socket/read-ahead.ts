// How much Node reads from a paused socket.

import type { Socket } from 'node:net'

interface Inner {
  readonly _readableState: { highWaterMark: number; readingMore: boolean }
}

/**
 * Makes Node stop reading at the first bytes while the socket is paused; by default it goes on up to
 * `highWaterMark`. Also spares each read the tick in which Node would look for more: a tick marked as planned
 * is not planned again.
 */
export function readNothingAhead(socket: Socket): void {
  const readable = (socket as Socket & Inner)._readableState
  readable.highWaterMark = 0
  readable.readingMore = true
}
