// Decodes the event stream of AWS (application/vnd.amazon.eventstream) into server-sent events. Each frame
// has two checksums, and is refused with all that follows if one of them is wrong.

import { crc32 } from 'node:zlib'
import { isObject } from '../../base/text/json.ts'
import { ResponseHead } from '../../http1/heads/response-head.ts'
import { GrowingBytes } from '../wire/growing-bytes.ts'

/** The limits of AWS. */
const maxFrame = 24 * 1024 * 1024
const maxHeaders = 128 * 1024
/** Lengths of frame and headers with their checksum, and the checksum of the frame. */
const preludeSize = 12
const checksumSize = 4

export class EventFrames {
  #partial: GrowingBytes | null = null
  #isBroken = false

  /** Whether the stream may end here. */
  get isWhole(): boolean {
    return this.#partial === null && !this.#isBroken
  }

  /** Returns the text of complete events, null for none; false from the first broken frame on. */
  push(bytes: Buffer): Buffer | null | false {
    if (this.#isBroken) return false
    let rest = bytes
    if (this.#partial !== null) {
      this.#partial.append(bytes)
      rest = this.#partial.bytes
    }
    let events = ''
    while (rest.length >= preludeSize) {
      const size = frameSize(rest)
      if (size > rest.length) break
      const event = size === 0 ? null : eventIn(rest.subarray(0, size))
      if (event === null) return this.#break()
      events += event
      rest = rest.subarray(size)
    }
    this.#keep(rest)
    return events === '' ? null : Buffer.from(events)
  }

  #break(): false {
    this.#partial = null
    this.#isBroken = true
    return false
  }

  #keep(rest: Buffer): void {
    if (this.#partial !== null && this.#partial.size === rest.length) return
    this.#partial =
      rest.length === 0 ? null : new GrowingBytes(rest.length < preludeSize ? 0 : frameSize(rest))
    this.#partial?.append(rest)
  }
}

/** 0 for a beginning that is none of a frame. */
function frameSize(bytes: Buffer): number {
  const size = bytes.readUInt32BE(0)
  const headers = bytes.readUInt32BE(4)
  const isSound = size <= maxFrame && headers <= maxHeaders && preludeSize + headers + checksumSize <= size
  return isSound && crc32(bytes.subarray(0, 8)) === bytes.readUInt32BE(8) ? size : 0
}

function eventIn(frame: Buffer): string | null {
  const end = frame.length - checksumSize
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) return null
  const headersEnd = preludeSize + frame.readUInt32BE(4)
  const headers = headersOf(frame.subarray(preludeSize, headersEnd))
  return headers && eventOf(headers, frame.toString('utf8', headersEnd, end))
}

/** Only texts are of interest; null if the bytes are not headers. */
function headersOf(bytes: Buffer): Map<string, string> | null {
  const headers = new Map<string, string>()
  for (let at = 0; at < bytes.length; ) {
    const nameEnd = at + 1 + bytes[at]!
    const name = bytes.toString('utf8', at + 1, nameEnd)
    const type = bytes[nameEnd]!
    const isSized = type === byteArray || type === string
    if (isSized && nameEnd + 3 > bytes.length) return null
    const from = nameEnd + (isSized ? 3 : 1)
    const length = isSized ? bytes.readUInt16BE(nameEnd + 1) : fixedSizes[type]
    if (length === undefined || from + length > bytes.length) return null
    if (type === string) headers.set(name, bytes.toString('utf8', from, from + length))
    at = from + length
  }
  return headers
}

const byteArray = 6
const string = 7
/** By type: true, false, byte, short, integer, long; timestamp, UUID. */
const fixedSizes: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 }

/** A chunk has the event of its model in base64; events of Converse are in the payload. */
function eventOf(headers: ReadonlyMap<string, string>, payload: string): string | null {
  const kind = headers.get(':message-type')
  if (kind === 'exception') return failure(headers.get(':exception-type') ?? '', messageIn(payload))
  if (kind === 'error') return failure(headers.get(':error-code') ?? '', headers.get(':error-message') ?? '')
  const value = parse(payload)
  if (kind !== 'event' || !isObject(value)) return null
  if (typeof value.bytes !== 'string') return written(headers.get(':event-type') ?? '', payload)
  const data = Buffer.from(value.bytes, 'base64').toString()
  const event = parse(data)
  return isObject(event) ? written(typeof event.type === 'string' ? event.type : '', data) : null
}

function written(type: string, data: string): string {
  const name = /^[\w.-]{1,64}$/.test(type) ? `event: ${type}\n` : ''
  return `${name}data: ${data.replace(/[\r\n]+/g, ' ')}\n\n`
}

function failure(type: string, message: string): string {
  const error = {
    type: errorTypes.get(type) ?? 'api_error',
    message: message || type || 'The stream failed.',
  }
  return written('error', JSON.stringify({ type: 'error', error }))
}

/** By exceptions of Bedrock, the errors of Messages. */
const errorTypes: ReadonlyMap<string, string> = new Map([
  ['throttlingException', 'rate_limit_error'],
  ['validationException', 'invalid_request_error'],
  ['serviceUnavailableException', 'overloaded_error'],
  ['modelTimeoutException', 'timeout_error'],
])

function messageIn(payload: string): string {
  const value = parse(payload)
  if (!isObject(value)) return ''
  const { message, originalMessage } = value
  return [message, originalMessage].find(text => typeof text === 'string') ?? ''
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const framed = /^application\/vnd\.amazon\.eventstream[ \t]*(?:;|$)/i

export function hasEventFrames({
  contentType,
  isEncoded,
}: Pick<ResponseHead, 'contentType' | 'isEncoded'>): boolean {
  return contentType !== null && !isEncoded && framed.test(contentType)
}

/** Returns a head that is one of server-sent events. */
export function asEventStream(head: ResponseHead): ResponseHead {
  const type = 'text/event-stream; charset=utf-8'
  const fields = head.fields.map((value, i) =>
    i % 2 === 1 && head.fields[i - 1]!.toLowerCase() === 'content-type' ? type : value,
  )
  return Object.assign(new ResponseHead(), head, { fields, contentType: type, isEventStream: true })
}
