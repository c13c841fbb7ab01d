// Resets TCP connections, even those whose FIN is just being sent.

import type { Socket } from 'node:net'

/**
 * Closes a connection with a reset, which leaves nothing behind in the system (RFC 9293 section 3.5.3). A
 * connection that is sending its FIN at this moment is closed without a reset: libuv cannot reset it
 * (EINVAL), and Node would leak its descriptor, and spin when the process exits. For a TLS socket,
 * `transport` is the underlying socket.
 */
export function reset(socket: Socket, transport: Socket = socket): void {
  const isEnding = socket.writableEnded && socket.writableLength === 0 && !socket.writableFinished
  if (isEnding) socket.destroy()
  else transport.resetAndDestroy()
}
