// What a request takes of what noise cannot move: system calls and bytes allocated.
import { setTimeout as wait } from 'node:timers/promises'
import { commandVersion } from '../load/installed.ts'
import { allocationPeriod, type MeteredPeer, type Threads } from './allocations.ts'
import type { Started } from './runners.ts'
import { countSystemCalls } from './system-calls.ts'

/** Counts a request, or an event of a stream. */
export interface Counts {
  readonly allocatedBytes: number
  /** All system calls, and each kind by name; null where strace is not installed. */
  readonly systemCalls: number | null
  readonly byName: Readonly<Record<string, number>>
}

const loadMilliseconds = 1000

/** Counts what a contestant takes for a request, under a load that is otherwise paused. */
export async function count(runner: Started, peer: MeteredPeer): Promise<Counts> {
  const allocatedBytes = await allocatedPerRequest(runner, peer)
  if (commandVersion('strace', ['-V']) === null) return { allocatedBytes, systemCalls: null, byName: {} }
  const before = runner.load.count
  const calls = await countSystemCalls(runner.process.pid, () => underLoad(runner))
  const requests = runner.load.count - before
  const byName = [...calls].map(([name, calls]) => [name, calls / requests] as const)
  const systemCalls = byName.reduce((sum, [, calls]) => sum + calls, 0)
  return { allocatedBytes, systemCalls, byName: Object.fromEntries(byName) }
}

/** Returns the bytes that threads of a contestant allocate a request. */
export async function allocatedPerRequest(
  runner: Started,
  peer: MeteredPeer,
  threads: Threads = 'all',
): Promise<number> {
  const settled = () => wait(2 * allocationPeriod)
  await settled()
  const [allocated, responses] = [peer.allocated(threads), runner.load.count]
  await underLoad(runner)
  await settled()
  return (peer.allocated(threads) - allocated) / (runner.load.count - responses)
}

async function underLoad({ load }: Started): Promise<void> {
  load.resume()
  await wait(loadMilliseconds)
  load.pause()
  // What is under way ends.
  await wait(50)
}
