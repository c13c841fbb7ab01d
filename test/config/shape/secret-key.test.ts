import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseSecretKey } from '../../../src/config/shape/secret-key.ts'
import { anyCharacter } from '../../help/any-text.ts'

const key = Buffer.from(Array.from({ length: 32 }, (_, i) => 255 - i * 5))

describe('a key', () => {
  test('is read from hex, base64 and base64url, with and without padding', () => {
    const base64 = key.toString('base64')
    assert.match(base64, /[+/].*=$/)
    const forms = [
      key.toString('hex'),
      key.toString('hex').toUpperCase(),
      base64,
      base64.replace('=', ''),
      key.toString('base64url'),
      `${key.toString('base64url')}=`,
    ]
    for (const form of forms) assert.deepEqual(parseSecretKey(form), key)
  })

  test('is the bytes that were written, whatever they are', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 80 }),
        fc.constantFrom('hex', 'base64', 'base64url'),
        (bytes, form) =>
          assert.deepEqual(parseSecretKey(Buffer.from(bytes).toString(form)), Buffer.from(bytes)),
      ),
    )
  })

  for (const [name, text] of Object.entries({
    nothing: '',
    '31 bytes of hex': randomBytes(31).toString('hex'),
    '31 bytes of base64': Buffer.alloc(31, 251).toString('base64'),
    '48 hex digits, which would be 36 bytes of base64': 'abcdef01'.repeat(6),
    'hex with a digit too many': `${key.toString('hex')}0`,
    'base64 of both alphabets': `-_+/${'a'.repeat(44)}`,
    'base64 that ends within a byte': `${'z'.repeat(45)}`,
    'padding that is wrong': `${key.toString('base64')}=`,
    'padding alone': '==',
    spaces: `${key.toString('base64')} `,
    'a line end': `${key.toString('base64')}\n`,
    'a passphrase': 'correct horse battery staple correct horse battery staple',
  })) {
    test(`is not ${name}`, () => assert.equal(parseSecretKey(text), null))
  }

  test('is found in no text of any characters that is not one', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 100 }), text => {
        const bytes = parseSecretKey(text)
        if (bytes !== null) assert.ok(bytes.length >= 32 && /^[\w+/-]+={0,2}$/.test(text))
      }),
    )
  })
})
