import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visible } from '../../../src/base/text/visible.ts'
import fc from 'fast-check'
import { columns, json } from '../../../src/process/terminal/format.ts'
import { anyCharacter } from '../../help/any-text.ts'

test('columns are aligned, and no line ends in spaces', () => {
  const rows = [
    ['ID', 'NAME'],
    ['1234', ''],
    ['5', 'a name'],
  ]
  assert.equal(columns(rows), 'ID    NAME\n1234\n5     a name\n')
  assert.equal(columns([]), '')
})

test('terminal control characters are shown as escape sequences', () => {
  assert.equal(visible('a\u001b[2Jb\u009bc\nd\u202ee'), 'a\\u{1b}[2Jb\\u{9b}c\\u{a}d\\u{202e}e')
  assert.equal(visible('Grüße, 世界 👋'), 'Grüße, 世界 👋')
  assert.equal(
    visible('a\u200bb\ufeffc\u00add\u{e0001}\ue000'),
    'a\\u{200b}b\\u{feff}c\\u{ad}d\\u{e0001}\\u{e000}',
  )
  assert.equal(visible('👩\u200d👧'), '👩\u200d👧')
  assert.equal(columns([['a\u001b', 'b']]), 'a\\u{1b}  b\n')
})

test('JSON says what the value says, and steers nothing', () => {
  const steering = /(?![\n\u200c\u200d])[\p{C}\u2028\u2029]/u
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('\u009b2J', '\u202e', '\u007f', '\n', '\u{e0001}', '\ufeff'),
  )
  fc.assert(
    fc.property(fc.dictionary(text, fc.array(text)), value => {
      const written = json(value)
      assert.doesNotMatch(written, steering)
      assert.deepEqual(JSON.parse(written), JSON.parse(JSON.stringify(value)))
    }),
  )
})
