import { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { usageOf } from '../../src/ai/usage/usage.ts'
import { Capture, encodedSize, headSize, tailSize } from '../../src/ai-logs/capture.ts'
import { readInPlace } from '../../src/net/socket/shared-reads.ts'
import { until } from '../help/until.ts'

function captured(pieces: readonly Buffer[], isEncoded = false): Capture {
  const capture = new Capture({ isEncoded })
  for (const piece of pieces) capture.take(piece)
  return capture
}

/** Bytes that tell where they stood. */
function numbered(size: number): Buffer {
  const bytes = Buffer.alloc(size)
  for (let i = 0; i + 4 <= size; i += 4) bytes.writeUInt32BE(i, i)
  return bytes
}

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = []
  let at = 0
  for (const size of sizes) pieces.push(bytes.subarray(at, (at += size)))
  return [...pieces, bytes.subarray(at)]
}

describe('Capture', () => {
  test('keeps nothing of nothing', () => {
    const capture = captured([])
    deepEqual([capture.size, capture.head().length, capture.tail().length], [0, 0, 0])
    equal(capture.isCut, false)
  })

  test('refers to a small body without copying it', () => {
    const body = Buffer.from(new ArrayBuffer(700))
    equal(captured([body]).head(), body)
  })

  test('copies a slice that would keep a large buffer alive', () => {
    const slice = Buffer.alloc(64 * 1024).subarray(0, 2000)
    const head = captured([slice]).head()
    notEqual(head.buffer, slice.buffer)
    deepEqual(head, slice)
  })

  test('copies what other reads overwrite, however large', async t => {
    const server = createServer()
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.after(() => server.close())
    const { port } = server.address() as { port: number }
    const captures: Capture[] = []
    for (const byte of ['a', 'b']) {
      const client = connect(port, '127.0.0.1')
      const [socket] = (await once(server, 'connection')) as [Socket]
      t.after(() => client.destroy())
      t.after(() => socket.destroy())
      const capture = captured([])
      captures.push(capture)
      readInPlace(socket, { receive: bytes => capture.take(bytes) })
      socket.resume()
      client.write(byte.repeat(30_000))
      await until(() => capture.size === 30_000)
    }
    equal(`${captures[0]!.head()}`, 'a'.repeat(30_000))
  })

  test('keeps the beginning and the end of a body, wherever it is cut', () => {
    const size = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 100_000 }))
    fc.assert(
      fc.property(size, fc.array(size, { maxLength: 30 }), (total, sizes) => {
        const body = numbered(total)
        const capture = captured(cut(body, sizes))
        equal(capture.size, total)
        ok(capture.head().equals(body.subarray(0, headSize)))
        ok(capture.tail().equals(total > headSize ? body.subarray(-tailSize) : Buffer.alloc(0)))
        equal(capture.isCut, total > headSize)
      }),
      { numRuns: 300 },
    )
  })

  test('keeps the usage of a response of any length and in any pieces', () => {
    const start = { type: 'message_start', message: { usage: { input_tokens: 5, output_tokens: 1 } } }
    const end = { type: 'message_delta', delta: {}, usage: { output_tokens: 44 } }
    const stream = (size: number) =>
      `data: ${JSON.stringify(start)}\n\n: ${'x'.repeat(size)}\r\n\r\ndata: ${JSON.stringify(end)}\n\n`
    const json = (size: number) =>
      JSON.stringify({ content: 'x'.repeat(size), usage: { input_tokens: 5, output_tokens: 44 } })
    const size = fc.oneof(
      fc.integer({ min: headSize - 300, max: headSize + 300 }),
      fc.integer({ min: headSize + tailSize - 300, max: headSize + tailSize + 300 }),
      fc.integer({ min: 0, max: 200_000 }),
    )
    const cuts = fc.array(fc.integer({ min: 1, max: 50_000 }), { maxLength: 10 })
    fc.assert(
      fc.property(size, cuts, fc.boolean(), (size, cuts, isStream) => {
        const capture = captured(cut(Buffer.from((isStream ? stream : json)(size)), cuts))
        const { tokensIn, tokensOut } = usageOf({
          head: capture.head(),
          tail: capture.tail(),
          isEventStream: isStream,
          isWhole: true,
        })
        deepEqual([tokensIn, tokensOut], [5, 44])
      }),
      { numRuns: 300 },
    )
  })

  test('keeps as much of a stream of small pieces as of a whole body', () => {
    const body = numbered(200_000)
    const capture = captured(cut(body, Array(2000).fill(93)))
    ok(capture.head().equals(body.subarray(0, headSize)))
    ok(capture.tail().equals(body.subarray(-tailSize)))
  })

  test('keeps an encoded body from its beginning, and no end', () => {
    const body = numbered(encodedSize + 10)
    const capture = captured(cut(body, [encodedSize - 1]), true)
    ok(capture.head().equals(body.subarray(0, encodedSize)))
    equal(capture.tail().length, 0)
    equal(capture.isCut, true)
  })

  test('weighs no more than it may keep', () => {
    const capture = captured(Array(64).fill(Buffer.alloc(64 * 1024)))
    equal(capture.weight, headSize + tailSize)
  })
})
