// The memory of `npm start`, with one process, once it is idle behind a few requests.
import { setTimeout as wait } from 'node:timers/promises'
import { statusOf } from '../load/launch.ts'
import { launchPeer } from '../load/peers.ts'
import { gatehouse } from '../load/peers/gatehouse.ts'
import { residentMemory } from '../load/proc.ts'
import type { Measure } from './figures.ts'

const requests = 10
/** Milliseconds without a request before memory is read. */
const idle = 5_000
const mebibyteInMb = 2 ** 20 / 1e6

/** Reads the second start: the first compiles what the next finds. */
export const measureNpmStart: Measure = async (peers, origin) => {
  if (!peers.has('gatehouse')) return {}
  const peer = gatehouse()
  await (await launchPeer(peer, origin)).stop()
  const gateway = await launchPeer(peer, origin)
  try {
    for (let request = 0; request < requests; request++) await statusOf(gateway.port)
    await wait(idle)
    return { startMemory: { value: residentMemory(gateway.pid) * mebibyteInMb } }
  } finally {
    await gateway.stop()
  }
}
