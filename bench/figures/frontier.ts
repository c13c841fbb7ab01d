// The most that one core serves within a p99 and without a failure, as a share of the most that it serves at all.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { startRunner } from '../interleaved/runners.ts'
import { drive } from '../load/drive.ts'
import { GOVERNED } from '../load/mixes.ts'
import { launchOrigin } from '../load/peers.ts'
import { allowedProcessors } from '../load/proc.ts'
import { median } from '../load/statistics.ts'
import type { Measure } from './figures.ts'

/** Milliseconds of the p99 that bounds the rate. */
const longest = 1

const connectionCounts: readonly number[] = [1, 2, 4, 8, 16, 32, 64]
const passes = 3
const mix = 'chat'

/** What one number of connections came to. */
export interface Point {
  readonly rate: number
  /** Milliseconds. */
  readonly p99: number
  readonly failures: number
}

/** Puts governed chats on the last processor alone, and what they stand between on the others. */
export const measureFrontier: Measure = async (peers, _origin, isQuick) => {
  const peer = peers.get(GOVERNED)
  const processors = allowedProcessors(readFileSync('/proc/self/status', 'latin1'))
  const own = processors.at(-1)!
  if (peer === undefined || processors.length < 2) return {}
  // What is started from here on inherits where this process may run.
  pin(process.pid, processors.slice(0, -1))
  const origin = await launchOrigin()
  const runner = await startRunner(peer, mix, origin.port)
  try {
    pin(runner.process.pid, [own])
    const shares: number[] = []
    while (shares.length < (isQuick ? 1 : passes)) {
      const points: Point[] = []
      for (const connections of connectionCounts) {
        const load = { port: runner.process.port, mix, call: runner.call, connections, seconds: 1 } as const
        const { requests, seconds, p99, refused, broken, late } = await drive(load)
        points.push({ rate: requests / seconds, p99, failures: refused + broken + late })
        console.error(
          `frontier, ${connections} connections: ${(requests / seconds).toFixed(0)}/s, p99 ${p99} ms`,
        )
      }
      shares.push(shareWithin(points, longest))
    }
    return { frontier: { value: median(shares) } }
  } finally {
    await runner.stop()
    await origin.stop()
    pin(process.pid, processors)
  }
}

/** Returns the highest rate without a failure whose p99 is at most so many milliseconds, by the highest rate without a failure; NaN where all fail. */
export function shareWithin(points: readonly Point[], p99: number): number {
  const good = points.filter(({ failures }) => failures === 0)
  const highest = (among: readonly Point[]) => Math.max(0, ...among.map(({ rate }) => rate))
  return highest(good.filter(point => point.p99 <= p99)) / highest(good)
}

/** Has all threads of a process run on these processors alone. */
function pin(pid: number, processors: readonly number[]): void {
  execFileSync('taskset', ['-acp', processors.join(','), `${pid}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
