// Responses to sockets of the side port that sent no valid request.

import type { Duplex } from 'node:stream'
import { STATUS_CODES } from '../net/http/node-http.ts'
import { type ApiResponse, failure } from './http/envelope.ts'

/** Responds to invalid bytes, so that their sender reads the reason instead of a reset. */
export function refuseBytes(error: NodeJS.ErrnoException, socket: Duplex, maxHead: number): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  endWith(bytesFailure(error, maxHead), socket)
}

/** Refuses CONNECT: this port opens no tunnels. Node itself would close the connection without a response. */
export function refuseTunnel(socket: Duplex): void {
  // A client that disconnects first is not an error.
  socket.on('error', () => socket.destroy())
  endWith(failure('method_not_allowed', tunnelless), socket, `Allow: ${tunnelless}\r\n`)
}

const tunnelless = 'GET, HEAD, POST, PUT, PATCH, DELETE'

function endWith({ status, body }: ApiResponse, socket: Duplex, more = ''): void {
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${more}Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
}

function bytesFailure({ code }: NodeJS.ErrnoException, maxHead: number): ApiResponse {
  if (code === 'HPE_HEADER_OVERFLOW') return failure('head_too_large', maxHead)
  return failure(code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'late_request' : 'no_request')
}
