import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backoff, usualSupervision as usual } from '../../../src/process/workers/supervision.ts'

test('the wait doubles with each crash in a row, up to ten seconds', () => {
  const longest = (attempt: number) => backoff(attempt, usual, () => 1)
  assert.deepEqual(
    [0, 1, 2, 3, 6, 7, 8, 1000].map(longest),
    [100, 200, 400, 800, 6400, 10_000, 10_000, 10_000],
  )
})

test('up to half of it is left to chance, so that workers do not return in step', () => {
  assert.equal(
    backoff(3, usual, () => 0),
    400,
  )
  assert.equal(
    backoff(3, usual, () => 0.5),
    600,
  )
})
