// One measurement: a fresh process of a peer under one mix, for run.ts and bench/compare.ts.
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Call, chatAt, PROVIDER_DOOR, ROOT } from './call.ts'
import { drive } from './drive.ts'
import { freePort } from '../../test/help/free-port.ts'
import { type Running, run, statusOf } from './launch.ts'
import { measureStreams, measureWholeStreams } from './measure-streams.ts'
import { meter } from './meter.ts'
import { CONNECTIONS, MIXES, type Mix, type MixName } from './mixes.ts'
import { launchPeer, type Peer } from './peers.ts'
import type { Load } from './wrk-output.ts'

export interface Sample {
  /** CPU microseconds of the peer per request, event or error. */
  readonly cost: number
  /** Requests, events or errors a second. */
  readonly rate: number
  /** Milliseconds: see the note of the mix. */
  readonly p50: number
  readonly p99: number
  /** Refused connections to the origin per request, event or error; other programs of the machine count as well. */
  readonly attempts: number
  /** Log entries per request that were dropped unwritten. */
  readonly dropped: number
  /** Resident MiB at the end of the load. */
  readonly memory: number
  /** Answers of another kind than the mix expects, and streams that ended, stalled or lacked something. */
  readonly unexpected: number
}

const WARM_UP_SECONDS = 2
const CHECKS_PER_SECOND = 5
const UNAUTHORIZED = 401

/** Starts the peer, warms it up, measures it for some seconds and ends it. */
export async function measure(peer: Peer, mix: MixName, origin: number, seconds: number): Promise<Sample> {
  const proxy = await launchPeer(peer, mix === 'down' ? await freePort() : origin, isTls(mix))
  try {
    return await measureRunning(proxy, peer, mix, origin, seconds)
  } catch (error) {
    throw new Error(`${peer.name} failed under ${mix} and had printed: ${proxy.printed()}`, { cause: error })
  } finally {
    await proxy.stop()
  }
}

function measureRunning(proxy: Running, peer: Peer, mix: MixName, origin: number, seconds: number) {
  const door = peer.door?.(proxy.printed(), origin) ?? PROVIDER_DOOR
  if (mix === 'steady') return measureWholeStreams(proxy, door, seconds)
  if (mix === 'sse' || mix === 'ttft') return measureStreams(proxy, mix, door, origin, seconds)
  if (mix === 'full' || mix === 'resumed') return measureHandshakes(proxy, mix, seconds)
  const { shown, refused } = MIXES[mix]
  const call = peer.call?.() ?? (shown === null ? ROOT : chatAt(door, shown))
  const refusal = mix === 'down' ? peer.refusal : (peer.denial ?? UNAUTHORIZED)
  return measureLoad(proxy, mix, { call, status: refused === 1 ? refusal : 200 }, seconds)
}

async function measureLoad(
  proxy: Running,
  mix: MixName,
  { call, status }: { call: Call; status: number },
  seconds: number,
): Promise<Sample> {
  const { port } = proxy
  const warm = await drive({ port, mix, seconds: WARM_UP_SECONDS, call })
  const spent = await meter(proxy)
  const [load, wrong] = await Promise.all([
    drive({ port, mix, seconds, call, first: warm.requests }),
    // Over TLS, wrk tells alone.
    isTls(mix) ? 0 : countWrong(port, call, status, seconds),
  ])
  return {
    ...(await spent(load.requests)),
    rate: load.requests / load.seconds,
    p50: load.p50,
    p99: load.p99,
    unexpected:
      wrong + load.broken + load.late + unexpectedAnswers(load.refused, load.requests, MIXES[mix].refused),
  }
}

/** Counts what the server spends by handshake; their client is another process, which may be the slower one. */
async function measureHandshakes(proxy: Running, kind: 'full' | 'resumed', seconds: number): Promise<Sample> {
  const shake = async (seconds: number) => {
    const args = [join(import.meta.dirname, 'handshakes.ts'), `${proxy.port}`, `${seconds}`, kind]
    return JSON.parse(await run({ file: process.execPath, args })) as Load
  }
  await shake(WARM_UP_SECONDS)
  const spent = await meter(proxy)
  const { requests, seconds: took, p50, p99, refused } = await shake(seconds)
  return { ...(await spent(requests)), rate: requests / took, p50, p99, unexpected: refused }
}

function isTls(mix: MixName): boolean {
  return (MIXES[mix] as Mix).isTls === true
}

/** Asks now and then during the load and counts the answers of another status: wrk only tells 400 and more from less. */
async function countWrong(port: number, call: Call, status: number, seconds: number): Promise<number> {
  const pause = 1000 / CHECKS_PER_SECOND
  const end = performance.now() + seconds * 1000
  let wrong = 0
  while (performance.now() + pause < end) {
    await wait(pause)
    if ((await statusOf(port, call)) !== status) wrong++
  }
  return wrong
}

/** Counts the answers that are refused, or not, against expectation; each connection may stop in the middle of a turn. */
export function unexpectedAnswers(refused: number, requests: number, share: number): number {
  const difference = Math.abs(refused - requests * share)
  const tolerance = Number.isInteger(share) ? 0 : CONNECTIONS
  return difference <= tolerance ? 0 : Math.round(difference)
}
