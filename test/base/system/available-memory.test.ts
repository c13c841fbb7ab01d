import assert from 'node:assert/strict'
import { totalmem } from 'node:os'
import { test } from 'node:test'
import { availableToGateway } from '../../../src/base/system/available-memory.ts'

test('the memory of a container counts, or else that of the machine', () => {
  assert.equal(availableToGateway(2 ** 30, 2 ** 34), 2 ** 30)
  // As the versions of control groups say that there is no limit.
  for (const unlimited of [0, 2 ** 64, 2 ** 63 - 4096])
    assert.equal(availableToGateway(unlimited, 2 ** 34), 2 ** 34)
  assert.ok(availableToGateway() > 0 && availableToGateway() <= totalmem())
})
