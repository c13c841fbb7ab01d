// What connections spend of their budgets adds up by address, refills with time, and forgives trifles.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Spending } from '../../../src/edge/client/http2-spending.ts'
import { Budgets } from '../../../src/http2/budget.ts'

/** Returns what a connection has left that has spent so many at ms `now`. */
function spent(resets: number, controlFrames: number, now: number): Budgets {
  const budgets = new Budgets(now)
  for (let i = 0; i < resets; i++) budgets.resets.spend(now)
  for (let i = 0; i < controlFrames; i++) budgets.controlFrames.spend(now)
  return budgets
}

test('connections that each stay below a limit exceed it together', () => {
  const spending = new Spending()
  const charge = (resets: number, controlFrames: number) =>
    spending.charge('192.0.2.7', spent(resets, controlFrames, 0), 0)?.fault ?? null
  assert.deepEqual([charge(128, 0), charge(72, 0), charge(8, 0)], [null, null, 'resets'])
  assert.deepEqual([charge(0, 1_999), charge(0, 100)], [null, 'control_frames'])
})

test('what is left goes on with the client, and none of it where a limit is exceeded', () => {
  const spending = new Spending()
  spending.charge('192.0.2.7', spent(150, 0, 0), 0)
  const overspent = spending.charge('192.0.2.7', spent(150, 0, 0), 0)
  assert.equal(overspent?.budgets.resets.spend(0), false)
  assert.equal(overspent?.budgets.controlFrames.spend(0), true)
})

test('other clients have theirs, but those of one network of IPv6', () => {
  const spending = new Spending()
  const charge = (peer: string) => spending.charge(peer, spent(128, 0, 0), 0)
  assert.deepEqual([charge('192.0.2.7'), charge('192.0.2.8'), charge('2001:db8::1')], [null, null, null])
  assert.equal(charge('2001:db8::2')?.fault, 'resets')
})

test('trifles cost nothing, however many there are', () => {
  const spending = new Spending()
  for (let i = 0; i < 1_000; i++) assert.equal(spending.charge('192.0.2.7', spent(7, 79, 0), 0), null)
  assert.equal(spending.charge('192.0.2.7', spent(200, 2_000, 0), 0), null)
})

test('it refills with time, as the budget of a connection does', () => {
  const spending = new Spending()
  for (let now = 0; now < 60_000; now += 4_000)
    assert.equal(spending.charge('192.0.2.7', spent(128, 0, now), now), null)
  assert.equal(spending.charge('192.0.2.7', spent(128, 0, 60_000), 60_000), null)
  assert.equal(spending.charge('192.0.2.7', spent(128, 0, 61_000), 61_000)?.fault, 'resets')
})

test('4,096 clients are remembered, those that were charged last', () => {
  const spending = new Spending()
  const charge = (address: string) => spending.charge(address, spent(150, 0, 0), 0)
  charge('192.0.2.1')
  for (let i = 0; i < 4_095; i++) charge(`10.0.${i >> 8}.${i & 255}`)
  assert.equal(charge('192.0.2.1')?.fault, 'resets')
  charge('192.0.2.2')
  assert.equal(charge('10.0.0.0'), null)
  assert.equal(charge('192.0.2.1')?.fault, 'resets')
})
