import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { commit } from '../../../src/process/system/version.ts'
import { root } from '../../help/source.ts'

test('sources are of the commit that is checked out', () => {
  assert.equal(commit(), execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim())
})
