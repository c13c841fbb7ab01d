import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ClientMessage, ClientMessages } from '../../../src/http1/websocket/client-messages.ts'
import { frame, opcodes } from '../../help/frames.ts'

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

test('a ping between fragments comes at once, and the message is whole', () => {
  const { got, messages } = reader()
  messages.push(Buffer.concat([text('a', false), ping, text('b', true, opcodes.continuation)]))
  assert.deepEqual(
    got.map(({ text }) => text),
    [null, 'ab'],
  )
})

for (const [name, bytes] of [
  ['without a mask', frame({ opcode: opcodes.text, payload: Buffer.from('a') })],
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
