import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GrowingBytes } from '../../../src/edge/wire/growing-bytes.ts'

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

for (const expected of [-1, 0, 2 ** 20, 100])
  test(`a million pieces of one byte take no more than twice their bytes, and few buffers, with ${expected} announced`, t => {
    const bytes = new GrowingBytes(expected)
    const allocate = t.mock.method(Buffer, 'allocUnsafeSlow')
    const piece = Buffer.alloc(1)
    for (let i = 0; i < 2 ** 20; i++) bytes.append(piece)
    assert.ok(bytes.bytes.buffer.byteLength <= 2 ** 21)
    assert.ok(allocate.mock.callCount() <= 22, String(allocate.mock.callCount()))
  })

test('a body of an announced size gets all of its room once an eighth of it has come, and the body may turn out longer', () => {
  const bytes = new GrowingBytes(800)
  bytes.append(Buffer.alloc(99))
  assert.equal(bytes.bytes.buffer.byteLength, 99)
  bytes.append(Buffer.alloc(1))
  assert.equal(bytes.bytes.buffer.byteLength, 800)
  bytes.append(Buffer.alloc(701))
  assert.equal(bytes.bytes.length, 801)
})
