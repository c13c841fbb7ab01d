import assert from 'node:assert/strict'
import { test } from 'node:test'
import { misreadsNames } from '../../../src/process/system/json-names.ts'

const { platform, versions } = process

test('the Node of the packages reads names in JSON as they are written', {
  skip: platform !== 'linux' && 'for other systems they have no Node yet that does',
}, () => {
  assert.equal(misreadsNames(), false, `Node ${versions.node}`)
})
