import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyCount } from '../../src/limits/key-count.ts'
import { limitOf } from '../../src/limits/limit.ts'
import { ManualClock } from '../help/clock.ts'

const hundred = limitOf('hundred', 100, { kind: 'sliding', period: 60_000 })
const daily = limitOf('daily', 5, { kind: 'day' })

test('a report waits for its reply, and is sent again if none comes', () => {
  const count = new KeyCount(hundred, 'key')
  for (let i = 0; i < 3; i++) count.admit(0)
  const ask = count.buildQuery(0, 1)
  assert.deepEqual([ask.done, ask.wanted, count.unreported], [3, 1, 0])
  assert.equal(count.allow(0).remaining, 97)
  count.requeue(ask, 10)
  assert.deepEqual([count.unreported, count.unreportedFor(15)], [3, 5])
  assert.equal(count.allow(0).remaining, 97)
  assert.equal(count.buildQuery(20, 0).done, 3)
})

test('a reply replaces what was reported, and says for how long nothing fits', () => {
  const count = new KeyCount(hundred, 'key')
  for (let i = 0; i < 3; i++) count.admit(0)
  const ask = count.buildQuery(0, 1)
  count.admit(5)
  count.learn(ask, { count: 50, granted: 1, wait: 0 }, 0, 10)
  assert.equal(count.allow(10).remaining, 49)
  assert.equal(count.isFull(10), false)
  count.learn(count.buildQuery(10, 1), { count: 100, granted: 0, wait: 500 }, 10, 20)
  assert.deepEqual([count.isFull(519), count.isFull(520)], [true, false])
  assert.deepEqual(count.refuse(20), { isAllowed: false, remaining: 0, wait: 500 })
  assert.equal(count.refuse(900).wait, 0)
  count.admit(20)
  assert.equal(count.allow(20).remaining, 0, 'never less than nothing')
})

test('a day is counted by itself: a query from the day before says nothing about it', () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1, 23))
  const count = new KeyCount(daily, 'key')
  const look = () => count.refresh(clock.monotonic(), clock)
  look()
  for (let i = 0; i < 3; i++) count.admit(clock.monotonic())
  const ofYesterday = count.buildQuery(clock.monotonic(), 1)
  const lost = count.buildQuery(clock.monotonic(), 1)
  clock.advance(3_600_000)
  look()
  assert.equal(count.allow(clock.monotonic()).remaining, 5)
  const now = clock.monotonic()
  count.learn(ofYesterday, { count: 5, granted: 0, wait: 1_000 }, now, now)
  count.requeue(lost, now)
  assert.deepEqual([count.isFull(now), count.unreported, count.allow(now).remaining], [false, 0, 5])
  assert.notDeepEqual(count.buildQuery(now, 1).window, ofYesterday.window)
})

test('counted locally, a day lets in its limit and no more', () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1, 23))
  const count = new KeyCount(daily, 'key')
  const spend = () => {
    count.refresh(clock.monotonic(), clock)
    return count.spendAlone(clock.monotonic())
  }
  assert.equal(Array.from({ length: 8 }, spend).filter(({ isAllowed }) => isAllowed).length, 5)
  assert.equal(spend().wait, 3_600_000)
  clock.advance(3_600_000)
  assert.equal(spend().isAllowed, true)
})

test('an allowance that is given back can be used again, also when counted locally', () => {
  const five = limitOf('five', 5, { kind: 'sliding', period: 60_000 })
  const count = new KeyCount(five, 'key')
  for (let i = 0; i < 5; i++) assert.equal(count.spendAlone(0).isAllowed, true)
  count.takeBack(0, 2)
  assert.equal(count.unreported, 3)
  assert.equal(
    Array.from({ length: 4 }, () => count.spendAlone(0)).filter(({ isAllowed }) => isAllowed).length,
    2,
  )
})
