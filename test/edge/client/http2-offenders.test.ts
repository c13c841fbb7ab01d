// What clients have left that met a limit, by address and for a time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Offenders } from '../../../src/edge/client/http2-offenders.ts'
import { Budgets } from '../../../src/http2/budget.ts'

test('a client goes on with what it has left, for a minute', () => {
  const offenders = new Offenders()
  const budgets = new Budgets(0)
  assert.equal(offenders.budgetsOf('192.0.2.7', 0), undefined)
  offenders.add('192.0.2.7', budgets, 1_000)
  assert.equal(offenders.budgetsOf('192.0.2.7', 60_999), budgets)
  assert.equal(offenders.budgetsOf('192.0.2.8', 1_000), undefined)
  assert.equal(offenders.budgetsOf('192.0.2.7', 61_000), undefined)
})

test('addresses of one network of IPv6 are one client', () => {
  const offenders = new Offenders()
  const budgets = new Budgets(0)
  offenders.add('2001:db8::1', budgets, 0)
  assert.equal(offenders.budgetsOf('2001:db8::2', 1), budgets)
  assert.equal(offenders.budgetsOf('2001:db8:0:1::1', 1), undefined)
})

test('4,096 clients are remembered, those that met a limit last', () => {
  const offenders = new Offenders()
  const address = (i: number) => `10.0.${i >> 8}.${i & 255}`
  for (let i = 0; i < 4_096; i++) offenders.add(address(i), new Budgets(0), 0)
  const again = new Budgets(0)
  offenders.add(address(0), again, 0)
  offenders.add('192.0.2.7', new Budgets(0), 0)
  assert.equal(offenders.budgetsOf(address(0), 1), again)
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
  resets.earn(1.5)
  assert.equal(spend(1_000_000), 1)
})
