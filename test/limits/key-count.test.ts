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

test('far from a limit, some requests pass without a reply, and near it none', () => {
  const thousand = limitOf('thousand', 1_000, { kind: 'sliding', period: 60_000 })
  const learnt = (storeCount: number) => {
    const count = new KeyCount(thousand, 'key')
    count.learn(count.buildQuery(0, 0), { count: storeCount, granted: 0, wait: 0 }, 0, 0)
    return count
  }
  const passing = (count: KeyCount, now: number) => {
    let passed = 0
    for (; count.isFar(now); passed++) count.admit(now)
    return passed
  }
  // Four processes may each have five under way; all together may take 10,000 a minute.
  assert.equal(passing(new KeyCount(thousand, 'key'), 0), 5, 'of a key of which nothing is known')
  assert.equal(passing(learnt(500), 0), 5)
  assert.equal(passing(learnt(501), 0), 5)
  assert.equal(passing(learnt(747), 0), 4)
  assert.equal(passing(learnt(751), 0), 0)
  assert.equal(passing(learnt(501), 1_500), 0, 'so many others may have come')
  assert.equal(passing(learnt(500), 1e6), 5, 'half of the limit is left however many come')
  const reported = learnt(0)
  for (let i = 0; i < 5; i++) reported.admit(0)
  reported.buildQuery(0, 0)
  assert.equal(passing(reported, 0), 0, 'reports without a reply count')
})

test('a report is due with half of what may be unreported, or when others may have come near', () => {
  const thousand = limitOf('thousand', 1_000, { kind: 'sliding', period: 60_000 })
  const count = new KeyCount(thousand, 'key')
  count.learn(count.buildQuery(0, 0), { count: 0, granted: 0, wait: 0 }, 0, 0)
  assert.equal(count.isDue(0), false)
  // 2,250 ms of ten times the limit come to half of its ceiling.
  assert.deepEqual([count.isDue(2_250), count.isDue(2_251)], [false, true])
  for (let i = 0; i < 2; i++) count.admit(0)
  assert.equal(count.isDue(0), false)
  count.admit(0)
  assert.equal(count.isDue(0), true)
  count.isReporting = true
  assert.equal(count.isDue(0), false)
})

test('counting locally begins with what passed before, whether the store has replied or not', () => {
  const passed = (count: KeyCount, now: number) =>
    Array.from({ length: 200 }, () => count.spendAlone(now)).filter(({ isAllowed }) => isAllowed).length
  const ahead = new KeyCount(hundred, 'key')
  for (let i = 0; i < 3; i++) ahead.admit(0)
  ahead.buildQuery(0, 1)
  assert.equal(passed(ahead, 100), 97)
  const longAgo = new KeyCount(hundred, 'key')
  longAgo.admit(0)
  assert.equal(passed(longAgo, 60_000), 100)
  const known = new KeyCount(hundred, 'key')
  known.learn(known.buildQuery(0, 0), { count: 80, granted: 0, wait: 0 }, 0, 0)
  known.admit(30_000)
  assert.equal(passed(known, 30_000), 59)
})

test('counting locally takes into account how old is what is known', () => {
  const count = new KeyCount(hundred, 'key')
  count.learn(count.buildQuery(5_000, 0), { count: 80, granted: 0, wait: 0 }, 10_000, 12_000)
  count.admit(20_000)
  // 40 of the 80 and two thirds of the last one are left.
  assert.deepEqual(count.peekAlone(40_000), { isAllowed: true, remaining: 58, wait: 60_000 })
  const spend = () => count.spendAlone(40_000)
  assert.equal(Array.from({ length: 70 }, spend).filter(({ isAllowed }) => isAllowed).length, 59)
  assert.deepEqual(count.peekAlone(40_000), { ...count.refuse(40_000) })
  assert.ok(count.isFull(40_000) && count.refuse(40_000).wait <= 60_000)
})

test('what has left the window while counting locally is not reported', () => {
  const count = new KeyCount(hundred, 'key')
  for (let i = 0; i < 3; i++) count.spendAlone(0)
  for (let i = 0; i < 2; i++) count.spendAlone(70_000)
  assert.equal(count.unreported, 5)
  const { done } = count.buildQuery(100_000, 0)
  assert.ok(done >= 2 && done < 5, `${done}`)
  assert.equal(count.buildQuery(300_000, 0).done, 0)
})

test('requests are unreported since the first of them', () => {
  const count = new KeyCount(hundred, 'key')
  for (const now of [7, 9]) count.admit(now)
  assert.equal(count.unreportedFor(20), 13)
  const ask = count.buildQuery(30, 0)
  count.admit(40)
  count.requeue(ask, 50)
  assert.deepEqual([count.unreported, count.unreportedFor(60)], [3, 20])
  count.takeBack(70, 1)
  assert.deepEqual([count.unreported, count.unreportedFor(80)], [2, 40])
  count.buildQuery(90, 0)
  count.takeBack(100, 1)
  assert.deepEqual([count.unreported, count.unreportedFor(110)], [-1, 10])
})

test('what is taken back makes room at once, also before the reply of the store', () => {
  const count = new KeyCount(hundred, 'key')
  count.learn(count.buildQuery(0, 1), { count: 100, granted: 0, wait: 500 }, 0, 0)
  assert.equal(count.isFull(10), true)
  const ask = count.buildQuery(10, 1)
  count.takeBack(10, 1)
  assert.equal(count.isFull(10), false)
  count.learn(ask, { count: 100, granted: 0, wait: 500 }, 10, 20)
  assert.deepEqual([count.isFull(20), count.allow(20).remaining], [false, 1])
})

test('a day ends when the clock says so, which is asked for once a minute', () => {
  let time = Date.UTC(2026, 0, 1, 22)
  const clock = { now: () => time, monotonic: () => 0 }
  const count = new KeyCount(daily, 'key')
  count.refresh(1_000, clock)
  count.admit(1_000)
  assert.deepEqual(count.allow(2_000), { isAllowed: true, remaining: 4, wait: 2 * 3_600_000 - 1_000 })
  // The clock is put forward by an hour, and then to the next day.
  time += 3_600_000 + 59_999
  count.refresh(60_999, clock)
  assert.equal(count.allow(60_999).wait, 2 * 3_600_000 - 59_999)
  time += 1
  count.refresh(61_000, clock)
  assert.deepEqual(count.allow(61_000), { isAllowed: true, remaining: 4, wait: 3_600_000 - 60_000 })
  assert.deepEqual(count.peekAlone(61_000), { isAllowed: true, remaining: 3, wait: 3_600_000 - 60_000 })
  assert.deepEqual(count.peek(61_000, null), { isAllowed: true, remaining: 3, wait: 3_600_000 - 60_000 })
  const full = { count: 5, granted: 0, wait: 700 }
  assert.deepEqual(count.peek(61_000, full), { isAllowed: false, remaining: 0, wait: 700 })
  time += 3_600_000
  count.refresh(121_000, clock)
  assert.deepEqual([count.allow(121_000).remaining, count.unreported], [5, 0])
})

test('a day that is over is noticed at its end, and not before', () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1, 23, 59, 50))
  const count = new KeyCount(daily, 'key')
  const look = () => {
    count.refresh(clock.monotonic(), clock)
    return count.allow(clock.monotonic()).remaining
  }
  look()
  for (let i = 0; i < 7; i++) count.spendAlone(clock.monotonic())
  assert.deepEqual([look(), count.isFull(clock.monotonic())], [0, true])
  clock.advance(9_999)
  assert.deepEqual([look(), count.isFull(clock.monotonic())], [0, true])
  clock.advance(1)
  assert.deepEqual([look(), count.isFull(clock.monotonic())], [5, false])
})

test('an estimate lets what the store has counted expire evenly', () => {
  const count = new KeyCount(hundred, `${hundred.name} key`)
  assert.equal(count.key, 'key')
  count.learn(count.buildQuery(0, 0), { count: 40, granted: 0, wait: 0 }, 0, 0)
  count.admit(0)
  count.buildQuery(0, 0)
  count.admit(0)
  assert.deepEqual(
    [0, 30_000, 60_000, 90_000].map(now => count.estimate(now)),
    [42, 22, 2, 2],
  )
  const alone = new KeyCount(hundred, 'key')
  alone.spendAlone(0)
  assert.deepEqual([alone.estimate(0), alone.estimate(120_000)], [1, 0])
  const clock = new ManualClock(Date.UTC(2026, 0, 1, 23))
  const ofDay = new KeyCount(daily, 'key')
  ofDay.refresh(0, clock)
  ofDay.admit(0)
  assert.deepEqual([ofDay.estimate(3_599_999), ofDay.estimate(3_600_000)], [1, 0])
})

test('a look at a count takes nothing from it', () => {
  const count = new KeyCount(hundred, 'key')
  assert.deepEqual(count.peek(0, null), { isAllowed: true, remaining: 99, wait: 60_000 })
  count.admit(0)
  assert.deepEqual(count.peek(0, { count: 98, granted: 0, wait: 0 }), {
    isAllowed: true,
    remaining: 0,
    wait: 60_000,
  })
  const full = { count: 99, granted: 0, wait: 700 }
  assert.deepEqual(count.peek(0, full), { isAllowed: false, remaining: 0, wait: 700 })
  assert.deepEqual(count.peekAlone(0), { isAllowed: true, remaining: 98, wait: 60_000 })
  assert.deepEqual(count.emptyQuery, { ...count.buildQuery(0, 0), done: 0 })
  assert.match(count.storeKey, /^[\w-]{22}$/)
})
