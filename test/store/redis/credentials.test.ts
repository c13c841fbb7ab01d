// What credentials leave in Redis: keys that end by themselves, and nothing that grows.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { keys } from '../../../src/store/redis/server/keys.ts'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'
import { replicates, startRedis } from '../../help/redis.ts'
import { until } from '../../help/until.ts'
import { credential, hex } from '../contract-specimens.ts'
import { openRedis } from './open.ts'

const hour = 3_600_000
/** Ms after which what is kept for a moment is over: longer than a busy machine takes to look whether it is there. */
const soon = 1_500

test('every key of a credential ends with it, and what finds it with the last of its owner', async t => {
  const server = await startRedis(t, { aof: false })
  const { credentials } = await openRedis(t, server.url)
  const user = hex(16)
  const base = Date.now()
  const own = (life: number) =>
    credential('session', { user, client: null, grant: null, expiresAt: base + life })
  const endOf = async (key: string) => base + Number(await server.ask('PTTL', key)) - (base - Date.now())
  const about = (at: number, end: number) => assert.ok(Math.abs(at - end) < 2_000, `${at} ${end}`)
  const all = keys.credentialsOf('user', user)
  for (const [life, end] of [
    [hour, hour],
    [5 * hour, 5 * hour],
    [2 * hour, 5 * hour],
  ] as const) {
    const kept = own(life)
    await credentials.put(kept)
    await credentials.consume('session', kept.digest, base)
    about(
      await endOf(keys.credential('session', Buffer.from(kept.digest, 'hex').toString('base64url'))),
      base + life,
    )
    about(await endOf(all), base + end)
  }
})

test('expired credentials leave the set of their owner with the next put, and removed ones when they are next read', async t => {
  const server = await startRedis(t, { aof: false })
  const { credentials } = await openRedis(t, server.url)
  const user = hex(16)
  const all = keys.credentialsOf('user', user)
  const count = async () => Number(await server.ask('ZCARD', all))
  const own = () => credential('session', { user, client: null, grant: null })
  const [short, removed, kept] = [{ ...own(), expiresAt: Date.now() + soon }, own(), own()]
  await credentials.putAll([short, removed])
  assert.equal(await count(), 2)
  await until(async () => (await credentials.get('session', short.digest)) === null)
  await credentials.put(kept)
  assert.equal(await count(), 2)
  await credentials.remove('session', removed.digest)
  assert.equal(await count(), 2)
  assert.equal(await credentials.removeOf({ user }, ['access_token']), 0)
  assert.equal(await credentials.removeOf({ user }), 1)
  assert.deepEqual(await server.ask('KEYS', '*of_*'), [])
})

test('much that has expired leaves the set of its owner a bounded part at a time', async t => {
  const server = await startRedis(t, { aof: false })
  const { credentials } = await openRedis(t, server.url)
  const user = hex(16)
  const own = (expiresAt: number) => credential('session', { user, client: null, grant: null, expiresAt })
  const end = Date.now() + soon
  const short = Array.from({ length: 50 }, () => own(end))
  await credentials.putAll([...short, own(Date.now() + hour)])
  await until(async () => (await credentials.get('session', short[0]!.digest)) === null)
  for (const left of [32, 13, 4]) {
    await credentials.put(own(Date.now() + hour))
    assert.equal(await server.ask('ZCARD', keys.credentialsOf('user', user)), left)
  }
})

test('a set of an owner is kept as small sets are', async t => {
  const server = await startRedis(t, { aof: false })
  const { credentials } = await openRedis(t, server.url)
  const { client } = credential('access_token')
  await credentials.putAll(Array.from({ length: 20 }, () => credential('authorization_code', { client })))
  assert.match(String(await server.ask('OBJECT', 'ENCODING', keys.credentialsOf('client', client!))), /list/)
})

test('a removal also removes what was put for a credential that it had found and not removed yet', async t => {
  const server = await startRedis(t, { aof: false })
  const { credentials } = await openRedis(t, server.url)
  const relay = await startRelay(t, server.port)
  const slow = await openRedis(t, `redis://127.0.0.1:${relay.port}`)
  const user = hex(16)
  const [spent, next] = [credential('refresh_token', { user }), credential('refresh_token', { user })]
  await credentials.put(spent)
  const { held, release } = relay.holdAfter('zscan')
  const removing = slow.credentials.removeOf({ user })
  await held
  await credentials.putAll([next])
  assert.notEqual(await credentials.get('refresh_token', spent.digest), null)
  release()
  assert.equal(await removing, 2)
  assert.equal(await credentials.get('refresh_token', next.digest), null)
})

test('credentials of an owner that were removed and not confirmed are not called removed before they are', async t => {
  const primary = await startRedis(t, { aof: false })
  const replica = await startRedis(t, { aof: false, args: ['--replicaof', `127.0.0.1 ${primary.port}`] })
  await replicates(primary)
  const { credentials } = await openRedis(t, primary.url, 3_000)
  const user = hex(16)
  await credentials.put(credential('session', { user, client: null, grant: null }))
  replica.stop()
  await assert.rejects(credentials.removeOf({ user }), StoreUnreachable)
  assert.deepEqual(await primary.ask('KEYS', '*of_*'), [], 'they are removed')
  await assert.rejects(credentials.removeOf({ user }), StoreUnreachable)
  replica.cont()
  await until(() =>
    credentials.removeOf({ user }).then(
      removed => removed === 0,
      () => false,
    ),
  )
})

/** Starts a relay to Redis that can hold up a client between two commands. */
async function startRelay(t: TestContext, port: number) {
  let gate = Promise.resolve()
  let onData = (_: Buffer) => {}
  const server = createServer(from => {
    const to = connect(port, '127.0.0.1')
    to.pipe(from)
    from.on('data', (data: Buffer) => {
      onData(data)
      void gate.then(() => to.write(data))
    })
    from.on('error', () => {}).on('close', () => to.destroy())
    to.on('error', () => {}).on('close', () => from.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  /** Lets the command through, and holds what follows; `held` resolves when something does. */
  const holdAfter = (command: string) => {
    const held = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    onData = data => {
      if (!data.toString('latin1').toLowerCase().includes(command)) return
      onData = () => {
        gate = released.promise
        held.resolve()
      }
    }
    return { held: held.promise, release: released.resolve }
  }
  return { port: (server.address() as AddressInfo).port, holdAfter }
}
