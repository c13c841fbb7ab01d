// The promises of a store, kept by a Redis Cluster, which is emptied for each test; and what only a cluster can do.
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { batchOf } from '../../../../src/store/log-batch/batch.ts'
import { RedisStore } from '../../../../src/store/redis/redis-store.ts'
import { StoreUnreachable } from '../../../../src/store/contract/store.ts'
import { type RedisServer, startCluster } from '../../../help/redis.ts'
import { until } from '../../../help/until.ts'
import { storeContract } from '../../contract.ts'
import { ContractClock } from '../../contract-clock.ts'
import { gateway, hex, logEntries, token } from '../../contract-specimens.ts'
import { expectDue, keepDue } from '../due.ts'
import { commandTimeout, openRedis } from '../open.ts'
import { FailoverSpenders } from './failover-spenders.ts'

const endings: (() => unknown)[] = []
let nodes: readonly RedisServer[]

before(async () => {
  const suite = { after: (end: () => unknown) => void endings.push(end) } as TestContext
  nodes = await startCluster(suite)
})
after(async () => {
  for (const end of endings) await end()
})

storeContract('Redis Cluster', async t => {
  await Promise.all(nodes.map(node => node.ask('FLUSHALL')))
  return async clock => {
    const store = await RedisStore.open(urlOf(nodes), { commandTimeout: 10_000, ...(clock && { clock }) })
    t.after(() => store.close())
    return store
  }
})

test('logs are spread over the nodes, and go with their gateway all the same', async t => {
  const store = await openRedis(t, urlOf(nodes))
  const owner = hex(16)
  const keysOf = (node: RedisServer) => node.ask('KEYS', `*${owner}/*`) as Promise<string[]>
  const sizes = async () => (await Promise.all(nodes.map(keysOf))).map(({ length }) => length)
  // Slots are as random as the owner: of so few as 12, one in 43 runs left a node without any.
  const gateways = Array.from({ length: 48 }, (_, i) => gateway({ account: owner, id: `g${i}` }))
  for (const one of gateways) {
    await store.gateways.insert(one)
    await store.logs.append(owner, one.id, batchOf(logEntries(one, 3)), {
      maxEntries: 10,
      strategy: 'STOP_INSERTING',
    })
  }
  assert.ok((await sizes()).every(size => size > 0))
  for (const { id } of gateways) await store.gateways.remove(owner, id)
  await until(async () => (await sizes()).every(size => size === 0))
})

test('a replica takes over for its primary, and has all that was acknowledged', async t => {
  const nodes = await startCluster(t, 3)
  const clock = new ContractClock()
  const store = await openRedis(t, urlOf(nodes.slice(0, 2)), commandTimeout, clock)
  const kept = Array.from({ length: 50 }, () => token())
  await Promise.all(kept.map(one => store.tokens.insert(one)))
  const due = await keepDue(store)
  const holds = await Promise.all(
    nodes.slice(0, 3).map(node => node.ask('EXISTS', '{gatehouse}:digests').catch(() => 0)),
  )
  const { knownUntil } = store.changes
  const holder = nodes[holds.indexOf(1)]!
  const spenders = new FailoverSpenders([store])
  spenders.start(4)
  await until(() => spenders.confirmed > 50 && spenders.granted > 5)
  await holder.kill()
  await until(() => store.isUnreachable)
  await until(() => !store.isUnreachable && store.changes.knownUntil > knownUntil)
  for (const one of kept) assert.deepEqual(await store.tokens.findByDigest(one.digest), one)
  await expectDue(store, clock, due)
  await spenders.stop()
  await spenders.expectAll(nodes[3 + holds.indexOf(1)]!)
  await assert.rejects(store.tokens.insert(token()), StoreUnreachable, 'it has no replica of its own yet')
  await holder.restart()
  await until(() => store.tokens.insert(token()).catch(() => false))
})

function urlOf(nodes: readonly RedisServer[]): string {
  return `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`
}
