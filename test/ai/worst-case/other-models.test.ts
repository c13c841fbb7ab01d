import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { membersOf } from '../../../src/base/json/members.ts'
import { otherModelsIn } from '../../../src/ai/worst-case/other-models.ts'

const modelsIn = (text: string) => otherModelsIn(Buffer.from(text))

test('further models are those of all members that name some, also of duplicates and in any case', () => {
  for (const [text, models] of [
    ['{"model":"a"}', []],
    ['{"models":["a",{"model":"b"}]}', ['a', 'b']],
    ['{"models":"a","Models":["b"],"fallbacks":"c"}', ['a', 'b', 'c']],
    ['{"fallback_model\\u0073":["a"],"models":null}', ['a']],
    ['{"models":[1,{"name":"a"}]}', [null, null]],
    ['{"providerOptions":{"gateway":{"models":["a"]}}}', ['a']],
    ['{"providerOptions":{"other":{"models":["a"]}}}', []],
    ['{"tools":[{"model":"a"},{"Model":"b"},{}],"TOOLS":[{"model":"c"}]}', ['a', 'b', 'c']],
    ['{"tools":[{"function":{"model":"a"}}]}', []],
  ] as const)
    deepEqual(modelsIn(text), models, text)
})

test('those of anything but an object are unknown', () => {
  for (const text of ['', '[]', 'null', '{"models":["a"]', "{'models':['a']}", '\ufeff{}', '{"a":1,}'])
    deepEqual(modelsIn(text), [null], text)
})

test('the members of a body change nothing but what it costs', () => {
  const name = fc.constantFrom('model', 'models', 'Models', 'tools', 'toolſ', 'fallbacks', 'providerOptions')
  const value = fc.oneof(fc.json(), fc.constantFrom('"a"', '[{"model":"b"}]', '{"gateway":{"models":["c"]}}'))
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), members => {
      const body = Buffer.from(`{${members.map(([name, value]) => `"${name}":${value}`).join()}}`)
      deepEqual(otherModelsIn(body, membersOf(body)), otherModelsIn(body))
    }),
  )
})
