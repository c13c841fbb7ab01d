import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headerName, readHeaderKey } from '../../../src/config/shape/rules.ts'

test('the name of a header is a token of at most 128 characters', () => {
  for (const name of ['X-User', "!#$%&'*+-.^_`|~9", 'x'.repeat(128)])
    assert.deepEqual(headerName(name), { value: name })
  for (const name of ['', 'X User', 'X:User', 'X-Überall', 'x'.repeat(129)])
    assert.ok('flaw' in headerName(name), name)
})

test('what goes by a header names it in any case, and one only', () => {
  assert.equal(readHeaderKey('header X-User'), 'x-user')
  assert.equal(readHeaderKey(`header   ${'X'.repeat(128)}`), 'x'.repeat(128))
  for (const text of [
    'header',
    'header ',
    'headerX',
    'header X Y',
    'header X\n',
    `header ${'x'.repeat(129)}`,
  ])
    assert.equal(readHeaderKey(text), undefined, text)
})
