// The statistics of interleaved measurements.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  blocksMissing,
  looks,
  ratioInterval,
  studentQuantile,
  verdict,
} from '../../../bench/interleaved/interval.ts'

test('blocks of one ratio have an interval of no width, however much the machine drifts', () => {
  const { ratio, low, high } = ratioInterval([11, 33, 22, 5.5], [10, 30, 20, 5])
  for (const value of [ratio, low, high]) assert.ok(Math.abs(value - 1.1) < 1e-12)
})

test('a and b can be swapped', () => {
  const values = fc.array(fc.tuple(cost, cost), { minLength: 10, maxLength: 50 })
  fc.assert(
    fc.property(values, pairs => {
      const [a, b] = [pairs.map(([a]) => a), pairs.map(([, b]) => b)]
      const [there, back] = [ratioInterval(a, b), ratioInterval(b, a)]
      assert.ok(Math.abs(there.ratio * back.ratio - 1) < 1e-9)
      assert.ok(Math.abs(there.low * back.high - 1) < 1e-9)
      assert.ok(there.low <= there.ratio && there.ratio <= there.high)
    }),
  )
})
const cost = fc.double({ min: 1, max: 1000, noNaN: true })

test('the quantiles of Student are those of the tables', () => {
  const z = 1.959964
  for (const [freedom, expected] of [
    [9, 2.2622],
    [19, 2.093],
    [39, 2.0227],
    [159, 1.975],
  ] as const)
    assert.ok(Math.abs(studentQuantile(z, freedom) - expected) < 0.001, `${freedom}`)
  assert.ok(Math.abs(studentQuantile(2.575829, 9) - 3.2498) < 0.02)
})

test('of runs that compare two equal contestants five times, one in twenty finds a difference', () => {
  const random = randomOf(20)
  const wrong = Array.from({ length: 1000 }, () => {
    const [a, b] = [random, random].map(next =>
      Array.from({ length: looks.at(-1)! }, () => Math.exp(0.1 * next())),
    )
    return looks.some(look => {
      const { low, high } = ratioInterval(a!.slice(0, look), b!.slice(0, look))
      return low > 1 || high < 1
    })
  }).filter(Boolean).length
  assert.ok(wrong > 30 && wrong < 70, `${wrong} of 1000`)
})

test('an interval is on one side of its bound, as good as on it, or undecided', () => {
  const at = (low: number, high: number) => verdict({ ratio: Math.sqrt(low * high), low, high }, 2)
  assert.deepEqual(
    [at(1.8, 1.99), at(1.8, 2), at(2.01, 2.2), at(1.99, 2.01), at(1.9, 2.01), at(1.99, 2.1)],
    ['below', 'below', 'above', 'same', 'undecided', 'undecided'],
  )
})

test('an interval needs four times the blocks to be half as wide, and no more than tell that it is the same', () => {
  const around = (ratio: number, by: number) => ({ ratio, low: ratio / by, high: ratio * by })
  const half = Math.log(1.1)
  assert.equal(blocksMissing(around(Math.exp(half / 2), 1.1), 1, 10), 30)
  assert.equal(blocksMissing(around(1, 1.02), 1, 10), Math.ceil(10 * ((Math.log(1.02) / 0.01) ** 2 - 1)))
})

/** Returns normal numbers, the same ones for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state + 1) / 2 ** 32
  }
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
}
