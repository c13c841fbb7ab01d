import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ruleIdOf } from '../../../src/config/model/rule-id.ts'

test('a rule of the API has its own id, and one of the file one of what it says', () => {
  const rule = { action: 'deny', description: null }
  assert.equal(ruleIdOf({ ...rule, id: 'f'.repeat(32) }), 'f'.repeat(32))
  assert.match(ruleIdOf(rule), /^[0-9a-f]{32}$/)
  assert.equal(ruleIdOf(rule), ruleIdOf({ ...rule }))
  assert.notEqual(ruleIdOf(rule), ruleIdOf({ ...rule, action: 'allow' }))
})
