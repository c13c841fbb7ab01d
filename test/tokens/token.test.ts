import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { bearerOf } from '../../src/tokens/bearer.ts'
import { digestOf, isWellFormed, mintToken, taggerOf } from '../../src/tokens/token.ts'
import { anyCharacter } from '../help/any-text.ts'

test('a minted token is svct_ and 49 characters of base64url, and its digest is the SHA-256 of all of it', () => {
  const { value, digest } = mintToken()
  assert.match(value, /^svct_[A-Za-z0-9_-]{49}$/)
  assert.equal(digest, createHash('sha256').update(value).digest('hex'))
  assert.equal(digestOf(value), digest)
})

test('minted tokens are well formed and unique', () => {
  const values = Array.from({ length: 1_000 }, () => mintToken().value)
  assert.ok(values.every(value => isWellFormed(value)))
  assert.equal(new Set(values).size, 1_000)
})

test('the format never changes', () => {
  const untagged = 'svct_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA12EquQ'
  assert.ok(isWellFormed(untagged) && untagged.length === 54)
  const tagged = `${untagged}ychUsUWH5Nm`
  assert.ok(isWellFormed(tagged) && tagged.length === 65)
  assert.equal(taggerOf(Buffer.alloc(32)).tagOf(untagged), tagged.slice(-11))
})

test('a token with a tag is one without, and 11 characters more', () => {
  const tagger = taggerOf(Buffer.alloc(32, 7))
  const { value, digest } = mintToken('svco_', tagger)
  assert.match(value, /^svco_[A-Za-z0-9_-]{60}$/)
  assert.ok(isWellFormed(value, 'svco_') && isWellFormed(value.slice(0, -11), 'svco_'))
  assert.ok(tagger.verifies(value))
  assert.equal(digest, digestOf(value))
  for (const other of [value.slice(0, -1), `${value}A`, `${value.slice(0, -1)}~`, `${value.slice(0, -1)}é`])
    assert.equal(isWellFormed(other, 'svco_'), false, other)
})

const prefixes = ['svct_', 'svco_', 'svcr_'] as const

for (const prefix of prefixes) {
  test(`a token that begins with ${prefix} is one of that kind and of no other, whatever it is renamed to`, () => {
    const { value, digest } = mintToken(prefix)
    assert.match(value, new RegExp(`^${prefix}[A-Za-z0-9_-]{49}$`))
    assert.equal(digest, digestOf(value))
    for (const other of prefixes) {
      assert.equal(isWellFormed(value, other), other === prefix)
      assert.equal(isWellFormed(other + value.slice(5), other), other === prefix)
    }
  })
}

test('a character outside of base64url is refused, whatever the checksum', () => {
  const unchecked = `svct_${'~'.repeat(43)}`
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(unchecked))
  assert.equal(isWellFormed(unchecked + checksum.toString('base64url')), false)
})

test('any one character that is wrong is seen', () => {
  const { value } = mintToken()
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  for (let i = 0; i < value.length; i++) {
    for (const other of [...alphabet, ' ', '\0', 'é', '\u{1f511}', '']) {
      if (other === value[i]) continue
      assert.equal(isWellFormed(value.slice(0, i) + other + value.slice(i + 1)), false, `${i} ${other}`)
    }
  }
})

test('no part of an earlier token counts for the next one', () => {
  const { value } = mintToken()
  for (let i = 5; i <= value.length; i++)
    for (const other of ['é', '€', '\u{1f511}']) {
      assert.ok(isWellFormed(value))
      const next = (value.slice(0, i) + other.repeat(60)).slice(0, value.length)
      assert.equal(isWellFormed(next), i === value.length)
    }
})

test('two neighbours that changed places are seen', () => {
  const { value } = mintToken()
  for (let i = 5; i < value.length - 1; i++) {
    const swapped = value.slice(0, i) + value[i + 1] + value[i] + value.slice(i + 2)
    assert.equal(isWellFormed(swapped), swapped === value)
  }
})

test('whatever else is sent is no token', () => {
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.stringMatching(/^svc[tor]_[A-Za-z0-9_-]{49}([A-Za-z0-9_-]{11})?$/),
  )
  fc.assert(
    fc.property(text, value => prefixes.every(prefix => !isWellFormed(value, prefix))),
    { numRuns: 1_000 },
  )
})

test('Bearer is read in any case, with any number of spaces', () => {
  for (const field of ['Bearer abc', 'bearer abc', 'BEARER   abc ', 'Bearer \tabc'])
    assert.equal(bearerOf(field), 'abc', field)
})

test('without Bearer there is no token', () => {
  for (const field of [
    null,
    '',
    'Bearer',
    'Bearer ',
    'Bearer   ',
    'Basic YTpi',
    'abc',
    'Bearerabc',
    ' Bearer abc',
  ])
    assert.equal(bearerOf(field), null, String(field))
})

test('whatever stands in a field, reading it gives text or nothing', () => {
  fc.assert(fc.property(fc.string(), field => [null, field.slice(7).trim()].includes(bearerOf(field))))
})
