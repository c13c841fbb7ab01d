import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { emailFault, normalEmail } from '../../../src/people/records/email.ts'
import { anyCharacter } from '../../help/any-text.ts'

test('addresses of every mail system are taken', () => {
  fc.assert(
    fc.property(fc.emailAddress(), address => {
      assert.equal(emailFault(address), null, address)
      assert.equal(emailFault(normalEmail(address)), null, address)
    }),
  )
})

test('no other text is: neither blanks nor markup, control characters or letters beyond ASCII', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), text => {
      if (emailFault(text) === null) assert.match(text, /^[!-~]{1,64}@[A-Za-z0-9.-]{1,253}$/)
    }),
  )
  const parts = fc.constantFrom('a', '.', '@', '-', ' ', '"', '<', '\u0130', '\u212a', '\n', '\0', 'b.c')
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 8 }), some => {
      const text = some.join('')
      if (emailFault(text) === null) assert.match(text, /^[!-~]+@[A-Za-z0-9.-]+$/)
    }),
  )
})

test('any text is judged quickly', () => {
  for (const text of [`${'a.'.repeat(127)}`, `${'a'.repeat(64)}@${'a-'.repeat(94)}`, '@'.repeat(254)])
    assert.notEqual(emailFault(text), null)
})

test('one person is one address, however it is written', () => {
  assert.equal(normalEmail('Ada.Lovelace@Example.COM'), 'ada.lovelace@example.com')
})

test('an address with letters beyond ASCII does not become that of another in lower case', () => {
  const kelvin = '\u212aay@example.com'
  assert.equal(kelvin.toLowerCase(), 'kay@example.com')
  assert.equal(normalEmail(kelvin), kelvin)
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), text => {
      if (emailFault(normalEmail(text)) === null) assert.equal(emailFault(text), null, text)
    }),
  )
})
