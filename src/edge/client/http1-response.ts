// Responses as the text of HTTP/1 (RFC 9112): status line, framing and connection around the lines that every version has.

import { chunkText } from '../../http1/body/chunk.ts'
import type { Exchange, ResponseTop } from '../exchange/exchange.ts'

/** Writes an interim response, which clients of HTTP/1.0 would take for the final one. */
export function interimText({ status, reason, lines }: ResponseTop): string {
  return `HTTP/1.1 ${status} ${reason}\r\n${lines}\r\n`
}

/** Writes a whole response whose lines tell the length of its body. */
export function wholeText(x: Exchange, { status, reason, lines }: ResponseTop, body: string): string {
  noteUnreadBody(x)
  const upgrade = status === 426 ? upgradeFields : ''
  return `HTTP/1.1 ${status} ${reason}\r\n${lines}${upgrade}${connectionField(x)}\r\n${body}`
}

/** Names the protocol that the client is to use in place of a WebSocket, which a 426 must do (RFC 9110 sections 7.8 and 15.5.22). */
const upgradeFields = 'Upgrade: HTTP/1.1\r\nConnection: Upgrade\r\n'

/** Writes the head of a response, empty line included. A body of unknown length is chunked; for HTTP/1.0 only the end of the connection can mark its end. */
export function headText(x: Exchange, { status, reason, lines }: ResponseTop): string {
  noteUnreadBody(x)
  if (x.responseFraming !== 'chunked')
    return `HTTP/1.1 ${status} ${reason}\r\n${lines}${connectionField(x)}\r\n`
  if (x.head.minor === 1)
    return `HTTP/1.1 ${status} ${reason}\r\n${lines}Transfer-Encoding: chunked\r\n${connectionField(x)}\r\n`
  x.keepAlive = false
  x.responseFraming = 'close'
  return `HTTP/1.1 ${status} ${reason}\r\n${lines}${connectionField(x)}\r\n`
}

/** Writes the head after which the connection is that of a WebSocket. */
export function switchText({ status, reason, lines }: ResponseTop): string {
  return `HTTP/1.1 ${status} ${reason}\r\n${lines}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`
}

/** Writes text as part of a body of unknown length. */
export function partText(x: Exchange, text: string): string {
  return x.responseFraming === 'chunked' ? chunkText(Buffer.from(text, 'latin1')) : text
}

/** What is left of a body would be read as the next request. */
function noteUnreadBody(x: Exchange): void {
  if (!x.requestBody.done) x.keepAlive = false
}

/** Returns the field that tells the client whether the connection stays open, where the version's default is the other (RFC 9112 section 9.3). */
function connectionField(x: Exchange): string {
  if (!x.keepAlive) return 'Connection: close\r\n'
  return x.head.minor === 0 ? 'Connection: keep-alive\r\n' : ''
}
