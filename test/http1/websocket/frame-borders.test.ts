import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FrameBorders } from '../../../src/http1/websocket/frame-borders.ts'
import { closeFrame, frame, opcodes } from '../../help/frames.ts'

const size = fc.oneof(
  { weight: 3, arbitrary: fc.nat({ max: 8 }) },
  fc.nat({ max: 300 }),
  fc.constantFrom(125, 126, 127, 255, 256, 65_535, 65_536, 70_000),
)
const data = fc.record({
  opcode: fc.constantFrom(opcodes.continuation, opcodes.text, opcodes.binary),
  payload: size.map(length => Buffer.alloc(length, 0x88)),
  isFinal: fc.boolean(),
  isCompressed: fc.boolean(),
})
const control = fc.record({
  opcode: fc.constantFrom(opcodes.ping, opcodes.pong),
  payload: fc.nat({ max: 125 }).map(length => Buffer.alloc(length, 0x81)),
})
const frames = fc.array(fc.oneof(data, control), { maxLength: 12 })
const step = fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 12 }) }, fc.nat({ max: 80_000 }))
const sender = fc.constantFrom('client', 'server')

test('however frames come in pieces, it is known where each ends', () => {
  fc.assert(
    fc.property(
      frames,
      sender,
      fc.array(step, { minLength: 1 }),
      fc.boolean(),
      (frames, sender, steps, hops) => {
        const written = frames.map(one => frame({ ...one, isMasked: sender === 'client' }))
        const bytes = Buffer.concat(written)
        const ends = new Set([0])
        let length = 0
        for (const one of written) ends.add((length += one.length))
        const borders = new FrameBorders(sender)
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const piece = bytes.subarray(at, at + Math.max(1, steps[i % steps.length]!))
          if (hops && i % 2 === 0) {
            const behind = borders.next(piece, 0)
            const end = [...ends].find(end => end > at)!
            assert.equal(behind, Math.min(piece.length, end - at))
            at += behind
          } else {
            borders.follow(piece)
            at += piece.length
          }
          assert.equal(borders.isAtBorder, ends.has(at))
        }
        assert.ok(!borders.isLost && !borders.isClosing)
      },
    ),
  )
})

test('a Close frame is noticed with its head, and has its end like others', () => {
  const borders = new FrameBorders('client')
  const close = closeFrame(1000, true)
  borders.follow(frame({ opcode: opcodes.text, payload: Buffer.from('hi'), isMasked: true }))
  assert.ok(!borders.isClosing)
  borders.follow(close.subarray(0, 2))
  assert.deepEqual([borders.isClosing, borders.isAtBorder], [true, false])
  borders.follow(close.subarray(2))
  assert.deepEqual([borders.isClosing, borders.isAtBorder], [true, true])
})

test('the longest control frame, and the longest length that a number holds, are valid', () => {
  for (const opcode of [opcodes.close, opcodes.ping, opcodes.pong]) {
    const borders = new FrameBorders('server')
    borders.follow(frame({ opcode, payload: Buffer.alloc(125) }))
    assert.deepEqual([borders.isLost, borders.isAtBorder], [false, true])
  }
  const borders = new FrameBorders('server')
  borders.follow(Buffer.from([0x82, 127, 0, 31, 255, 255, 255, 255, 255, 255]))
  assert.equal(borders.isLost, false)
})

const empty = Buffer.alloc(0)
for (const [what, sender, bytes] of [
  ['a client that does not mask', 'client', frame({ opcode: opcodes.text, payload: empty })],
  ['a server that masks', 'server', frame({ opcode: opcodes.text, payload: empty, isMasked: true })],
  ['an opcode that nobody has defined', 'server', frame({ opcode: 3, payload: empty })],
  ['a control opcode that nobody has defined', 'server', frame({ opcode: 11, payload: empty })],
  ['a control frame in parts', 'server', frame({ opcode: opcodes.ping, payload: empty, isFinal: false })],
  ['a Close frame in parts', 'server', frame({ opcode: opcodes.close, payload: empty, isFinal: false })],
  ['a long Close frame', 'server', frame({ opcode: opcodes.close, payload: Buffer.alloc(126) })],
  ['a long control frame', 'server', frame({ opcode: opcodes.ping, payload: Buffer.alloc(126) })],
  ['a length that no number holds', 'server', Buffer.from([0x82, 127, 0, 255, 255, 255, 255, 255, 255, 255])],
  ['text', 'server', Buffer.from('HTTP/1.1 200 OK\r\n\r\n')],
] as const) {
  test(`${what}: no border is known any more`, () => {
    for (const size of [1, bytes.length]) {
      const borders = new FrameBorders(sender)
      for (let at = 0; at < bytes.length; at += size) borders.follow(bytes.subarray(at, at + size))
      assert.ok(borders.isLost)
      borders.follow(frame({ opcode: opcodes.text, payload: empty, isMasked: sender === 'client' }))
      assert.ok(!borders.isAtBorder)
      const { isClosing } = borders
      borders.follow(closeFrame(1000, sender === 'client'))
      assert.deepEqual([borders.isClosing, borders.isAtBorder], [isClosing, false])
      assert.equal(borders.next(bytes, 0), bytes.length)
    }
  })
}
