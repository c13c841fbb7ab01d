// Responses to sockets of the side port that sent no valid request.

import type { Duplex } from 'node:stream'
import { STATUS_CODES } from '../net/http/node-http.ts'
import { type ApiResponse, failure } from './http/envelope.ts'

/** Responds to invalid bytes, so that their sender reads the reason instead of a reset. */
export function refuseBytes(error: ParserError, socket: Duplex, maxHead: number): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  endWith(bytesFailure(error, maxHead), socket)
}

/** Refuses CONNECT: this port opens no tunnels. Node itself would close the connection without a response. */
export function refuseTunnel(socket: Duplex): void {
  // A client that disconnects first is not an error.
  socket.on('error', () => socket.destroy())
  endWith(failure('method_not_allowed', methods), socket, `Allow: ${methods}\r\n`)
}

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'

function endWith({ status, body }: ApiResponse, socket: Duplex, more = ''): void {
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${more}Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
}

interface ParserError extends NodeJS.ErrnoException {
  /** What arrived last, and how far the parser got in it. */
  readonly rawPacket?: Buffer
  readonly bytesParsed?: number
}

function bytesFailure(error: ParserError, maxHead: number): ApiResponse {
  const { code } = error
  if (code === 'HPE_HEADER_OVERFLOW') return failure('head_too_large', maxHead)
  if (hasUnknownMethod(error)) return failure('unknown_method', methods)
  return failure(code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'late_request' : 'no_request')
}

/** Node parses only the methods that it knows, and fails alike at bytes that are no request at all. */
function hasUnknownMethod({ code, rawPacket, bytesParsed = 0 }: ParserError): boolean {
  if (rawPacket === undefined || !methodFailures.has(code)) return false
  // Another request may come before it.
  const begin = rawPacket.subarray(0, bytesParsed).lastIndexOf('\n') + 1
  return requestLine.test(rawPacket.toString('latin1', begin))
}

const methodFailures: ReadonlySet<string | undefined> = new Set([
  'HPE_INVALID_METHOD',
  'HPE_INVALID_CONSTANT',
])
/** RFC 9112 section 3; the method is a token (RFC 9110 section 5.6.2). */
const requestLine = /^[\w!#$%&'*+.^`|~-]+ [!-~]+ HTTP\/1\.[01]\r?\n/
