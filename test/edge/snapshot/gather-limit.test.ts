import assert from 'node:assert/strict'
import { availableParallelism, totalmem } from 'node:os'
import { test } from 'node:test'
import { availableToGateway, gatherLimitOf } from '../../../src/edge/snapshot/gather-limit.ts'
import { edgeConfig } from '../../help/edge.ts'

const mib = 1024 ** 2
const config = edgeConfig([])

test('bodies may take their share of the memory, divided by the workers, at most 512 MiB and one of the largest at least', () => {
  const limitOf = (workers: number | 'auto', memory: number) =>
    Math.floor(gatherLimitOf({ ...config, workers }, memory * mib) / mib)
  assert.deepEqual([limitOf(0, 1000), limitOf(1, 1000), limitOf(2, 1000)], [125, 125, 62])
  assert.equal(limitOf('auto', 1000 * availableParallelism()), 125)
  assert.deepEqual([limitOf(0, 100_000), limitOf(0, 64)], [512, 32])
})

test('the memory of a container counts, or else that of the machine', () => {
  assert.equal(availableToGateway(2 ** 30, 2 ** 34), 2 ** 30)
  // As the versions of control groups say that there is no limit.
  for (const unlimited of [0, 2 ** 64, 2 ** 63 - 4096])
    assert.equal(availableToGateway(unlimited, 2 ** 34), 2 ** 34)
  assert.ok(availableToGateway() > 0 && availableToGateway() <= totalmem())
})
