// How bodies leave: frames by windows and turns, and what their writers are told.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameWriter } from '../../../src/http2/frames/frame-writer.ts'
import { flag, frameType } from '../../../src/http2/frames/frames.ts'
import { Outflow } from '../../../src/http2/session/outflow.ts'
import { SendingStream } from '../../../src/http2/session/sending-stream.ts'
import { framesOf } from '../../help/http2.ts'

class Sending {
  readonly drains: number[] = []
  readonly ends: number[] = []
  readonly cuts: boolean[] = []
  readonly writer = new FrameWriter()
  readonly outflow: Outflow<SendingStream>

  constructor(goal = 2 ** 20) {
    this.outflow = new Outflow<SendingStream>(
      this.writer,
      {
        drained: ({ id }) => void this.drains.push(id),
        sent: ({ id }) => void this.ends.push(id),
        sentFrame: isCut => void this.cuts.push(isCut),
      },
      goal,
    )
  }

  /** Fills the output, and takes it: streams, lengths and flags of its frames. */
  take(): (readonly [stream: number, length: number, flags: number])[] {
    this.outflow.fill()
    return framesOf(Buffer.from(this.writer.take())).map(({ type, stream, payload, flags }) => {
      assert.equal(type, frameType.data)
      assert.ok(payload.every(byte => byte === stream))
      return [stream, payload.length, flags]
    })
  }

  write(stream: SendingStream, length: number): boolean {
    return this.outflow.write(stream, Buffer.alloc(length, stream.id))
  }

  widen(stream: SendingStream, increment: number): void {
    stream.sendWindow += increment
    this.outflow.ready(stream)
  }
}

test('what fits leaves at once, in frames of up to 16,384 bytes', () => {
  const sending = new Sending()
  const stream = new SendingStream(1, 100_000)
  assert.equal(stream.isStalled, false)
  assert.equal(sending.write(stream, 20_000), true)
  assert.deepEqual(sending.take(), [
    [1, 16_384, 0],
    [1, 3_616, 0],
  ])
  sending.outflow.end(stream, null)
  assert.deepEqual(sending.take(), [[1, 0, flag.endStream]])
  assert.deepEqual([sending.cuts, sending.ends, sending.drains], [[false, false], [1], []])
})

test('a frame is cut where a window makes it shorter than it could be', () => {
  const sending = new Sending()
  const stream = new SendingStream(1, 16_384 + 100)
  assert.equal(sending.write(stream, 2 * 16_384), false)
  sending.widen(stream, 2 * 16_384)
  assert.deepEqual(
    sending.take().map(([, length]) => length),
    [16_384, 100, 16_284],
  )
  assert.deepEqual(sending.cuts, [false, true, false])
})

test('pieces that wait leave in their order, and their writer is told once that they have', () => {
  const sending = new Sending()
  const stream = new SendingStream(1, 0)
  for (const length of [10, 20, 30]) assert.equal(sending.write(stream, length), false)
  assert.deepEqual([sending.outflow.stalledCount, stream.waiting, stream.isStalled], [1, 60, true])
  sending.widen(stream, 25)
  assert.deepEqual(sending.take(), [
    [1, 10, 0],
    [1, 15, 0],
  ])
  assert.deepEqual(sending.drains, [])
  sending.widen(stream, 100)
  assert.deepEqual(sending.take(), [
    [1, 5, 0],
    [1, 30, 0],
  ])
  assert.deepEqual([sending.drains, sending.outflow.stalledCount, stream.isStalled], [[1], 0, false])
  assert.equal(sending.write(stream, 10), true)
  assert.deepEqual(sending.take(), [[1, 10, 0]])
})

test('the last frame ends a stream whose body was written before, and no other does', () => {
  const sending = new Sending()
  const stream = new SendingStream(1, 0)
  sending.write(stream, 20)
  sending.outflow.end(stream, null)
  sending.widen(stream, 10)
  assert.deepEqual(sending.take(), [[1, 10, 0]])
  sending.widen(stream, 10)
  assert.deepEqual(sending.take(), [[1, 10, flag.endStream]])
  assert.deepEqual([sending.ends, sending.drains], [[1], []])
})

test('streams take turns, however often their windows are widened, and whoever writes meanwhile waits', () => {
  const sending = new Sending(0)
  const [a, b, c] = [1, 3, 5].map(id => new SendingStream(id, 40_000)) as [
    SendingStream,
    SendingStream,
    SendingStream,
  ]
  sending.write(a, 20_000)
  sending.write(b, 20_000)
  for (let i = 0; i < 3; i++) sending.widen(a, 1)
  sending.outflow.goal = 2 ** 20
  assert.equal(sending.write(c, 100), false)
  assert.deepEqual(
    sending.take().map(([id, length]) => [id, length]),
    [
      [1, 16_384],
      [3, 16_384],
      [5, 100],
      [1, 3_616],
      [3, 3_616],
    ],
  )
})

test('a stream that is closed, or whose window shrinks, before its turn sends nothing', () => {
  const sending = new Sending(0)
  const [closed, shrunk, other] = [1, 3, 5].map(id => new SendingStream(id, 100)) as [
    SendingStream,
    SendingStream,
    SendingStream,
  ]
  for (const stream of [closed, shrunk, other]) sending.write(stream, 50)
  sending.outflow.close(closed)
  assert.deepEqual([closed.waiting, closed.first, closed.isClosed], [0, undefined, true])
  sending.outflow.ready(closed)
  shrunk.sendWindow = 0
  sending.outflow.goal = 2 ** 20
  assert.deepEqual(sending.take(), [[5, 50, 0]])
  assert.deepEqual([sending.drains, sending.outflow.stalledCount], [[5], 1])
  sending.widen(shrunk, 50)
  assert.deepEqual(sending.take(), [[3, 50, 0]])
})

test('a piece that waits is copied if it is less than an eighth of its memory', () => {
  const memory = Buffer.allocUnsafeSlow(80)
  for (const [length, isCopied] of [
    [9, true],
    [10, false],
  ] as const) {
    const stream = new SendingStream(1, 0)
    stream.queue(memory.subarray(0, length))
    assert.equal(stream.first.buffer !== memory.buffer, isCopied)
  }
})
