// Tries budgets in schedules that no test would think of: node test/simulate.ts --schedules 1000000 [--from SEED], and
// --seed SEED for one of them again, with all that happened. The code of reservations is the real one; clocks, store and
// network are not, so that a seed always gives the same schedule. --mutations --schedules 3000 makes mistakes in that code,
// and lists which schedules find them.

import { parseArgs } from 'node:util'
import { findingOf, mutations } from './help/budget-mutations.ts'
import { simulate } from './help/budget-schedule.ts'

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    mutations: { type: 'boolean' },
  },
})

if (values.mutations) await mutate(Number(values.schedules))
else if (values.seed === undefined) await many(Number(values.from), Number(values.schedules))
else {
  const { faults, trace, events } = await simulate(Number(values.seed), { traces: true })
  console.log(trace.join('\n'))
  console.log(`${events} events, ${faults.length === 0 ? 'no faults' : faults.join('\n')}`)
  process.exitCode = faults.length === 0 ? 0 : 1
}

async function many(from: number, count: number): Promise<void> {
  const began = performance.now()
  let [events, failed] = [0, 0]
  for (let seed = from; seed < from + count; seed++) {
    const { faults, events: more } = await simulate(seed)
    events += more
    if (faults.length === 0) continue
    failed++
    console.error(`seed ${seed}: ${faults[0]}`)
    process.exitCode = 1
    if (failed === 10) break
  }
  const seconds = Math.round((performance.now() - began) / 1000)
  console.log(`${count} schedules from ${from}, ${events} events, ${failed} with faults, ${seconds} s`)
}

async function mutate(schedules: number): Promise<void> {
  for (const [number, { file, from, to }] of mutations.entries()) {
    const finding = await findingOf(number, schedules)
    if (finding === null) process.exitCode = 1
    const outcome = finding === null ? 'NOT FOUND' : `seed ${finding.seed}: ${finding.fault}`
    console.log(`${file}: ${JSON.stringify(from)} => ${JSON.stringify(to)}\n  ${outcome}`)
  }
}
