// The heads of an origin's responses as the client gets them, without what concerns the connection.

import type { Framing } from '../../http1/body/body.ts'
import { crossingLines, type FieldLines, field, firstValue } from '../../http1/fields/fields.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import type { CompressionDecision } from '../compression/decide.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { evidenceLines } from '../ai-call/response-fields.ts'
import { type Exchange, logIdOf, type ResponseTop } from '../exchange/exchange.ts'
import { withMark } from '../exchange/mcp-session.ts'
import type { ResponseBody } from '../origin/response-handler.ts'
import { hstsLine, relayedStatusLines } from '../exchange/status-lines.ts'

/** `decision` is null if the route compresses nothing. */
export function relayedHead(
  x: Exchange,
  head: ResponseHead,
  decision: CompressionDecision | null,
): ResponseTop {
  const message = decision === null ? rewritten(x, head) : decision.message
  const length = decision === null || decision.keepsLength ? lengthLine(x, head) : ''
  const date = hasDate(head, message) ? '' : `Date: ${x.plane.date()}\r\n`
  const lines = `${crossing(x, head, message)}${length}${date}${missingHstsLine(x, message)}${x.addedLines}${x.ai === null ? '' : aiLines(x, x.ai, head)}${relayedStatusLines(x, head.status)}svc-ray: ${x.ray}\r\n`
  return topOf(head, lines)
}

/** Caches on the way do not know the fields by which an AI route tells its callers apart. */
function aiLines(x: Exchange, ai: AiExchange, head: ResponseHead): string {
  return `${head.hasCacheControl ? '' : 'Cache-Control: no-store\r\n'}${evidenceLines(ai, logIdOf(x))}`
}

/** A rewritten body has no known length. */
export function relayedFraming(body: ResponseBody, isRewritten: boolean): Framing {
  return body.framing === 'close' || isRewritten ? 'chunked' : body.framing
}

/** RFC 9110 section 15.2. */
export function relayedInterim({ isToSidePort }: Exchange, head: ResponseHead): ResponseTop {
  return topOf(head, crossingLines(head, true, isToSidePort))
}

export function relayedSwitch(x: Exchange, head: ResponseHead): ResponseTop {
  const lines = `${crossingLines(rewritten(x, head), true, x.isToSidePort)}${x.addedLines}${relayedStatusLines(x, head.status)}svc-ray: ${x.ray}\r\n`
  return { status: head.status, reason: head.reason, lines }
}

export function rewritten(x: Exchange, head: ResponseHead): FieldLines {
  const message = x.responseChanges === null ? head : x.responseChanges.applyTo(head)
  return x.mcp === null ? message : withMark(x, x.mcp, message)
}

function topOf({ status, reason, neverIndexed }: ResponseHead, lines: string): ResponseTop {
  return { status, reason, lines, neverIndexed }
}

function crossing({ isToSidePort }: Exchange, head: ResponseHead, message: FieldLines): string {
  return message === head && !isToSidePort ? head.crossing() : crossingLines(message, true, isToSidePort)
}

function hasDate(head: ResponseHead, message: FieldLines): boolean {
  return message === head ? head.hasDate : message.ids.includes(field.date)
}

function missingHstsLine(x: Exchange, { fields }: FieldLines): string {
  const line = hstsLine(x)
  return line === '' || firstValue(fields, 'strict-transport-security') !== null ? '' : line
}

function lengthLine(x: Exchange, head: ResponseHead): string {
  if (x.responseFraming === 'chunked') return ''
  const saysLength = x.responseFraming === 'length' || x.head.method === 'HEAD' || head.status === 304
  return saysLength && head.contentLength !== -1 ? `Content-Length: ${head.contentLength}\r\n` : ''
}
