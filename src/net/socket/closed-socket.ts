// Sockets that fail or have closed.

import type { Socket } from 'node:net'

/** The close that follows is enough. */
export function ignoreErrors(socket: Socket): void {
  socket.on('error', ignore)
}

/**
 * V8 allocates one closure of each Node socket in the old generation, which would keep a closed socket and
 * its listeners until the next full garbage collection.
 */
export function forget(socket: Socket): void {
  for (const event of events) socket.removeAllListeners(event)
}

const events = ['data', 'end', 'drain', 'close', '_tlsError']

function ignore(): void {}
