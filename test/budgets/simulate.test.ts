// Budgets in schedules that no test would think of, and whether these would notice a mistake; `node test/simulate.ts`
// tries as many as there is time for.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findingOf, mutations } from '../help/budget-mutations.ts'
import { simulate } from '../help/budget-schedule.ts'
import { root } from '../help/source.ts'
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

test('each mistake that schedules must find can still be made', () => {
  for (const { file, from } of mutations)
    assert.equal(readFileSync(join(root, file), 'utf8').split(from).length, 2, `${file}: ${from}`)
})

test('the schedules find mistakes in the code of budgets', async t => {
  let most = 0
  for (const [number, { file, from, to, isRare }] of mutations.entries()) {
    // `node test/simulate.ts --mutations` makes them all.
    if (isRare || number % thorough(4, 8) > 0) continue
    const finding = await findingOf(number, 1_000)
    assert.ok(finding, `nothing finds that ${JSON.stringify(from)} is ${JSON.stringify(to)} in ${file}`)
    most = Math.max(most, finding.seed)
  }
  t.diagnostic(`all found by seed ${most}`)
})
