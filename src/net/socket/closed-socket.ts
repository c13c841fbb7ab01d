// Sockets that fail or have closed.

import type { Socket } from 'node:net'

/** The close that follows is enough. */
export function ignoreErrors(socket: Socket): void {
  socket.on('error', ignore)
}

/** V8 allocates a closure of each socket in the old generation, which keeps it until a full collection. */
export function forget(socket: Socket): void {
  for (const event of events) socket.removeAllListeners(event)
}

const events = ['data', 'end', 'drain', 'close', '_tlsError']

function ignore(): void {}
