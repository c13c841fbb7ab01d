import { equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { didYouMean } from '../../../src/base/text/nearest.ts'

describe('didYouMean', () => {
  const known = ['timeouts', 'origins', 'url', 'ca']
  const suggestions = [
    ['timeout', '; did you mean timeouts?'],
    ['tiemouts', '; did you mean timeouts?'],
    ['orgins', '; did you mean origins?'],
    ['uri', '; did you mean url?'],
    ['limits', ''],
    ['x'.repeat(1000), ''],
  ] as const
  for (const [word, phrase] of suggestions) {
    test(`says "${phrase}" to ${word.slice(0, 20)}`, () => equal(didYouMean(word, known), phrase))
  }
})
