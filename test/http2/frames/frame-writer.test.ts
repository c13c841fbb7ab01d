// Frames as they are written, of any size and in any order.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FrameWriter } from '../../../src/http2/frames/frame-writer.ts'
import { flag, frameType } from '../../../src/http2/frames/frames.ts'
import { type HeaderField, HpackDecoder } from '../../../src/http2/hpack/decoder.ts'
import { type Frame, framesOf, preface } from '../../help/http2.ts'

const { endStream, endHeaders, ack } = flag

interface Step {
  readonly write: (writer: FrameWriter) => void
  readonly frame: Frame
}

const uint32 = (...values: number[]) => {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, 4 * i)
  return bytes
}
const frame = (type: number, flags: number, stream: number, payload: Buffer): Frame => ({
  ...{ type, flags, stream, payload },
})

const stream = fc.oneof(
  fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  fc.constantFrom(1, 2 ** 24 + 1, 2 ** 31 - 1),
)
const word = fc.integer({ min: 0, max: 2 ** 32 - 1 })
/** Bytes of DATA: below and above what the buffers of a writer have. */
const size = fc.oneof(fc.nat(100), fc.nat(16_384), fc.constantFrom(0, 16_384))

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(stream, size, fc.boolean(), fc.nat(255)).map(([stream, size, isEnd, byte]) => {
    const bytes = Buffer.alloc(size + 7, byte)
    return {
      write: writer => writer.data(stream, bytes, 3, 3 + size, isEnd),
      frame: frame(frameType.data, isEnd ? endStream : 0, stream, bytes.subarray(3, 3 + size)),
    } satisfies Step
  }),
  fc.tuple(stream, word).map(([stream, code]) => ({
    write: (writer: FrameWriter) => writer.rstStream(stream, code),
    frame: frame(frameType.rstStream, 0, stream, uint32(code)),
  })),
  fc.tuple(fc.oneof(stream, fc.constant(0)), stream).map(([stream, increment]) => ({
    write: (writer: FrameWriter) => writer.windowUpdate(stream, increment),
    frame: frame(frameType.windowUpdate, 0, stream, uint32(increment)),
  })),
  fc.tuple(stream, word, fc.stringMatching(/^[ -~]{0,40}$/)).map(([last, code, detail]) => ({
    write: (writer: FrameWriter) => writer.goAway(last, code, detail),
    frame: frame(frameType.goAway, 0, 0, Buffer.concat([uint32(last, code), Buffer.from(detail)])),
  })),
  fc.array(fc.tuple(fc.nat(65_535), word), { maxLength: 5 }).map(pairs => ({
    write: (writer: FrameWriter) => writer.settings(pairs),
    frame: frame(
      frameType.settings,
      0,
      0,
      Buffer.concat(pairs.map(([id, value]) => Buffer.concat([Buffer.from([id >> 8, id]), uint32(value)]))),
    ),
  })),
  fc.constantFrom<Step>(
    { write: writer => writer.settingsAck(), frame: frame(frameType.settings, ack, 0, Buffer.alloc(0)) },
    { write: writer => writer.ping(), frame: frame(frameType.ping, 0, 0, Buffer.alloc(8)) },
    {
      write: writer => writer.pingAck(Buffer.from('ab12345678cd'), 2),
      frame: frame(frameType.ping, ack, 0, Buffer.from('12345678')),
    },
  ),
)

test('frames of all types are read back, wherever what is written so far is taken', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.integer({ min: 0, max: 9 })), { maxLength: 40 }), steps => {
      const writer = new FrameWriter()
      const taken: Buffer[] = []
      const take = () => {
        taken.push(Buffer.from(writer.take()))
        writer.reclaim()
      }
      for (const [{ write }, when] of steps) {
        write(writer)
        if (when === 0) take()
      }
      take()
      const frames = framesOf(Buffer.concat(taken))
      assert.equal(frames.length, steps.length)
      for (const [i, [{ frame: expected }]] of steps.entries()) assert.deepEqual(frames[i], expected)
    }),
  )
})

test('the preface comes before the first frame, even where another has filled the memory', () => {
  for (const size of [0, 65_536 - 9 - 20, 98_304 - 9 - 20]) {
    const writer = new FrameWriter()
    if (size > 0) writer.data(1, Buffer.alloc(size), 0, size, false)
    writer.preface()
    writer.settingsAck()
    const bytes = writer.take()
    const at = size === 0 ? 0 : size + 9
    assert.deepEqual(bytes.subarray(at, at + preface.length), preface)
    assert.equal(bytes.length, at + preface.length + 9)
  }
})

/** Joins the frames of a header block, and reads its fields. */
function fieldsOf(frames: readonly Frame[]): [string, string][] {
  const bytes = Buffer.concat(frames.map(({ payload }) => payload))
  const fields: [string, string][] = []
  const sink = { take: ({ name, value }: HeaderField) => void fields.push([name, value]) }
  assert.notEqual(new HpackDecoder().decode(bytes, 0, bytes.length, 2 ** 24, sink), -1)
  return fields
}

/** How a block of so many bytes is written, which one field with a long value makes. */
function blocks(size: number, isEnd: boolean, kind: 'response' | 'trailers' | 'request') {
  const writer = new FrameWriter()
  const write = (length: number) => {
    const lines = `x: ${'v'.repeat(length)}\r\n`
    const request = { method: 'GET', scheme: 'https', authority: 'a', target: '/', lines } as const
    if (kind === 'request') writer.request(2 ** 30 + 1, request, isEnd)
    else writer.headers(2 ** 30 + 1, kind === 'response' ? 200 : 0, lines, isEnd)
    return framesOf(Buffer.from(writer.take()))
  }
  const overhead = write(size).reduce((sum, { payload }) => sum + payload.length, -size)
  const frames = write(size - overhead)
  assert.equal(fieldsOf(frames).at(-1)![1].length, size - overhead)
  return frames.map(({ type, flags, stream, payload }) => [type, flags, stream, payload.length])
}

for (const kind of ['response', 'trailers', 'request'] as const)
  test(`the header block of a ${kind} is one frame of up to 16,384 bytes, and goes on in others`, () => {
    const id = 2 ** 30 + 1
    const { headers, continuation } = frameType
    for (const isEnd of [true, false]) {
      const end = isEnd ? endStream : 0
      assert.deepEqual(blocks(16_384, isEnd, kind), [[headers, endHeaders | end, id, 16_384]])
      assert.deepEqual(blocks(16_385, isEnd, kind), [
        [headers, end, id, 16_384],
        [continuation, endHeaders, id, 1],
      ])
      assert.deepEqual(blocks(2 * 16_384, isEnd, kind), [
        [headers, end, id, 16_384],
        [continuation, endHeaders, id, 16_384],
      ])
      assert.deepEqual(
        blocks(100_000, isEnd, kind).map(([, , , size]) => size),
        [16_384, 16_384, 16_384, 16_384, 16_384, 16_384, 1_696],
      )
    }
  })

test('only trailers, and heads that are secret, keep every hop from indexing their fields', () => {
  const isSecret = (status: number, secret?: boolean) => {
    const writer = new FrameWriter()
    writer.headers(1, status, 'x: y\r\n', true, secret)
    const [{ payload }] = framesOf(writer.take()) as [Frame]
    const decoder = new HpackDecoder()
    decoder.decode(payload, 0, payload.length, 1_000, { take() {} })
    return decoder.hasNeverIndexed
  }
  assert.deepEqual(
    [isSecret(200), isSecret(0), isSecret(200, true), isSecret(0, false)],
    [false, true, true, false],
  )
})

test('an idle writer holds no memory, and small output of all writers shares one piece', () => {
  const take = () => {
    const writer = new FrameWriter()
    writer.ping()
    return writer.take()
  }
  const [first, second] = [take(), take()]
  assert.equal(first.buffer, second.buffer)
  assert.equal(second.byteOffset, first.byteOffset + first.length)
  assert.equal(new FrameWriter().take().length, 0)
})
