// Watches the memory of a gateway over a scan with tokens that nobody was given, for run.ts.
import { type Call, chatAt } from './call.ts'
import { drive } from './drive.ts'
import type { Running } from './launch.ts'
import { launchPeer, type Peer } from './peers.ts'
import { residentMemory } from './proc.ts'
import type { Scan } from './results.ts'
import { UNKNOWN_TOKENS } from './unknown-tokens.ts'

const SLICE_SECONDS = 1

/** Refusals after which a young heap has grown to its size. */
const WARM_UP = 200_000

/** Reads the memory of a gateway before and after it has refused each unknown token once or more. */
export async function scan(peer: Peer, origin: number): Promise<Scan> {
  const gateway = await launchPeer(peer, origin)
  const call = chatAt(peer.door!(gateway.printed(), origin), 'unknown')
  await driveLong(gateway, call, WARM_UP)
  const before = residentMemory(gateway.pid)
  const requests = await driveLong(gateway, call, UNKNOWN_TOKENS)
  const after = residentMemory(gateway.pid)
  await gateway.stop()
  return { requests, before, after }
}

async function driveLong({ port }: Running, call: Call, goal: number): Promise<number> {
  let requests = 0
  while (requests < goal) {
    const load = await drive({ port, mix: 'unknown', seconds: SLICE_SECONDS, call, first: requests })
    if (load.refused !== load.requests) throw new Error('a token that nobody was given was let in')
    requests += load.requests
  }
  return requests
}
