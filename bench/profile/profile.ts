// A profile of gateways such as public comparisons of them have: latency on top of the provider's, throughput, streams and memory.
import type { Interval } from '../interleaved/interval.ts'
import { answer, runBlocks } from '../interleaved/run-blocks.ts'
import { runnerOf, type Started, startRunner } from '../interleaved/runners.ts'
import { type Call, chatAt, PROVIDER_DOOR, ROOT } from '../load/call.ts'
import type { Running } from '../load/launch.ts'
import { holdWholeStreams } from '../load/measure-streams.ts'
import { GOVERNED, NATIVE, OPEN } from '../load/mixes.ts'
import type { Peer } from '../load/peers.ts'
import { residentMemory } from '../load/proc.ts'
import { median } from '../load/statistics.ts'
import { timeFirstEvents, warmUpStreams } from '../load/streams.ts'
import { type Asked, type Bursts, timeRequests } from './latency.ts'
import { compareTails, type Spread } from './tails.ts'

/** What one gateway does with chats. Times are milliseconds on top of those of the provider asked directly. */
export interface GatewayProfile {
  readonly peer: string
  /** One chat at a time. */
  readonly added: Tail
  /** Chats a second, by the number of connections. */
  readonly rates: Readonly<Record<number, number>>
  /** To the first token of a streamed chat, one at a time; null where streams fail. */
  readonly firstToken: Tail | null
  /** Streams that were whole and without a stall, by the number of those that were opened at once; null where they fail. */
  readonly goodStreams: Readonly<Record<number, number>> | null
  /** Resident MiB after its start, and after each load. */
  readonly memory: Readonly<Record<string, number>>
}

export interface Tail {
  readonly p50: Spread
  readonly p99: Spread
}

export interface Profile {
  readonly gateways: readonly GatewayProfile[]
  /** Requests a second with token, limit and log, against those without, by the number of connections. */
  readonly governed: Readonly<Record<number, Interval>>
  /** p99 of Gatehouse, one request at a time: on top of that of nginx, or for bodies divided by it. */
  readonly tails: { readonly [name in 'get' | 'chat' | 'up' | 'down']?: Spread }
}

/** How long each part takes. */
export interface ProfileLength {
  /** Bursts of requests of each gateway, and the requests of one. */
  readonly bursts: number
  readonly blocks: number
  /** Seconds that whole streams flow. */
  readonly seconds: number
}

export const connectionCounts: readonly number[] = [32, 256]
export const streamCounts: readonly number[] = [32, 128, 512]

const burst = 20
const slice = 100
const mebibyte = 2 ** 20

const direct = 'direct'

/** Profiles the gateways among the peers, and Gatehouse as a proxy against nginx. */
export async function profile(
  peers: ReadonlyMap<string, Peer>,
  names: readonly string[],
  origin: number,
  length: ProfileLength,
): Promise<Profile> {
  const chosen = names.flatMap(name => peers.get(name) ?? [])
  const runners: Started[] = []
  for (const peer of chosen) runners.push(await startRunner(peer, 'chat', origin))
  try {
    const memory = new Map(runners.map(({ name, process }) => [name, { start: residentMemory(process.pid) }]))
    const remember = (when: string) => {
      for (const { name, process } of runners)
        Object.assign(memory.get(name)!, { [when]: residentMemory(process.pid) })
    }
    const times = await timeChats(runners, origin, length)
    console.error('profile: chats are timed')
    const rates = await measureRates(runners, length, remember)
    console.error('profile: rates are measured')
    const firsts = await timeFirstTokens(runners, chosen, origin, length)
    console.error('profile: first tokens are timed')
    const good = await holdStreams(runners, chosen, origin, length, remember)
    console.error('profile: streams were held')
    const gateways = runners.map(({ name }) => ({
      ...{ peer: name, added: tailOf(times, name), rates: rates.of(name), memory: memory.get(name)! },
      firstToken: firsts.has(name) ? tailOf(firsts, name) : null,
      goodStreams: good.get(name) ?? null,
    }))
    const tails = { ...(await proxyTails(peers, origin, length)), ...chatTail(times) }
    return { gateways, governed: rates.governed, tails }
  } finally {
    for (const runner of runners) await runner.stop()
  }
}

function timeChats(runners: readonly Started[], origin: number, { bursts }: ProfileLength) {
  const asked = runners.map(({ name, process, call }) => ({ name, port: process.port, call }))
  return timeRequests([{ name: direct, port: origin, call: chatAt(PROVIDER_DOOR) }, ...asked], bursts, burst)
}

function chatTail(times: ReadonlyMap<string, Bursts>): Profile['tails'] {
  const [own, nginx] = [times.get(NATIVE), times.get('nginx')]
  return own && nginx ? { chat: compareTails(own, nginx, 99) } : {}
}

/** Times single GETs and bodies through Gatehouse and nginx. */
async function proxyTails(
  peers: ReadonlyMap<string, Peer>,
  origin: number,
  { bursts }: ProfileLength,
): Promise<Profile['tails']> {
  const [own, other] = [peers.get('gatehouse'), peers.get('nginx')]
  if (own === undefined || other === undefined) return {}
  const runners = [await startRunner(own, 'get', origin), await startRunner(other, 'get', origin)]
  const against = async (call: Call, count: number, compare?: (a: number, b: number) => number) => {
    const asked: Asked[] = runners.map(({ name, process }) => ({ name, port: process.port, call }))
    const times = await timeRequests(asked, count, burst)
    return compareTails(times.get(own.name)!, times.get(other.name)!, 99, compare)
  }
  const divide = (a: number, b: number) => a / b
  const few = Math.ceil(bursts / 5)
  try {
    return {
      get: await against(ROOT, bursts),
      up: await against({ ...ROOT, method: 'POST', body: 'x'.repeat(mebibyte) }, few, divide),
      down: await against({ ...ROOT, path: '/mebibyte' }, few, divide),
    }
  } finally {
    for (const runner of runners) await runner.stop()
  }
}

async function measureRates(
  runners: readonly Started[],
  { blocks }: ProfileLength,
  remember: (when: string) => void,
) {
  const rates: Record<string, Record<number, number>> = {}
  const governed: Record<number, Interval> = {}
  for (const connections of connectionCounts) {
    const loaded = await Promise.all(runners.map(runner => runnerOf(runner, 'chat', connections)))
    const isBoth = [GOVERNED, OPEN].every(name => runners.some(runner => runner.name === name))
    const question = { name: GOVERNED, base: OPEN, metric: 'rate', bound: 0.85 } as const
    const found = await runBlocks(loaded, isBoth ? [question] : [], { slice, maximumBlocks: blocks })
    for (const { name, load } of loaded) {
      const typical = median(found.map(block => block.get(name)!.rate))
      rates[name] = { ...rates[name], [connections]: typical }
      await load.end()
    }
    if (isBoth) {
      const { ratio, low, high } = answer(question, found)
      governed[connections] = { ratio, low, high }
    }
    remember(`${connections} connections`)
  }
  return { of: (name: string) => rates[name]!, governed }
}

/** Times the first tokens of streamed chats, everybody in turn; whose streams fail is left out. */
async function timeFirstTokens(
  runners: readonly Started[],
  peers: readonly Peer[],
  origin: number,
  { bursts }: ProfileLength,
): Promise<Map<string, Bursts>> {
  const asked = [
    { name: direct, port: origin, call: chatAt(PROVIDER_DOOR, 'own', 1) },
    ...runners.map((runner, at) => streamed(runner, peers[at]!, origin, 1)),
  ]
  const times = new Map<string, number[][]>()
  const failing = new Set<string>()
  for (const { name, port, call } of asked)
    await warmUpStreams(port, call, true).catch(() => failing.add(name))
  for (let round = 0; round < Math.ceil(bursts / 10); round++)
    for (const { name, port, call } of asked) {
      if (failing.has(name)) continue
      const taken = await timeFirstEvents(port, burst, call, true).catch(() => null)
      if (taken === null) failing.add(name)
      else times.set(name, [...(times.get(name) ?? []), taken])
    }
  for (const name of failing) times.delete(name)
  return times
}

async function holdStreams(
  runners: readonly Started[],
  peers: readonly Peer[],
  origin: number,
  { seconds }: ProfileLength,
  remember: (when: string) => void,
): Promise<Map<string, Record<number, number>>> {
  const good = new Map<string, Record<number, number>>()
  for (const count of streamCounts) {
    for (const [at, { name, process }] of runners.entries()) {
      const door = doorOf(peers[at]!, process, origin)
      const unexpected = await holdWholeStreams(process, door, count, seconds).catch(() => null)
      if (unexpected !== null) good.set(name, { ...good.get(name), [count]: count - unexpected })
    }
    remember(`${count} streams`)
  }
  return good
}

function streamed({ name, process }: Started, peer: Peer, origin: number, tokens: number): Asked {
  return { name, port: process.port, call: chatAt(doorOf(peer, process, origin), 'own', tokens) }
}

function doorOf(peer: Peer, process: Running, origin: number) {
  return peer.door?.(process.printed(), origin) ?? PROVIDER_DOOR
}

function tailOf(times: ReadonlyMap<string, Bursts>, name: string): Tail {
  const tail = (percent: number) => compareTails(times.get(name)!, times.get(direct)!, percent)
  return { p50: tail(50), p99: tail(99) }
}
