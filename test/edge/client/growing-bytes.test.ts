import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GrowingBytes } from '../../../src/edge/client/growing-bytes.ts'

test('pieces of any size become one buffer', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 100 })), pieces => {
      const bytes = new GrowingBytes()
      for (const piece of pieces) bytes.append(Buffer.from(piece))
      assert.deepEqual(bytes.bytes, Buffer.concat(pieces))
      assert.equal(bytes.size, bytes.bytes.length)
    }),
  )
})

test('a million pieces of one byte take no more than twice their bytes', () => {
  const bytes = new GrowingBytes()
  const piece = Buffer.alloc(1)
  for (let i = 0; i < 2 ** 20; i++) bytes.append(piece)
  assert.ok(bytes.bytes.buffer.byteLength <= 2 ** 21)
})
