// Text from outside that must not act on whoever reads it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { visible, visibleJson } from '../../../src/base/text/visible.ts'

/** Controls of C0 and C1, DEL, and the characters that turn the order of a text around. */
const steering = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/
/** All of them, letters of several scripts and emoji, and halves of pairs. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0x2fff }).map(code => String.fromCharCode(code)),
    fc.constantFrom('a', 'é', 'ن', '\u{1f469}\u200d\u{1f680}', '\ud800', '\udc00', '"', '\\'),
  ),
})

test('what steers a terminal, or turns text around, is written as an escape', () => {
  assert.equal(visible('a\x1b[2Jb\x9bc\u202ed\r\n'), 'a\\u{1b}[2Jb\\u{9b}c\\u{202e}d\\u{d}\\u{a}')
  fc.assert(fc.property(anyText, text => !steering.test(visible(text))))
})

test('letters of all scripts, and emoji that are joined, stay as they are', () => {
  for (const text of ['Grüße', 'سلام', 'می\u200cخواهم', '\u{1f469}\u200d\u{1f680}', '日本語 ✓'])
    assert.equal(visible(text), text)
})

test('JSON that is made visible is the same JSON, on as many lines', () => {
  const isSame = (text: string) => {
    const line = visibleJson(`${JSON.stringify({ text })}\n`)
    assert.deepEqual(JSON.parse(line), { text })
    assert.equal(line.indexOf('\n'), line.length - 1)
    assert.doesNotMatch(line.slice(0, -1), steering)
  }
  fc.assert(fc.property(anyText, isSame))
})
