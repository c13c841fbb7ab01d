// Sockets that fail or have closed, and that nobody should hear of, or keep, any more.

import type { Socket } from 'node:net'

/** Takes no notice of errors of a socket: the close that follows is enough. */
export function ignoreErrors(socket: Socket): void {
  socket.on('error', ignore)
}

/**
 * Removes the listeners that a connection has added to its socket, once that has closed. V8 places a closure of each socket of Node among old objects at once, so that the
 * socket, and whatever its listeners refer to, would stay until the next full garbage collection.
 */
export function forget(socket: Socket): void {
  for (const event of events) socket.removeAllListeners(event)
}

const events = ['data', 'end', 'drain', 'close', '_tlsError']

function ignore(): void {}
