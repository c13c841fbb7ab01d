// Watches the memory of a proxy over a long load, for run.ts.
import { drive } from './drive.ts'
import { launchPeer, type Peer } from './peers.ts'
import { residentMemory } from './proc.ts'
import { quarters, type Soak } from './results.ts'

const SLICE_SECONDS = 2

/** Drives a peer with the mixed traffic until it has answered `goal` requests, reading its memory every two seconds. */
export async function soak(peer: Peer, origin: number, goal: number): Promise<Soak> {
  const proxy = await launchPeer(peer, origin)
  const memory: number[] = []
  let requests = 0
  while (requests < goal) {
    requests += (await drive(proxy.port, 'mixed', SLICE_SECONDS)).requests
    memory.push(residentMemory(proxy.pid))
  }
  await proxy.stop()
  return { requests, ...quarters(memory) }
}
