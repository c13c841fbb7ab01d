import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isId, newId } from '../../../src/base/ids/id.ts'

test('ids are 32 hex digits, and no two are the same', () => {
  const ids = Array.from({ length: 100 }, newId)
  assert.ok(ids.every(isId))
  assert.equal(new Set(ids).size, ids.length)
  for (const text of ['', 'a'.repeat(31), 'a'.repeat(33), 'A'.repeat(32), 'g'.repeat(32), `${newId()}\n`])
    assert.equal(isId(text), false, text)
})
