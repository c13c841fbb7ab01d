// Measures, from end to end, what the guard with all patterns adds to the first token of a stream with a token and a log, in ms:
// node bench/profile/guarded-first-token.ts. Two gateways, one with it, are asked in turn, one stream at a time, each on a new connection.
import { beAlone } from '../load/alone.ts'
import { type Call, chatAt, PROVIDER_DOOR } from '../load/call.ts'
import type { Running } from '../load/launch.ts'
import { launchOrigin, launchPeer, type Peer } from '../load/peers.ts'
import { gatehouseWith } from '../load/peers/gatehouse-ai.ts'
import { percentile } from '../load/statistics.ts'
import { timeFirstEvents, warmUpStreams } from '../load/streams.ts'

interface Gateway {
  readonly peer: Peer
  readonly process: Running
}

/** Bytes of requests, streams of each gateway for each of them, and how many are timed in turn. */
const sizes = [300, 4_000, 64_000]
const streams = 600
const burst = 10
/** Of each size, until the code is compiled. */
const warmUp = 2_000

const prose =
  'In 2024 we sold 1711 pieces of the "risk-free" kind, and a task-force asked what was said of it. '

await beAlone()
const origin = await launchOrigin()
const peers = [gatehouseWith('usual', 'plain'), gatehouseWith('guardedAsUsual', 'guarded')]
const gateways: Gateway[] = []
for (const peer of peers) gateways.push({ peer, process: await launchPeer(peer, origin.port) })
console.log('request   plain p50    p99   guarded p50    p99   added p50    p99')
for (const size of sizes) console.log(await rowOf(size))
for (const { process } of gateways) await process.stop()
await origin.stop()

async function rowOf(size: number): Promise<string> {
  const asked = gateways.map(({ peer, process }) => ({
    port: process.port,
    call: sized(chatAt(peer.door?.(process.printed(), origin.port) ?? PROVIDER_DOOR, 'own', 1), size),
    times: [] as number[],
  }))
  for (const { port, call } of asked) await warmUpStreams(port, call, true, warmUp)
  while (asked[0]!.times.length < streams)
    for (const { port, call, times } of asked) times.push(...(await timeFirstEvents(port, burst, call, true)))
  const [plain, guarded] = asked.map(({ times }) => [percentile(times, 50), percentile(times, 99)])
  const added = guarded!.map((ms, i) => ms - plain![i]!)
  const [a, b, c] = [plain!, guarded!, added].map(figures => figures.map(ms => ms.toFixed(3)).join('  '))
  return `${`${size}`.padStart(7)}   ${a}     ${b}     ${c}`
}

/** Makes the text of a chat longer. */
function sized(call: Call, size: number): Call {
  const text = prose.repeat(Math.ceil(size / prose.length)).slice(0, Math.max(0, size - call.body.length))
  return { ...call, body: call.body.replace('Tell me.', `Tell me.${JSON.stringify(text).slice(1, -1)}`) }
}
