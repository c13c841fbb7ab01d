// What connections spend of their budgets adds up by address, refills with time, and forgives trifles.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Spending } from '../../../../src/edge/client/http2/http2-spending.ts'
import { Budgets } from '../../../../src/http2/server/budget.ts'

const client = '192.0.2.7'

/** Returns what a connection has left that has spent so many at ms `now`. */
function spent(resets: number, controlFrames: number, now = 0): Budgets {
  const budgets = new Budgets(now)
  spend(budgets, resets, controlFrames, now)
  return budgets
}

function spend(budgets: Budgets, resets: number, controlFrames: number, now = 0): void {
  for (let i = 0; i < resets; i++) budgets.resets.spend(now)
  for (let i = 0; i < controlFrames; i++) budgets.controlFrames.spend(now)
}

/** Charges connections that have spent as many resets each; returns which of them exceeds what the address has. */
function firstBeyond(spending: Spending, peer: string, resets: number, now = 0): number {
  for (let nth = 1; nth <= 1_000; nth++)
    if (spending.charge(peer, spent(resets, 0, now), now) !== null) return nth
  return Number.POSITIVE_INFINITY
}

test('connections that each stay below a limit meet together one of four times as much', () => {
  const spending = new Spending()
  assert.equal(firstBeyond(spending, client, 128), 7)
  const frames = () => spending.charge(client, spent(0, 2_000), 0)
  assert.deepEqual(
    [frames(), frames(), frames(), frames(), frames()],
    [null, null, null, null, 'control_frames'],
  )
})

test('other clients have theirs, but those of one network of IPv6', () => {
  const spending = new Spending()
  assert.equal(firstBeyond(spending, '2001:db8::1', 200), 5)
  assert.equal(firstBeyond(spending, '2001:db8::2', 200), 1)
  assert.equal(firstBeyond(spending, '2001:db8:0:1::1', 200), 5)
})

test('a connection is charged once for what it spends, and not for what it has earned back', () => {
  const spending = new Spending()
  const budgets = spent(100, 0)
  for (let i = 0; i < 20; i++) assert.equal(spending.charge(client, budgets, 0), null)
  for (let i = 0; i < 20; i++) {
    budgets.resets.earn(50)
    spend(budgets, 50, 0)
    assert.equal(spending.charge(client, budgets, 0), null)
  }
  spend(budgets, 100, 0)
  spending.charge(client, budgets, 0)
  assert.equal(firstBeyond(spending, client, 200), 4)
})

test('trifles cost nothing, however many there are', () => {
  const spending = new Spending()
  for (let i = 0; i < 1_000; i++) assert.equal(spending.charge(client, spent(7, 79), 0), null)
  assert.equal(firstBeyond(spending, client, 200), 5)
})

test('it refills with time, four times as fast as the budget of a connection does', () => {
  const spending = new Spending()
  assert.equal(firstBeyond(spending, client, 100, 0), 9)
  for (let now = 1_000; now < 60_000; now += 1_000)
    assert.equal(spending.charge(client, spent(132, 0, now), now), null)
  assert.equal(spending.charge(client, spent(132, 0, 59_500), 59_500), 'resets')
})

test('4,096 clients are remembered, those that were charged last', () => {
  const spending = new Spending()
  firstBeyond(spending, '192.0.2.1', 200)
  for (let i = 0; i < 4_095; i++) spending.charge(`10.0.${i >> 8}.${i & 255}`, spent(200, 0), 0)
  assert.equal(firstBeyond(spending, '192.0.2.1', 200), 1)
  spending.charge('192.0.2.2', spent(200, 0), 0)
  assert.equal(firstBeyond(spending, '10.0.0.0', 200), 5)
  assert.equal(firstBeyond(spending, '192.0.2.1', 200), 1)
})
