// What goes wrong in a round: each fault is made, lasts for a while, and is mended.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { pick } from '../../help/random.ts'
import { until } from '../../help/until.ts'
import type { History } from './history.ts'
import type { Server, Town, TownGateway } from './servers.ts'

interface Strike {
  readonly town: Town
  readonly primary: Server
  readonly replica: Server
  readonly random: () => number
}

/** Makes a fault, and returns what mends it. */
type Fault = (strike: Strike) => Promise<() => unknown> | (() => unknown)

const cut =
  (side: (strike: Strike) => readonly (Server | TownGateway)[]): Fault =>
  strike => {
    const { network } = strike.town
    network.isolate(side(strike).map(({ machine }) => machine))
    return () => network.heal()
  }

/** Kills some at once, and starts them again. */
const kill =
  (which: (strike: Strike) => readonly (Server | TownGateway)[]): Fault =>
  async strike => {
    const killed = which(strike)
    await Promise.all(killed.map(one => one.kill()))
    return () => Promise.all(killed.map(one => one.start()))
  }

const stop =
  (which: (strike: Strike) => Server | TownGateway): Fault =>
  strike => {
    const stopped = which(strike)
    stopped.signal('SIGSTOP')
    return () => stopped.signal('SIGCONT')
  }

const aGateway = ({ town, random }: Strike) => pick(town.gateways, random)
const aSentinel = ({ town, random }: Strike) => pick(town.sentinels, random)

export const blackout = 'the power of all servers fails'

export const faults: Readonly<Record<string, Fault>> = {
  'the primary is killed': kill(({ primary }) => [primary]),
  'a replica is killed': kill(({ replica }) => [replica]),
  'all servers are killed': kill(({ town }) => town.servers),
  'a gateway is killed': kill(strike => [aGateway(strike)]),
  'both gateways are killed': kill(({ town }) => town.gateways),
  'the primary and a gateway are killed': kill(strike => [strike.primary, aGateway(strike)]),
  'a Sentinel is killed': kill(strike => [aSentinel(strike)]),
  'all Sentinels are killed': kill(({ town }) => town.sentinels),
  'the primary is stopped': stop(({ primary }) => primary),
  'a replica is stopped': stop(({ replica }) => replica),
  'a gateway is stopped': stop(aGateway),
  'a Sentinel is stopped': stop(aSentinel),
  'a failover is ordered': async ({ town }) => {
    await town.sentinels[0]!.ask('SENTINEL', 'FAILOVER', 'main').catch(() => {})
    return () => {}
  },
  'the primary is cut off alone': cut(({ primary }) => [primary]),
  'the primary is cut off with a gateway': cut(strike => [strike.primary, aGateway(strike)]),
  'the primary is cut off with both gateways': cut(({ primary, town }) => [primary, ...town.gateways]),
  'the primary, a replica and a gateway are cut off from the rest': cut(strike => [
    strike.primary,
    strike.replica,
    aGateway(strike),
  ]),
  'a replica is cut off': cut(({ replica }) => [replica]),
  'a gateway is cut off': cut(strike => [aGateway(strike)]),
  'the disk of the primary is slow': ({ primary }) => delaySyncs(primary, 200),
  'the disk of a replica is slow': ({ replica }) => delaySyncs(replica, 200),
  'the disk of the primary is full': ({ primary }) => fillDisk(primary),
  'the disk of a replica is full': ({ replica }) => fillDisk(replica),
  'the power of the primary fails': ({ primary }) => failPower([primary]),
  'the power of a replica fails': ({ replica }) => failPower([replica]),
  [blackout]: ({ town, random }) => failPower(town.servers.toSorted(() => random() - 0.5)),
}

/** Has each sync of its files take so many ms longer. */
async function delaySyncs(
  { pid }: Server,
  ms: number,
): Promise<(signal?: 'SIGTERM' | 'SIGKILL') => Promise<void>> {
  const syncs = 'fsync,fdatasync'
  const how = ['-f', '-e', `trace=${syncs}`, '-e', 'signal=none', '-o', '/dev/null']
  const delay = `inject=${syncs}:delay_enter=${ms * 1_000}`
  const tracer: ChildProcess = spawn('strace', [...how, '-e', delay, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  for await (const line of createInterface(tracer.stderr!)) if (line.includes(' attached')) break
  tracer.stderr!.resume()
  const exit = once(tracer, 'exit')
  return async (signal = 'SIGTERM') => {
    if (tracer.exitCode !== null) throw new Error(`strace ended with ${tracer.exitCode}`)
    tracer.kill(signal)
    await exit
  }
}

/** Redis ends where it cannot append and syncs each write; otherwise it refuses writes. */
function fillDisk(server: Server): () => unknown {
  server.disk.fill()
  return async () => {
    server.disk.free()
    if (server.hasEnded) await server.start()
  }
}

/** Lets no sync succeed any more, and in the end kills servers, whose disks then lack all that was not synced. */
async function failPower(servers: readonly Server[]): Promise<() => unknown> {
  const failing = await Promise.all(
    servers.map(async server => {
      const endDelay = await delaySyncs(server, 60_000)
      return { server, endDelay, before: server.disk.lengths() }
    }),
  )
  return async () => {
    // A thread whose sync is delayed would end only with the delay; killed first, it does not sync either.
    await Promise.all(failing.flatMap(({ server, endDelay }) => [server.kill(), endDelay('SIGKILL')]))
    for (const { server, before } of failing) {
      server.disk.forget(before)
      await server.start()
    }
  }
}

interface Breaking {
  readonly town: Town
  readonly history: History
  readonly random: () => number
  /** Of the faults to choose from. */
  readonly names: readonly string[]
  readonly count: number
}

/** Breaks one thing after another, for as long as the seed says. */
export async function breakThings({ town, history, random, names, count }: Breaking): Promise<void> {
  for (let i = 0; i < count; i++) {
    await sleep(500 + random() * 1_000)
    const name = pick(names, random)
    const isFirst = random() < 0.5
    const primary = (await town.primary()) ?? town.servers[0]!
    const replicas = town.servers.filter(server => server !== primary)
    const began = history.now()
    const mend = await faults[name]!({ town, primary, replica: replicas[isFirst ? 0 : 1]!, random })
    await sleep(1_500 + random() * 3_000)
    await mend()
    history.faults.push({ name, began, ended: history.now() })
    await recover(town)
  }
}

/** Waits until both replicas follow the primary again, and for five seconds at most: faults that meet are wanted, too. */
async function recover(town: Town): Promise<void> {
  await until(() => isWhole(town), 5_000).catch(() => {})
}

/** Whether both replicas follow the primary. */
export async function isWhole(town: Town): Promise<boolean> {
  const info = await (await town.primary())?.ask('INFO', 'replication').catch(() => '')
  return String(info).match(/state=online/g)?.length === 2
}

/** Says of each server and Sentinel whether it runs, and what it knows of the others. */
export async function stateOf({ servers, sentinels }: Town): Promise<string> {
  const asked = [
    ...servers.map(server => ({ server, question: ['INFO', 'replication'] })),
    ...sentinels.map(server => ({ server, question: ['INFO', 'sentinel'] })),
  ] as const
  const states = asked.map(async ({ server, question: [name, section] }) => {
    const { control } = server.machine
    if (server.hasEnded) return `${control}: ended`
    const info = await server.ask(name!, section!).catch((error: Error) => error.message)
    return `${control}: ${String(info).trim().replaceAll(/\r?\n/g, ' ')}`
  })
  return (await Promise.all(states)).join('\n')
}
