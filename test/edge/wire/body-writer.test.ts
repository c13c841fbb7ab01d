import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BodyWriter } from '../../../src/edge/wire/body-writer.ts'
import { BodyReader } from '../../../src/http1/body/body.ts'

/** A next hop that keeps each write, and can be told to ask for time. */
class Sink {
  readonly writes: string[] = []
  mayGoOn = true
  isWritten = false

  write(data: string | Buffer): boolean {
    this.writes.push(typeof data === 'string' ? data : data.toString('latin1'))
    return this.mayGoOn
  }

  cork(): void {}

  uncork(): void {}
}

test('head, pieces and last chunk of one run leave as one write', () => {
  const sink = new Sink()
  const writer = new BodyWriter(sink, 'HEAD\r\n\r\n', 'chunked')
  for (const letter of 'abc') writer.data(Buffer.from(letter))
  writer.end(['Checksum', 'x'])
  assert.deepEqual(sink.writes, ['HEAD\r\n\r\n1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\nChecksum: x\r\n\r\n'])
})

test('a head and a large first piece leave as one write, and further pieces as another', () => {
  const sink = new Sink()
  const writer = new BodyWriter(sink, 'HEAD \xe9\r\n\r\n', 'length')
  const large = '\xff'.repeat(1000)
  for (const piece of ['a', large, 'b', 'c']) writer.data(Buffer.from(piece, 'latin1'))
  writer.end(null)
  assert.deepEqual(sink.writes, [`HEAD \xe9\r\n\r\na${large}`, 'bc'])
})

test('nothing has begun until something is written', () => {
  const writer = new BodyWriter(new Sink(), 'HEAD\r\n\r\n', 'length')
  writer.data(Buffer.from('a'))
  assert.equal(writer.hasBegun, false)
  writer.flush()
  assert.equal(writer.hasBegun, true)
})

test('a next hop that does not keep up is noticed with small and with large pieces', () => {
  const sink = new Sink()
  sink.mayGoOn = false
  const writer = new BodyWriter(sink, '', 'chunked')
  assert.equal(writer.flush(), true)
  assert.equal(writer.data(Buffer.alloc(64 * 1024)), false)
  writer.data(Buffer.from('a'))
  assert.equal(writer.flush(), false)
})

test('a next hop that has taken a large piece at once has room for more', () => {
  const sink = new Sink()
  sink.mayGoOn = false
  sink.isWritten = true
  assert.equal(new BodyWriter(sink, '', 'length').data(Buffer.alloc(64 * 1024)), true)
})

test('pieces of any size, with any flushes in between, arrive unchanged', () => {
  const piece = fc.record({ size: fc.integer({ min: 1, max: 40_000 }), flush: fc.boolean() })
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.constantFrom('chunked', 'close'), (pieces, framing) => {
      const sink = new Sink()
      const writer = new BodyWriter(sink, '', framing)
      const sent = pieces.map(({ size }, i) => Buffer.alloc(size, i + 128))
      sent.forEach((bytes, i) => {
        writer.data(bytes)
        if (pieces[i]!.flush) writer.flush()
      })
      writer.end(null)
      assert.deepEqual(bodyOf(sink, framing), Buffer.concat(sent))
    }),
    { numRuns: 50 },
  )
})

function bodyOf(sink: Sink, framing: 'chunked' | 'close'): Buffer {
  const bytes = Buffer.from(sink.writes.join(''), 'latin1')
  const reader = new BodyReader(framing, 0)
  const data: Buffer[] = []
  let at = 0
  while (at < bytes.length && !reader.done) {
    at = reader.next(bytes, at)
    assert.equal(reader.faulty, false)
    data.push(bytes.subarray(reader.from, reader.to))
  }
  return Buffer.concat(data)
}
