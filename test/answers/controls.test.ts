import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readKey, readSkip, readTtl } from '../../src/answers/controls.ts'

test('the time for which a response is reused is whole seconds from a minute to 31 days', () => {
  for (const seconds of [60, 61, 2_678_400]) assert.deepEqual(readTtl(String(seconds)), { value: seconds })
  const flaw = { flaw: 'must be a whole number from 60 to 2678400' }
  for (const text of ['59', '2678401', '', '-60', '60.5', '6e2', ' 60', '60s', '0000000060', '0x64'])
    assert.deepEqual(readTtl(text), flaw, text)
})

test('skipping is true or false and nothing else', () => {
  assert.deepEqual(readSkip('true'), { value: true })
  assert.deepEqual(readSkip('false'), { value: false })
  for (const text of ['', 'TRUE', '1', 'no'])
    assert.deepEqual(readSkip(text), { flaw: 'must be true or false' }, text)
})

test('a key of the caller has 1 to 256 visible ASCII characters', () => {
  for (const text of ['k', '!~', 'k'.repeat(256)]) assert.deepEqual(readKey(text), { value: text })
  for (const text of ['', 'k'.repeat(257), 'a b', 'é', 'a\tb', '\x7f'])
    assert.deepEqual(readKey(text), { flaw: 'must be 1 to 256 visible ASCII characters' }, text)
})
