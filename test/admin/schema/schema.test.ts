import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  closed,
  exactly,
  listOf,
  oneOf,
  open,
  orNull,
  page,
  printable,
  refusal,
  success,
  text,
} from '../../../src/admin/schema/schema.ts'
import { faultsOf } from '../openapi/openapi-document.ts'

test('objects of requests are closed, those of answers open, and both say what must be there', () => {
  const members = [{ a: text }, { b: text }] as const
  assert.deepEqual(open(...members), {
    type: 'object',
    required: ['a'],
    properties: { a: { type: 'string' }, b: { type: 'string' } },
  })
  assert.equal(closed(...members).additionalProperties, false)
  assert.equal('required' in open({}, { b: text }), false)
})

test('a nullable value keeps all its other rules, enums included', () => {
  for (const schema of [oneOf(['a', 'b']), text, listOf(text)]) {
    assert.equal(faultsOf(orNull(schema), null), '')
    assert.notEqual(faultsOf(schema, null), '')
    assert.notEqual(faultsOf(orNull(schema), 1), '')
  }
  assert.notEqual(faultsOf(orNull(oneOf(['a'])), 'b'), '')
})

test('a value that is the only one, or one of some, has its type beside it', () => {
  for (const [value, type] of [
    ['a', 'string'],
    [false, 'boolean'],
    [7, 'integer'],
    [0.5, 'number'],
    [null, 'null'],
  ] as const) {
    assert.deepEqual(exactly(value), { type, const: value })
    assert.deepEqual(oneOf([value]), { type, enum: [value] })
  }
  assert.deepEqual(oneOf([1, 2]).type, 'integer')
  assert.deepEqual(oneOf([false, null]).type, ['boolean', 'null'])
  assert.equal(faultsOf(exactly('a'), 'a'), '')
  assert.notEqual(faultsOf(exactly('a'), 'b'), '')
})

test('a printable line is as long as it may be, without control characters', () => {
  const line = printable(5)
  for (const good of ['a', ' a ', '\u{1f511}'.repeat(5)]) assert.equal(faultsOf(line, good), '', good)
  for (const bad of ['', '123456', 'a\n', '\u0000', 'a\u007f', '\u0085'])
    assert.notEqual(faultsOf(line, bad), '', JSON.stringify(bad))
})

test('successes, pages and refusals are distinct', () => {
  const envelope = { success: true, errors: [], messages: [], result: [] }
  const result_info = { page: 1, per_page: 20, count: 0, total_count: 0 }
  const refused = { success: false, errors: [{ code: 7003, message: '' }], messages: [], result: null }
  assert.equal(faultsOf(success({}), envelope), '')
  assert.equal(faultsOf(page(text), { ...envelope, result_info }), '')
  assert.equal(faultsOf(refusal([7003]), refused), '')
  assert.notEqual(faultsOf(page(text), envelope), '')
  assert.notEqual(faultsOf(refusal([7001]), refused), '')
  assert.notEqual(faultsOf(success({}), refused), '')
})
