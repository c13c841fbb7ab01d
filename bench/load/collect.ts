// Measures all parts of a bench that were asked for, one after the other, for run.ts.
import { execFileSync } from 'node:child_process'
import { cpus, release, totalmem, type } from 'node:os'
import { FIGURES, type Figures } from '../figures/figures.ts'
import { measureHeat } from '../interleaved/measure-heat.ts'
import { type Profile, profile } from '../profile/profile.ts'
import { HEATS, shareOf } from './heats.ts'
import { ROOT } from './installed.ts'
import { GATEWAYS, MIXES, OAUTH, ROUND_MIXES } from './mixes.ts'
import type { Options } from './options.ts'
import { launchPeer, PEERS, type Peer } from './peers.ts'
import { gatehouse } from './peers/gatehouse.ts'
import { gatehouseAi } from './peers/gatehouse-ai.ts'
import type { Ratio, Results, Run } from './results.ts'
import { measureRounds } from './rounds.ts'
import { scan } from './scan.ts'
import { soak } from './soak.ts'
import { median } from './statistics.ts'

type Peers = ReadonlyMap<string, Peer>

const STARTS = 5
const SOAK_REQUESTS = 5_000_000
const QUICK_SOAK_REQUESTS = 100_000
const MINUTE = 60_000
const profiled = GATEWAYS.filter(name => name !== OAUTH)

/** Measures the parts before an origin; one that fails is left out of the results, and the process ends with 1. */
export async function collect(options: Options, origin: number): Promise<Results> {
  const { rounds, seconds, blocks, slice, launches, minutes, isQuick } = options
  const end = minutes === null ? Number.POSITIVE_INFINITY : performance.now() + minutes * MINUTE
  const versions = versionsOf(PEERS.filter(peer => options.peers.includes(peer.name)))
  const peers: Peers = new Map(PEERS.filter(({ name }) => versions[name]).map(peer => [peer.name, peer]))
  const tried = <T>(part: string, work: () => Promise<T>) =>
    options.parts.includes(part) ? attempt(part, work) : null
  // What takes a time of its own comes first: what it leaves is for the heats.
  const requests = isQuick ? QUICK_SOAK_REQUESTS : SOAK_REQUESTS
  const timed: Run[] = []
  for (const mix of ROUND_MIXES)
    timed.push(...((await tried(mix, () => measureRounds([present(mix, peers)], origin, options))) ?? []))
  const found = await tried('profile', () => runProfile(peers, origin, isQuick))
  const startup = await tried('start', () => measureStartup(origin))
  const scanned = await tried('scan', () => scan(gatehouseAi('native'), origin))
  const soaked = await tried('soak', () => soak(origin, requests))
  const figures: Figures = {}
  for (const [part, measure] of FIGURES)
    Object.assign(figures, await tried(part, () => measure(peers, origin, isQuick)))
  const { runs, ratios } = await runHeats(options, peers, origin, end)
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', ['-C', ROOT, 'rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).trim(),
    machine: machine(),
    ...{ peers: versions, rounds, seconds, blocks, slice, launches, hasAccessLogs: true },
    runs: [...runs, ...timed],
    ratios,
    ...(found && { profile: found }),
    ...(Object.keys(figures).length > 0 && { figures }),
    ...{ startup, scan: scanned, soak: soaked },
  }
}

/** Returns what some work finds, or null where it fails: what others find is worth keeping. */
async function attempt<T>(part: string, work: () => Promise<T>): Promise<T | null> {
  const began = performance.now()
  try {
    const found = await work()
    console.error(`${part} took ${Math.round((performance.now() - began) / 1000)} s`)
    return found
  } catch (error) {
    console.error(`${part} could not be measured:`, error)
    process.exitCode = 1
    return null
  }
}

function versionsOf(chosen: readonly Peer[]): Record<string, string | null> {
  const versions = chosen.map(peer => [peer.name, peer.version()] as const)
  for (const [name, version] of versions)
    if (version === null) console.error(`${name} is not installed: skipped`)
  return Object.fromEntries(versions)
}

function present(mix: (typeof ROUND_MIXES)[number], peers: Peers) {
  return { mix, peers: MIXES[mix].peers.flatMap(name => peers.get(name) ?? []) }
}

async function runHeats(
  { parts, slice, blocks, launches }: Options,
  peers: Peers,
  origin: number,
  end: number,
) {
  const runs: Run[] = []
  const ratios: Ratio[] = []
  const heats = HEATS.filter(({ name }) => parts.includes(name))
  for (const [at, heat] of heats.entries()) {
    const now = performance.now()
    const until = now + (end - now) * shareOf(heat, heats.slice(at + 1))
    const extent = { slice, maximumBlocks: blocks, until, launches }
    const found = await attempt(heat.name, () => measureHeat(heat, peers, origin, extent))
    // Who is compared with in later heats, too, is shown beside those of its own.
    runs.push(...(found?.runs ?? []).filter(run => !runs.some(other => isOfSame(run, other))))
    ratios.push(...(found?.ratios ?? []))
  }
  return { runs, ratios }
}

function isOfSame(a: Run, b: Run): boolean {
  return a.peer === b.peer && a.mix === b.mix
}

function runProfile(peers: Peers, origin: number, isQuick: boolean): Promise<Profile> {
  const length = isQuick ? { bursts: 10, blocks: 10, seconds: 1 } : { bursts: 250, blocks: 20, seconds: 2 }
  return profile(peers, profiled, origin, length)
}

async function measureStartup(origin: number): Promise<number> {
  const peer = gatehouse()
  const times: number[] = []
  while (times.length < STARTS) {
    const proxy = await launchPeer(peer, origin)
    times.push(proxy.startup)
    await proxy.stop()
  }
  return median(times)
}

function machine(): Results['machine'] {
  const processors = cpus()
  return {
    processor: `${processors.length} × ${processors[0]?.model.trim()}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${type()} ${/^\d+\.\d+/.exec(release())}`,
    node: process.versions.node,
  }
}
