// Responses as HTTP/1 text (RFC 9112).

import { chunkText } from '../../http1/body/chunk.ts'
import type { Exchange, ResponseTop } from '../exchange/exchange.ts'

/** Formats an interim response. HTTP/1.0 clients would take it for the final one. */
export function interimText({ status, reason, lines }: ResponseTop): string {
  return `HTTP/1.1 ${status} ${reason}\r\n${lines}\r\n`
}

/** The lines include Content-Length. */
export function wholeText(x: Exchange, { status, reason, lines }: ResponseTop, body: string): string {
  noteUnreadBody(x)
  const upgrade = status === 426 ? upgradeFields : ''
  return `HTTP/1.1 ${status} ${reason}\r\n${lines}${upgrade}${connectionField(x)}\r\n${body}`
}

/** A 426 must name the protocol to use (RFC 9110 sections 7.8 and 15.5.22). */
const upgradeFields = 'Upgrade: HTTP/1.1\r\nConnection: Upgrade\r\n'

/** A body of unknown length is chunked; for HTTP/1.0, the connection is closed at its end. */
export function headText(x: Exchange, { status, reason, lines }: ResponseTop): string {
  noteUnreadBody(x)
  if (x.responseFraming !== 'chunked') return `${statusLine(status, reason)}${lines}${connectionField(x)}\r\n`
  if (x.head.minor === 1)
    return `${statusLine(status, reason)}${lines}Transfer-Encoding: chunked\r\n${connectionField(x)}\r\n`
  x.keepAlive = false
  x.responseFraming = 'close'
  return `${statusLine(status, reason)}${lines}${connectionField(x)}\r\n`
}

function statusLine(status: number, reason: string): string {
  return status === 200 && reason === 'OK' ? usual : `HTTP/1.1 ${status} ${reason}\r\n`
}

const usual = 'HTTP/1.1 200 OK\r\n'

/** Formats the head that switches to a WebSocket. */
export function switchText({ status, reason, lines }: ResponseTop): string {
  return `HTTP/1.1 ${status} ${reason}\r\n${lines}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`
}

/** Formats text as part of a body of unknown length. */
export function partText(x: Exchange, text: string): string {
  return x.responseFraming === 'chunked' ? chunkText(Buffer.from(text, 'latin1')) : text
}

/** The rest of the body would be read as the next request. */
function noteUnreadBody(x: Exchange): void {
  if (!x.requestBody.done) x.keepAlive = false
}

/** Empty for the version's default (RFC 9112 section 9.3). */
function connectionField(x: Exchange): string {
  if (!x.keepAlive) return 'Connection: close\r\n'
  return x.head.minor === 0 ? 'Connection: keep-alive\r\n' : ''
}
