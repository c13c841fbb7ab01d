// From what the edge saw of a call to the entry that is kept: usage and cost are read, bodies copied, and nothing of the call lives on. Called by the queue.

import type { LogBatchWriter } from '../store/log-batch-writer.ts'
import type { Body } from '../store/log-head.ts'
import { type Capture, HEAD_SIZE, TAIL_SIZE } from './capture.ts'
import { decode } from './decode.ts'
import type { Observation } from './observation.ts'
import { requestedModel } from './requested-model.ts'

/** What can be read from answers, and what it costs; src/ai knows. */
export interface Meter {
  usageOf(head: Buffer, tail: Buffer, isEventStream: boolean): Usage
  costOf(provider: string, model: string | null, usage: Usage): number | null
}

/** What an answer says of its tokens, as src/ai reads it. */
interface Usage {
  readonly model: string | null
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  readonly cacheRead: number
  readonly cacheWritten: number
  readonly cacheWrittenLong: number
}

/** What is kept of a body, as it was before it was encoded. */
export interface Excerpt {
  readonly head: Buffer
  /** What is kept of its end, where that is not in the head. */
  readonly tail: Buffer
  readonly isCut: boolean
}

/** Adds the entry to a batch. No header and no query is in it; bodies are cut at 64 KiB. */
export function writeEntry(
  o: Observation,
  answer: Excerpt | null,
  meter: Meter,
  writer: LogBatchWriter,
): void {
  const request = excerptOf(o.request)
  const isEventStream = hasType(o.responseContentType, EVENT_STREAM)
  const usage = answer && meter.usageOf(answer.head, answer.tail, isEventStream)
  const { tokensIn = null, tokensOut = null } = usage ?? {}
  const model = o.model ?? requestedModel(o.path, request?.head ?? null) ?? usage?.model ?? null
  const entry = {
    id: o.ray,
    account: o.gateway.account,
    gateway: o.gateway.id,
    createdAt: Math.round(o.startedAt),
    provider: o.provider,
    model,
    path: o.path,
    status: o.status,
    success: o.isWhole && o.status >= 200 && o.status < 300,
    error: o.error,
    duration: inMicroseconds(o.duration),
    timeToFirstByte: o.timeToFirstByte === null ? null : inMicroseconds(o.timeToFirstByte),
    tokensIn,
    tokensOut,
    cost: usage && meter.costOf(o.provider, model, usage),
    cached: false,
    authenticated: o.authenticated,
    tokenId: o.token?.id ?? null,
    tokenName: o.token?.name ?? null,
    streamed: isEventStream || hasType(o.responseContentType, JSON_LINES),
    metadata: o.metadata,
    requestContentType: o.requestContentType,
    responseContentType: o.responseContentType,
  }
  if (o.keepsPayloads) writer.add(entry, bodyOf(request), bodyOf(answer))
  else writer.add(entry, null, null)
}

/** Gives what was kept of a body that is not encoded. */
export function excerptOf(capture: Capture | null): Excerpt | null {
  if (capture === null || capture.size === 0 || capture.isEncoded) return null
  return { head: capture.head(), tail: capture.tail(), isCut: capture.isCut }
}

/** Decodes what was kept of an encoded body; null where that can't be done. */
export async function decodedExcerptOf(capture: Capture, coding: string): Promise<Excerpt | null> {
  const answer = await decode(capture.head(), coding)
  if (answer === null || answer.bytes.length === 0) return null
  const { bytes } = answer
  const head = bytes.subarray(0, HEAD_SIZE)
  const tail = bytes.subarray(Math.max(HEAD_SIZE, bytes.length - TAIL_SIZE))
  return { head, tail, isCut: answer.isCut || capture.isCut || bytes.length > HEAD_SIZE }
}

const EVENT_STREAM = 'text/event-stream'
const JSON_LINES = 'application/x-ndjson'

function bodyOf(excerpt: Excerpt | null): Body | null {
  if (excerpt === null) return null
  const { head, isCut } = excerpt
  return { bytes: head.length < HEAD_SIZE ? head : wholeCharacters(head), isCut }
}

/** Leaves out a UTF-8 character that was cut at the end. */
function wholeCharacters(bytes: Buffer): Buffer {
  let start = bytes.length - 1
  while (start > bytes.length - 4 && (bytes[start]! & 0xc0) === 0x80) start--
  const first = bytes[start]!
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
  return start + size > bytes.length ? bytes.subarray(0, start) : bytes
}

function hasType(contentType: string | null, type: string): boolean {
  if (contentType === null || contentType.length < type.length) return false
  const end = contentType.charCodeAt(type.length)
  const isBorder = Number.isNaN(end) || end === 0x3b || end === 0x20
  return isBorder && contentType.slice(0, type.length).toLowerCase() === type
}

/** Rounds ms to thousandths, in which a record of them is short. */
function inMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
