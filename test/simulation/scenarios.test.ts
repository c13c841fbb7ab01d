// A few schedules of each scenario; `node test/simulate.ts` runs as many as there is time for. Those of budgets have tests
// of their own.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scenarios } from './scenarios.ts'

const schedules = 10

for (const [name, simulate] of scenarios) {
  if (name === 'budgets') continue

  test(`in ${schedules} schedules of trouble, the promises about ${name} hold`, async () => {
    for (let seed = 1; seed <= schedules; seed++) {
      const { faults } = await simulate(seed)
      assert.deepEqual(faults, [], `seed ${seed}: node test/simulate.ts ${name} --seed ${seed}`)
    }
  })

  test(`a seed of ${name} gives the same schedule again`, async () => {
    const [one, other] = [await simulate(7, { traces: true }), await simulate(7, { traces: true })]
    assert.ok(one.trace.length > 10)
    assert.deepEqual(one.trace, other.trace)
  })
}
