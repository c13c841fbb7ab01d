import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { appMark, initialsOf, markColours, markedName } from '../../../src/pages/parts/app-mark.ts'
import { html } from '../../../src/base/text/html.ts'
import { anyCharacter } from '../../help/any-text.ts'

test('initials are those of the first two words, in any script', () => {
  for (const [name, initials] of [
    ['Tea Ledger', 'TL'],
    ['tea ledger for shops', 'TL'],
    ['Terminal', 'T'],
    ['acme-cli (staging)', 'AC'],
    ['3 Suisses', '3S'],
    ["l'Équipe", 'L'],
    ['étude ø', 'ÉØ'],
    ['e\u0301tude', 'É'],
    ['straße ßcript', 'Sß'],
    ['Доставка Еды', 'ДЕ'],
    ['αθήνα', 'Α'],
    ['東京 カタログ', '東'],
    ['नि यम', 'नि'],
    ['متجر الشاي', 'م'],
    ['ქართული ენა', 'ქ'],
    ['Tea 東京', 'T'],
  ] as const)
    assert.equal(initialsOf(name), initials, name)
})

test('only letters and digits become initials', () => {
  assert.equal(initialsOf('✅ Verified App'), 'VA')
  assert.equal(initialsOf('👩‍👩‍👧 family'), 'F')
  for (const name of ['✅', '☑️ ✔', '', '  ', '\u202e\u200b', '<>"&', '🇨🇭']) {
    assert.equal(initialsOf(name), '', name)
    assert.match(appMark(name, null).markup, /<bdi>&#9634;<\/bdi>/)
  }
})

test('no name makes markup, or more than two letters with two marks each', () => {
  assert.equal(initialsOf(`Z${'\u0335'.repeat(90)}algo`), 'Z\u0335\u0335')
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), name => {
      assert.ok([...initialsOf(name)].length <= 6)
      assert.match(
        appMark(name, null).markup,
        /^<span class="app-mark c\d" aria-hidden="true"><bdi>(?:[^<>&"]|&#\d+;)+<\/bdi><\/span>$/,
      )
    }),
  )
})

test('an app has the same colour everywhere, and apps have all colours', () => {
  const colourIn = (markup: string) => /\bc\d/.exec(markup)![0]
  const names = Array.from({ length: 100 }, (_, i) => `App ${i}`)
  for (const name of names)
    assert.equal(
      colourIn(appMark(name, 'https://a.test/b').markup),
      colourIn(markedName(name, html``).markup),
    )
  assert.equal(new Set(names.map(name => colourIn(appMark(name, null).markup))).size, markColours)
})
