import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../help/any-text.ts'
import { replaceTexts, textsOf } from '../../../src/guard/webhook/json-texts.ts'

test('all values that are strings are texts, also the arguments of tools; names and base64 are none', () => {
  const body = {
    model: 'gpt-4o',
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'a "quoted\\" one' }] },
      { role: 'user', content: [{ image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }] },
      { role: 'assistant', tool_calls: [{ function: { name: 'pay', arguments: '{"to":"Ada"}' } }] },
      { role: 'user', content: { data: 'QUFB'.repeat(300), note: 'QUFB' } },
    ],
  }
  assert.deepEqual(textsOf(JSON.stringify(body, null, 2)), [
    'gpt-4o',
    'user',
    'text',
    'a "quoted\\" one',
    'assistant',
    'pay',
    '{"to":"Ada"}',
    'QUFB',
  ])
})

test('a data URL with more than base64 is looked at', () => {
  const text = 'data:text/plain;base64,QUFB and my secret'
  assert.deepEqual(textsOf(JSON.stringify([text])), [text])
})

test('what is replaced is so wherever it is, and nothing else changes', () => {
  const json = '{ "n": 12345678901234567890, "a": "x", "b": ["\\u0078", "y"], "x": 1.0 }'
  assert.equal(
    replaceTexts(json, new Map([['x', 'a "z"']])),
    '{ "n": 12345678901234567890, "a": "a \\"z\\"", "b": ["a \\"z\\"", "y"], "x": 1.0 }',
  )
})

test('a text that is not there, or that says what something is, cannot be replaced', () => {
  assert.equal(replaceTexts('{"a":"x"}', new Map([['y', 'z']])), null)
  assert.equal(replaceTexts('{"model":"x","a":"x"}', new Map([['x', 'z']])), null)
  assert.equal(replaceTexts('{"model":["x"]}', new Map([['x', 'z']])), '{"model":["z"]}')
})

test('of any JSON, the texts are those of its values', () => {
  const valuesOf = (value: unknown): readonly string[] => {
    if (typeof value === 'string') return [value]
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(valuesOf) : []
  }
  const value = fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 2 })
  fc.assert(
    fc.property(value, fc.constantFrom(0, 1), (value, space) => {
      const json = JSON.stringify(value, null, space)
      const texts = valuesOf(JSON.parse(json))
      assert.deepEqual(new Set(textsOf(json)), new Set(texts.filter(text => text !== '')))
      assert.equal(replaceTexts(json, new Map()), json)
    }),
  )
})
