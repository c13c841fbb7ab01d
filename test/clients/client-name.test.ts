import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { clientNameFault } from '../../src/clients/client-name.ts'

describe('the name of a client', () => {
  for (const name of [
    'A',
    'My app (beta) — für alle',
    'アプリ',
    'אפליקציה שלי',
    '\u200fאפליקציה',
    '👩\u200d💻 tools',
    '<b>bold</b>',
    'a'.repeat(100),
    '🗝'.repeat(100),
  ]) {
    test(`may be ${name.slice(0, 30)}`, () => assert.equal(clientNameFault(name), null))
  }

  for (const [name, rule] of [
    ['', /1 to 100 characters/],
    ['a'.repeat(101), /1 to 100 characters/],
    ['🗝'.repeat(101), /1 to 100 characters/],
    ['a\nb', /control characters/],
    ['a\u0000', /control characters/],
    ['a\u0085b', /control characters/],
    ['a\u2028b', /control characters/],
    ['a\u202etxt.exe', /direction of text/],
    ['a\u2066b', /direction of text/],
    ['e\u0301', /NFC/],
    ['\u212b', /NFC/],
    ['\ud800', /surrogate/],
    ['a\udc00b', /surrogate/],
    [' ', /can be seen/],
    ['\u00a0\u200b\u3164\u2060', /can be seen/],
  ] as const) {
    test(`must not be ${JSON.stringify(name.slice(0, 30))}`, () =>
      assert.match(clientNameFault(name) ?? 'it may', rule))
  }

  test('never makes it throw, and is harmless to show when it has no fault', () => {
    const odd = fc.constantFrom('\u202a', '\u2069', '\u0301', '\ud83d', '\u200b', '\u007f', ' ', 'é')
    const name = fc.string({
      unit: fc.oneof(fc.string({ unit: 'binary', maxLength: 1 }), odd),
      maxLength: 120,
    })
    fc.assert(
      fc.property(name, name => {
        const fault = clientNameFault(name)
        if (fault !== null) return assert.match(fault, /^must (be|have) [ -~]+$/)
        assert.ok(name.isWellFormed() && name.trim() !== '' && name === name.normalize())
        const codes = [...name].map(character => character.codePointAt(0)!)
        assert.ok(codes.length <= 100)
        for (const code of codes) {
          const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0)
          const isOverride = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)
          assert.ok(!isControl && !isOverride)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
