import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { columns, json, visible } from '../../src/process/table.ts'

test('columns stand below each other, and no line ends in spaces', () => {
  const rows = [
    ['ID', 'NAME'],
    ['1234', ''],
    ['5', 'a name'],
  ]
  assert.equal(columns(rows), 'ID    NAME\n1234\n5     a name\n')
  assert.equal(columns([]), '')
})

test('what could steer the terminal is shown as an escape sequence', () => {
  assert.equal(visible('a\u001b[2Jb\u009bc\nd\u202ee'), 'a\\u{1b}[2Jb\\u{9b}c\\u{a}d\\u{202e}e')
  assert.equal(visible('Grüße, 世界 👋'), 'Grüße, 世界 👋')
  assert.equal(columns([['a\u001b', 'b']]), 'a\\u{1b}  b\n')
})

test('JSON says what the value says, and steers nothing', () => {
  const steering = /(?!\n)[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\u009b2J', '\u202e', '\u007f', '\n'))
  fc.assert(
    fc.property(fc.dictionary(text, fc.array(text)), value => {
      const written = json(value)
      assert.doesNotMatch(written, steering)
      assert.deepEqual(JSON.parse(written), JSON.parse(JSON.stringify(value)))
    }),
  )
})
