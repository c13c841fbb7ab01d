import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { retryAfterIn } from '../../../src/http1/fields/retry-after.ts'

const now = Date.UTC(2026, 0, 1)
const waits = (...values: string[]) =>
  retryAfterIn(
    values.flatMap(value => ['Retry-After', value]),
    now,
  )

test('seconds and all three forms of dates are read, and the longest of several', () => {
  assert.equal(waits(), null)
  assert.equal(waits('0'), 0)
  assert.equal(waits(' 30 '), 30_000)
  assert.equal(waits('0.25'), 250)
  assert.equal(waits('9'.repeat(400)), Number.POSITIVE_INFINITY)
  assert.equal(waits('Thu, 01 Jan 2026 00:01:30 GMT'), 90_000)
  assert.equal(waits('Thursday, 01-Jan-26 00:01:30 GMT'), 90_000)
  assert.equal(waits('Thu Jan  1 00:01:30 2026'), 90_000)
  assert.equal(waits('Wed, 21 Oct 2015 07:28:00 GMT'), 0)
  assert.equal(waits('soon', '5', '40', '7'), 40_000)
  assert.equal(retryAfterIn(['RETRY-AFTER', '1', 'x', '9'], now), 1000)
})

test('anything else has no effect, however much it looks like a date', () => {
  for (const value of [
    '',
    '-5',
    '+5',
    '5;',
    '"5"',
    '1.',
    '.5',
    '1e3',
    '60s',
    '60, 60',
    '2026-01-02',
    'Jan 2 2026',
    'Mon',
  ])
    assert.equal(waits(value), null, value)
})

test('any text gives a wait that is not negative, or none', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.nat().map(String),
    fc.date({ noInvalidDate: true }).map(date => date.toUTCString()),
  )
  fc.assert(
    fc.property(texts, text => {
      const wait = waits(text)
      assert.ok(wait === null || wait >= 0)
    }),
  )
})
