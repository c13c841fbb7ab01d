import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Budget, Budgets } from '../../../src/http2/server/budget.ts'

/** Returns how often a budget can be spent at this time. */
function spendable(budget: Budget, now: number): number {
  let times = 0
  while (times < 10_000 && budget.spend(now)) times++
  return times
}

test('a budget is spent one by one until less than one is left, and filled by time up to what it had', () => {
  const budget = new Budget(3, 2, 1_000)
  assert.equal(spendable(budget, 1_000), 3)
  assert.equal(spendable(budget, 1_499), 0)
  assert.equal(spendable(budget, 1_500), 1)
  assert.equal(spendable(budget, 2_250), 1)
  assert.equal(spendable(budget, 2_500), 1)
  assert.equal(spendable(budget, 60_000), 3)
})

test('what is earned is spent again, but what a full budget earns is lost', () => {
  const budget = new Budget(2, 0, 0)
  budget.earn(5)
  assert.equal(spendable(budget, 0), 2)
  budget.earn(0.5)
  assert.equal(spendable(budget, 0), 0)
  budget.earn(0.5)
  assert.equal(spendable(budget, 0), 1)
})

test('what was spent is noted once, as soon as it is enough', () => {
  const budget = new Budget(10, 1, 0)
  let now = 0
  const spend = (times: number) => {
    for (let i = 0; i < times; i++) budget.spend(now)
  }
  spend(2)
  assert.equal(budget.note(3, now), 0)
  spend(1)
  assert.equal(budget.note(3, now), 3)
  assert.equal(budget.note(3, now), 0)
  spend(3)
  assert.equal(budget.note(3, now), 3)
  // Four of the six come back, so that of the next four, all are new.
  now = 4_000
  assert.equal(budget.note(1, now), 0)
  spend(4)
  assert.equal(budget.note(1, now), 4)
})

test('a connection may reset 200 streams and send 2,000 frames that carry nothing, and 33 and 100 more a second', () => {
  for (const times of [1, 4]) {
    const { resets, controlFrames } = new Budgets(0, times)
    assert.deepEqual([spendable(resets, 0), spendable(controlFrames, 0)], [200 * times, 2_000 * times])
    assert.deepEqual([spendable(resets, 1_000), spendable(controlFrames, 1_000)], [33 * times, 100 * times])
  }
  assert.equal(spendable(new Budgets(0).resets, 0), 200)
})

test('a charge takes all that is left, and is refused where that is not enough', () => {
  const budget = new Budget(10, 1, 0)
  assert.equal(budget.charge(4, 0), true)
  assert.equal(budget.charge(6, 0), true)
  assert.equal(budget.charge(1, 0), false)
  assert.equal(budget.charge(3, 2_000), false)
  assert.equal(spendable(budget, 2_000), 0)
  assert.equal(spendable(budget, 3_000), 1)
})
