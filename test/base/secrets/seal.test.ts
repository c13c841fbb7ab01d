import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { seal, unseal } from '../../../src/base/secrets/seal.ts'
import { anyCharacter } from '../../help/any-text.ts'

const key = randomBytes(32)
const text = fc.string({ unit: 'grapheme' })

test('encrypted values can be decrypted for their context', () => {
  fc.assert(
    fc.property(text, text, (secret, context) => {
      const sealed = seal(key, secret, context)
      assert.match(sealed, /^[\w-]+$/)
      assert.equal(unseal(key, sealed, context), secret)
    }),
  )
})

test('the same text looks different each time, and shows nothing of it but its length', () => {
  const [one, other] = [seal(key, 'a secret', 'c'), seal(key, 'a secret', 'c')]
  assert.notEqual(one, other)
  assert.equal(one.length, other.length)
  assert.ok(!Buffer.from(one, 'base64url').includes('secret'))
})

test('another key, another context and another byte anywhere open nothing', () => {
  const sealed = seal(key, 'a secret', 'here')
  assert.equal(unseal(randomBytes(32), sealed, 'here'), null)
  assert.equal(unseal(key, sealed, 'there'), null)
  const bytes = Buffer.from(sealed, 'base64url')
  for (let i = 0; i < bytes.length; i++) {
    const changed = Buffer.from(bytes)
    changed[i]! ^= 1
    assert.equal(unseal(key, changed.toString('base64url'), 'here'), null)
    assert.equal(unseal(key, bytes.subarray(0, i).toString('base64url'), 'here'), null)
  }
})

test('texts that were never sealed open nothing, and throw nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 100 }), any =>
      assert.equal(unseal(key, any, 'c'), null),
    ),
  )
})
