// The statistics of the bench.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { alternate, median, percentile } from '../../../bench/load/statistics.ts'

test('the median of an odd number of values is the middle one, of an even number the mean of the middle two', () => {
  assert.equal(median([9, 1, 5]), 5)
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.ok(Number.isNaN(median([])))
})

test('values are compared as numbers', () => {
  assert.equal(median([10, 9, 100]), 10)
})

test('a percentile is the smallest value that covers the share', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
  assert.equal(percentile(hundred, 50), 50)
  assert.equal(percentile(hundred, 99), 99)
  assert.equal(percentile([7], 99), 7)
  assert.ok(Number.isNaN(percentile([], 50)))
})

test('a percentile is one of the values, and at least the share of them lies at or below it', () => {
  const values = fc.array(fc.double({ noNaN: true }), { minLength: 1 })
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 100 }), (values, percent) => {
      const found = percentile(values, percent)
      const covered = values.filter(value => value <= found).length
      return values.includes(found) && covered * 100 >= values.length * percent
    }),
  )
})

test('the order of the contestants turns round from one round to the next', () => {
  assert.deepEqual(alternate(['a', 'b', 'c'], 1).toReversed(), alternate(['a', 'b', 'c'], 2))
})
