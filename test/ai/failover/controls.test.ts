import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBackoff, readDelay, readMaxAttempts, readTimeout } from '../../../src/ai/failover/controls.ts'

const wholes = [
  ['the time to the first content', readTimeout, 1, 3_600_000],
  ['the most attempts of a call', readMaxAttempts, 1, 5],
  ['the delay before another attempt', readDelay, 0, 5_000],
] as const
for (const [what, read, min, max] of wholes)
  test(`${what} is a whole number from ${min} to ${max}`, () => {
    for (const value of [min, min + 1, max]) assert.deepEqual(read(String(value)), { value })
    const flaw = { flaw: `must be a whole number from ${min} to ${max}` }
    for (const text of [String(min - 1), String(max + 1), '', '1.5', '1e3', ' 1', '1s', '0000000001', '0x1'])
      assert.deepEqual(read(text), flaw, text)
  })

test('the backoff is constant, linear or exponential', () => {
  for (const value of ['constant', 'linear', 'exponential']) assert.deepEqual(readBackoff(value), { value })
  for (const text of ['', 'Linear', 'none'])
    assert.deepEqual(readBackoff(text), { flaw: 'must be constant, linear or exponential' }, text)
})
