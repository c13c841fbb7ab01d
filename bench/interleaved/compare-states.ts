// Measures two states of the project beside each other in one scenario.
import { ROOT } from '../load/installed.ts'
import { MIXES } from '../load/mixes.ts'
import { residentMemory } from '../load/proc.ts'
import { median } from '../load/statistics.ts'
import { withAllocations } from './allocations.ts'
import type { Block } from './blocks.ts'
import { type Counts, count } from './counts.ts'
import { type Answer, answer, type RunLength, runBlocks } from './run-blocks.ts'
import { type Started, startRunner } from './runners.ts'
import { type ScenarioName, scenarios } from './scenarios.ts'

/** What one of the two took. */
export interface State {
  readonly name: string
  /** Medians over the blocks. */
  readonly typical: Block
  readonly counts: Counts
  /** Resident MiB at the end. */
  readonly memory: number
  readonly unexpected: number
}

export interface Compared {
  readonly scenario: ScenarioName
  readonly unit: string
  readonly here: State
  readonly base: State
  /** Here against the base. */
  readonly cost: Answer
  readonly rate: Answer
}

const workingTree = 'working tree'

/** Measures until it is decided whether the working tree spends more or less than so many times what the base does. */
export async function compareStates(
  scenario: ScenarioName,
  base: { readonly name: string; readonly root: string },
  bound: number,
  origin: number,
  length: RunLength,
): Promise<Compared> {
  const { mix, peer } = scenarios[scenario]
  const peers = [peer(workingTree, ROOT), peer(base.name, base.root)].map(withAllocations)
  const runners: Started[] = []
  for (const peer of peers) runners.push(await startRunner(peer, mix, origin))
  const question = { name: workingTree, base: base.name, metric: 'cost', bound } as const
  const blocks = await runBlocks(runners, [question], length, blocks => {
    const { ratio, low, high } = answer(question, blocks)
    const text = [ratio, low, high].map(value => value.toFixed(3)).join(' ')
    console.error(`${scenario}: ratio of CPU, and its interval, after ${blocks.length} blocks: ${text}`)
  })
  const states: State[] = []
  for (const [at, runner] of runners.entries()) {
    const of = (metric: keyof Block) => median(blocks.map(block => block.get(runner.name)![metric]))
    const counts = await count(runner, peers[at]!)
    const memory = residentMemory(runner.process.pid)
    const typical = { cost: of('cost'), rate: of('rate') }
    states.push({ name: runner.name, typical, counts, memory, unexpected: await runner.stop() })
  }
  const [here, there] = states as [State, State]
  const rate = { ...question, metric: 'rate', bound: 1 } as const
  const answers = { cost: answer(question, blocks), rate: answer(rate, blocks) }
  return { scenario, unit: MIXES[mix].unit, here, base: there, ...answers }
}
