// The event streams of AWS, whose frames have two checksums.

import assert from 'node:assert/strict'
import { crc32 } from 'node:zlib'
import { EventFrames } from '../../../src/edge/ai-call/event-frames.ts'
import { SseReader } from '../../../src/ai/parsing/sse.ts'
import { chunk, frame } from '../../help/aws-frames.ts'
import { sameInPieces, type Target } from '../target.ts'

function read(pieces: readonly Buffer[]): unknown {
  const frames = new EventFrames()
  let text = ''
  let isBroken = false
  for (const piece of pieces) {
    const events = frames.push(piece)
    isBroken ||= events === false
    assert.equal(events === false, isBroken)
    if (events) text += events.toString()
  }
  const events: string[] = []
  const reader = new SseReader()
  reader.push(Buffer.from(text), (_, data) => events.push(data))
  const before = events.length
  reader.end((_, data) => events.push(data))
  assert.equal(events.length, before, 'whole events alone')
  // Of what is cut in pieces, events come before the broken frame; of what is whole, none do.
  return { isBroken, isWhole: frames.isWhole, text: isBroken ? null : text }
}

/** Gives each frame its lengths and checksums. */
function repair(input: Buffer): Buffer {
  const result = Buffer.from(input)
  for (let at = 0; at + 16 <= result.length; ) {
    const rest = result.length - at
    const size = result.readUInt32BE(at)
    const isSound = size >= 16 && size <= rest
    const length = isSound ? size : rest
    result.writeUInt32BE(length, at)
    if (result.readUInt32BE(at + 4) > length - 16) result.writeUInt32BE(length - 16, at + 4)
    result.writeUInt32BE(crc32(result.subarray(at, at + 8)), at + 8)
    const end = at + length - 4
    result.writeUInt32BE(crc32(result.subarray(at, end)), end)
    at += length
  }
  return result
}

const failure = { ':message-type': 'exception', ':exception-type': 'throttlingException' }

export const target: Target = {
  seeds: [
    Buffer.concat([chunk('{"type":"message_start"}'), chunk('{"type":"ping"}')]),
    frame({ ':message-type': 'event', ':event-type': 'metadata' }, '{"usage":{"inputTokens":1}}'),
    frame(failure, '{"message":"Wait."}'),
    frame({ ':message-type': 'error', ':error-code': 'x', ':error-message': 'Oh.' }, ''),
  ],
  tokens: [
    ...[
      '\r:message-type\x07\0\x05event',
      '\r:message-type\x07\0\x09exception',
      '\r:message-type\x07\0\x05error',
      '\x01a\0',
      '\x01a\x04aaaa',
    ],
    ...[
      '\x01b\x06\0\x01x',
      '\x01c\x08aaaaaaaa',
      '\x01d\x09aaaaaaaaaaaaaaaa',
      '{"bytes":"e30="}',
      '{"bytes":"',
      '"}',
      '{}',
      '\0\0\0\x10\0\0\0\0',
    ],
    ...['originalMessage', 'modelTimeoutException', '\n', '\r\n', '\x0b:event-type\x07\0\x01a'],
  ],
  maxLength: 1024,
  covers: ['src/edge/ai-call/event-frames.ts'],
  repair,
  attempt: input => sameInPieces(input, read),
}
