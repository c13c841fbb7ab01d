import assert from 'node:assert/strict'
import { test } from 'node:test'
import { test as declare, describe, enter, Run } from './node-test.ts'

test('a group of tests that a mutation breaks leaves its name to no other test', () => {
  const names: string[] = []
  enter(new Run(name => names.push(name) === 0))
  assert.throws(() => describe('a group', () => assert.fail()), assert.AssertionError)
  declare('a test', () => {})
  describe('another group', () => declare('a test', () => {}))
  assert.deepEqual(names, ['a test', 'another group: a test'])
})
