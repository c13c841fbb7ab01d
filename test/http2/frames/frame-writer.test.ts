// Frames as they are written, of any size and in any order.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
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

test('a response begins with its status, and trailers have none', () => {
  const fields = (status: number) => {
    const writer = new FrameWriter()
    writer.headers(1, status, 'x: y\r\n', true)
    return fieldsOf(framesOf(writer.take()))
  }
  assert.deepEqual(fields(299), [
    [':status', '299'],
    ['x', 'y'],
  ])
  assert.deepEqual(fields(0), [['x', 'y']])
})

test('what was taken stays as it is', () => {
  for (const size of [10, 20_000, 200_000]) {
    const writer = new FrameWriter()
    const write = (byte: number) => {
      writer.data(1, Buffer.alloc(size, byte), 0, size, false)
      return writer.take()
    }
    const first = write(1)
    const before = Buffer.from(first)
    write(2)
    assert.ok(first.equals(before))
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

const slabSize = 65_536
const largeSize = 98_304

/** Returns a writer whose buffer has room for so many bytes; before that come two or three frames. */
function filled(size: typeof slabSize | typeof largeSize, room: number): FrameWriter {
  const writer = new FrameWriter()
  if (size === largeSize) writer.data(1, Buffer.alloc(20_000), 0, 20_000, false)
  else writer.ping()
  const bytes = Buffer.alloc(size - room - writer.length - 9)
  writer.data(1, bytes, 0, bytes.length, false)
  return writer
}

test('a frame is whole wherever the memory of a writer ends', () => {
  const fields = { method: 'OPTIONS', scheme: 'https', authority: 'a.example', target: '/path' } as const
  const line = 'x-name: value\r\n'
  const writes: readonly ((writer: FrameWriter) => void)[] = [
    writer => writer.data(5, Buffer.from('abc'), 1, 3, true),
    writer => writer.headers(5, 299, line, true),
    writer => writer.headers(5, 299, '', true),
    writer => writer.headers(5, 0, line, true),
    writer => writer.request(5, { ...fields, lines: line }, true),
    writer => writer.request(5, { ...fields, lines: '' }, true),
    writer => writer.request(5, { ...fields, authority: 'a'.repeat(100), lines: '' }, true),
    writer => writer.request(5, { ...fields, target: `/${'p'.repeat(100)}`, lines: '' }, true),
    writer => writer.settings([[1, 2]]),
    writer => writer.settingsAck(),
    writer => writer.ping(),
    writer => writer.pingAck(Buffer.from('12345678'), 0),
    writer => writer.windowUpdate(5, 1),
    writer => writer.rstStream(5, 1),
    writer => writer.goAway(5, 1, 'why'),
    writer => writer.endStream(5),
  ]
  for (const [i, write] of writes.entries()) {
    const alone = new FrameWriter()
    write(alone)
    const expected = Buffer.from(alone.take())
    for (const size of [slabSize, largeSize] as const)
      for (let room = 0; room < expected.length + 12; room++) {
        const writer = filled(size, room)
        write(writer)
        const bytes = writer.take()
        assert.equal(bytes.length, size - room + expected.length)
        assert.deepEqual(bytes.subarray(size - room), expected, `${i}: ${room} of ${size}`)
        assert.equal(framesOf(bytes.subarray(0, size - room)).at(-1)!.type, frameType.data)
        writer.reclaim()
      }
  }
})

test('a stream ends with its last frame where that is the last of all, or else with an empty one', () => {
  const bytes = Buffer.from('ab')
  const data = (id: number) => (writer: FrameWriter) => writer.data(id, bytes, 0, 2, false)
  const headers = (writer: FrameWriter) => writer.headers(5, 200, 'x: y\r\n', false)
  const long = (writer: FrameWriter) => writer.headers(5, 200, `x: ${'y'.repeat(20_000)}\r\n`, false)
  const fields = { method: 'GET', scheme: 'https', authority: 'a', target: '/', lines: '' } as const
  const request = (writer: FrameWriter) => writer.request(5, fields, false)
  const take = (writer: FrameWriter) => writer.take()
  const empty = [frameType.data, endStream, 5, 0]
  for (const [writes, expected] of [
    [[data(5)], [[frameType.data, endStream, 5, 2]]],
    [[headers], [[frameType.headers, endStream | endHeaders, 5, 6]]],
    [
      [long],
      [
        [frameType.headers, endStream, 5, 16_384],
        [frameType.continuation, endHeaders, 5, 3_624],
      ],
    ],
    [
      [data(5), data(3)],
      [[frameType.data, 0, 5, 2], [frameType.data, 0, 3, 2], empty],
    ],
    [
      [data(5), writer => writer.settingsAck()],
      [[frameType.data, 0, 5, 2], [frameType.settings, ack, 0, 0], empty],
    ],
    [[request], [[frameType.headers, endHeaders, 5, 6], empty]],
    [[data(5), take], [empty]],
    [[], [empty]],
  ] satisfies [((writer: FrameWriter) => void)[], number[][]][]) {
    const writer = new FrameWriter()
    for (const write of writes) write(writer)
    writer.endStream(5)
    const frames = framesOf(Buffer.from(writer.take()))
    assert.deepEqual(
      frames.map(({ type, flags, stream, payload }) => [type, flags, stream, payload.length]),
      expected,
    )
  }
  // A second end does not change the frame of the first.
  const writer = new FrameWriter()
  data(5)(writer)
  writer.endStream(5)
  writer.endStream(5)
  assert.equal(framesOf(writer.take()).length, 2)
})

/** Writers that hold a frame of so many bytes each. */
function writers(count: number, size: number): FrameWriter[] {
  return Array.from({ length: count }, () => {
    const writer = new FrameWriter()
    writer.data(1, Buffer.alloc(size), 0, size, false)
    return writer
  })
}

const memory = (all: readonly FrameWriter[]) => new Set(all.map(writer => writer.take().buffer))

test('large output has memory of its own, of which that of 32 writers is kept', () => {
  const all = writers(40, 20_000)
  const before = memory(all)
  assert.equal(before.size, 40)
  assert.equal(memory(writers(40, 20_000)).intersection(before).size, 0)
  for (const writer of [...writers(40, 10), ...all, ...all]) writer.reclaim()
  const after = memory(writers(40, 20_000))
  assert.deepEqual([after.size, after.intersection(before).size], [40, 32])
})

test('memory that a writer outgrows is kept likewise', t => {
  // Nothing is left of earlier tests, and the mock holds what is allocated: once freed, it could come back with the mark.
  writers(40, 20_000)
  t.mock.method(Buffer, 'allocUnsafeSlow')
  const mark = randomBytes(8)
  const large = writers(40, 0)
  for (const writer of large) writer.data(1, Buffer.alloc(80_000, mark), 0, 80_000, false)
  const outgrown = large.map(writer => {
    writer.data(1, Buffer.alloc(40_000), 0, 40_000, false)
    return writer.take()
  })
  assert.equal(new Set(outgrown.map(bytes => bytes.buffer)).size, 40)
  const next = [...memory(writers(40, 20_000))]
  assert.equal(next.filter(bytes => Buffer.from(bytes).includes(mark, 60_000)).length, 32)
})

test('small output shares memory down to a rest of 8 KiB, which is kept for 16 writers', () => {
  const ping = () => {
    const writer = new FrameWriter()
    writer.ping()
    return writer.take().buffer
  }
  const mark = randomBytes(100)
  // Nothing is left of earlier tests.
  writers(20, 0)
  for (const [rest, isKept] of [
    [8_192, true],
    [8_191, false],
  ] as const) {
    writers(20, 0)
    const bytes = filled(slabSize, rest).take()
    assert.equal(bytes.buffer === ping(), isKept, `${rest}`)
  }
  // A writer that outgrows a slab or a rest leaves it to others, and one that outgrows more than that nothing.
  for (const rest of [slabSize, slabSize - 17, 8_192]) {
    writers(20, 0)
    const buffer = rest === slabSize ? null : rest === 8_192 ? filled(slabSize, rest).take().buffer : ping()
    const writer = new FrameWriter()
    writer.data(1, mark, 0, mark.length, false)
    for (const size of [100_000, 300_000]) writer.data(1, Buffer.alloc(size), 0, size, false)
    writer.take()
    const next = ping()
    assert.equal(next.byteLength, slabSize)
    assert.ok(buffer === null ? Buffer.from(next).includes(mark.subarray(20)) : next === buffer)
  }
  writers(20, 0)
  const before = memory(writers(20, 0))
  assert.equal(before.size, 20)
  const after = memory(writers(20, 0))
  assert.deepEqual([after.size, after.intersection(before).size], [20, 16])
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
