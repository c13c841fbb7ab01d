import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LimitFields, secondsOf } from '../../../src/edge/snapshot/limit-fields.ts'

const fields = new LimitFields('few', 100, 60_000)

test('both fields are written, for one limit and for several', () => {
  assert.equal(
    fields.lines({ isAllowed: true, remaining: 50, wait: 60_000 }),
    'RateLimit: "few";r=50;t=60\r\nRateLimit-Policy: "few";q=100;w=60\r\n',
  )
  assert.equal(
    fields.lines({ isAllowed: false, remaining: 0, wait: 1_001 }, '"wide";q=5;w=9, "few";q=100;w=60'),
    'RateLimit: "few";r=0;t=2\r\nRateLimit-Policy: "wide";q=5;w=9, "few";q=100;w=60\r\n',
  )
})

test('seconds are whole, and at least one', () => {
  assert.deepEqual([0, 1, 1_000, 1_001].map(secondsOf), [1, 1, 1, 2])
})
