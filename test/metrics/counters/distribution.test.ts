import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucketBounds, Distribution } from '../../../src/metrics/counters/distribution.ts'

test('a duration is counted in the first bucket whose bound it does not exceed', () => {
  const distribution = new Distribution()
  for (const bound of bucketBounds) distribution.observe(bound)
  assert.deepEqual([...distribution.counts], [...bucketBounds.map(() => 1), 0])
  for (const bound of bucketBounds) distribution.observe(bound + 0.01)
  assert.deepEqual([...distribution.counts], [1, ...bucketBounds.slice(1).map(() => 2), 1])
})

test('count and sum include durations above the highest bound', () => {
  const distribution = new Distribution()
  for (const ms of [0, 1, 3_600_000]) distribution.observe(ms)
  assert.deepEqual([distribution.count, distribution.sum], [3, 3_600_001])
})
