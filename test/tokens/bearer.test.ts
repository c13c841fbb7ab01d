import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bearerOf, token68Of } from '../../src/tokens/bearer.ts'

const cases: readonly [field: string, token: string | null, token68: string | null][] = [
  ['Bearer one', 'one', 'one'],
  ['bearer  one', 'one', 'one'],
  ['BEARER\t one', 'one', 'one'],
  ['Bearer aZ09-._~+/==', 'aZ09-._~+/==', 'aZ09-._~+/=='],
  ['Bearer one two', 'one two', null],
  ['Bearer one,', 'one,', null],
  ['Bearer o=ne', 'o=ne', null],
  ['Bearer ==', '==', null],
  ['Bearer r\xe9al', 'r\xe9al', null],
  ['Bearer \xa0one', '\xa0one', null],
  ['Bearer', null, null],
  ['Bearer ', null, null],
  ['Bearerone', null, null],
  ['Basic b25lOg==', null, null],
  ['Digest one', null, null],
  ['x, Bearer one', null, null],
  ['', null, null],
]

test('a token is what follows Bearer', () => {
  for (const [field, token] of cases) assert.equal(bearerOf(field), token, field)
  assert.equal(bearerOf(null), null)
})

test('what no token can be is no token68', () => {
  for (const [field, , token68] of cases) assert.equal(token68Of(field), token68, field)
})

test('whatever is sent, a token68 is one', () => {
  const field = fc.tuple(fc.constantFrom('Bearer ', 'bearer\t', 'Bearer', 'Basic '), fc.string())
  fc.assert(
    fc.property(field, ([scheme, rest]) => {
      assert.match(token68Of(scheme + rest) ?? 'none', /^[\w\-.~+/]+=*$/)
    }),
  )
})
