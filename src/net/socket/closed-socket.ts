// Sockets that fail or have closed, and should neither be heard of nor kept in memory.

import type { Socket } from 'node:net'

/** Ignores errors of a socket: the close that follows is enough. */
export function ignoreErrors(socket: Socket): void {
  socket.on('error', ignore)
}

/**
 * Removes the listeners that a connection has added to its socket, after the socket has closed. V8 allocates
 * one closure of each Node socket in the old generation, so that the socket, and whatever its listeners refer
 * to, would stay until the next full garbage collection.
 */
export function forget(socket: Socket): void {
  for (const event of events) socket.removeAllListeners(event)
}

const events = ['data', 'end', 'drain', 'close', '_tlsError']

function ignore(): void {}
