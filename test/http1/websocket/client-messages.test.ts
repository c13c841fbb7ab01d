import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ClientMessage, ClientMessages } from '../../../src/http1/websocket/client-messages.ts'
import { closeFrame, frame, opcodes } from '../../help/frames.ts'

/** A message in fragments, with pings between them, as a client sends it. */
const messages = fc.array(
  fc.record({
    fragments: fc.array(fc.string({ maxLength: 300 }), { minLength: 1, maxLength: 3 }),
    isBinary: fc.boolean(),
    hasPing: fc.boolean(),
  }),
  { maxLength: 8 },
)

function reader() {
  const got: ClientMessage[] = []
  const messages = new ClientMessages(message => got.push(message))
  return { got, messages }
}

const text = (payload: string, isFinal = true, opcode: number = opcodes.text) =>
  frame({ opcode, payload: Buffer.from(payload), isFinal, isMasked: true })
const ping = frame({ opcode: opcodes.ping, payload: Buffer.from('p'), isMasked: true })

test('messages are read whole, wherever their bytes are cut, and come as they were', () => {
  fc.assert(
    fc.property(messages, fc.array(fc.integer({ min: 1, max: 400 })), (sent, cuts) => {
      const frames = sent.flatMap(({ fragments, isBinary, hasPing }) => [
        ...fragments.flatMap((fragment, i) => [
          text(
            fragment,
            i === fragments.length - 1,
            i > 0 ? opcodes.continuation : isBinary ? opcodes.binary : opcodes.text,
          ),
        ]),
        ...(hasPing ? [ping] : []),
      ])
      const all = Buffer.concat(frames)
      const { got, messages } = reader()
      let at = 0
      for (const cut of [...cuts, all.length]) {
        messages.push(all.subarray(at, at + cut))
        at = Math.min(all.length, at + cut)
      }
      assert.equal(messages.isLost, false)
      assert.deepEqual(Buffer.concat(got.map(({ bytes }) => bytes)), all)
      assert.deepEqual(
        got.map(({ text }) => text),
        sent.flatMap(({ fragments, hasPing }) => [fragments.join(''), ...(hasPing ? [null] : [])]),
      )
    }),
  )
})

test('control frames between fragments come at once, and the message is whole', () => {
  const { got, messages } = reader()
  const control = [ping, closeFrame(1000, true)]
  messages.push(Buffer.concat([text('a', false), ...control, text('b', true, opcodes.continuation)]))
  assert.deepEqual(
    got.map(({ text }) => text),
    [null, null, 'ab'],
  )
})

for (const size of [0, 125, 126, 65_535, 65_536])
  test(`a message of ${size} bytes is read wherever its head is cut`, () => {
    const payload = 'abcdefg'.repeat(size / 7 + 1).slice(0, size)
    const bytes = text(payload)
    for (let cut = 1; cut <= Math.min(20, bytes.length); cut++) {
      const { got, messages } = reader()
      messages.push(bytes.subarray(0, cut))
      messages.push(bytes.subarray(cut))
      assert.deepEqual([got.length, messages.isLost], [1, false])
      assert.ok(got[0]!.text === payload)
    }
  })

/** The head of a frame with so many bytes, of which 14 are its own. */
function headOf(size: number, opcode: number = opcodes.text): Buffer {
  const head = Buffer.alloc(14)
  head.set([0x80 | opcode, 0xff])
  head.writeBigUInt64BE(BigInt(size - 14), 2)
  return head
}

test('a message has up to 16 MiB, with the heads of all its frames', () => {
  const max = 16 * 1024 * 1024
  const [begun, ended] = [text('a', false), text('b', true, opcodes.continuation)]
  for (const [before, opcode, used] of [
    [[], opcodes.text, 0],
    [[begun], opcodes.continuation, begun.length],
    [[begun, ended], opcodes.text, 0],
  ] as const)
    for (const more of [0, 1]) {
      const { messages } = reader()
      messages.push(Buffer.concat([...before, headOf(max - used + more, opcode)]))
      assert.equal(messages.isLost, more === 1)
    }
  const { messages } = reader()
  messages.push(Buffer.concat([Buffer.from([0x81]), Buffer.alloc(13, 0xff)]))
  assert.equal(messages.isLost, true)
})

test('what is given up is given once', () => {
  const { got, messages } = reader()
  const parts = Buffer.concat([text('a', false), text('bc', true, opcodes.continuation).subarray(0, 7)])
  messages.push(parts)
  assert.deepEqual(messages.takeRest(), parts)
  messages.push(parts.subarray(0, 1))
  assert.deepEqual([messages.takeRest().length, messages.isLost, got.length], [1, false, 0])
})

for (const [name, bytes] of [
  ['without a mask', frame({ opcode: opcodes.text, payload: Buffer.from('a') })],
  [
    'that goes on without a mask',
    Buffer.concat([text('a', false), frame({ opcode: opcodes.continuation, payload: Buffer.from('a') })]),
  ],
  [
    'compressed',
    frame({ opcode: opcodes.text, payload: Buffer.from('a'), isMasked: true, isCompressed: true }),
  ],
  ['that goes on without a beginning', text('a', true, opcodes.continuation)],
  ['that begins within another', Buffer.concat([text('a', false), text('b')])],
  ['of more than 16 MiB', Buffer.from([0x81, 0xff, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0])],
] as const)
  test(`a message ${name} is not read`, () => {
    const { got, messages } = reader()
    messages.push(bytes)
    messages.push(text('later'))
    assert.deepEqual([got.length, messages.isLost], [0, true])
  })

test('any bytes are read without an exception, and none of them is lost', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), pieces => {
      const { got, messages } = reader()
      for (const piece of pieces) messages.push(Buffer.from(piece))
      const all = Buffer.concat([...got.map(({ bytes }) => bytes), messages.takeRest()])
      if (!messages.isLost)
        assert.equal(
          all.length,
          pieces.reduce((sum, { length }) => sum + length, 0),
        )
    }),
  )
})
