import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lossesOf, proofsOf, type Settings, settingsOf } from '../../../src/store/redis/settings.ts'
import { StoreAway } from '../../../src/store/store.ts'
import { type RedisSettings, replicates, startRedis } from '../../help/redis.ts'
import { until } from '../../help/until.ts'
import { keptAnswer, oauthClient, token } from '../contract-specimens.ts'
import { openRedis } from './open.ts'

const safest: Settings = {
  version: [7, 0],
  aof: true,
  fsync: 'always',
  snapshots: false,
  replicas: 0,
  evicts: false,
}

test('a write waits for what the settings leave open: the disk where the server can tell, a replica where there is one', () => {
  const proofs = (more: Partial<Settings>) => proofsOf({ ...safest, ...more }, 250).map(([name]) => name)
  assert.deepEqual(proofs({}), [])
  assert.deepEqual(proofs({ fsync: 'everysec' }), [])
  assert.deepEqual(proofs({ fsync: 'everysec', version: [7, 2] }), ['WAITAOF'])
  assert.deepEqual(proofs({ fsync: null, version: [8, 0] }), ['WAITAOF'])
  assert.deepEqual(proofs({ aof: false, fsync: 'everysec', version: [8, 0] }), [])
  assert.deepEqual(proofs({ replicas: 2 }), ['WAIT'])
  assert.deepEqual(proofs({ fsync: 'no', version: [7, 4], replicas: 1 }), ['WAITAOF', 'WAIT'])
})

test('what can be lost is said of each setting', () => {
  const losses = (more: Partial<Settings>) => lossesOf({ ...safest, ...more }).join(' ')
  assert.equal(losses({}), '')
  assert.equal(losses({ fsync: 'everysec', version: [7, 2] }), '')
  assert.match(losses({ fsync: 'everysec' }), /a power cut can lose the last second of changes/)
  assert.match(losses({ fsync: 'no' }), /a power cut can lose half a minute of changes/)
  assert.match(losses({ fsync: null }), /does not tell how often it syncs/)
  assert.match(losses({ aof: false }), /keeps nothing on disk: all is lost/)
  assert.match(losses({ aof: false, snapshots: true }), /what changed since the last one is lost/)
  assert.match(losses({ aof: false, snapshots: null }), /at most snapshots/)
  assert.match(losses({ aof: null }), /does not tell whether it keeps an append-only file/)
  assert.match(losses({ evicts: true }), /Redis removes keys when its memory is full/)
})

test('settings are read from INFO and CONFIG GET, as far as they are told', () => {
  const info =
    '# Server\r\nredis_version:7.2.4\r\naof_enabled:1\r\nconnected_slaves:2\r\nmaxmemory:1\r\nmaxmemory_policy:allkeys-lru\r\n'
  assert.deepEqual(settingsOf(info, 'everysec', '3600 1'), {
    version: [7, 2],
    aof: true,
    fsync: 'everysec',
    snapshots: true,
    replicas: 2,
    evicts: true,
  })
  const none = { version: [0, 0], aof: null, fsync: null, snapshots: null, replicas: 0, evicts: false }
  assert.deepEqual(settingsOf('', null, null), none)
})

const setUps: readonly [name: string, settings: RedisSettings, expected: RegExp][] = [
  ['syncs always', { aof: 'always' }, /^$/],
  ['keeps nothing on disk', { aof: false }, /^Redis keeps nothing on disk/],
  ['makes snapshots only', { aof: false, args: ['--save', '3600 1'] }, /^Redis writes snapshots/],
  ['leaves syncing to the system', { aof: 'no' }, /^Redis (leaves it to|$)/],
  [
    'may evict',
    { args: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'] },
    /^Redis removes keys/,
  ],
  ['denies CONFIG', { args: ['--rename-command', 'CONFIG', ''] }, /^Redis does not tell/],
]

for (const [name, settings, expected] of setUps) {
  test(`a server that ${name} is described as such`, async t => {
    const server = await startRedis(t, settings)
    const store = await openRedis(t, server.url)
    assert.match((await store.durability()).join('\n'), expected)
  })
}

test('a server that denies INFO is described as such', async t => {
  const server = await startRedis(t)
  await server.ask('ACL', 'SETUSER', 'default', '-info')
  const store = await openRedis(t, server.url)
  assert.match((await store.durability()).join('\n'), /^Redis does not tell whether/)
  assert.equal(await store.tokens.insert(token()), true)
})

test('a write counts once a replica has it, and not before', async t => {
  const primary = await startRedis(t)
  const replica = await startRedis(t, { args: ['--replicaof', `127.0.0.1 ${primary.port}`] })
  await replicates(primary)
  // Long enough for a replica on a busy machine.
  const store = await openRedis(t, primary.url, 3_000)
  const kept = token()
  assert.equal(await store.tokens.insert(kept), true)
  assert.equal(await replica.ask('HEXISTS', '{gatehouse}:digests', kept.digest), 1)
  replica.stop()
  await assert.rejects(store.tokens.insert(token()), StoreAway)
  assert.equal(store.isAway, false, 'it is there to be read')
  await replica.kill()
  await until(async () => String(await primary.ask('INFO', 'replication')).includes('connected_slaves:0'))
  assert.equal(await store.tokens.insert(token()), true)
})

test('an answer that no replica has is not given again before one has it', async t => {
  const primary = await startRedis(t)
  const replica = await startRedis(t, { args: ['--replicaof', `127.0.0.1 ${primary.port}`] })
  await replicates(primary)
  const store = await openRedis(t, primary.url, 3_000)
  const client = oauthClient()
  const answer = keptAnswer({ account: client.account })
  replica.stop()
  await assert.rejects(store.oauthClients.insert(client, { answer }), StoreAway)
  await assert.rejects(store.answers.get(answer.account, answer.key), StoreAway)
  await assert.rejects(store.confirm(), StoreAway)
  replica.cont()
  assert.deepEqual(await store.answers.get(answer.account, answer.key), answer)
  await store.confirm()
})
