// What clients have left that met a limit, by address and for a time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Offenders } from '../../../../src/edge/client/http2/http2-offenders.ts'
import { Budgets } from '../../../../src/http2/server/budget.ts'

function spend({ resets }: Budgets, now: number): number {
  let count = 0
  while (resets.spend(now)) count++
  return count
}

test('the next connections of a client may do a fifth of what others may, each for itself, for a minute', () => {
  const offenders = new Offenders()
  assert.equal(offenders.budgetsOf('192.0.2.7', 0), undefined)
  offenders.add('192.0.2.7', 1_000, 0)
  assert.equal(spend(offenders.budgetsOf('192.0.2.7', 60_999)!, 60_999), 40)
  assert.equal(spend(offenders.budgetsOf('192.0.2.7', 60_999)!, 60_999), 40)
  assert.equal(offenders.budgetsOf('192.0.2.8', 1_000), undefined)
  assert.equal(offenders.budgetsOf('192.0.2.7', 61_000), undefined)
})

test('addresses of one network of IPv6 are one client', () => {
  const offenders = new Offenders()
  offenders.add('2001:db8::1', 0, 0)
  assert.notEqual(offenders.budgetsOf('2001:db8::2', 1), undefined)
  assert.equal(offenders.budgetsOf('2001:db8:0:1::1', 1), undefined)
})

test('each penalty is told of, and no offence without one', () => {
  const offenders = new Offenders()
  const told: string[] = []
  offenders.penalized = peer => told.push(peer)
  offenders.add('192.0.2.7', 0, 0)
  offenders.add('192.0.2.8', 0, 1_000)
  assert.deepEqual(told, ['192.0.2.8'])
})

test('4,096 clients are remembered, those that met a limit last', () => {
  const offenders = new Offenders()
  const address = (i: number) => `10.0.${i >> 8}.${i & 255}`
  for (let i = 0; i < 4_096; i++) offenders.add(address(i), 0, 0)
  offenders.add(address(0), 0, 0)
  offenders.add('192.0.2.7', 0, 0)
  assert.notEqual(offenders.budgetsOf(address(0), 1), undefined)
  assert.equal(offenders.budgetsOf(address(1), 1), undefined)
  assert.notEqual(offenders.budgetsOf(address(2), 1), undefined)
})

test('a budget refills with time, and no further than it was', () => {
  const { resets } = new Budgets(0)
  const spend = (now: number) => {
    let count = 0
    while (resets.spend(now)) count++
    return count
  }
  assert.equal(spend(0), 200)
  assert.equal(spend(1_000), 33)
  assert.equal(spend(1_000_000), 200)
  assert.equal(spend(1_000_001), 0)
  resets.earn(1.5)
  assert.equal(spend(1_000_000), 1)
})

test('a budget that nobody has touched for long has no more than at the beginning', () => {
  const { resets } = new Budgets(0)
  let count = 0
  while (resets.spend(60_000)) count++
  assert.equal(count, 200)
})

test('a penalty leaves a client 10 connections at once and 10 a second, and others all of theirs', () => {
  const offenders = new Offenders()
  assert.equal(offenders.refuses('2001:db8::1', 0), false)
  offenders.add('2001:db8::1', 0, 5_000)
  const taken = (now: number) => {
    let count = 0
    while (count < 100 && !offenders.refuses('2001:db8::2', now)) count++
    return count
  }
  assert.deepEqual([taken(0), taken(99), taken(100), taken(1_100)], [10, 0, 1, 10])
  assert.equal(offenders.refuses('2001:db8:0:1::1', 1_100), false)
  assert.equal(taken(5_000), 100)
})

test('a penalty doubles with each offence behind it up to 32 times, lasts on with one in it, and starts over when all is forgotten', () => {
  const offenders = new Offenders()
  let now = 0
  /** Offends, and returns how long no more than a few connections are taken. */
  const penalty = (): number => {
    offenders.add('192.0.2.7', now, 1_000)
    for (let ms = 100; ms <= 64_000; ms += 100) {
      let count = 0
      while (count < 100 && !offenders.refuses('192.0.2.7', now + ms)) count++
      if (count === 100) return ms
    }
    return 0
  }
  const penalties: number[] = []
  for (let i = 0; i < 7; i++) {
    penalties.push(penalty())
    now += penalties.at(-1)!
  }
  assert.deepEqual(penalties, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000])
  now -= 1
  assert.equal(penalty(), 32_000)
  now += 32_000 + 60_000
  assert.equal(penalty(), 1_000)
})

test('an offence without a penalty leaves the one of before as it is', () => {
  const offenders = new Offenders()
  offenders.add('192.0.2.7', 0, 1_000)
  for (let i = 0; i < 10; i++) offenders.refuses('192.0.2.7', 0)
  offenders.add('192.0.2.7', 50, 0)
  assert.equal(offenders.refuses('192.0.2.7', 51), true)
  offenders.add('192.0.2.8', 0, 0)
  for (let i = 0; i < 20; i++) assert.equal(offenders.refuses('192.0.2.8', 0), false)
})
