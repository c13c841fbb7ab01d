// Tries promises in schedules that no test would think of: node test/simulate.ts [SCENARIO] --schedules 1000000 [--from SEED],
// and SCENARIO --seed SEED for one of them again, with all that happened; without a scenario, all of them in turn. The code
// of the promise is the real one; clocks, servers and network are not, so that a seed always gives the same schedule.
// [SCENARIO] --mutations --schedules 3000 makes mistakes in that code, one at a time, and lists which schedules find them.

import { countOf, giveUp, optionsOfCommand, seedOf } from './help/command-options.ts'
import { findingOf } from './simulation/mutate.ts'
import { mutations } from './simulation/mutations.ts'
import { scenarios } from './simulation/scenarios.ts'

const { values, positionals } = optionsOfCommand({
  allowPositionals: true,
  options: {
    schedules: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    mutations: { type: 'boolean' },
  },
})

const [name] = positionals
if (name !== undefined && !scenarios.has(name))
  giveUp(`unknown scenario ${name}; there are ${[...scenarios.keys()].join(', ')}`)
const schedules = countOf('--schedules', values.schedules)
const from = seedOf('--from', values.from)
if (values.mutations) await mutate(name ?? null, schedules)
else if (values.seed === undefined)
  for (const each of name === undefined ? scenarios.keys() : [name]) await many(each, from, schedules)
else if (name === undefined) giveUp('--seed needs the scenario whose schedule it is')
else await again(name, seedOf('--seed', values.seed))

async function many(name: string, from: number, count: number): Promise<void> {
  const began = performance.now()
  let [events, failed] = [0, 0]
  for (let seed = from; seed < from + count; seed++) {
    const { faults, events: more } = await scenarios.get(name)!.simulate(seed)
    events += more
    if (faults.length === 0) continue
    failed++
    console.error(`${name}, seed ${seed}: ${faults[0]}`)
    process.exitCode = 1
    if (failed === 10) break
  }
  const seconds = Math.round((performance.now() - began) / 1000)
  console.log(
    `${name}: ${count} schedules from ${from}, ${events} events, ${failed} with faults, ${seconds} s`,
  )
}

async function again(name: string, seed: number): Promise<void> {
  const { faults, trace, events } = await scenarios.get(name)!.simulate(seed, { traces: true })
  console.log(trace.join('\n'))
  console.log(`${events} events, ${faults.length === 0 ? 'no faults' : faults.join('\n')}`)
  process.exitCode = faults.length === 0 ? 0 : 1
}

async function mutate(name: string | null, schedules: number): Promise<void> {
  for (const [number, { scenario, file, from, to }] of mutations.entries()) {
    if (name !== null && name !== scenario) continue
    const finding = await findingOf(number, schedules)
    if (finding === null) process.exitCode = 1
    const outcome = finding === null ? 'NOT FOUND' : `seed ${finding.seed}: ${finding.fault}`
    console.log(`${scenario}, ${file}: ${JSON.stringify(from)} => ${JSON.stringify(to)}\n  ${outcome}`)
  }
}
