import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FrameMessages } from '../../../src/http1/websocket/frame-messages.ts'
import { anyCharacter } from '../../help/any-text.ts'
import { type Frame, frame, opcodes } from '../../help/frames.ts'

const { text, binary, continuation, ping } = opcodes

/** Reads the texts in bytes that come in these pieces. */
function read(pieces: readonly Buffer[], wants = (_: Buffer) => true): readonly string[] {
  const texts: string[] = []
  const messages = new FrameMessages(one => void texts.push(one), wants)
  for (const piece of pieces) messages.push(piece)
  return texts
}

function framed(opcode: number, payload: string, more: Partial<Frame> = {}): Buffer {
  return frame({ opcode, payload: Buffer.from(payload), ...more })
}

test('texts are read in whatever frames and pieces they come', () => {
  const message = fc.record({
    parts: fc.array(fc.string({ unit: anyCharacter, maxLength: 200 }), { minLength: 1, maxLength: 4 }),
    isBinary: fc.boolean(),
    hasPing: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(message), fc.integer({ min: 1, max: 300 }), (messages, step) => {
      const bytes = Buffer.concat(
        messages.flatMap(({ parts, isBinary, hasPing }) =>
          parts.flatMap((part, i) => {
            const opcode = i > 0 ? continuation : isBinary ? binary : text
            const one = framed(opcode, part, { isFinal: i === parts.length - 1 })
            return hasPing ? [framed(ping, 'still here'), one] : [one]
          }),
        ),
      )
      const pieces = Array.from({ length: Math.ceil(bytes.length / step) }, (_, i) =>
        bytes.subarray(i * step, (i + 1) * step),
      )
      const expected = messages.flatMap(({ parts, isBinary }) => {
        const whole = Buffer.concat(parts.map(part => Buffer.from(part))).toString()
        return isBinary || whole === '' ? [] : [whole]
      })
      deepEqual(read(pieces), expected)
    }),
  )
})

test('what is too long, unwanted, masked or compressed is skipped, and what is no frame ends the reading', () => {
  const [long, short] = ['x'.repeat(1024 * 1024 + 1), 'short']
  deepEqual(read([framed(text, long), framed(text, short)]), [short])
  deepEqual(
    read([framed(text, 'no'), framed(text, short)], bytes => bytes[0] === 0x73),
    [short],
  )
  deepEqual(read([framed(text, 'a'), framed(text, 'b', { isMasked: true }), framed(text, short)]), ['a'])
  deepEqual(read([framed(text, 'b', { isCompressed: true }), framed(text, short)]), [])
  deepEqual(read([framed(text, '', { isCompressed: true }), framed(text, short)]), [])
  deepEqual(read([Buffer.alloc(20, 0xff), framed(text, short)]), [])
})

test('a text may have 1 MiB, also where another came before', () => {
  const long = 'x'.repeat(1024 * 1024)
  deepEqual(read([framed(text, 'a'), framed(text, long)]), ['a', long])
})

test('whether a text is wanted is decided by its first byte, whatever frames are empty', () => {
  const frames = ['', 'short', ' one'].map((part, i) =>
    framed(i === 0 ? text : continuation, part, { isFinal: i === 2 }),
  )
  deepEqual(
    read(frames, bytes => bytes[0] === 0x73),
    ['short one'],
  )
})

test('a text has any size, wherever its head is cut', () => {
  for (const size of [1, 125, 126, 127, 255, 256, 65_535, 65_536, 70_000]) {
    const long = 'abcdefg'.repeat(size / 7 + 1).slice(0, size)
    const bytes = Buffer.concat([framed(text, long), framed(text, 'next')])
    for (let cut = 1; cut < 12; cut++) {
      const texts = read([bytes.subarray(0, cut), bytes.subarray(cut)])
      deepEqual([texts.length, texts[0] === long, texts[1]], [2, true, 'next'], `${size}`)
    }
  }
})

test('a text that has no end, or no beginning, is no part of what comes with it', () => {
  const begun = framed(text, 'a', { isFinal: false })
  deepEqual(read([begun, framed(binary, 'b')]), [])
  deepEqual(read([begun, framed(text, 'b')]), ['b'])
  deepEqual(read([begun, framed(continuation, '', { isMasked: true })]), [])
  deepEqual(read([framed(text, 'a'), framed(continuation, 'b')]), ['a'])
})

test('what a Close frame says is no part of a text', () => {
  deepEqual(read([framed(text, 'a', { isFinal: false }), framed(opcodes.close, '\x03\xe8bye')]), [])
})

test('a frame whose length no number holds is the last', () => {
  const head = Buffer.from([0x81, 127, 255, 255, 255, 255, 255, 255, 255, 255])
  deepEqual(read([head, framed(text, 'later')]), [])
})

test('any bytes are read without throwing', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array()), pieces => void read(pieces.map(piece => Buffer.from(piece)))),
  )
})
