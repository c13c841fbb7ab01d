import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isJson, isObject, pointerStep } from '../../../src/base/text/json.ts'

test('an object is neither a list nor null', () => {
  for (const value of [{}, { a: 1 }, Object.create(null)]) assert.equal(isObject(value), true)
  for (const value of [[], null, undefined, 'a', 1, true]) assert.equal(isObject(value), false)
})

test('JSON is what parses', () => {
  for (const text of ['{}', '[1]', '"a"', 'null', ' 1 ']) assert.equal(isJson(text), true, text)
  for (const text of ['', '{', "'a'", 'undefined', '{"a":1,}']) assert.equal(isJson(text), false, text)
})

test('a step of a pointer leads back to its name', () => {
  assert.equal(pointerStep('a/b~c'), '/a~1b~0c')
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('~', '/', '0', '1', 'a') }), name => {
      const step = pointerStep(name)
      assert.equal(step.lastIndexOf('/'), 0)
      assert.equal(step.slice(1).replaceAll('~1', '/').replaceAll('~0', '~'), name)
    }),
  )
})
