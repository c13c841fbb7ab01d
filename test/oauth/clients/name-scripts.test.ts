import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { latinLike, mixedScripts, scriptDoubts } from '../../../src/oauth/clients/name-scripts.ts'
import { anyCharacter } from '../../help/any-text.ts'

const scriptsIn = (name: string) =>
  mixedScripts(name).map(({ name, letters }) => `${name} ${letters.join('')}`)

test('a name that mixes scripts is told to, with the letters of each', () => {
  const mixed: Readonly<Record<string, readonly string[]>> = {
    Pаypal: ['Latin Pypal', 'Cyrillic а'],
    Gооgle: ['Latin Ggle', 'Cyrillic о'],
    'Αmazon 24': ['Latin mazon', 'Greek Α'],
    'Ηello Wоrld': ['Latin eloWr', 'Cyrillic о', 'Greek Η'],
    'Shop 𝛂': ['Latin Shop', 'Greek α'],
    'Ѕһор ꓢ': ['Cyrillic Ѕһор', 'Lisu ꓢ'],
    'カタ ア': [],
    'Shop Ꮪ': ['Latin Shop', 'Cherokee Ꮪ'],
    'Shop 𐓀': ['Latin Shop', 'Osage 𐓀'],
    'Shop ߊ': ['Latin Shop', 'another script ߊ'],
    'магазин ギ': ['Cyrillic магзи', 'Katakana ギ'],
    '한글 かな': ['Hiragana かな', 'Hangul 한글'],
  }
  for (const [name, scripts] of Object.entries(mixed)) assert.deepEqual(scriptsIn(name), scripts, name)
})

test('a name in one script, or in those that a language is written in, is none', () => {
  const usual = [
    ...['Cart', 'Café Zoë', 'Магазин', 'Ελληνικά', 'עברית 24', 'العربية', 'ไทย', 'देवनागरी', ''],
    ...[
      '東京 さくら アプリ LINE',
      '한국어 漢字 App',
      '注音 ㄅㄆ App',
      'Ｆｕｌｌ width',
      'Tea ☕ – №1',
      'カードー',
    ],
  ]
  for (const name of usual) assert.deepEqual(mixedScripts(name), [], name)
})

test('a name all in letters that look like Latin ones has its script told', () => {
  for (const [name, script] of [
    ['Сорос', 'Cyrillic'],
    ['ΑΒΕ', 'Greek'],
    ['ᏚᎪᎷ', 'Cherokee'],
    ['ꓢꓮꓟ', 'Lisu'],
    ['Cart', null],
    ['Café', null],
    ['東京', null],
    ['Cаrt', null],
  ] as const)
    assert.equal(latinLike(name), script, name)
})

test('people are warned of a name that may imitate another one, and of no other', () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['Pаypal', ['has letters of several scripts, Latin and Cyrillic (а), and may imitate another name']],
    ['Сорос', ['is all in Cyrillic letters, which can look like Latin ones']],
    ['Cart', []],
    ['東京 LINE', []],
  ]
  for (const [name, doubts] of rows) assert.deepEqual(scriptDoubts(name), doubts, name)
})

test('whatever a name is, at most five letters of each script are told, and ASCII mixes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 100 }), name => {
      const scripts = mixedScripts(name)
      assert.notEqual(scripts.length, 1)
      assert.ok(scripts.every(({ letters }) => letters.length > 0 && letters.length <= 5))
    }),
  )
  fc.assert(fc.property(fc.string(), name => assert.deepEqual(mixedScripts(name), [])))
})
