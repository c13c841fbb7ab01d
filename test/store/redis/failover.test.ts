import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreAway } from '../../../src/store/store.ts'
import { startCluster, startSentinel, until } from '../../help/redis.ts'
import { gateway, hex, logEntries, logQuery, token } from '../contract-specimens.ts'
import { methods, openRedis } from './open.ts'

const limit = { most: 100, strategy: 'DELETE_OLDEST' } as const

test('with Sentinels the replica takes over, and has all that was acknowledged', async t => {
  const { primary, url } = await startSentinel(t)
  const store = await openRedis(t, url)
  assert.equal(store.isAway, false)
  assert.deepEqual(await store.durability(), [])
  const kept = Array.from({ length: 50 }, () => token())
  await Promise.all(kept.map(one => store.tokens.insert(one)))
  const { knownUntil } = store.changes
  await primary.kill()
  await assert.rejects(store.accounts.list(), StoreAway)
  await until(() => !store.isAway && store.changes.knownUntil > knownUntil)
  for (const one of kept) assert.deepEqual(await store.tokens.findByDigest(one.digest), one)
  assert.equal(await store.tokens.insert(token()), true)
})

test('on a cluster every method works, logs are spread, and changes are told', async t => {
  const nodes = await startCluster(t)
  const url = `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`
  const [store, other] = await Promise.all([openRedis(t, url), openRedis(t, url)])
  assert.equal(store.isAway, false)
  for (const ask of Object.values(methods)) await ask(store)
  const told = new Set<string>()
  const owner = hex(16)
  other.changes.follow(change => 'id' in change && change.account === owner && told.add(change.id))
  const gateways = Array.from({ length: 12 }, (_, i) => gateway({ account: owner, id: `g${i}` }))
  for (const one of gateways) {
    await store.gateways.insert(one)
    const entries = logEntries(one, 3)
    assert.equal(await store.logs.append(owner, one.id, entries, limit), 3)
    assert.deepEqual(await store.logs.get(owner, one.id, entries[1]!.id), entries[1])
    assert.equal((await store.logs.list(owner, one.id, logQuery({ orderBy: 'cost' }))).total, 3)
  }
  await until(() => told.size === gateways.length)
  const sizes = await Promise.all(nodes.map(async node => Number(await node.ask('DBSIZE'))))
  assert.ok(
    sizes.every(size => size > 0),
    `keys a node: ${sizes}`,
  )
  for (const { id } of gateways) await store.gateways.remove(owner, id)
  const logKeys = async () => (await Promise.all(nodes.map(node => node.ask('KEYS', `*${owner}/*`)))).flat()
  await until(async () => (await logKeys()).length === 0)
})

test('on a cluster a replica takes over for its primary, and has all that was acknowledged', async t => {
  const nodes = await startCluster(t, 3)
  const store = await openRedis(t, `redis+cluster://127.0.0.1:${nodes[0]!.port},127.0.0.1:${nodes[1]!.port}`)
  const kept = Array.from({ length: 50 }, () => token())
  await Promise.all(kept.map(one => store.tokens.insert(one)))
  const holds = await Promise.all(
    nodes.slice(0, 3).map(node => node.ask('EXISTS', '{gatehouse}:digests').catch(() => 0)),
  )
  const { knownUntil } = store.changes
  await nodes[holds.indexOf(1)]!.kill()
  await until(() => store.isAway)
  await until(() => !store.isAway && store.changes.knownUntil > knownUntil)
  for (const one of kept) assert.deepEqual(await store.tokens.findByDigest(one.digest), one)
  await until(() => store.tokens.insert(token()).catch(() => false))
})
