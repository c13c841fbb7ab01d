import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { withoutOws } from '../../../src/base/text/ows.ts'

const texts: readonly (readonly [text: string, without: string])[] = [
  ['a', 'a'],
  [' \ta b\t ', 'a b'],
  [' \t ', ''],
  ['', ''],
  ['\xa0a\xa0', '\xa0a\xa0'],
  ['\u2003a\ufeff', '\u2003a\ufeff'],
  ['\va\f', '\va\f'],
]

test('only spaces and tabs around a text are removed', () => {
  for (const [text, without] of texts) equal(withoutOws(text), without, JSON.stringify(text))
})
