// Budgets in schedules that no test would think of; `node test/simulate.ts` tries as many as there is time for.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from '../help/budget-schedule.ts'
import { thorough } from '../help/thorough.ts'

const schedules = thorough(500, 150)

test('in many schedules of trouble, budgets hold and nothing is lost', async () => {
  let events = 0
  for (let seed = 1; seed <= schedules; seed++) {
    const outcome = await simulate(seed)
    events += outcome.events
    assert.deepEqual(outcome.faults, [], `seed ${seed}: node test/simulate.ts budgets --seed ${seed}`)
  }
  assert.ok(events > 20 * schedules, `${events} events`)
})

test('a seed gives the same schedule again', async () => {
  const [one, other] = [await simulate(7, { traces: true }), await simulate(7, { traces: true })]
  assert.ok(one.trace.length > 10)
  assert.deepEqual(one.trace, other.trace)
})
