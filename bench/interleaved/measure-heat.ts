// Measures the contestants of a heat beside each other, until their targets are decided.
import { cpus } from 'node:os'
import { type Heat, pairsOf } from '../load/heats.ts'
import { MIXES } from '../load/mixes.ts'
import type { Peer } from '../load/peers.ts'
import { residentMemory } from '../load/proc.ts'
import { short } from '../load/report.ts'
import type { Ratio, Run, Subject } from '../load/results.ts'
import { median } from '../load/statistics.ts'
import { boundOn, TARGETS } from '../load/targets.ts'
import type { Block, Runner } from './blocks.ts'
import { allLooks, oneLook } from './interval.ts'
import { answer, type Blocks, type Extent, type Question, runBlocks, typicalOf } from './run-blocks.ts'
import { type Started, startRunner } from './runners.ts'

const base = 'nginx'

/** Runs a heat with those of its contestants that are installed. */
export async function measureHeat(
  heat: Heat,
  peers: ReadonlyMap<string, Peer>,
  origin: number,
  { launches, ...length }: Extent,
): Promise<{ runs: Run[]; ratios: Ratio[] }> {
  const present = { ...heat, contestants: heat.contestants.filter(({ peer }) => peers.has(peer)) }
  const pairs = pairsOf(present)
  const targets = pairs.map(([subject, against]) => asked(subject, against, boundOf(subject, against)))
  const launched: Launched[] = []
  while (launched.length < launches) {
    const one = await launch(present, peers, origin, runners =>
      runBlocks(runners, launches === 1 ? targets : [], length, blocks =>
        console.error(`${heat.name}: ${blocks.length} blocks`),
      ),
    )
    launched.push(one)
  }
  const isOne = launches === 1
  const values = isOne ? launched[0]!.blocks : launched.map(({ blocks }) => typicalOf(blocks))
  const runs: Run[] = []
  for (const { peer, mix } of present.contestants) {
    const name = nameOf({ peer, mix })
    const typical = (metric: keyof Block) => median(values.map(value => value.get(name)![metric]))
    const memory = launched.at(-1)!.memory.get(name)!
    const unexpected = launched.reduce((sum, one) => sum + one.unexpected.get(name)!, 0)
    const run = { mix, round: 1, peer, cost: typical('cost'), rate: typical('rate'), memory, unexpected }
    console.error(`${name}: ${short(run.cost)} µs, ${short(run.rate)}/s`)
    // Streams flow at all times, so that only their ratios are right, and their times are measured in rounds.
    if (MIXES[mix].streams === 0) runs.push(run)
  }
  const wanted = [...pairs, ...againstBase(present).filter(pair => !pairs.some(other => isSame(pair, other)))]
  const ratios = wanted.map(([subject, against]) => {
    const { ratio, low, high } = answer(asked(subject, against, 1), values, isOne ? allLooks : oneLook)
    const blocks = launched.reduce((sum, one) => sum + one.blocks.length, 0)
    return { subject, base: against, ratio, low, high, blocks }
  })
  return { runs, ratios }
}

/** What came of starting the contestants once. */
interface Launched {
  readonly blocks: Blocks
  /** Resident MiB at the end. */
  readonly memory: ReadonlyMap<string, number>
  readonly unexpected: ReadonlyMap<string, number>
}

/** Starts the contestants, runs them and ends them, also after a failure. */
async function launch(
  { contestants }: Heat,
  peers: ReadonlyMap<string, Peer>,
  origin: number,
  run: (runners: readonly Runner[]) => Promise<Blocks>,
): Promise<Launched> {
  const runners: Started[] = []
  try {
    for (const { peer, mix } of contestants)
      runners.push(await startRunner(peers.get(peer)!, mix, origin, { name: nameOf({ peer, mix }) }))
    const blocks = await run(runners)
    const memory = new Map<string, number>()
    const unexpected = new Map<string, number>()
    for (const { name, process, stop } of runners) {
      memory.set(name, residentMemory(process.pid))
      unexpected.set(name, await stop())
    }
    return { blocks, memory, unexpected }
  } catch (error) {
    await Promise.allSettled(runners.map(({ stop }) => stop()))
    throw error
  }
}

function asked(subject: Subject, against: Subject, bound: number): Question {
  const metric = subject.metric as keyof Block
  return { name: nameOf(subject), base: nameOf(against), metric, bound }
}

function boundOf(subject: Subject, against: Subject): number {
  const { bound } = TARGETS.find(({ compared }) => compared && isSame(compared, [subject, against]))!
  return boundOn(bound, cpus()[0]?.model ?? '')
}

/** Everybody's cost and rate against those of nginx, which tables show. */
function againstBase({ contestants }: Heat): [Subject, Subject][] {
  return contestants
    .filter(
      ({ peer, mix }) => peer !== base && contestants.some(other => other.peer === base && other.mix === mix),
    )
    .flatMap(({ peer, mix }) =>
      (['cost', 'rate'] as const).map((metric): [Subject, Subject] => [
        { peer, mix, metric },
        { peer: base, mix, metric },
      ]),
    )
}

function isSame(a: readonly [Subject, Subject], b: readonly [Subject, Subject]): boolean {
  return [0, 1].every(at => nameOf(a[at]!) === nameOf(b[at]!) && a[at]!.metric === b[at]!.metric)
}

function nameOf({ peer, mix }: Pick<Subject, 'peer' | 'mix'>): string {
  return `${peer}, ${mix}`
}
