import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fieldValueOf, scopesIn } from '../../src/protect/claims.ts'
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
  assert.equal(fieldValueOf(Object.create({ a: 'b' }), 'a'), null)
  assert.equal(fieldValueOf(JSON.parse('{"__proto__":{"a":"b"}}'), 'a'), null)
})

test('a value has at most 4096 characters, also that of a list', () => {
  const half = 'x'.repeat(2047)
  assert.equal(fieldValueOf({ a: 'x'.repeat(4096) }, 'a')?.length, 4096)
  assert.equal(fieldValueOf({ a: [half, `${half}x`] }, 'a')?.length, 4096)
  assert.equal(fieldValueOf({ a: [half, `${half}xx`] }, 'a'), null)
  assert.equal(fieldValueOf({ a: ['x'.repeat(4097)] }, 'a'), null)
})

test('scopes are those of scope, or else of scp, as a text or a list', () => {
  assert.deepEqual(scopesIn({ scope: 'read write', scp: ['admin'] }), ['read', 'write'])
  assert.deepEqual(scopesIn({ scp: 'read write' }), ['read', 'write'])
  assert.deepEqual(scopesIn({ scp: ['read', 7, null, 'write'] }), ['read', 'write'])
  for (const claims of [
    {},
    { scope: 7, scp: 'read' },
    { scope: null },
    Object.create({ scope: 'read', scp: 'read' }),
  ])
    assert.deepEqual(scopesIn(claims), [])
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
