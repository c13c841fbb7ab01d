import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RedisStore } from '../../../../src/store/redis/redis-store.ts'
import { StoreUnreachable } from '../../../../src/store/contract/store.ts'
import { startSentinel } from '../../../help/redis.ts'
import { startSentinelNet } from '../../../help/redis-net.ts'
import { until } from '../../../help/until.ts'
import { ContractClock } from '../../contract-clock.ts'
import { token } from '../../contract-specimens.ts'
import { expectDue, keepDue } from '../due.ts'
import { commandTimeout, openRedis } from '../open.ts'
import { FailoverSpenders } from './failover-spenders.ts'

/** Ms after which no server is taken for down, however late a busy machine lets it reply. */
const never = 600_000

test('with Sentinels the replica takes over, and has all that was acknowledged', async t => {
  const { primary, replica, url } = await startSentinel(t)
  const clock = new ContractClock()
  const store = await openRedis(t, url, commandTimeout, clock)
  assert.equal(store.isUnreachable, false)
  assert.match(
    (await store.durability()).join('\n'),
    /^A primary that is cut off .* Set min-replicas-to-write 1\.$/,
  )
  await primary.ask('CONFIG', 'SET', 'min-replicas-to-write', 1)
  assert.deepEqual(await store.durability(), [])
  const kept = Array.from({ length: 50 }, () => token())
  await Promise.all(kept.map(one => store.tokens.insert(one)))
  const due = await keepDue(store)
  const { knownUntil } = store.changes
  const spenders = new FailoverSpenders([store])
  spenders.start(4)
  await until(() => spenders.confirmed > 50 && spenders.granted > 5)
  await primary.kill()
  await assert.rejects(store.accounts.list(), StoreUnreachable)
  await until(() => !store.isUnreachable && store.changes.knownUntil > knownUntil)
  for (const one of kept) assert.deepEqual(await store.tokens.findByDigest(one.digest), one)
  await expectDue(store, clock, due)
  await spenders.stop()
  await spenders.expectAll(replica)
  await assert.rejects(store.tokens.insert(token()), StoreUnreachable)
  assert.equal(store.refusal, '0 of 1 replica confirms writes')
})

test('Sentinels with a password of their own are shown it', async t => {
  const net = await startSentinelNet(t, { replicas: 1, downAfter: never, password: 's3cret' })
  const commandTimeout = 1_000
  const stranger = await openRedis(t, net.url, commandTimeout)
  assert.equal(stranger.isUnreachable, true)
  assert.equal(stranger.refusal, '0 of 3 Sentinels name a primary main')
  const sentinel = { username: null, password: 's3cret' }
  const store = await RedisStore.open(net.url, { commandTimeout, sentinel })
  t.after(() => store.close())
  assert.equal(await store.tokens.insert(token()), true)
})

test('a store on the side of an old primary calls unknown tokens and records unknown, never missing, and misses no change that was only read', async t => {
  const net = await startSentinelNet(t, { args: ['--repl-timeout', '2'] })
  const store = await openRedis(t, net.url, 2_000)
  store.trust.expect(await store.adopt())
  const kept = token()
  assert.equal(await store.tokens.insert(kept), true)
  assert.equal(await store.tokens.findByDigest(token().digest), null)
  const old = await net.primary()
  net.network.isolate(old.address, net.clientAddress)
  const unconfirmed = assert.rejects(store.tokens.insert(token()), StoreUnreachable)
  await until(async () => (await store.mark())?.generation === 2)
  await store.accounts.list()
  assert.equal(store.trust.seen?.generation, 1)
  let isReplaced = false
  const replaced = until(async () => (await net.primary().catch(() => old)) !== old).then(() => {
    isReplaced = true
  })
  while (!isReplaced || !store.isUnreachable) {
    const [byDigest, byId] = await Promise.allSettled([
      store.tokens.findByDigest(token().digest),
      store.gateways.get(kept.account, 'unknown'),
    ])
    assert.deepEqual([byDigest.status, byId.status], ['rejected', 'rejected'])
    await new Promise(setImmediate)
  }
  await Promise.all([replaced, unconfirmed])
  assert.equal(store.isUnreachable, true)
  assert.match(String(store.refusal), /^0 of 3 Sentinels/)
  net.network.heal()
  await until(() =>
    store.tokens.findByDigest(token().digest).then(
      found => found === null,
      () => false,
    ),
  )
  assert.deepEqual(await store.tokens.findByDigest(kept.digest), kept)
  assert.deepEqual([store.trust.seen?.generation, store.degradation.reasons], [1, []])
})

test('a scan with 4,000 unknown tokens has the server prove itself twenty times a second at most', async t => {
  const net = await startSentinelNet(t, { replicas: 1, sentinels: 1, downAfter: never })
  const store = await openRedis(t, net.url, 5_000)
  const { server } = await net.primary()
  const sets = async () => {
    const info = String(await server.ask('INFO', 'commandstats'))
    return Number(/cmdstat_set:calls=(\d+)/.exec(info)?.[1] ?? 0)
  }
  const before = await sets()
  const began = performance.now()
  for (let i = 0; i < 20; i++) {
    const digests = Array.from({ length: 200 }, (_, j) => (i * 200 + j).toString(16).padStart(64, '0'))
    const found = await Promise.all(digests.map(digest => store.tokens.findByDigest(digest)))
    assert.ok(found.every(one => one === null))
  }
  const seconds = (performance.now() - began) / 1_000
  const proofs = (await sets()) - before
  t.diagnostic(`${proofs} proofs in ${seconds.toFixed(1)} s`)
  assert.ok(proofs <= 20 * seconds + 5)
})

test('the Sentinels that one names are asked, too, and most of them must answer', async t => {
  const net = await startSentinelNet(t, { replicas: 1, downAfter: never })
  const [first, second, third] = net.sentinels
  const store = await openRedis(t, `redis+sentinel://127.0.0.1:${first!.port}/main`, 1_000)
  await until(() => !store.isUnreachable)
  assert.equal(await store.tokens.insert(token()), true)
  await third!.server.kill()
  assert.equal(await store.tokens.insert(token()), true)
  await second!.server.kill()
  await until(() => store.isUnreachable)
  assert.equal(store.refusal, '1 of 3 Sentinels name a primary main')
  await assert.rejects(store.tokens.findByDigest(token().digest), StoreUnreachable)
  // It is not known which replicas must confirm it, so that it is not sent.
  const unsent = { fault: 'unreachable', reason: 'UNREADY', isUndone: true }
  await assert.rejects(store.tokens.insert(token()), unsent)
  await second!.server.restart()
  await until(() => !store.isUnreachable)
  assert.equal(await store.tokens.insert(token()), true)
})

test('a process that was paused believes nothing that Sentinels said before', async t => {
  const net = await startSentinelNet(t, { replicas: 1, sentinels: 1, downAfter: never })
  let paused = 0
  const clock = { now: () => Date.now(), monotonic: () => performance.now() + paused }
  const store = await openRedis(t, net.url, 1_000, clock)
  await until(() => !store.isUnreachable)
  paused = 3_000
  assert.equal(store.isUnreachable, true)
  await until(() => !store.isUnreachable)
})
