import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32c } from '../../../src/edge/accept/crc32c.ts'

test('the examples of RFC 3720 appendix B.4 have their checksums', () => {
  const counting = Buffer.from(Array.from({ length: 32 }, (_, i) => i))
  assert.equal(crc32c(Buffer.alloc(32)), 0x8a9136aa)
  assert.equal(crc32c(Buffer.alloc(32, 0xff)), 0x62a8ab43)
  assert.equal(crc32c(counting), 0x46dd794e)
  assert.equal(crc32c(Buffer.from(counting).reverse()), 0x113fdb5c)
  assert.equal(crc32c(Buffer.from('123456789')), 0xe3069283)
})

test('the bytes of a range count as zeros', () => {
  const bytes = Buffer.alloc(32)
  bytes.fill(7, 3, 9)
  assert.equal(crc32c(bytes, 3, 9), 0x8a9136aa)
  assert.notEqual(crc32c(bytes, 3, 8), 0x8a9136aa)
})
