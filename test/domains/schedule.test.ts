import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nextCheckAt } from '../../src/domains/schedule.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const deadline = 48 * hour

const middle = () => 0.5

const steps: readonly [elapsed: number, step: number][] = [
  [-hour, 15 * second],
  [0, 15 * second],
  [15 * minute - 1, 15 * second],
  [15 * minute, minute],
  [2 * hour - 1, minute],
  [2 * hour, 5 * minute],
  [12 * hour - 1, 5 * minute],
  [12 * hour, 15 * minute],
  [47 * hour, 15 * minute],
]

for (const [elapsed, step] of steps) {
  test(`${elapsed} ms after the beginning the next step is ${step} ms, give or take a tenth`, () => {
    assert.equal(nextCheckAt(0, deadline, elapsed, middle), elapsed + step)
    assert.equal(
      nextCheckAt(0, deadline, elapsed, () => 0),
      elapsed + step * 0.9,
    )
    assert.equal(
      nextCheckAt(0, deadline, elapsed, () => 1),
      elapsed + step * 1.1,
    )
  })
}

test('there are about 430 steps in two days, the last one at the deadline', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 50 }), numbers => {
      let count = 0
      const random = () => numbers[count % numbers.length]!
      let now = 0
      for (; now < deadline; count++) now = nextCheckAt(0, deadline, now, random)
      assert.equal(now, deadline)
      assert.ok(count > 385 && count < 485, String(count))
    }),
  )
})

test('chance moves the steps apart', () => {
  const times = new Set(Array.from({ length: 50 }, () => nextCheckAt(0, deadline, 20 * hour)))
  assert.ok(times.size > 40)
})
