import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change, Store } from '../../../src/store/contract/store.ts'
import { HaltingClock } from '../../help/clock.ts'
import { type RedisServer, startRedis } from '../../help/redis.ts'
import { until } from '../../help/until.ts'
import { gateway, token } from '../contract-specimens.ts'
import { openRedis } from './open.ts'

const feed = '{gatehouse}:changes'
/** Five seconds, and what a busy machine adds to them, in ms. */
const late = 20_000

function record(store: Store): Change[] {
  const told: Change[] = []
  store.changes.follow(change => told.push(change))
  return told
}

/** Cuts the subscribers off, and lets none come back: from then on every notice is lost. */
async function loseNotices(server: RedisServer): Promise<void> {
  await server.ask('ACL', 'SETUSER', 'default', '-subscribe')
  await server.ask('CLIENT', 'KILL', 'TYPE', 'pubsub')
}

test('a change whose notice was lost is reported within 5 s, and nothing known is ever older', async t => {
  const server = await startRedis(t)
  const [writer, reader] = await Promise.all([openRedis(t, server.url), openRedis(t, server.url)])
  const told = record(reader)
  await loseNotices(server)
  const before = performance.now()
  const kept = token()
  await writer.tokens.insert(kept)
  await until(() => {
    assert.ok(performance.now() - reader.changes.knownUntil < late)
    return told.length > 0
  })
  assert.ok(performance.now() - before < late)
  assert.deepEqual(told, [{ kind: 'token', account: kept.account, id: kept.id }])
})

test('notices come again after the subscriber was cut off', async t => {
  const server = await startRedis(t)
  const [writer, reader] = await Promise.all([openRedis(t, server.url), openRedis(t, server.url)])
  const told = record(reader)
  const subscribers = async () => Number(((await server.ask('PUBSUB', 'NUMSUB', feed)) as unknown[])[1])
  assert.equal(await server.ask('CLIENT', 'KILL', 'TYPE', 'pubsub'), 2)
  await until(async () => (await subscribers()) === 2)
  await reader.changes.look()
  await writer.gateways.insert(gateway())
  const clock = new HaltingClock(t)
  const before = clock.monotonic()
  await until(() => told.length > 0)
  assert.ok(clock.monotonic() - before < 500)
})

test('a refused subscription is reported, and retried until it is granted', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url)
  await until(() => store.deafness === null)
  await loseNotices(server)
  await until(() => store.deafness === 'NOPERM')
  await server.ask('ACL', 'SETUSER', 'default', '+subscribe')
  await until(() => store.deafness === null)
})

test('each change is told once, however many there are at a time', async t => {
  const server = await startRedis(t)
  const [writer, reader] = await Promise.all([
    openRedis(t, server.url, 10_000),
    openRedis(t, server.url, 10_000),
  ])
  const told = record(reader)
  const kept = Array.from({ length: 300 }, () => token())
  await Promise.all(kept.map(one => writer.tokens.insert(one)))
  await until(() => told.length >= kept.length)
  await reader.changes.look()
  assert.equal(told.length, kept.length)
  const ids = new Set(told.map(change => 'id' in change && change.id))
  assert.deepEqual(ids.symmetricDifference(new Set(kept.map(({ id }) => id))), new Set())
})

test('changes that can no longer be read invalidate everything', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url)
  await store.tokens.insert(token())
  await store.changes.look()
  const told = record(store)
  await store.gateways.insert(gateway())
  await server.ask('XTRIM', feed, 'MAXLEN', 0)
  await until(() => told.some(({ kind }) => kind === 'everything'))
})

test('a server that lost its last writes invalidates everything, whatever was written since', async t => {
  const server = await startRedis(t)
  const [writer, store] = await Promise.all([openRedis(t, server.url), openRedis(t, server.url)])
  const lost = token()
  await writer.tokens.insert(lost)
  await store.changes.look()
  const { version } = (await store.tokens.get(lost.account, lost.id))!
  const told = record(store)
  await loseNotices(server)
  await server.ask('FLUSHALL')
  await writer.tokens.insert(lost)
  await until(() => told.length > 0)
  assert.deepEqual(told, [{ kind: 'everything' }])
  assert.equal(await store.tokens.replace(lost, version), false, 'no version is given twice')
})

test('nothing is known while the store is unreachable, and what was written meanwhile is reported afterwards', async t => {
  const server = await startRedis(t)
  const [writer, store] = await Promise.all([openRedis(t, server.url), openRedis(t, server.url)])
  server.stop()
  await until(() => store.isUnreachable)
  const { knownUntil } = store.changes
  await store.changes.look()
  assert.equal(store.changes.knownUntil, knownUntil)
  const told = record(store)
  server.cont()
  await until(() => !writer.isUnreachable && store.changes.knownUntil > knownUntil)
  await writer.gateways.insert(gateway())
  await until(() => told.length > 0)
})
