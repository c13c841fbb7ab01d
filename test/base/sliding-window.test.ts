// Counting what happened in the last so many ms.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bucketReach, bucketWidth, SlidingWindow } from '../../src/base/sliding-window.ts'

const start = Date.UTC(2026, 0, 1)

test('an event counts for the period, and at most one bucket longer', () => {
  for (const period of [1, 59, 60, 1_000, 60_000, 3_600_001]) {
    const window = new SlidingWindow(period)
    window.add(start + 7, 2)
    assert.equal(window.count(start + 7 + period), 2, `${period}`)
    assert.equal(window.count(start + 7 + period + 2 * bucketWidth(period)), 0, `${period}`)
  }
})

test('the wait is to the ms, for one more event and for no more', () => {
  const window = new SlidingWindow(60_000)
  for (let i = 0; i < 4; i++) window.add(start + i * 10_000, 1)
  const now = start + 35_000
  assert.equal(window.wait(now, 5), 0)
  const [last, first] = [window.wait(now, 1), window.wait(now, 4)]
  assert.equal(last - first, 30_000)
  assert.equal(window.wait(now + first - 1, 4), 1)
  assert.equal(window.wait(now + first, 4), 0)
  assert.equal(window.count(now + first), 3)
})

test('a clock that is put back forgets nothing', () => {
  const window = new SlidingWindow(1_000)
  window.add(start, 3)
  assert.equal(window.count(start - 5_000), 3)
  window.add(start - 5_000, 1)
  assert.equal(window.count(start), 4)
})

test('what is spread leaves evenly', () => {
  const window = new SlidingWindow(60_000)
  window.spread(start, 1_000)
  assert.equal(window.count(start), 1_000)
  for (const share of [0.25, 0.5, 0.75]) {
    const left = window.count(start + share * 60_000)
    assert.ok(Math.abs(left - (1 - share) * 1_000) <= 1_000 / 30, `${left}`)
  }
  assert.equal(window.count(start + 62_000), 0)
})

test('a window that was kept goes on as if it had not been', () => {
  const window = new SlidingWindow(60_000)
  window.add(start, 3)
  const { newest, counts } = window.state
  const again = new SlidingWindow(60_000, { newest, counts: counts.slice() })
  again.add(start + 20_000, 2)
  assert.equal(again.count(start + 59_000), 5)
  assert.equal(again.count(start + 62_000), 2)
})

test('no event counts for less than the period, or longer than a bucket more, whatever came before', () => {
  const steps = fc.array(fc.tuple(fc.nat(90_000), fc.nat(5)), { minLength: 1, maxLength: 50 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60_000 }), steps, (period, steps) => {
      const window = new SlidingWindow(period)
      const events: number[] = []
      let now = start
      for (const [ms, many] of steps) {
        now += ms
        window.add(now, many)
        for (let i = 0; i < many; i++) events.push(now)
        const since = (age: number) => events.filter(at => at >= now - age).length
        const longest = (bucketReach(period) + 1) * bucketWidth(period)
        assert.ok(window.count(now) >= since(period))
        assert.ok(window.count(now) <= since(longest))
      }
    }),
  )
})
