// Frames of this gateway, byte by byte (RFC 6455 section 5.2).

import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { goingAway, maskedGoingAway } from '../../../src/http1/websocket/going-away.ts'
import { closeFrame, textFrame } from '../../../src/http1/websocket/own-frames.ts'
import { frame, maskedCode, opcodes } from '../../help/frames.ts'

test('a text is one frame, of any length up to 64 KiB', () => {
  for (const size of [0, 1, 125, 126, 127, 255, 256, 300, 65_535]) {
    const payload = Buffer.alloc(size, 'x')
    deepEqual(textFrame(payload.toString()), frame({ opcode: opcodes.text, payload }))
  }
  deepEqual(textFrame('ü'), frame({ opcode: opcodes.text, payload: Buffer.from('ü') }))
})

test('a Close frame has its code and as much of its reason as fits', () => {
  for (const [code, reason] of [
    [1000, ''],
    [1013, 'over budget'],
    [4999, 'r'.repeat(123)],
  ] as const) {
    const payload = Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)])
    deepEqual(closeFrame(code, reason), frame({ opcode: opcodes.close, payload }))
  }
  deepEqual(closeFrame(1000, 'r'.repeat(200)), closeFrame(1000, 'r'.repeat(123)))
})

test('going away is said to a client as it is, and to a server under a mask of its own', () => {
  deepEqual(goingAway, closeFrame(1001, ''))
  const frames = Array.from({ length: 20 }, maskedGoingAway)
  for (const bytes of frames) equal(maskedCode(bytes), 1001)
  equal(new Set(frames.map(bytes => bytes.toString('hex', 2, 6))).size, 20)
})
