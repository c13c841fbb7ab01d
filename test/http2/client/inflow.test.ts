// The windows of responses, and how their bytes reach who reads them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Inflow } from '../../../src/http2/client/inflow.ts'
import { ClientStream, type StreamUser } from '../../../src/http2/client/stream.ts'
import { FrameWriter } from '../../../src/http2/frames/frame-writer.ts'
import { frameType } from '../../../src/http2/frames/frames.ts'
import { framesOf } from '../../help/http2.ts'

const mebibyte = 1024 * 1024
const firstWindow = 65_535

class Receiving {
  wanted = 0
  readonly writer = new FrameWriter()
  readonly inflow = new Inflow(this.writer, () => void this.wanted++)

  updates(): (readonly [stream: number, increment: number])[] {
    return framesOf(Buffer.from(this.writer.take())).map(({ type, stream, payload }) => {
      assert.equal(type, frameType.windowUpdate)
      return [stream, payload.readUInt32BE()]
    })
  }
}

/** Returns a stream, and what its reader gets. */
function reading(onData: (stream: ClientStream) => void = () => {}) {
  const got = { text: '', flushes: 0 }
  const user: StreamUser = {
    method: 'GET',
    interim() {},
    head() {},
    data(bytes) {
      got.text += bytes.toString('latin1')
      onData(stream)
    },
    flush: () => void got.flushes++,
    end() {},
    drained() {},
    failed() {},
  }
  const stream = new ClientStream(1, user, 0)
  return { stream, got }
}

const bytes = (text: string) => Buffer.from(text, 'latin1')

test('the connection has a window of 16 MiB, which is given back by halves', () => {
  const receiving = new Receiving()
  receiving.inflow.open()
  assert.deepEqual(receiving.updates(), [[0, 16 * mebibyte - firstWindow]])
  const { stream } = reading()
  stream.receiveWindow = 32 * mebibyte
  assert.equal(receiving.inflow.spend(stream, 8 * mebibyte - 1), true)
  assert.deepEqual([receiving.updates(), receiving.wanted], [[], 0])
  receiving.inflow.spend(stream, 1)
  assert.deepEqual([receiving.updates(), receiving.wanted], [[[0, 8 * mebibyte]], 1])
  receiving.inflow.spend(stream, 1)
  assert.deepEqual(receiving.updates(), [])
})

test('a stream takes its window, and what is late for others no more than theirs', () => {
  const { inflow } = new Receiving()
  const { stream } = reading()
  inflow.expectStrays(stream)
  assert.deepEqual([inflow.spend(null, firstWindow), inflow.spend(null, 1)], [true, false])
  assert.deepEqual([inflow.spend(stream, firstWindow), inflow.spend(stream, 1)], [true, false])
})

test('what was held comes first, as long as its reader goes on', () => {
  const { inflow } = new Receiving()
  const { stream, got } = reading()
  stream.isPaused = true
  inflow.take(stream, bytes('a'))
  stream.isPaused = false
  inflow.take(stream, bytes('b'))
  assert.deepEqual(got, { text: '', flushes: 0 })
  inflow.release(stream)
  assert.deepEqual(got, { text: 'ab', flushes: 1 })
  const leaves = [
    (stream: ClientStream) => (stream.isPaused = true),
    (stream: ClientStream) => (stream.isOver = true),
  ]
  for (const leave of leaves) {
    const { stream, got } = reading(leave)
    stream.held = [bytes('a'), bytes('b')]
    inflow.release(stream)
    assert.deepEqual([got.text, stream.held.length], ['a', 1])
    inflow.stop(stream)
    assert.equal(stream.held.length, 0)
  }
})

test('a reader is told once of all that has come, unless its stream is over', () => {
  const { inflow } = new Receiving()
  const { stream, got } = reading()
  inflow.take(stream, bytes('a'))
  inflow.take(stream, bytes('b'))
  inflow.flush()
  inflow.flush()
  assert.equal(got.flushes, 1)
  inflow.touch(stream)
  inflow.flush()
  assert.equal(got.flushes, 2)
  inflow.touch(stream)
  stream.isOver = true
  inflow.flush()
  assert.equal(got.flushes, 2)
})

test('a window is given back once half of it is read, and grows unless its reader is slow or all is there', () => {
  const receiving = new Receiving()
  const { inflow } = receiving
  const { stream } = reading()
  inflow.giveBack(stream, 32_766)
  assert.deepEqual([receiving.updates(), receiving.wanted], [[], 0])
  inflow.giveBack(stream, 1)
  assert.deepEqual([receiving.updates(), receiving.wanted], [[[1, 32_767 + firstWindow]], 1])
  assert.equal(stream.receiveWindow, firstWindow + 32_767 + firstWindow)
  stream.isPaused = true
  inflow.giveBack(stream, firstWindow)
  assert.deepEqual(receiving.updates(), [[1, firstWindow]])
  stream.heldEnd = { trailers: null }
  inflow.giveBack(stream, mebibyte)
  assert.deepEqual(receiving.updates(), [])
  const { stream: over } = reading(stream => (stream.isOver = true))
  inflow.take(over, Buffer.alloc(firstWindow))
  assert.deepEqual(receiving.updates(), [])
})

test('windows grow by 8 MiB together, to the byte, and by more once streams are over', () => {
  const receiving = new Receiving()
  const grow = (fullWindow: number) => {
    const { stream } = reading()
    stream.fullWindow = fullWindow
    receiving.inflow.giveBack(stream, fullWindow)
    receiving.updates()
    return stream
  }
  const half = mebibyte / 2
  const grown = Array.from({ length: 16 }, () => grow(half))
  assert.ok(grown.every(({ fullWindow }) => fullWindow === mebibyte))
  assert.equal(grow(mebibyte - 1).fullWindow, mebibyte - 1)
  const [first] = grown
  first!.fullWindow = firstWindow + 1
  receiving.inflow.stop(first!)
  assert.equal(grow(mebibyte - 1).fullWindow, mebibyte)
  assert.equal(grow(mebibyte - 1).fullWindow, mebibyte - 1)
})
