// The load bench, run by `npm run bench`: Gatehouse and its peers behind the same origin and load, as ratios to nginx.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { measureHeat } from '../interleaved/measure-heat.ts'
import { type Profile, profile } from '../profile/profile.ts'
import { beAlone } from './alone.ts'
import { chartOf } from './chart.ts'
import { HEATS } from './heats.ts'
import { historyRow, historyTable, parseHistory } from './history.ts'
import { commandVersion, ROOT } from './installed.ts'
import type { Running } from './launch.ts'
import { GATEWAYS, MIXES, OAUTH, ROUND_MIXES } from './mixes.ts'
import { type Options, parseOptions, USAGE } from './options.ts'
import { launchOrigin, launchPeer, PEERS, type Peer } from './peers.ts'
import { gatehouse } from './peers/gatehouse.ts'
import { gatehouseAi } from './peers/gatehouse-ai.ts'
import { published, withResults } from './published.ts'
import { stopRedisServer } from './redis-server.ts'
import { report } from './report.ts'
import type { Apart, Ratio, Results, Run } from './results.ts'
import { measureRounds } from './rounds.ts'
import { scan } from './scan.ts'
import { soak } from './soak.ts'
import { median } from './statistics.ts'

const RESULTS = join(ROOT, 'bench/results')
const STARTS = 5
const SOAK_REQUESTS = 2_000_000
const profiled = GATEWAYS.filter(name => name !== OAUTH)

const options = parseOptions(
  process.argv.slice(2),
  PEERS.map(peer => peer.name),
)
if (typeof options === 'string') exit(`${options}\n${USAGE}`)
else if (process.platform !== 'linux') exit('The bench reads /proc and runs on Linux only.')
else if (commandVersion('wrk', ['-v']) === null)
  exit('The bench drives its load with wrk, which is not installed.')
else await bench(options)

async function bench(options: Options): Promise<void> {
  await beAlone()
  const origin = await launchOrigin()
  const results = await collect(options, origin)
  await origin.stop()
  await stopRedisServer()
  console.log(options.json ? JSON.stringify(results, null, 2) : report(results))
  if (options.complete) save(results)
  else if (options.add) save({ ...last(), apart: partOf(results) })
}

function partOf({ date, machine, rounds, seconds, blocks, slice, runs, ratios, profile }: Results): Apart {
  return {
    ...{ date, machine, rounds, seconds, runs },
    ...(blocks !== undefined && { blocks }),
    ...(slice !== undefined && { slice }),
    ...(ratios && { ratios }),
    ...(profile && { profile }),
  }
}

/** Reads the results of the last whole run. */
function last(): Results {
  const names = readdirSync(RESULTS).filter(name => name.endsWith('.json'))
  return JSON.parse(readFileSync(join(RESULTS, names.sort().at(-1)!), 'utf8'))
}

async function collect(options: Options, origin: Running): Promise<Results> {
  const chosen = PEERS.filter(peer => options.peers.includes(peer.name))
  const versions = Object.fromEntries(chosen.map(peer => [peer.name, peer.version()]))
  const present = chosen.filter(peer => versions[peer.name] !== null)
  for (const peer of chosen)
    if (!present.includes(peer)) console.error(`${peer.name} is not installed: skipped`)
  const peers = new Map(present.map(peer => [peer.name, peer]))
  const { runs, ratios } = await runHeats(options, peers, origin.port)
  const rounds = ROUND_MIXES.filter(mix => options.parts.includes(mix)).map(mix => ({
    mix,
    peers: present.filter(peer => MIXES[mix].peers.includes(peer.name)),
  }))
  const found = await runProfile(options, peers, origin.port)
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', ['-C', ROOT, 'rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).trim(),
    machine: machine(),
    peers: versions,
    rounds: options.rounds,
    seconds: options.seconds,
    blocks: options.blocks,
    slice: options.slice,
    runs: [...runs, ...(await measureRounds(rounds, origin.port, options))],
    ratios,
    ...(found && { profile: found }),
    startup: options.parts.includes('start') ? await measureStartup(origin.port) : null,
    soak: options.parts.includes('soak') ? await soak(gatehouse(), origin.port, SOAK_REQUESTS) : null,
    scan: options.parts.includes('scan') ? await scan(gatehouseAi('native'), origin.port) : null,
  }
}

async function runHeats(options: Options, peers: ReadonlyMap<string, Peer>, origin: number) {
  const runs: Run[] = []
  const ratios: Ratio[] = []
  const length = { slice: options.slice, maximumBlocks: options.blocks }
  for (const heat of HEATS.filter(({ name }) => options.parts.includes(name))) {
    try {
      const found = await measureHeat(heat, peers, origin, length)
      // Who is compared with in later heats, too, is shown beside those of its own.
      runs.push(...found.runs.filter(run => !runs.some(other => isOfSame(run, other))))
      ratios.push(...found.ratios)
    } catch (error) {
      // What the others found is worth keeping: its targets stay without a measurement.
      console.error(`${heat.name} could not be measured: ${(error as Error).message}`)
      process.exitCode = 1
    }
  }
  return { runs, ratios }
}

function isOfSame(a: Run, b: Run): boolean {
  return a.peer === b.peer && a.mix === b.mix
}

async function runProfile(
  { parts, isQuick }: Options,
  peers: ReadonlyMap<string, Peer>,
  origin: number,
): Promise<Profile | null> {
  if (!parts.includes('profile')) return null
  const length = isQuick ? { bursts: 10, blocks: 10, seconds: 1 } : { bursts: 250, blocks: 20, seconds: 5 }
  return profile(peers, profiled, origin, length)
}

async function measureStartup(origin: number): Promise<number> {
  const times: number[] = []
  while (times.length < STARTS) {
    const proxy = await launchPeer(gatehouse(), origin)
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

function save(results: Results): void {
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(join(RESULTS, `${results.date}.json`), `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync(join(RESULTS, 'latest.md'), report(results))
  writeFileSync(join(ROOT, 'docs/images/benchmarks.svg'), chartOf(results))
  keepHistory(results)
  for (const page of published.keys()) {
    const path = join(ROOT, page)
    writeFileSync(path, withResults(page, readFileSync(path, 'utf8'), results))
  }
}

/** Adds a line for this commit to what earlier ones took. */
function keepHistory(results: Results): void {
  const path = join(RESULTS, 'history.md')
  const rows = parseHistory(readFileSync(path, 'utf8'))
  writeFileSync(path, historyTable([...rows, historyRow(results)]))
}

function exit(message: string): never {
  console.error(message)
  process.exit(2)
}
