// What was acknowledged outlives the primary, however it goes: killed, stopped and awake again, or cut off from the others with a client on its side.
import { test } from 'node:test'
import type { RedisStore } from '../../../../src/store/redis/redis-store.ts'
import { type Node, type SentinelNet, startSentinelNet } from '../../../help/redis-net.ts'
import { until } from '../../../help/until.ts'
import { FailoverLoad } from './failover-load.ts'
import { FailoverSpenders } from './failover-spenders.ts'
import { openRedis } from '../open.ts'

const rounds = Number(process.env.ROUNDS ?? 1)
const patience = 1_000

interface Fault {
  readonly strike: (
    net: SentinelNet,
    primary: Node,
    stores: readonly RedisStore[],
  ) => Promise<unknown> | unknown
  readonly mend: (net: SentinelNet, primary: Node) => Promise<unknown> | unknown
  /** Whether clients can go on with another primary before it is mended. */
  readonly goesOn: boolean
}

const switched = (net: SentinelNet, old: Node) =>
  until(async () => (await net.primary().catch(() => old)) !== old)

const faults: Readonly<Record<string, Fault>> = {
  'is killed': {
    strike: (_, { server }) => server.kill(),
    mend: (_, { server }) => server.restart(),
    goesOn: true,
  },
  'wakes up when it has just been replaced': {
    strike: async (net, primary) => {
      primary.server.stop()
      await switched(net, primary)
    },
    mend: (_, { server }) => server.cont(),
    goesOn: false,
  },
  'is cut off alone': {
    strike: ({ network }, { address }) => network.isolate(address),
    mend: ({ network }) => network.heal(),
    goesOn: true,
  },
  'is cut off with a client': {
    strike: async (net, primary) => {
      net.network.isolate(primary.address, net.clientAddress)
      await switched(net, primary)
      await until(async () => (await followersOf(primary)) === 0)
    },
    mend: ({ network }) => network.heal(),
    goesOn: false,
  },
  'is cut off with a client, a replica and a Sentinel': {
    strike: async (net, primary, stores) => {
      const replica = net.nodes.find(node => node !== primary)!
      net.network.isolate(primary.address, replica.address, net.sentinels[0]!.address, net.clientAddress)
      await switched(net, primary)
      // By then, the one Sentinel on their side calls the other replica down.
      await until(() => stores.every(store => store.isUnreachable))
    },
    mend: ({ network }) => network.heal(),
    goesOn: false,
  },
}

for (const [name, { strike, mend, goesOn }] of Object.entries(faults)) {
  test(`nothing acknowledged is lost or undone where the primary ${name}`, async t => {
    const net = await startSentinelNet(t, { args: ['--repl-timeout', '2'] })
    const stores = await Promise.all([openRedis(t, net.url, patience), openRedis(t, net.url, patience)])
    for (let round = 1; round <= rounds; round++) {
      const primary = await net.primary()
      const load = new FailoverLoad(stores)
      const spenders = new FailoverSpenders(stores)
      load.start(8)
      spenders.start(4)
      await until(() => load.acknowledged > 200 && spenders.confirmed > 50 && spenders.granted > 5)
      await strike(net, primary, stores)
      if (goesOn) {
        await switched(net, primary)
        await goOn(load, spenders, stores)
      }
      await mend(net, primary)
      // Where the old primary is awake it may be asked until the clients know better.
      if (!goesOn) await until(() => stores.every(store => !store.isUnreachable))
      if (round < rounds) await goOn(load, spenders, stores)
      await Promise.all([load.stop(), spenders.stop()])
      const next = await net.primary()
      await load.expectAll(next.server)
      await spenders.expectAll(next.server)
      t.diagnostic(`${load.summary}, ${spenders.confirmed} spent, ${spenders.granted} granted`)
      if (round < rounds) await until(async () => (await followersOf(next)) === 2)
    }
  })
}

/** Counts the replicas that a server thinks it has. */
async function followersOf({ server }: Node): Promise<number> {
  const [, count] = /connected_slaves:(\d+)/.exec(String(await server.ask('INFO', 'replication')))!
  return Number(count)
}

/** Waits until more is acknowledged through each store, and spent. */
async function goOn(
  load: FailoverLoad,
  spenders: FailoverSpenders,
  stores: readonly RedisStore[],
): Promise<void> {
  await until(() => stores.every(store => !store.isUnreachable && store.refusal === null))
  const { acknowledged } = load
  const { confirmed } = spenders
  await until(() => load.acknowledged > acknowledged + 100 && spenders.confirmed > confirmed + 20)
}
