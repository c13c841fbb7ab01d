import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { spellingsOf } from '../../src/mcp/resource-uri.ts'
import { anyCharacter } from '../help/any-text.ts'

test('a URI has the spellings that servers may take for it', () => {
  for (const [uri, ...others] of [
    ['file:///a/b'],
    ['no URI'],
    ['note:a b'],
    ['FILE:///x/../a', 'file:///a'],
    ['https://example.com', 'https://example.com/'],
    ['file:///%61', 'file:///a'],
    ['file:///%c3%a4', 'file:///ä', 'file:///%C3%A4'],
    ['file:///%61%ff%', 'file:///a\ufffd%', 'file:///a%EF%BF%BD%'],
    ['file:///x%2f..%2fa', 'file:///x/../a', 'file:///a'],
    ['x%61', 'xa'],
  ] as const)
    assert.deepEqual(spellingsOf(uri), [uri, ...others])
})

test('any text is the first of its spellings', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), text => {
      const spellings = spellingsOf(`file:///${text}`)
      assert.equal(spellings[0], `file:///${text}`)
      assert.ok(spellings.length <= 4)
    }),
    { numRuns: 200 },
  )
})
