// One measurement: a fresh process of a peer under one mix, for run.ts and bench/compare.ts.
import { setTimeout as wait } from 'node:timers/promises'
import { drive } from './drive.ts'
import { freePort, type Running, statusOf } from './launch.ts'
import { CONNECTIONS, MIXES, type MixName, STREAMS } from './mixes.ts'
import { launchPeer, type Peer } from './peers.ts'
import { cpuTime, refusedConnects, residentMemory } from './proc.ts'
import { percentile } from './statistics.ts'
import { type EventStream, openStreams, timeFirstEvents } from './streams.ts'

export interface Sample {
  /** CPU microseconds of the peer per request, event or error. */
  readonly cost: number
  /** Requests, events or errors a second. */
  readonly rate: number
  /** Milliseconds: see `time` of the mix. */
  readonly p50: number
  readonly p99: number
  /** Refused connections to the origin per request, event or error; other programs of the machine count as well. */
  readonly attempts: number
  /** Resident MiB at the end of the load. */
  readonly memory: number
  /** Answers of another kind than the mix expects, and streams that ended. */
  readonly unexpected: number
}

const WARM_UP_SECONDS = 1
const FIRST_EVENTS = 300
const CHECKS_PER_SECOND = 5

/** Starts the peer, warms it up, measures it for some seconds and ends it. */
export async function measure(peer: Peer, mix: MixName, origin: number, seconds: number): Promise<Sample> {
  const proxy = await launchPeer(peer, mix === 'down' ? await freePort() : origin)
  try {
    return mix === 'sse'
      ? await measureStreams(proxy, origin, seconds)
      : await measureLoad(proxy, peer, mix, seconds)
  } catch (error) {
    throw new Error(`${peer.name} failed under ${mix} and had printed: ${proxy.printed()}`, { cause: error })
  } finally {
    await proxy.stop()
  }
}

async function measureLoad(proxy: Running, peer: Peer, mix: MixName, seconds: number): Promise<Sample> {
  await drive(proxy.port, mix, WARM_UP_SECONDS)
  const spent = meter(proxy)
  const [load, wrong] = await Promise.all([
    drive(proxy.port, mix, seconds),
    countWrong(proxy, mix === 'down' ? peer.refusal : 200, seconds),
  ])
  return {
    ...spent(load.requests),
    rate: load.requests / load.seconds,
    p50: load.p50,
    p99: load.p99,
    unexpected: wrong + load.broken + unexpectedAnswers(load.refused, load.requests, MIXES[mix].refused),
  }
}

/** Begins to count what the proxy spends; the returned function divides it by the number of requests, events or errors. */
function meter({ pid }: Running): (count: number) => Pick<Sample, 'cost' | 'attempts' | 'memory'> {
  const cpu = cpuTime(pid)
  const refused = refusedConnects()
  return count => ({
    cost: (cpuTime(pid) - cpu) / count,
    attempts: (refusedConnects() - refused) / count,
    memory: residentMemory(pid),
  })
}

/** Asks now and then during the load and counts the answers of another status: wrk only tells 400 and more from less. */
async function countWrong({ port }: Running, status: number, seconds: number): Promise<number> {
  const pause = 1000 / CHECKS_PER_SECOND
  const end = performance.now() + seconds * 1000
  let wrong = 0
  while (performance.now() + pause < end) {
    await wait(pause)
    if ((await statusOf(port)) !== status) wrong++
  }
  return wrong
}

/** Counts the answers that are refused, or not, against expectation; each connection may stop in the middle of a turn. */
function unexpectedAnswers(refused: number, requests: number, share: number): number {
  const difference = Math.abs(refused - requests * share)
  const tolerance = Number.isInteger(share) ? 0 : CONNECTIONS
  return difference <= tolerance ? 0 : Math.round(difference)
}

async function measureStreams(proxy: Running, origin: number, seconds: number): Promise<Sample> {
  const direct = await whileStreaming(origin, () => timeFirstEvents(origin, FIRST_EVENTS))
  return whileStreaming(proxy.port, async streams => {
    await wait(WARM_UP_SECONDS * 1000)
    const flow = await measureFlow(proxy, streams, seconds)
    const proxied = await timeFirstEvents(proxy.port, FIRST_EVENTS)
    return {
      ...flow,
      p50: percentile(proxied, 50) - percentile(direct, 50),
      p99: percentile(proxied, 99) - percentile(direct, 99),
      unexpected: streams.filter(stream => !stream.open).length,
    }
  })
}

async function measureFlow(proxy: Running, streams: readonly EventStream[], seconds: number) {
  const received = countReceived(streams)
  const spent = meter(proxy)
  const began = performance.now()
  await wait(seconds * 1000)
  const events = countReceived(streams) - received
  return { ...spent(events), rate: (events * 1000) / (performance.now() - began) }
}

function countReceived(streams: readonly EventStream[]): number {
  return streams.reduce((sum, stream) => sum + stream.events, 0)
}

async function whileStreaming<T>(
  port: number,
  work: (streams: readonly EventStream[]) => Promise<T>,
): Promise<T> {
  const streams = await openStreams(port, STREAMS)
  try {
    return await work(streams)
  } finally {
    for (const stream of streams) stream.close()
  }
}
