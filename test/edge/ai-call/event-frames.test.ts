import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { EventStreamCodec } from '@smithy/eventstream-codec'
import fc from 'fast-check'
import { EventFrames } from '../../../src/edge/ai-call/event-frames.ts'
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
  fc.assert(
    fc.property(fc.array(fc.nat(stream.length), { maxLength: 20 }), cuts => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), stream.length]
      equal(decode(...at.slice(1).map((end, i) => stream.subarray(at[i], end))), text)
    }),
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
