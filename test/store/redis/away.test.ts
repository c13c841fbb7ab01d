import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { RedisStore } from '../../../src/store/redis/redis-store.ts'
import { type Store, StoreUnreachable } from '../../../src/store/contract/store.ts'
import { freePort } from '../../help/free-port.ts'
import { startRedis } from '../../help/redis.ts'
import { root } from '../../help/source.ts'
import { until } from '../../help/until.ts'
import { hex, token } from '../contract-specimens.ts'
import { commandTimeout, methods, openRedis } from './open.ts'

/** The most that is still at once, in ms: no command was waited for. */
const atOnce = 0.75 * commandTimeout
/** The most that a command may take on a busy machine, and its proof, in ms. */
const atLast = 10 * commandTimeout

test('without a Redis server every method rejects at once, and works once there is one', async t => {
  const port = await freePort()
  const store = await openRedis(t, `redis://127.0.0.1:${port}`)
  assert.equal(store.isUnreachable, true)
  await rejectAll(store, atOnce)
  await startRedis(t, { port })
  await until(() => !store.isUnreachable)
  await resolveAll(store)
})

test('a Redis that hangs is unreachable for every method, and back when it continues', async t => {
  const server = await startRedis(t)
  const stores = await Promise.all(Object.keys(methods).map(() => openRedis(t, server.url)))
  server.stop()
  const asked = Object.entries(methods).map(([name, ask], i) => rejects(() => ask(stores[i]!), atLast, name))
  await Promise.all(asked)
  server.cont()
  await until(() => stores.every(store => !store.isUnreachable))
  for (const [i, ask] of Object.values(methods).entries()) await ask(stores[i]!)
})

test('once a command was lost, others fail at once, until the server has replied', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url)
  server.stop()
  await rejects(() => store.accounts.list(), atLast)
  assert.equal(store.isUnreachable, true)
  await rejects(() => store.accounts.list(), atOnce)
  server.cont()
  await until(() => !store.isUnreachable)
  await resolveAll(store)
})

test('a Redis that hangs while idle is noticed by the store itself', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url)
  server.stop()
  await until(() => store.isUnreachable)
  server.cont()
  await until(() => !store.isUnreachable)
})

test('a server that accepts and sends nothing is abandoned, and dialled again', async t => {
  let dialled = 0
  const silent = createServer(() => dialled++).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => silent.close())
  const store = await openRedis(t, `redis://127.0.0.1:${(silent.address() as AddressInfo).port}`)
  assert.equal(store.isUnreachable, true)
  const first = dialled
  await rejectAll(store, atOnce)
  await until(() => dialled >= 2 * first)
})

test('acknowledged writes survive kill -9 in the middle of writing', async t => {
  const server = await startRedis(t, { aof: 'always' })
  const store = await openRedis(t, server.url)
  const owner = hex(16)
  const acknowledged: string[] = []
  const writers = Array.from({ length: 8 }, async () => {
    for (;;) {
      const next = token({ account: owner })
      await store.tokens.insert(next)
      acknowledged.push(next.digest)
    }
  })
  const ends = Promise.allSettled(writers)
  await until(() => acknowledged.length > 300)
  await server.kill()
  for (const outcome of await ends) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof StoreUnreachable)
  }
  await rejectAll(store, atOnce)
  await server.restart()
  await until(() => !store.isUnreachable)
  for (const digest of acknowledged) assert.equal((await store.tokens.findByDigest(digest))?.account, owner)
  const { total } = await store.tokens.list(owner, { offset: 0, limit: 0 })
  assert.ok(total >= acknowledged.length && total <= acknowledged.length + 8)
})

test('a Redis that became a replica takes no writes', async t => {
  const [server, other] = await Promise.all([startRedis(t), startRedis(t)])
  const store = await openRedis(t, server.url)
  await server.ask('REPLICAOF', '127.0.0.1', other.port)
  await rejects(() => store.tokens.insert(token()), atLast)
})

test('a Redis with newer data is refused, with a sentence', async t => {
  const server = await startRedis(t)
  await server.ask('SET', '{gatehouse}:format', 2)
  await assert.rejects(RedisStore.open(server.url, { commandTimeout }), {
    message:
      'the data in Redis has format 2, but this version of Gatehouse supports at most 1. Run a newer version of Gatehouse.',
  })
})

test('newer data that appears later makes the store unreachable', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url)
  await server.ask('SET', '{gatehouse}:format', 2)
  await server.restart()
  await rejectAll(store, atOnce)
  await until(async () => String((await causeOf(store))?.message).includes('format 2'))
  assert.equal(store.isUnreachable, true)
})

test('a missing database is refused, and nothing is written to another', async t => {
  const server = await startRedis(t)
  await assert.rejects(RedisStore.open(`${server.url}/99`, { commandTimeout }), {
    message:
      'the Redis server cannot be the store: it has no database 99. Name another database in the store URL, or none.',
  })
  assert.equal(await server.ask('DBSIZE'), 0)
})

test('no secret gets into an error, and nothing is printed, however long the server refuses', async t => {
  const server = await startRedis(t, { args: ['--requirepass', 'right'] })
  const url = `redis://:wr0ng-s3cret@127.0.0.1:${server.port}`
  const store = await openRedis(t, url)
  assert.equal(store.isUnreachable, true)
  const error = await store.tokens.findByDigest('d1gest').catch(error => error)
  assert.doesNotMatch(inspect(error, { depth: null, showHidden: true }), /s3cret|d1gest/)
  assert.equal(error.cause.code, 'WRONGPASS')
  assert.equal(store.location, `redis://127.0.0.1:${server.port}`)
  assert.equal(await outputOf(t, url), 'done\n')
  const good = await openRedis(t, `redis://default:right@127.0.0.1:${server.port}`)
  await resolveAll(good)
})

test('closing a store ends its connections, after earlier commands have their reply', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url)
  const asked = [store.accounts.list(), store.durability(), store.logs.count(hex(16), 'default')]
  const outcomes = Promise.allSettled(asked)
  await store.close()
  assert.deepEqual(
    (await outcomes).slice(0, 2).map(({ status }) => status),
    ['fulfilled', 'fulfilled'],
  )
  await rejectAll(store, atOnce)
  await until(async () => (await connectionIds(server)).length === 0)
})

async function rejectAll(store: Store, within: number): Promise<void> {
  for (const [name, ask] of Object.entries(methods)) await rejects(() => ask(store), within, name)
}

async function resolveAll(store: Store): Promise<void> {
  for (const ask of Object.values(methods)) await ask(store)
}

async function rejects(ask: () => Promise<unknown>, within: number, name = ''): Promise<void> {
  const before = performance.now()
  await assert.rejects(ask, StoreUnreachable, name)
  const took = performance.now() - before
  assert.ok(took <= within, `${name} rejected after ${took} ms`)
}

async function causeOf(store: Store): Promise<Error | undefined> {
  return store.accounts.list().then(
    () => undefined,
    error => error.cause,
  )
}

/** Lists the connections of stores, by the server's numbers. */
async function connectionIds(server: Awaited<ReturnType<typeof startRedis>>): Promise<string[]> {
  const lines = String(await server.ask('CLIENT', 'LIST')).split('\n')
  return lines.filter(line => line.includes('name=gatehouse')).map(line => line.split(' ')[0]!)
}

/** Gives what a process prints that has a store open for some attempts to connect. */
async function outputOf(t: TestContext, url: string): Promise<string> {
  const module = join(root, 'src/store/redis/redis-store.ts')
  const script = `
    import { RedisStore } from ${JSON.stringify(module)}
    const store = await RedisStore.open(process.env.STORE, { commandTimeout: 2_000 })
    await store.tokens.findByDigest('d').catch(() => {})
    setTimeout(async () => { await store.close(); console.log('done') }, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, STORE: url },
  })
  t.after(() => child.kill())
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  return out + err
}
