import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isMethodOverride } from '../../../src/http1/fields/method-override.ts'
import { anyCharacter } from '../../help/any-text.ts'

const names = ['x-http-method', 'x-method-override', 'x-http-method-override']

test('a field that names another method is known in any case and with any separators', () => {
  const odd = fc.constantFrom(...names).chain(name =>
    fc.tuple(fc.constantFrom('-', '_', '.', '!', '~'), fc.boolean()).map(([separator, isUpper]) => {
      const text = name.replaceAll('-', separator)
      return isUpper ? text.toUpperCase() : text
    }),
  )
  fc.assert(fc.property(odd, name => isMethodOverride(name)))
})

test('no other name is one', () => {
  for (const name of [
    'x-http-methods',
    'http-method-override',
    'x-method',
    'xhttp-method',
    'x-http-method-over',
  ])
    equal(isMethodOverride(name), false, name)
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), name => {
      const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '-')
      equal(isMethodOverride(name), names.includes(plain))
    }),
  )
})
