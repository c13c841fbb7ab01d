import { equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { BodyReader } from '../../../src/http1/body/body.ts'
import { chunkSize, chunkText, lastChunk } from '../../../src/http1/body/chunk.ts'

test('writes a small chunk with its size in hexadecimal', () => {
  equal(chunkText(Buffer.alloc(26, 'x')), `1a\r\n${'x'.repeat(26)}\r\n`)
})

for (const [length, size] of [
  [1023, '3ff'],
  [1024, '400'],
  [65536, '10000'],
] as const)
  test(`writes the line that opens a chunk of ${length} bytes`, () => {
    equal(chunkSize(length), `${size}\r\n`)
  })

test('ends a body without trailers', () => {
  equal(lastChunk(null), '0\r\n\r\n')
})

test('ends a body with its trailers in order', () => {
  equal(lastChunk(['X-A', '1', 'x-b', '']), '0\r\nX-A: 1\r\nx-b: \r\n\r\n')
})

describe('what is written in chunks', () => {
  const runs = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }))

  test('is read back byte for byte', () => {
    fc.assert(
      fc.property(runs, runs => {
        const buffers = runs.map(run => Buffer.from(run))
        const text = buffers.map(chunkText).join('') + lastChunk(null)
        equal(readBack(text).data, Buffer.concat(buffers).toString('latin1'))
      }),
    )
  })

  test('is read back with its trailers', () => {
    const trailer = fc.tuple(
      // Names that claim something of the client, such as x-tls, are not passed on.
      fc.stringMatching(/^t-[a-z]{1,9}$/),
      fc.stringMatching(/^(?:[!-~](?: ?[!-~])*)?$/),
    )
    fc.assert(
      fc.property(fc.array(trailer, { minLength: 1, maxLength: 5 }), lines => {
        const trailers = lines.flat()
        const { reader } = readBack(chunkText(Buffer.from('x')) + lastChunk(trailers))
        equal(reader.trailers?.join('\n'), trailers.join('\n'))
      }),
    )
  })
})

function readBack(text: string) {
  const bytes = Buffer.from(text, 'latin1')
  const reader = new BodyReader('chunked', 0)
  let data = ''
  let at = 0
  while (at < bytes.length && !reader.done && !reader.faulty) {
    at = reader.next(bytes, at)
    data += bytes.toString('latin1', reader.from, reader.to)
  }
  equal(reader.done, true)
  equal(at, bytes.length)
  return { reader, data }
}
