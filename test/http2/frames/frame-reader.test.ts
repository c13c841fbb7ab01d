import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FrameReader, type FrameTaker } from '../../../src/http2/frames/frame-reader.ts'
import { frameType } from '../../../src/http2/frames/frames.ts'

interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Uint8Array
}

const byte = fc.integer({ min: 0, max: 255 })
const frame: fc.Arbitrary<Frame> = fc
  .tuple(
    fc.oneof(byte, fc.constant(frameType.data)),
    byte,
    fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    fc.uint8Array({ maxLength: 40 }),
  )
  .map(([type, flags, stream, payload]) => ({ type, flags, stream, payload }))

/** Writes frames; the reserved bit of each stream id is set, and is to be ignored. */
function bytesOf(frames: readonly Frame[]): Buffer {
  return Buffer.concat(
    frames.flatMap(({ type, flags, stream, payload }) => {
      const head = Buffer.alloc(9)
      head.writeUIntBE(payload.length, 0, 3)
      head.set([type, flags], 3)
      head.writeUInt32BE((stream | (2 ** 31)) >>> 0, 5)
      return [head, payload]
    }),
  )
}

class Taker implements FrameTaker {
  readonly frames: Frame[] = []
  /** As the heads say. */
  readonly lengths: number[] = []
  #begun: Omit<Frame, 'payload'> | null = null
  #data: Uint8Array[] = []

  frameBegun(type: number, flags: number, stream: number, length: number): boolean {
    this.#begun = { type, flags, stream }
    this.lengths.push(length)
    this.#data = []
    return true
  }

  frame(bytes: Buffer, at: number, end: number): void {
    assert.notEqual(this.#begun!.type, frameType.data)
    this.frames.push({ ...this.#begun!, payload: Uint8Array.from(bytes.subarray(at, end)) })
  }

  dataPart(bytes: Buffer, at: number, end: number, isLast: boolean): void {
    assert.equal(this.#begun!.type, frameType.data)
    assert.ok(end > at || isLast)
    this.#data.push(bytes.subarray(at, end))
    if (isLast) this.frames.push({ ...this.#begun!, payload: Uint8Array.from(Buffer.concat(this.#data)) })
  }
}

test('frames are read as they were written, however they are cut into packets', () => {
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 30 })),
      (frames, sizes) => {
        const taker = new Taker()
        const reader = new FrameReader(taker)
        const bytes = bytesOf(frames)
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const packet = bytes.subarray(at, at + (sizes[i] ?? 1_000))
          for (let read = 0; read < packet.length; ) read = reader.next(packet, read)
          at += packet.length
        }
        assert.deepEqual(taker.frames, frames)
      },
    ),
  )
})

test('DATA comes in the pieces in which it was read, none of which is empty but the last', () => {
  for (const length of [0, 1, 20]) {
    const payload = new Uint8Array(length).fill(7)
    const sent = [frameType.data, frameType.data, frameType.ping].map(type => ({
      ...{ type, flags: 0, stream: 1, payload },
    }))
    const bytes = bytesOf(sent)
    for (let cut = 1; cut < bytes.length; cut++) {
      const taker = new Taker()
      const reader = new FrameReader(taker)
      for (const packet of [bytes.subarray(0, cut), bytes.subarray(cut)])
        for (let read = 0; read < packet.length; ) read = reader.next(packet, read)
      assert.deepEqual(taker.frames, sent)
    }
  }
})

test('a frame has as many bytes as the three of its length say', () => {
  for (const type of [frameType.data, frameType.headers])
    for (const length of [0, 255, 256, 65_535, 65_536, 0x01_02_03, 0x20_00_00]) {
      const taker = new Taker()
      const reader = new FrameReader(taker)
      const sent = [{ type, flags: 5, stream: 3, payload: new Uint8Array(length).fill(7) }]
      const bytes = bytesOf([...sent, ...sent])
      for (let read = 0; read < bytes.length; ) read = reader.next(bytes, read)
      assert.deepEqual(taker.lengths, [length, length])
      assert.ok(Buffer.from(taker.frames[1]!.payload).equals(sent[0]!.payload))
    }
})

test('reading ends where the head of a frame is refused', () => {
  const taker = new Taker()
  taker.frameBegun = () => false
  const bytes = bytesOf([{ type: 0, flags: 0, stream: 1, payload: Uint8Array.of(1) }])
  assert.equal(new FrameReader(taker).next(bytes, 0), -1)
  const reader = new FrameReader(taker)
  assert.equal(reader.next(bytes.subarray(0, 5), 0), 5)
  assert.equal(reader.next(bytes, 5), -1)
})
