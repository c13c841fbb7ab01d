import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { clientNameFault } from '../../../src/oauth/clients/client-name.ts'
import { anyCharacter } from '../../help/any-text.ts'
import { thorough } from '../../help/thorough.ts'

describe('the name of a client', () => {
  for (const name of [
    'A',
    'My app (beta) — für alle',
    'アプリ',
    'אפליקציה שלי',
    '👩\u200d💻 tools, ❤\ufe0f, 1\ufe0f\u20e3 🇩🇪',
    '株式会社\u3000テスト',
    'À\u00a0table\u00a0!',
    'हिन्दी ไทย',
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
    ['a\u202etxt.exe', /text direction/],
    ['a\u2066b', /text direction/],
    ['e\u0301', /NFC/],
    ['\u212b', /NFC/],
    ['\ud800', /surrogate/],
    ['a\udc00b', /surrogate/],
    [' ', /begin or end with a space/],
    [' a', /begin or end with a space/],
    ['a\u00a0', /begin or end with a space/],
    ['\u3000a', /begin or end with a space/],
    ['\u200fאפליקציה', /, not U\+200F$/],
    ['a\u200bb', /, not U\+200B$/],
    ['a\u200cb', /, not U\+200C$/],
    ['a\u200db', /, not U\+200D$/],
    ['👩\u200db', /, not U\+200D$/],
    ['\u{1f469}\u200d', /, not U\+200D$/],
    ['a\ufe0f', /, not U\+FE0F$/],
    ['\ufeffa', /, not U\+FEFF$/],
    ['a\u2800', /, not U\+2800$/],
    ['a\u3164', /, not U\+3164$/],
    ['a\u2009b', /, not U\+2009$/],
    ['a\ufff9b', /, not U\+FFF9$/],
    ['a\ufdd0', /, not U\+FDD0$/],
    ['a\u{1ffff}', /, not U\+1FFFF$/],
    ['a\ue000', /, not U\+E000$/],
    ['a\u{e0041}', /, not U\+E0041$/],
    ['🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}', /, not U\+E0067$/],
    ['\u0336a', /begin with a combining character/],
  ] as const) {
    test(`must not be ${JSON.stringify(name.slice(0, 30))}`, () =>
      assert.match(clientNameFault(name) ?? 'it may', rule))
  }

  test('has no code point that shows nothing, controls, or means nothing', () => {
    const invisible = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800]/u
    const refused: string[] = []
    for (let code = 0; code <= 0x10ffff; code++) {
      const character = String.fromCodePoint(code)
      const name = `a${character}b`
      const isRefused = clientNameFault(name) !== null
      if (invisible.test(character)) assert.ok(isRefused, `U+${code.toString(16)}`)
      else if (isRefused && name === name.normalize('NFC')) refused.push(code.toString(16))
      if (/\s/.test(character))
        for (const name of [`${character}a`, `a${character}`]) assert.notEqual(clientNameFault(name), null)
    }
    assert.equal(
      refused.join(' '),
      '1680 2002 2003 2004 2005 2006 2007 2008 2009 200a 202f 205f 2d7f fffc fffd 1107f 11f42 13441 13442 16fe4 1d159',
    )
  })

  test('never makes it throw, and is harmless to show when it has no fault', () => {
    const odd = fc.constantFrom(
      '👩',
      '\u200d',
      '\ufe0f',
      '\u2800',
      '\u202a',
      '\u2069',
      '\u0301',
      '\ud83d',
      '\u200b',
      '\u007f',
      ' ',
      'é',
    )
    const name = fc.string({
      unit: fc.oneof(fc.string({ unit: anyCharacter, maxLength: 1 }), odd),
      maxLength: 120,
    })
    fc.assert(
      fc.property(name, name => {
        const fault = clientNameFault(name)
        if (fault !== null) return assert.match(fault, /^must (not )?(be|begin|contain|have|use) [ -~]+$/)
        assert.ok(name.isWellFormed() && name.trim() !== '' && name === name.normalize())
        const codes = [...name].map(character => character.codePointAt(0)!)
        assert.ok(codes.length <= 100)
        for (const code of codes) {
          const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0)
          const isOverride = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)
          assert.ok(!isControl && !isOverride)
          assert.ok(code !== 0x200b && code !== 0xfeff && code !== 0x2800 && code < 0xe0000)
        }
      }),
      { numRuns: thorough(2000, 500) },
    )
  })
})
