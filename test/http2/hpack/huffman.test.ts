// The Huffman code of header strings, by codes of RFC 7541 appendix B of each length.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeHuffman } from '../../../src/http2/hpack/huffman.ts'

const codes: readonly (readonly [byte: number, code: number, bits: number])[] = [
  [0x30, 0x0, 5],
  [0x74, 0x9, 5],
  [0x20, 0x14, 6],
  [0x75, 0x2d, 6],
  [0x3a, 0x5c, 7],
  [0x7a, 0x7b, 7],
  [0x26, 0xf8, 8],
  [0x5a, 0xfd, 8],
  [0x21, 0x3f8, 10],
  [0x3f, 0x3fc, 10],
  [0x7c, 0x7fc, 11],
  [0x3e, 0xffb, 12],
  [0x00, 0x1ff8, 13],
  [0x7e, 0x1ffd, 13],
  [0x7d, 0x3ffd, 14],
  [0x7b, 0x7ffe, 15],
  [0x5c, 0x7fff0, 19],
  [0xd0, 0x7fff2, 19],
  [0x80, 0xfffe6, 20],
  [0x99, 0x1fffdc, 21],
  [0x81, 0x3fffd2, 22],
  [0x01, 0x7fffd8, 23],
  [0xef, 0x7ffff4, 23],
  [0x09, 0xffffea, 24],
  [0xc7, 0x1ffffec, 25],
  [0xff, 0x3ffffee, 26],
  [0xfe, 0x7fffff0, 27],
  [0x02, 0xfffffe2, 28],
  [0x7f, 0xffffffc, 28],
  [0xf9, 0xffffffe, 28],
  [0x0a, 0x3ffffffc, 30],
  [0x0d, 0x3ffffffd, 30],
  [0x16, 0x3ffffffe, 30],
]

/** Encodes bytes that the table above has, and pads them with ones. */
function encode(places: readonly number[]): Buffer {
  let bits = places.map(place => codes[place]![1].toString(2).padStart(codes[place]![2], '0')).join('')
  bits = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1')
  return Buffer.from(
    Array.from({ length: bits.length / 8 }, (_, i) => Number.parseInt(bits.slice(i * 8, i * 8 + 8), 2)),
  )
}

test('codes of every length, in any order', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(codes.length - 1), { maxLength: 300 }), places => {
      const bytes = encode(places)
      const text = Buffer.from(places.map(place => codes[place]![0])).toString('latin1')
      assert.equal(decodeHuffman(bytes, 0, bytes.length), text)
    }),
  )
})

test('a text is read whole, however long it is', () => {
  for (const size of [2_600, 4_096, 5_000, 9_000, 20_000]) {
    const bytes = encode(Array.from({ length: size }, () => 0))
    assert.equal(decodeHuffman(bytes, 0, bytes.length), '0'.repeat(size))
  }
})

test('padding is ones, fewer than eight, and the end of a string is no code', () => {
  const read = (...bytes: number[]) => decodeHuffman(Buffer.from(bytes), 0, bytes.length)
  assert.deepEqual([read(0x07), read(0x06), read(0x53), read(0x52)], ['0', null, ' ', null])
  // `&` has eight bits, and what follows are eight ones, or more.
  assert.deepEqual([read(0xf8), read(0xf8, 0xff), read(0xf8, 0xff, 0xff)], ['&', null, null])
  assert.deepEqual([read(0xff), read(0xff, 0xff), read(0xff, 0xff, 0xff, 0xff)], [null, null, null])
})

test('only the bytes between the two offsets are read', () => {
  const bytes = encode([0, 1, 2, 3, 4, 5])
  const around = Buffer.concat([Buffer.alloc(3), bytes, Buffer.alloc(3)])
  assert.equal(decodeHuffman(around, 3, 3 + bytes.length), decodeHuffman(bytes, 0, bytes.length))
  // `?` would be whole with two bits of the next byte.
  const cut = Buffer.of(0xff, 0x3f)
  assert.deepEqual([decodeHuffman(cut, 0, 2), decodeHuffman(cut, 0, 1)], ['?', null])
})

test('any bytes are text, shorter than twice as long, or none', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), bytes => {
      const text = decodeHuffman(bytes, 0, bytes.length)
      assert.ok(text === null || text.length < bytes.length * 2 || bytes.length === 0)
    }),
  )
})
