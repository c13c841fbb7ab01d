// The heads of an origin's responses as the client will see them: everything end to end unchanged, framing and connection our own (RFC 9112 sections 6 and
// 9).

import type { BodyReader, Framing } from '../../http1/body.ts'
import { crossingLines, equalsIgnoreCase, type FieldLines, field } from '../../http1/fields.ts'
import type { ResponseHead } from '../../http1/response-head.ts'
import type { Exchange } from '../exchange.ts'

/** Writes the head of the final response, empty line included. */
export function relayedHead(x: Exchange, head: ResponseHead): string {
  const message = rewritten(x, head)
  const date = hasDate(head, message) ? '' : `Date: ${x.plane.date()}\r\n`
  return `HTTP/1.1 ${head.status} ${head.reason}\r\n${crossingLines(message)}${framingField(x, head)}${date}${unsaidHstsLine(x, message)}${x.limitFields}svc-ray: ${x.ray}\r\n${connectionField(x)}\r\n`
}

/**
 * Decides how the client will find the end of the body. One of unknown length is chunked for HTTP/1.1; for HTTP/1.0 only the end of the connection
 * can mark its end. The length of a rewritten body is not known before its end.
 */
export function relayedFraming(x: Exchange, body: BodyReader, isRewritten: boolean): Framing {
  const isKnown = body.framing !== 'chunked' && body.framing !== 'close' && !isRewritten
  if (isKnown) return body.framing
  if (x.head.minor === 1) return 'chunked'
  x.keepAlive = false
  return 'close'
}

/** Writes an interim response (RFC 9110 section 15.2). */
export function relayedInterim(head: ResponseHead): string {
  return `HTTP/1.1 ${head.status} ${head.reason}\r\n${crossingLines(head)}\r\n`
}

/** Writes the response that turns the connection into a WebSocket. */
export function relayedSwitch(x: Exchange, head: ResponseHead): string {
  return `HTTP/1.1 101 ${head.reason}\r\n${crossingLines(rewritten(x, head))}Connection: Upgrade\r\nUpgrade: websocket\r\n${x.limitFields}svc-ray: ${x.ray}\r\n\r\n`
}

/** Returns the field that tells the client whether the connection stays open, where the version's default is the other (RFC 9112 section 9.3). */
export function connectionField(x: Exchange): string {
  if (!x.keepAlive) return 'Connection: close\r\n'
  return x.head.minor === 0 ? 'Connection: keep-alive\r\n' : ''
}

/** Returns the fields of a response as the route leaves them. */
function rewritten({ responseChanges }: Exchange, head: ResponseHead): FieldLines {
  return responseChanges === null ? head : responseChanges.applyTo(head)
}

function hasDate(head: ResponseHead, message: FieldLines): boolean {
  return message === head ? head.hasDate : message.ids.includes(field.date)
}

/** Returns how long browsers are to use https only, as the zone has it (RFC 6797 section 6.1); empty over plain HTTP, where they must ignore it. */
export function hstsLine(x: Exchange): string {
  const hsts = x.zone === null ? null : x.zone.config.tls.hsts
  return hsts === null || x.scheme !== 'https' ? '' : `Strict-Transport-Security: max-age=${hsts}\r\n`
}

/** Returns the same, where the origin does not say it. */
function unsaidHstsLine(x: Exchange, { fields }: FieldLines): string {
  const line = hstsLine(x)
  if (line === '') return ''
  for (let i = 0; i < fields.length; i += 2)
    if (equalsIgnoreCase(fields[i]!, 'strict-transport-security')) return ''
  return line
}

function framingField(x: Exchange, head: ResponseHead): string {
  if (x.responseFraming === 'chunked') return 'Transfer-Encoding: chunked\r\n'
  const saysLength = x.responseFraming === 'length' || x.head.method === 'HEAD' || head.status === 304
  return saysLength && head.contentLength !== -1 ? `Content-Length: ${head.contentLength}\r\n` : ''
}
