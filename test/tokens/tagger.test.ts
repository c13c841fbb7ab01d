import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { Tagger, tagLength } from '../../src/tokens/tagger.ts'

// RFC 4231 sections 4.2 to 4.4: key, text and the first 8 bytes of HMAC-SHA-256.
for (const [key, text, begins] of [
  ['0b'.repeat(20), 'Hi There', 'b0344c61d8db3853'],
  [Buffer.from('Jefe').toString('hex'), 'what do ya want for nothing?', '5bdcc146bf60754e'],
  ['aa'.repeat(20), '\xdd'.repeat(50), '773ea91e36800e46'],
] as const)
  test(`the tag of ${JSON.stringify(text.slice(0, 8))}… begins as RFC 4231 has it`, () => {
    const tag = new Tagger(Buffer.from(key, 'hex'), text.length).tagOf(text)
    assert.equal(tag.length, tagLength)
    assert.equal(Buffer.from(tag, 'base64url').toString('hex').slice(0, 16), begins)
  })

const latin1 = (length: number) =>
  fc
    .array(fc.integer({ min: 0, max: 255 }), { minLength: length, maxLength: length })
    .map(codes => String.fromCharCode(...codes))
const some = fc
  .integer({ min: 0, max: 100 })
  .chain(length => fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 64 }), latin1(length)))

test('a tag is the beginning of HMAC-SHA-256, whatever was tagged before', () => {
  fc.assert(
    fc.property(some, latin1(100), ([key, text], before) => {
      const tagger = new Tagger(Buffer.from(key), text.length)
      tagger.tagOf(before)
      const whole = createHmac('sha256', key).update(text, 'latin1').digest('base64url')
      assert.equal(tagger.tagOf(text), whole.slice(0, 11))
      assert.ok(tagger.verifies(text + tagger.tagOf(text)))
    }),
  )
})

test('changing, dropping or adding any character of a token or its tag is detected', () => {
  fc.assert(
    fc.property(some, fc.nat(), latin1(1), ([key, text], place, other) => {
      const tagger = new Tagger(Buffer.from(key), text.length)
      const tagged = text + tagger.tagOf(text)
      const at = place % tagged.length
      if (tagged[at] !== other)
        assert.equal(tagger.verifies(tagged.slice(0, at) + other + tagged.slice(at + 1)), false)
      assert.equal(tagger.verifies(tagged.slice(0, at) + tagged.slice(at + 1)), false)
      assert.equal(tagger.verifies(tagged.slice(0, at) + other + tagged.slice(at)), false)
    }),
  )
})

test('a tag of another key does not verify', () => {
  const [ours, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)].map(key => new Tagger(key, 4))
  assert.equal(ours!.verifies(`text${other!.tagOf('text')}`), false)
})
