// Resets TCP connections, even those whose FIN is just being sent.

import type { Socket } from 'node:net'

/**
 * Leaves nothing behind in the system (RFC 9293 section 3.5.3). While the connection is sending its FIN it is
 * closed without: libuv cannot reset it then (EINVAL), and Node would leak its descriptor. For a TLS socket,
 * `transport` is the underlying socket.
 */
export function reset(socket: Socket, transport: Socket = socket): void {
  const isEnding = socket.writableEnded && socket.writableLength === 0 && !socket.writableFinished
  if (isEnding) socket.destroy()
  else transport.resetAndDestroy()
}
