import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Glob } from '../../../src/base/text/glob.ts'
import { cpuTime } from '../../help/stall.ts'
import { thorough } from '../../help/thorough.ts'

const matches = (pattern: string, text: string) => new Glob(pattern).matches(text.toLowerCase())

test('a pattern matches a whole text, in any case', () => {
  assert.ok(matches('curl/8.0', 'CURL/8.0'))
  assert.ok(!matches('curl', 'curl/8.0'))
  assert.ok(matches('Curl/*', 'curl/'))
  assert.ok(matches('*bot*', 'a Robot!'))
  assert.ok(!matches('a*a', 'a'))
  assert.ok(matches('*', ''))
  assert.ok(matches('', ''))
  assert.ok(!matches('', 'x'))
})

test('nothing but the star means more than itself', () => {
  assert.ok(matches('a.c(+)?', 'a.c(+)?'))
  assert.ok(!matches('a.c', 'abc'))
})

test('a pattern agrees with a reading of it that tries everything', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 10 })
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 })
  fc.assert(
    fc.property(pattern, text, (some, other) => {
      assert.equal(matches(some, other), isMatch(some, other))
    }),
    { numRuns: thorough(5_000, 1_000) },
  )
})

test('no text holds a pattern up', () => {
  const took = cpuTime(() => {
    assert.ok(!matches('*a*a*a*a*a*a*a*a*a*a*a*ab*c', 'a'.repeat(128 * 1024)))
    assert.ok(!matches(`*${'a'.repeat(500)}b*`, 'a'.repeat(128 * 1024)))
  })
  assert.ok(took < 2_500, `${took} ms`)
})

function isMatch(pattern: string, text: string): boolean {
  if (pattern === '') return text === ''
  if (pattern[0] !== '*') return pattern[0] === text[0] && isMatch(pattern.slice(1), text.slice(1))
  return isMatch(pattern.slice(1), text) || (text !== '' && isMatch(pattern, text.slice(1)))
}
