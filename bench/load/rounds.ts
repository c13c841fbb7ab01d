// The rounds of a bench, for run.ts and bench/compare.ts.
import { measure } from './measure.ts'
import type { MixName } from './mixes.ts'
import type { Peer } from './peers.ts'
import { short } from './report.ts'
import type { Run } from './results.ts'
import { alternate } from './statistics.ts'

/** Who is measured under a mix. */
export interface Heat {
  readonly mix: MixName
  readonly peers: readonly Peer[]
}

export interface Length {
  readonly rounds: number
  readonly seconds: number
}

/** Measures every heat in every round, in alternating order, and says on stderr how it goes. */
export async function measureRounds(
  heats: readonly Heat[],
  origin: number,
  { rounds, seconds }: Length,
): Promise<Run[]> {
  const runs: Run[] = []
  for (let round = 1; round <= rounds; round++) {
    for (const { mix, peers } of heats) {
      for (const peer of alternate(peers, round)) {
        const sample = await measure(peer, mix, origin, seconds)
        console.error(
          `round ${round}, ${mix}, ${peer.name}: ${short(sample.cost)} µs, ${short(sample.rate)}/s`,
        )
        runs.push({ mix, round, peer: peer.name, ...sample })
      }
    }
  }
  return runs
}
