// Measures two states of the project beside each other in one scenario.
import { ROOT } from '../load/installed.ts'
import { MIXES, type MixName } from '../load/mixes.ts'
import type { Peer } from '../load/peers.ts'
import { residentMemory } from '../load/proc.ts'
import { type MeteredPeer, withAllocations } from './allocations.ts'
import type { Block } from './blocks.ts'
import { type Counts, count } from './counts.ts'
import { allLooks, oneLook } from './interval.ts'
import { type Answer, answer, type Blocks, type Extent, runBlocks, typicalOf } from './run-blocks.ts'
import { type Started, startRunner } from './runners.ts'
import { type ScenarioName, scenarios } from './scenarios.ts'

/** What one of the two took. */
export interface State {
  readonly name: string
  /** Medians over the blocks, or over those of the launches. */
  readonly typical: Block
  readonly counts: Counts
  /** Resident MiB at the end. */
  readonly memory: number
  readonly unexpected: number
}

export interface Compared {
  readonly scenario: ScenarioName
  /** What the base runs in. */
  readonly against: ScenarioName
  readonly unit: string
  /** What the intervals are over. */
  readonly over: 'blocks' | 'launches'
  readonly here: State
  readonly base: State
  /** Here against the base. */
  readonly cost: Answer
  readonly rate: Answer
}

const workingTree = 'working tree'

/** How long two states are compared. */
export interface Comparison extends Extent {
  /** What the base runs in, where that is another one under the same load. */
  readonly against?: ScenarioName
}

/** Measures until it is decided whether the working tree spends more or less than so many times what the base does. */
export async function compareStates(
  scenario: ScenarioName,
  base: { readonly name: string; readonly root: string },
  bound: number,
  origin: number,
  { launches, against = scenario, ...length }: Comparison,
): Promise<Compared> {
  const { mix, peer } = scenarios[scenario]
  const peers = [peer(workingTree, ROOT), scenarios[against].peer(base.name, base.root)].map(withAllocations)
  const question = { name: workingTree, base: base.name, metric: 'cost', bound } as const
  const over = launches === 1 ? 'blocks' : 'launches'
  const deviations = launches === 1 ? allLooks : oneLook
  const onLook = (blocks: Blocks) => {
    const { ratio, low, high } = answer(question, blocks, deviations)
    const text = [ratio, low, high].map(value => value.toFixed(3)).join(' ')
    console.error(`${scenario}: ratio of CPU, and its interval, after ${blocks.length} ${over}: ${text}`)
  }
  const typical: ReadonlyMap<string, Block>[] = []
  for (let launch = 1; launch < launches; launch++) {
    const order = launch % 2 === 0 ? peers : peers.toReversed()
    const runners = await startAll(order, mix, origin)
    typical.push(typicalOf(await runBlocks(runners, [], length)))
    for (const runner of runners) await runner.stop()
    if (launch > 1) onLook(typical)
  }
  const runners = await startAll(peers, mix, origin)
  const last = await (launches === 1
    ? runBlocks(runners, [question], length, onLook)
    : runBlocks(runners, [], length))
  const blocks = launches === 1 ? last : [...typical, typicalOf(last)]
  const [here, there] = await stopAll(runners, peers, typicalOf(blocks))
  const rate = { ...question, metric: 'rate', bound: 1 } as const
  const answers = { cost: answer(question, blocks, deviations), rate: answer(rate, blocks, deviations) }
  return { scenario, against, unit: MIXES[mix].unit, over, here: here!, base: there!, ...answers }
}

async function startAll(peers: readonly Peer[], mix: MixName, origin: number): Promise<readonly Started[]> {
  const runners: Started[] = []
  for (const peer of peers) runners.push(await startRunner(peer, mix, origin))
  return runners
}

/** Counts what each takes, and ends it. */
async function stopAll(
  runners: readonly Started[],
  peers: readonly MeteredPeer[],
  typical: ReadonlyMap<string, Block>,
): Promise<readonly State[]> {
  const states: State[] = []
  for (const [at, runner] of runners.entries()) {
    const { name } = runner
    const counts = await count(runner, peers[at]!)
    const memory = residentMemory(runner.process.pid)
    states.push({ name, typical: typical.get(name)!, counts, memory, unexpected: await runner.stop() })
  }
  return states
}
