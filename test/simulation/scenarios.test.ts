// A few schedules of each scenario, and whether they would notice a mistake; `node test/simulate.ts` runs as many as there is
// time for. Those of budgets have tests of their own.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../help/source.ts'
import { findingOf } from './mutate.ts'
import { mutations } from './mutations.ts'
import { scenarios } from './scenarios.ts'

const schedules = 5

/** Schedules that failed, or would, by what never happens. */
const once = [
  ['limits', 20_000_194],
  ['verification', 453],
  ['verification', 20_000_021],
  // Workers hear in order what to serve.
  ['certificates', 11],
] as const

for (const [name, { simulate }] of scenarios) {
  test(`the schedules of ${name} find a mistake`, async () => {
    // `node test/simulate.ts --mutations` makes them all.
    const number = mutations.findIndex(({ scenario }) => scenario === name)
    const { file, from, to } = mutations[number]!
    const finding = await findingOf(number, 100)
    assert.ok(finding, `nothing finds that ${JSON.stringify(from)} is ${JSON.stringify(to)} in ${file}`)
  })

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

for (const [name, seed] of once)
  test(`schedule ${seed} of ${name}, which the simulation once got wrong, has no faults`, async () => {
    assert.deepEqual((await scenarios.get(name)!.simulate(seed)).faults, [])
  })

test('each mistake that schedules have to find can still be made', () => {
  for (const { file, from } of mutations)
    assert.equal(readFileSync(join(root, file), 'utf8').split(from).length, 2, `${file}: ${from}`)
})
