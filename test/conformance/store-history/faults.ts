// What goes wrong in a round: each fault is made, lasts for a while, and is mended.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { pick } from '../../help/random.ts'
import { until } from '../../help/until.ts'
import type { History } from './history.ts'
import type { Server, Town } from './servers.ts'

interface Strike {
  readonly town: Town
  readonly primary: Server
  readonly replica: Server
  readonly random: () => number
}

/** Makes a fault, and returns what mends it. */
type Fault = (strike: Strike) => Promise<() => unknown> | (() => unknown)

const cut =
  (side: (strike: Strike) => readonly (Server | Town['gateways'][number])[]): Fault =>
  strike => {
    const { network } = strike.town
    network.isolate(side(strike).map(({ machine }) => machine))
    return () => network.heal()
  }

export const faults: Readonly<Record<string, Fault>> = {
  'the primary is killed': async ({ primary }) => {
    await primary.kill()
    return () => primary.start()
  },
  'the primary is stopped': ({ primary }) => {
    primary.signal('SIGSTOP')
    return () => primary.signal('SIGCONT')
  },
  'a replica is killed': async ({ replica }) => {
    await replica.kill()
    return () => replica.start()
  },
  'a replica is stopped': ({ replica }) => {
    replica.signal('SIGSTOP')
    return () => replica.signal('SIGCONT')
  },
  'a failover is ordered': async ({ town }) => {
    await town.sentinels[0]!.ask('SENTINEL', 'FAILOVER', 'main').catch(() => {})
    return () => {}
  },
  'the primary is cut off alone': cut(({ primary }) => [primary]),
  'the primary is cut off with a gateway': cut(({ primary, town, random }) => [
    primary,
    pick(town.gateways, random),
  ]),
  'the primary is cut off with both gateways': cut(({ primary, town }) => [primary, ...town.gateways]),
  'the primary, a replica and a gateway are cut off from the rest': cut(
    ({ primary, replica, town, random }) => [primary, replica, pick(town.gateways, random)],
  ),
  'a replica is cut off': cut(({ replica }) => [replica]),
  'a gateway is cut off': cut(({ town, random }) => [pick(town.gateways, random)]),
  'the disk of the primary is slow': ({ primary }) => slowDisk(primary),
  'the disk of a replica is slow': ({ replica }) => slowDisk(replica),
}

/** Has each sync of the append-only file take a fifth of a second longer. */
async function slowDisk(server: Server): Promise<() => unknown> {
  const syncs = 'fsync,fdatasync'
  const args = [
    '-qq',
    '-f',
    '-p',
    String(server.pid),
    '-e',
    `trace=${syncs}`,
    '-e',
    'signal=none',
    '-o',
    '/dev/null',
  ]
  const tracer: ChildProcess = spawn('strace', [...args, '-e', `inject=${syncs}:delay_enter=200000`])
  await once(tracer, 'spawn')
  const exit = once(tracer, 'exit')
  return async () => {
    if (tracer.exitCode !== null) throw new Error(`strace ended with ${tracer.exitCode}`)
    tracer.kill('SIGTERM')
    await exit
  }
}

/** Breaks one thing after another, for as long as the seed says. */
export async function breakThings(
  town: Town,
  history: History,
  random: () => number,
  count: number,
): Promise<void> {
  for (let i = 0; i < count; i++) {
    await sleep(500 + random() * 1_000)
    const name = pick(Object.keys(faults), random)
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
  const isWhole = async () => {
    const info = await (await town.primary())?.ask('INFO', 'replication').catch(() => '')
    return String(info).match(/state=online/g)?.length === 2
  }
  await until(isWhole, 5_000).catch(() => {})
}
