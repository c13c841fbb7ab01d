import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { RetryBudget } from '../../src/pools/retry-budget.ts'
import { ManualClock } from '../help/clock.ts'

function spent(budget: RetryBudget): number {
  let retries = 0
  while (retries < 1_000_000 && budget.spend()) retries++
  return retries
}

function after(requests: number, budget: RetryBudget): RetryBudget {
  for (let i = 0; i < requests; i++) budget.earn()
  return budget
}

test('a share of the requests may be retried, and ten more', () => {
  equal(spent(after(0, new RetryBudget(0.2, new ManualClock()))), 10)
  equal(spent(after(1_000, new RetryBudget(0.2, new ManualClock()))), 210)
})

test('a share of 0 allows none at all', () => {
  equal(spent(after(1_000, new RetryBudget(0, new ManualClock()))), 0)
})

test('a copy goes on with what was earned and spent, and of its own from then on', () => {
  const clock = new ManualClock()
  const budget = after(100, new RetryBudget(0.2, clock))
  clock.advance(20_000)
  const copy = budget.copy()
  // Of 100 requests in 20 s, half count.
  equal(spent(copy), 20)
  equal(spent(budget), 20)
  equal(spent(budget.copy()), 0)
})

test('requests of long ago earn no retries of today', () => {
  const clock = new ManualClock()
  const budget = after(3_600_000, new RetryBudget(0.2, clock))
  clock.advance(3_600_000)
  equal(spent(budget), 10 + 0.2 * 10_000)
})

test('a budget that was spent comes back in seconds, and no earlier', () => {
  const clock = new ManualClock()
  const budget = new RetryBudget(0.2, clock)
  clock.advance(10_000)
  equal(spent(budget), 10)
  clock.advance(500)
  equal(spent(budget), 0)
  clock.advance(60_000)
  ok(spent(budget) >= 8)
})

test('half of a budget is back after as long as a period, whenever it was last looked at', () => {
  const clock = new ManualClock()
  const budget = new RetryBudget(0.2, clock)
  clock.advance(20_000)
  equal(spent(budget), 10)
  clock.advance(10_000)
  equal(spent(budget), 5)
})

test('if everything fails, retries settle at their share of the requests', () => {
  const clock = new ManualClock()
  const budget = new RetryBudget(0.2, clock)
  let retries = 0
  for (let i = 0; i < 60_000; i++) {
    clock.advance(1)
    budget.earn()
    if (budget.spend()) retries++
  }
  ok(retries > 11_000 && retries < 12_200, String(retries))
})
