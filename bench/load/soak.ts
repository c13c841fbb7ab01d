// Watches the memory of a gateway over millions of requests of every kind, for run.ts.
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { SCRIPT } from './drive.ts'
import { unexpectedAnswers } from './measure.ts'
import { folder, type Running, run } from './launch.ts'
import { launchPeer, type Peer } from './peers.ts'
import { gatehouseOfAllKinds, restDoorOf } from './peers/gatehouse-soak.ts'
import { residentMemory } from './proc.ts'
import type { Reading, Soak } from './results.ts'
import { refusedShare, soakRequests } from './soak-mix.ts'
import { median } from './statistics.ts'
import { parseLoad } from './wrk-output.ts'

const METER = join(import.meta.dirname, 'heap-meter.ts')
const READINGS = 5
const SLICE_SECONDS = 2
const CONNECTIONS = 128
const MEBIBYTE = 2 ** 20

/** Drives Gatehouse with all kinds of requests and reads its memory after each fifth of them. */
export async function soak(origin: number, requests: number): Promise<Soak> {
  const meter = join(folder, 'heap-meter')
  const peer = withHeapMeter(gatehouseOfAllKinds(), meter)
  const gateway = await launchPeer(peer, origin)
  try {
    return await watch(gateway, peer, origin, meter, requests)
  } finally {
    await gateway.stop()
  }
}

async function watch(
  gateway: Running,
  peer: Peer,
  origin: number,
  meter: string,
  requests: number,
): Promise<Soak> {
  const file = soakRequests(peer.door!(gateway.printed(), origin), restDoorOf(gateway.printed()))
  const readings: Reading[] = []
  let [sent, unexpected] = [0, 0]
  while (readings.length < READINGS) {
    const memory: number[] = []
    for (const goal = ((readings.length + 1) * requests) / READINGS; sent < goal; ) {
      const load = await drive(gateway, file)
      sent += load.requests
      unexpected += load.unexpected
      memory.push(residentMemory(gateway.pid))
    }
    readings.push({ requests: sent, memory: median(memory), heap: await liveHeap(meter) })
    console.error(`soak: ${sent} requests`)
  }
  return { requests: sent, unexpected, readings }
}

async function drive({ port }: Running, file: string): Promise<{ requests: number; unexpected: number }> {
  const load = ['-t1', `-c${CONNECTIONS}`, `-d${SLICE_SECONDS}s`, '-s', SCRIPT]
  const args = [...load, `http://127.0.0.1:${port}/`, '--', 'soak', file]
  const { requests, refused, broken, late } = parseLoad(await run({ file: 'wrk', args }))
  return { requests, unexpected: broken + late + unexpectedAnswers(refused, requests, refusedShare) }
}

function withHeapMeter(peer: Peer, path: string): Peer {
  return {
    ...peer,
    async prepare(port, origin) {
      const command = await peer.prepare(port, origin)
      return { ...command, env: { ...command.env, NODE_OPTIONS: `--import=${METER}`, HEAP_METER: path } }
    },
  }
}

/** Returns the MiB that live behind a collection of garbage. */
async function liveHeap(path: string): Promise<number> {
  const socket = connect(path)
  await once(socket, 'connect')
  return Number(await text(socket)) / MEBIBYTE
}
