// Watches the memory of a proxy over a long load, for run.ts.
import { drive } from './drive.ts'
import type { Running } from './launch.ts'
import { launchPeer, type Peer } from './peers.ts'
import { residentMemory } from './proc.ts'
import { quarters, type Soak } from './results.ts'

const SLICE_SECONDS = 2

/** Requests after which a young heap has grown to its size; what still grows then would go on growing. */
const WARM_UP = 1_000_000

/** Drives a peer with the mixed traffic until it has answered `goal` requests after its warm-up, reading its memory every two seconds. */
export async function soak(peer: Peer, origin: number, goal: number): Promise<Soak> {
  const proxy = await launchPeer(peer, origin)
  await driveLong(proxy, WARM_UP)
  const measured = await driveLong(proxy, goal)
  await proxy.stop()
  return { requests: measured.requests, ...quarters(measured.memory) }
}

async function driveLong(proxy: Running, goal: number): Promise<{ requests: number; memory: number[] }> {
  const memory: number[] = []
  let requests = 0
  while (requests < goal) {
    requests += (await drive({ port: proxy.port, mix: 'mixed', seconds: SLICE_SECONDS })).requests
    memory.push(residentMemory(proxy.pid))
  }
  return { requests, memory }
}
