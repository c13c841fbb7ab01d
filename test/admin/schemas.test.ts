import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  closed,
  listOf,
  oneOf,
  open,
  orNull,
  page,
  printable,
  refusal,
  success,
  text,
} from '../../src/admin/schemas.ts'
import { faultsOf } from './openapi-document.ts'

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

test('what may be null is all else too, an enum included', () => {
  for (const schema of [oneOf(['a', 'b']), text, listOf(text)]) {
    assert.equal(faultsOf(orNull(schema), null), '')
    assert.notEqual(faultsOf(schema, null), '')
    assert.notEqual(faultsOf(orNull(schema), 1), '')
  }
  assert.notEqual(faultsOf(orNull(oneOf(['a'])), 'b'), '')
})

test('a printable line has letters, and nothing that a page would hide or turn round', () => {
  const line = printable(5)
  for (const good of ['a', ' a ', '\u{1f511}'.repeat(5)]) assert.equal(faultsOf(line, good), '', good)
  for (const bad of ['', ' ', '123456', 'a\n', '\u2028a', 'a\u202eb', '\ud800'])
    assert.notEqual(faultsOf(line, bad), '', JSON.stringify(bad))
})

test('successes, pages and refusals are told apart', () => {
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
