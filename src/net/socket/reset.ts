// Resets TCP connections, those whose end is just being sent as well.

import type { Socket } from 'node:net'

/**
 * Closes a connection with a reset, which leaves nothing behind in the system (RFC 9293 section 3.5.3). One that is sending its FIN at this moment is closed without:
 * libuv cannot reset it (EINVAL), and Node would leak its descriptor, and spin when the process exits. Of a TLS socket, `transport` is the socket that it is built on.
 */
export function reset(socket: Socket, transport: Socket = socket): void {
  const isEnding = socket.writableEnded && socket.writableLength === 0 && !socket.writableFinished
  if (isEnding) socket.destroy()
  else transport.resetAndDestroy()
}
