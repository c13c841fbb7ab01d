// The rate that a bound on the p99 leaves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareWithin } from '../../../bench/figures/frontier.ts'

test('the highest rate within a p99 is divided by the highest of all, and what failed counts for neither', () => {
  const points = [
    { rate: 10_000, p99: 0.2, failures: 0 },
    { rate: 18_000, p99: 1, failures: 0 },
    { rate: 20_000, p99: 1.1, failures: 0 },
    { rate: 40_000, p99: 0.5, failures: 1 },
  ]
  assert.equal(shareWithin(points, 1), 0.9)
  assert.equal(shareWithin(points, 0.1), 0)
})
