// Measures the contestants of a heat beside each other, until their targets are decided.
import { type Heat, pairsOf } from '../load/heats.ts'
import { MIXES } from '../load/mixes.ts'
import type { Peer } from '../load/peers.ts'
import { residentMemory } from '../load/proc.ts'
import { short } from '../load/report.ts'
import type { Ratio, Run, Subject } from '../load/results.ts'
import { median } from '../load/statistics.ts'
import { TARGETS } from '../load/targets.ts'
import type { Block } from './blocks.ts'
import { answer, type Question, type RunLength, runBlocks } from './run-blocks.ts'
import { type Started, startRunner } from './runners.ts'

const base = 'nginx'

/** Runs a heat with those of its contestants that are installed. */
export async function measureHeat(
  heat: Heat,
  peers: ReadonlyMap<string, Peer>,
  origin: number,
  length: RunLength,
): Promise<{ runs: Run[]; ratios: Ratio[] }> {
  const runners: Started[] = []
  try {
    return await measureStarted(heat, peers, origin, length, runners)
  } catch (error) {
    await Promise.allSettled(runners.map(({ stop }) => stop()))
    throw error
  }
}

/** Likewise; starts them into a list, so that whoever calls can end them after a failure. */
async function measureStarted(
  heat: Heat,
  peers: ReadonlyMap<string, Peer>,
  origin: number,
  length: RunLength,
  runners: Started[],
): Promise<{ runs: Run[]; ratios: Ratio[] }> {
  const present = { ...heat, contestants: heat.contestants.filter(({ peer }) => peers.has(peer)) }
  for (const { peer, mix } of present.contestants)
    runners.push(await startRunner(peers.get(peer)!, mix, origin, { name: nameOf({ peer, mix }) }))
  const pairs = pairsOf(present)
  const targets = pairs.map(([subject, against]) => asked(subject, against, boundOf(subject, against)))
  const blocks = await runBlocks(runners, targets, length, blocks =>
    console.error(`${heat.name}: ${blocks.length} blocks`),
  )
  const runs: Run[] = []
  for (const [at, { peer, mix }] of present.contestants.entries()) {
    const { name, process, stop } = runners[at]!
    const typical = (metric: keyof Block) => median(blocks.map(block => block.get(name)![metric]))
    const memory = residentMemory(process.pid)
    const unexpected = await stop()
    const run = { mix, round: 1, peer, cost: typical('cost'), rate: typical('rate'), memory, unexpected }
    console.error(`${name}: ${short(run.cost)} µs, ${short(run.rate)}/s`)
    // Streams flow at all times, so that only their ratios are right, and their times are measured in rounds.
    if (MIXES[mix].streams === 0) runs.push(run)
  }
  const wanted = [...pairs, ...againstBase(present).filter(pair => !pairs.some(other => isSame(pair, other)))]
  const ratios = wanted.map(([subject, against]) => {
    const { ratio, low, high } = answer(asked(subject, against, 1), blocks)
    return { subject, base: against, ratio, low, high, blocks: blocks.length }
  })
  return { runs, ratios }
}

function asked(subject: Subject, against: Subject, bound: number): Question {
  const metric = subject.metric as keyof Block
  return { name: nameOf(subject), base: nameOf(against), metric, bound }
}

function boundOf(subject: Subject, against: Subject): number {
  return TARGETS.find(({ compared }) => compared && isSame(compared, [subject, against]))!.bound
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
