// What credentials leave in Redis: keys that end by themselves, and nothing that grows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
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

test('what has expired leaves the set of its owner when the next one is put, and what was removed when it is come upon', async t => {
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

test('what is put for something that a removal has not come to yet goes with it', async t => {
  const server = await startRedis(t, { aof: false })
  const { credentials } = await openRedis(t, server.url)
  const user = hex(16)
  const own = () => credential('refresh_token', { user })
  let late = 0
  for (let round = 0; round < 200; round++) {
    const [spent, next] = [own(), own()]
    await credentials.put(spent)
    const removing = credentials.removeOf({ user })
    // Another while each round, so that some come between what finds and what removes.
    for (let turn = 0; turn < round % 20; turn++) await new Promise(resolve => setImmediate(resolve))
    const [, seen] = await Promise.all([
      credentials.putAll([next]),
      credentials.get('refresh_token', spent.digest),
    ])
    await removing
    if (seen !== null && (await credentials.get('refresh_token', next.digest)) !== null) late++
    await credentials.removeOf({ user })
  }
  assert.equal(late, 0)
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
