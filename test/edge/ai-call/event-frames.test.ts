import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { EventStreamCodec } from '@smithy/eventstream-codec'
import fc from 'fast-check'
import { crc32 } from 'node:zlib'
import { asEventStream, EventFrames, hasEventFrames } from '../../../src/edge/ai-call/event-frames.ts'
import { parseResponseHead, type ResponseHead } from '../../../src/http1/heads/response-head.ts'
import { chunk, frame } from '../../help/aws-frames.ts'

const events = ['{"type":"message_start"}', '{"type":"content_block_delta","delta":{"text":"Grüße"}}']
const stream = Buffer.concat(events.map(event => chunk(event)))
const text = events.map(event => `event: ${JSON.parse(event).type}\ndata: ${event}\n\n`).join('')

function decode(...pieces: readonly Buffer[]): string {
  const frames = new EventFrames()
  const texts = pieces.map(piece => frames.push(piece))
  const told = texts.map(text => (text === false ? '!' : (text?.toString() ?? ''))).join('')
  return frames.isWhole ? told : `${told}…`
}

test('chunks become the events of their model, however they are cut', () => {
  equal(decode(stream), text)
  equal(new EventFrames().push(stream.subarray(0, 20)), null)
  fc.assert(
    fc.property(fc.array(fc.nat(stream.length), { maxLength: 20 }), cuts => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), stream.length]
      equal(decode(...at.slice(1).map((end, i) => stream.subarray(at[i], end))), text)
    }),
  )
})

/** Writes the lengths of a frame and of its headers, with their checksum. */
function prelude(size: number, headers: number): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt32BE(size, 0)
  bytes.writeUInt32BE(headers, 4)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8)
  return bytes
}

/** Makes a frame whose checksums are right, whatever its headers are. */
function framed(headers: Buffer, payload: string): Buffer {
  const body = Buffer.concat([headers, Buffer.from(payload)])
  const frame = Buffer.concat([prelude(16 + body.length, headers.length), body, Buffer.alloc(4)])
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4)
  return frame
}

function textHeader(name: string, value: string, type = 7): Buffer {
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([type, value.length >> 8, value.length & 255]),
    Buffer.from(value),
  ])
}

test('a frame has up to 24 MiB, of which 128 KiB are headers, and no more than it holds', () => {
  const [mebibyte, kibibyte] = [1024 * 1024, 1024]
  for (const [size, headers, isAccepted] of [
    [24 * mebibyte, 128 * kibibyte, true],
    [24 * mebibyte + 1, 0, false],
    [24 * mebibyte, 128 * kibibyte + 1, false],
    [17, 1, true],
    [17, 2, false],
  ] as const)
    equal(decode(prelude(size, headers)), isAccepted ? '…' : '!…', `${size}, ${headers}`)
  const broken = prelude(100, 0)
  broken[11]! ^= 1
  equal(decode(broken), '!…')
})

test('headers that are cut off or of no known type break the stream', () => {
  const event = textHeader(':message-type', 'event')
  const payload = '{"a":1}'
  equal(decode(framed(event, payload)), `data: ${payload}\n\n`)
  // Bytes are no text, whatever they are called.
  const bytes = textHeader(':event-type', 'other', 6)
  equal(decode(framed(Buffer.concat([event, bytes]), payload)), `data: ${payload}\n\n`)
  const bad = [
    'ff', // a name that is cut off
    '0161', // no type
    '016107', // no length
    '01610700', // half a length
    '0161070001', // no value
    '0161060001', // no bytes
    '016104000000', // three bytes of an integer
    '01610a', // an unknown type
  ]
  for (const hex of bad) {
    const headers = Buffer.concat([event, Buffer.from(hex, 'hex')])
    equal(decode(framed(headers, payload), framed(event, payload)), '!!…', hex)
  }
  for (const hex of [
    '016100',
    '016101',
    '01610201',
    '0161030001',
    `016105${'00'.repeat(8)}`,
    '0161070000',
    '0161060000',
  ])
    equal(
      decode(framed(Buffer.concat([event, Buffer.from(hex, 'hex')]), payload)),
      `data: ${payload}\n\n`,
      hex,
    )
})

test('what is no event, and what holds none, breaks the stream', () => {
  const headers = { ':message-type': 'event', ':event-type': 'x' }
  const inner = (text: string) => JSON.stringify({ bytes: Buffer.from(text).toString('base64') })
  for (const [kind, payload] of [
    [{ ...headers, ':message-type': 'other' }, '{}'],
    [{ ':event-type': 'x' }, '{}'],
    [headers, ''],
    [headers, '[]'],
    [headers, 'no JSON'],
    [headers, inner('[]')],
    [headers, inner('no JSON')],
  ] as const)
    equal(decode(frame(kind, payload)), '!…', payload)
  equal(decode(frame(headers, inner('{"type":"a b"}'))), 'data: {"type":"a b"}\n\n')
  equal(decode(frame(headers, inner('{"type":1}'))), 'data: {"type":1}\n\n')
  equal(
    decode(frame({ ':message-type': 'event', ':event-type': 'a\nb' }, '{"a":\r\n1}')),
    'data: {"a": 1}\n\n',
  )
})

test('a failure says as much as the frame does', () => {
  const told = (headers: Readonly<Record<string, string>>, payload = '') =>
    JSON.parse(decode(frame(headers, payload)).split('data: ')[1]!).error
  const kind = (type: string) => ({ ':message-type': 'exception', ':exception-type': type })
  deepEqual(told(kind('validationException'), '{"message":"No."}'), {
    type: 'invalid_request_error',
    message: 'No.',
  })
  deepEqual(told(kind('modelStreamErrorException'), '{"originalMessage":"Oh."}'), {
    type: 'api_error',
    message: 'Oh.',
  })
  deepEqual(told(kind('serviceUnavailableException'), 'no JSON'), {
    type: 'overloaded_error',
    message: 'serviceUnavailableException',
  })
  deepEqual(told(kind('modelTimeoutException'), '{"message":1}'), {
    type: 'timeout_error',
    message: 'modelTimeoutException',
  })
  const error = { ':message-type': 'error', ':error-code': 'throttlingException' }
  deepEqual(told({ ...error, ':error-message': 'Oh.' }), { type: 'rate_limit_error', message: 'Oh.' })
  deepEqual(told(error), { type: 'rate_limit_error', message: 'throttlingException' })
  for (const type of ['exception', 'error'])
    deepEqual(told({ ':message-type': type }), { type: 'api_error', message: 'The stream failed.' })
})

test('a response of frames is known by its type, and becomes one of events', () => {
  const head = (lines: string) => {
    const bytes = Buffer.from(`HTTP/1.1 200 OK\r\n${lines}\r\n`)
    return parseResponseHead(bytes, 0, bytes.length) as ResponseHead
  }
  const type = 'application/vnd.amazon.eventstream'
  for (const [lines, has] of [
    [`Content-Type: ${type}\r\n`, true],
    [`content-type: ${type.toUpperCase()} ; a=b\r\n`, true],
    [`Content-Type: ${type}s\r\n`, false],
    ['Content-Type: text/event-stream\r\n', false],
    [`Content-Type: ${type}\r\nContent-Encoding: gzip\r\n`, false],
    ['X: 1\r\n', false],
  ] as const)
    equal(hasEventFrames(head(lines)), has, lines)
  const { fields, contentType, isEventStream, status } = asEventStream(
    head(`X: content-type\r\nY: 1\r\nCONTENT-Type: ${type}\r\n`),
  )
  const sse = 'text/event-stream; charset=utf-8'
  deepEqual(
    [fields, contentType, isEventStream, status],
    [['X', 'content-type', 'Y', '1', 'CONTENT-Type', sse], sse, true, 200],
  )
})

test('events of Converse have their names from the frame', () => {
  const payload = '{"usage":{"inputTokens":1,"outputTokens":2}}'
  equal(
    decode(frame({ ':message-type': 'event', ':event-type': 'metadata' }, payload)),
    `event: metadata\ndata: ${payload}\n\n`,
  )
})

test('an exception becomes an error of Messages', () => {
  const headers = { ':message-type': 'exception', ':exception-type': 'throttlingException' }
  const told = decode(frame(headers, '{"message":"Too many tokens, please wait."}'))
  match(told, /^event: error\n/)
  deepEqual(JSON.parse(told.split('data: ')[1]!), {
    type: 'error',
    error: { type: 'rate_limit_error', message: 'Too many tokens, please wait.' },
  })
  match(
    decode(frame({ ':message-type': 'error', ':error-code': 'x', ':error-message': 'Oh.' }, '')),
    /"Oh\."/,
  )
})

test('a frame with any bit wrong is refused, with all behind it', () => {
  fc.assert(
    fc.property(fc.nat(stream.length * 8 - 1), bit => {
      const broken = Buffer.from(stream)
      broken[bit >> 3]! ^= 1 << (bit & 7)
      const told = decode(broken)
      // A wrong length may promise more than there is.
      match(told, /[!…]/u)
      equal(text.startsWith(told.replace(/[!…]/gu, '')), true)
    }),
    { numRuns: 300 },
  )
})

test('arbitrary bytes never throw, and a frame is never larger than AWS allows', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), bytes => void decode(Buffer.from(bytes))))
  const large = Buffer.alloc(12)
  large.writeUInt32BE(25 * 1024 * 1024, 0)
  equal(decode(large), '!…')
  equal(decode(stream.subarray(0, stream.length - 1)).endsWith('…'), true)
})

test('frames of the codec of AWS are read, whatever headers they have', () => {
  const utf8 = {
    to: (text: string) => Buffer.from(text),
    from: (bytes: Uint8Array) => Buffer.from(bytes).toString(),
  }
  const codec = new EventStreamCodec(utf8.from as never, utf8.to as never)
  const header = fc.oneof(
    fc.record({ type: fc.constant('boolean' as const), value: fc.boolean() }),
    fc.record({ type: fc.constant('byte' as const), value: fc.integer({ min: -128, max: 127 }) }),
    fc.record({ type: fc.constant('short' as const), value: fc.integer({ min: -32768, max: 32767 }) }),
    fc.record({ type: fc.constant('integer' as const), value: fc.integer() }),
    fc.record({ type: fc.constant('binary' as const), value: fc.uint8Array({ maxLength: 40 }) }),
    fc.record({ type: fc.constant('string' as const), value: fc.string({ maxLength: 40 }) }),
    fc.record({ type: fc.constant('timestamp' as const), value: fc.date({ noInvalidDate: true }) }),
    fc.record({ type: fc.constant('uuid' as const), value: fc.uuid() }),
  )
  const name = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme-ascii' })
  fc.assert(
    fc.property(fc.dictionary(name, header), fc.jsonValue(), (headers, value) => {
      const payload = JSON.stringify({ value })
      const own = {
        ':message-type': { type: 'string', value: 'event' },
        ':event-type': { type: 'string', value: 'metadata' },
      } as const
      const bytes = codec.encode({ headers: { ...headers, ...own }, body: Buffer.from(payload) } as never)
      equal(decode(Buffer.from(bytes)), `event: metadata\ndata: ${payload}\n\n`)
    }),
  )
})
