// From what the edge saw of a call to the entry that is kept: decoding, usage and cost, off the request path. Called by the queue.

import { StringDecoder } from 'node:string_decoder'
import type { LogEntry, Payload } from '../store/records.ts'
import { type Capture, HEAD_SIZE, TAIL_SIZE } from './capture.ts'
import { decode } from './decode.ts'
import type { Observation } from './observation.ts'
import { requestedModel } from './requested-model.ts'

/** What can be read from answers, and what it costs; src/ai knows. */
export interface Meter {
  usageOf(
    head: string,
    tail: string,
    isEventStream: boolean,
  ): {
    readonly model: string | null
    readonly tokensIn: number | null
    readonly tokensOut: number | null
  }
  costOf(
    provider: string,
    model: string | null,
    tokensIn: number | null,
    tokensOut: number | null,
  ): number | null
}

/** Makes the entry, at once unless the answer must be decoded first. No header and no query is in it; payloads are text, cut at 64 KiB. */
export function toEntry(observation: Observation, meter: Meter): LogEntry | Promise<LogEntry> {
  const { response, responseEncoding } = observation
  if (response === null || !response.isEncoded) return entryOf(observation, meter, excerptOf(response))
  return decoded(response, responseEncoding ?? '').then(answer => entryOf(observation, meter, answer))
}

/** The beginning and the end of a body as text. */
interface Excerpt {
  readonly head: string
  readonly tail: string
  readonly isCut: boolean
}

function entryOf(o: Observation, meter: Meter, answer: Excerpt | null): LogEntry {
  const request = excerptOf(o.request)
  const isEventStream = hasType(o.responseContentType, EVENT_STREAM)
  const usage = answer && meter.usageOf(answer.head, answer.tail, isEventStream)
  const { tokensIn = null, tokensOut = null } = usage ?? {}
  const model = o.model ?? requestedModel(o.path, request?.head ?? '') ?? usage?.model ?? null
  return {
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
    cost: meter.costOf(o.provider, model, tokensIn, tokensOut),
    cached: false,
    authenticated: o.authenticated,
    streamed: isEventStream || hasType(o.responseContentType, JSON_LINES),
    metadata: o.metadata,
    requestContentType: o.requestContentType,
    responseContentType: o.responseContentType,
    request: o.keepsPayloads ? payloadOf(request) : null,
    response: o.keepsPayloads ? payloadOf(answer) : null,
  }
}

const EVENT_STREAM = 'text/event-stream'
const JSON_LINES = 'application/x-ndjson'

function excerptOf(capture: Capture | null): Excerpt | null {
  if (capture === null || capture.size === 0 || capture.isEncoded) return null
  return { head: textOf(capture.head()), tail: textOf(capture.tail()), isCut: capture.isCut }
}

async function decoded(capture: Capture, coding: string): Promise<Excerpt | null> {
  const answer = await decode(capture.head(), coding)
  if (answer === null || answer.bytes.length === 0) return null
  const { bytes } = answer
  const head = bytes.subarray(0, HEAD_SIZE)
  const tail = bytes.subarray(Math.max(HEAD_SIZE, bytes.length - TAIL_SIZE))
  const isCut = answer.isCut || capture.isCut || bytes.length > HEAD_SIZE
  return { head: textOf(head), tail: textOf(tail), isCut }
}

function payloadOf(excerpt: Excerpt | null): Payload | null {
  return excerpt && { text: excerpt.head, isCut: excerpt.isCut }
}

/** Reads UTF-8 with a replacement for what is none; a character that was cut at the end is left out. */
function textOf(bytes: Buffer): string {
  return bytes.length < HEAD_SIZE ? bytes.toString() : new StringDecoder('utf8').write(bytes)
}

function hasType(contentType: string | null, type: string): boolean {
  if (contentType === null) return false
  const end = contentType.charCodeAt(type.length)
  const isBorder = Number.isNaN(end) || end === 0x3b || end === 0x20
  return isBorder && contentType.slice(0, type.length).toLowerCase() === type
}

/** Rounds ms to thousandths, in which a record of them is short. */
function inMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
