import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fieldValueOf } from '../../src/protect/claims.ts'
import { anyCharacter } from '../help/any-text.ts'

test('texts, numbers and truths become values, and lists of them one with commas', () => {
  const claims = { a: 'x y', b: 7, c: true, d: ['p', 'q'], e: '' }
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map(name => fieldValueOf(claims, name)),
    ['x y', '7', 'true', 'p,q'],
  )
})

test('what readers could take for something else is not sent', () => {
  const values = [
    '',
    ' a',
    'a ',
    'a\r\nb',
    'a\0',
    'é',
    [],
    ['a', 'b,c'],
    ['a', null],
    {},
    null,
    undefined,
    'x'.repeat(4097),
  ]
  for (const value of values) assert.equal(fieldValueOf({ a: value }, 'a'), null, JSON.stringify(value))
  assert.equal(fieldValueOf({}, 'constructor'), null)
  assert.equal(fieldValueOf(JSON.parse('{"__proto__":{"a":"b"}}'), 'a'), null)
})

test('a value is always printable ASCII, and a list can be told apart', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: anyCharacter }), fc.array(fc.string())), claim => {
      const value = fieldValueOf({ a: claim }, 'a')
      if (value === null) return
      assert.match(value, /^[!-~](?:[ -~]*[!-~])?$/)
      if (Array.isArray(claim)) assert.deepEqual(value.split(','), claim)
      else assert.equal(value, claim)
    }),
  )
})
