// The bytes that a request allocates on the heap of JavaScript: what decides how often its young generation is collected.
import { withAllocations } from '../interleaved/allocations.ts'
import { allocatedPerRequest } from '../interleaved/counts.ts'
import { startRunner } from '../interleaved/runners.ts'
import { type MixName, NATIVE } from '../load/mixes.ts'
import type { Measure } from './figures.ts'

/** Measures a GET, and a chat with its log entry, in the thread that serves: others collect theirs beside it. */
export const measureHeap: Measure = async (peers, origin) => {
  const of = async (name: string, mix: MixName) => {
    const plain = peers.get(name)
    if (plain === undefined) return undefined
    const peer = withAllocations(plain)
    const runner = await startRunner(peer, mix, origin)
    try {
      return { value: await allocatedPerRequest(runner, peer, 'main') }
    } finally {
      await runner.stop()
    }
  }
  const [getHeap, chatHeap] = [await of('gatehouse', 'get'), await of(NATIVE, 'chat')]
  return { ...(getHeap && { getHeap }), ...(chatHeap && { chatHeap }) }
}
