// Starts contestants that run beside each other, each with a load of its own that can be paused.
import { setTimeout as wait } from 'node:timers/promises'
import { type Call, chatAt, type Door, EVENTS, PROVIDER_DOOR, ROOT } from '../load/call.ts'
import { TOKEN_INTERVAL } from '../load/chat.ts'
import { freePort } from '../../test/help/free-port.ts'
import type { Running } from '../load/launch.ts'
import { unexpectedAnswers } from '../load/measure.ts'
import { MIXES, type Mix, type MixName } from '../load/mixes.ts'
import { launchPeer, type Peer } from '../load/peers.ts'
import { exactCpuTimeOfAll } from '../load/proc.ts'
import { type EventStream, openStreams } from '../load/streams.ts'
import type { Runner } from './blocks.ts'
import { type PausableLoad, pausedH2load, pausedHandshakes, pausedWrk } from './paused-load.ts'

/** A contestant that has been started, with what its load asks. */
export interface Started extends Runner {
  readonly process: Running
  readonly call: Call
  /** Ends its load and itself, and returns how many responses or streams were not as they had to be. */
  stop(): Promise<number>
}

/**
 * A contestant is warm when it has spent so much CPU, in µs, for so many requests: on a busy machine, the same CPU is fewer
 * of them, and code is compiled by how often it ran. It is warm in any case after more CPU, or so many milliseconds.
 */
const warmUpCpu = 2_500_000
const warmUpRequests = 40_000
const mostWarmUpCpu = 5_000_000
const longestWarmUp = 8000
const warmUpStep = 100

/** More tokens than any run lasts. */
const endless = 1_000_000 / TOKEN_INTERVAL

/** Starts a peer before the origin, warms it up and leaves it paused; its name is that of the peer unless another one is given. */
export async function startRunner(
  peer: Peer,
  mix: MixName,
  origin: number,
  { name = peer.name } = {},
): Promise<Started> {
  const process = await launchPeer(peer, mix === 'down' ? await freePort() : origin, isTls(mix))
  const call = callOf(peer, mix, process, origin)
  const runner = await runnerOf({ name, process, call }, mix)
  const stop = async () => {
    const unexpected = await runner.load.end()
    await process.stop()
    return unexpected
  }
  return { ...runner, process, call, stop }
}

/** Puts a load on a contestant that runs, warms it up under it and leaves it paused. */
export async function runnerOf(
  { name, process, call }: Pick<Started, 'name' | 'process' | 'call'>,
  mix: MixName,
  connections?: number,
): Promise<Runner> {
  const load = await loadOf(process, mix, call, connections)
  const cpu = () => exactCpuTimeOfAll(process.root)
  load.resume()
  const end = performance.now() + longestWarmUp
  const cold = cpu()
  const isWarm = () => isWarmBy(cpu() - cold, load.count)
  while (!isWarm() && performance.now() < end) await wait(warmUpStep)
  load.pause()
  return { name, cpu, load }
}

function isWarmBy(spent: number, requests: number): boolean {
  return spent >= mostWarmUpCpu || (spent >= warmUpCpu && requests >= warmUpRequests)
}

async function loadOf(
  { port }: Running,
  mix: MixName,
  call: Call,
  connections: number | undefined,
): Promise<PausableLoad> {
  const { refused, streams, http2Streams } = MIXES[mix] as Mix
  if (mix === 'full' || mix === 'resumed') return pausedHandshakes(port, mix)
  if (http2Streams !== undefined) return pausedH2load(port, http2Streams)
  if (streams > 0) return new SteadyStreams(await openStreams(port, streams, call))
  return pausedWrk(
    { port, mix, call, ...(connections && { connections }) },
    load => load.broken + unexpectedAnswers(load.refused, load.requests, refused),
  )
}

function callOf(peer: Peer, mix: MixName, process: Running, origin: number): Call {
  const door: Door = peer.door?.(process.printed(), origin) ?? PROVIDER_DOOR
  if (mix === 'sse') return EVENTS
  if (mix === 'ttft' || mix === 'steady') return chatAt(door, 'own', endless)
  const { shown } = MIXES[mix]
  return peer.call?.() ?? (shown === null ? ROOT : chatAt(door, shown))
}

function isTls(mix: MixName): boolean {
  return (MIXES[mix] as Mix).isTls === true
}

/** Streams that stay open. Their load is the same at all times and leaves room for others, so that all flow at once. */
class SteadyStreams implements PausableLoad {
  readonly #streams: readonly EventStream[]

  constructor(streams: readonly EventStream[]) {
    this.#streams = streams
  }

  get count(): number {
    return this.#streams.reduce((sum, { events }) => sum + events, 0)
  }

  resume(): void {}

  pause(): void {}

  async end(): Promise<number> {
    const open = this.#streams.filter(stream => stream.open).length
    for (const stream of this.#streams) stream.close()
    return this.#streams.length - open
  }
}
