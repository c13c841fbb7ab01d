import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  diskTimeout,
  lossesOf,
  needsWatching,
  proofsOf,
  type Settings,
  settingsOf,
  waitsForDisk,
} from '../../../../src/store/redis/server/settings.ts'
import { StoreUnreachable } from '../../../../src/store/contract/store.ts'
import { type RedisSettings, replicates, startRedis } from '../../../help/redis.ts'
import { turnsUntil, until } from '../../../help/until.ts'
import { storedResponse, oauthClient, token } from '../../contract-specimens.ts'
import { openRedis } from '../open.ts'

const safest: Settings = {
  version: [7, 0],
  confirmsEarly: false,
  aof: true,
  fsync: 'always',
  snapshots: false,
  evicts: null,
  minReplicas: 0,
}

const alone = { needed: 0, spared: 0, judges: null }

test('a write waits for what the settings leave open: the disk where the server can tell, and the replicas that have to have it', () => {
  const waits = (more: Partial<Settings>) => waitsForDisk({ ...safest, ...more })
  assert.equal(waits({}), false)
  assert.equal(waits({ fsync: 'everysec' }), false)
  assert.equal(waits({ fsync: 'everysec', version: [7, 2] }), true)
  assert.equal(waits({ fsync: null, version: [8, 0] }), true)
  assert.equal(waits({ aof: false, fsync: 'everysec', version: [8, 0] }), false)
  const proofs = (disk: boolean, needed: number) => proofsOf({ disk, needed, timeout: 250 })
  assert.deepEqual(proofs(false, 0), [])
  assert.deepEqual(proofs(true, 0), [['WAITAOF', 1, 0, diskTimeout]])
  assert.deepEqual(proofs(false, 2), [['WAIT', 2, 125]])
  assert.deepEqual(proofs(true, 1), [
    ['WAITAOF', 1, 0, diskTimeout],
    ['WAIT', 1, 125],
  ])
})

test('a server that confirms early is watched where it syncs once a second', () => {
  const early = { ...safest, version: [7, 2], confirmsEarly: true } as const
  const isWatched = (more: Partial<Settings>) => needsWatching({ ...early, ...more })
  assert.equal(isWatched({ fsync: 'everysec' }), true)
  assert.equal(isWatched({ fsync: 'everysec', confirmsEarly: false }), false)
  assert.equal(isWatched({ fsync: 'everysec', version: [7, 0] }), false)
  assert.equal(isWatched({ fsync: 'always' }), false)
  assert.equal(isWatched({ fsync: 'no' }), false)
  assert.equal(isWatched({ fsync: null }), false)
})

test('the durability of writes is reported for each setting of the store', () => {
  const losses = (more: Partial<Settings>) => lossesOf({ ...safest, ...more }, alone).join(' ')
  assert.equal(losses({}), '')
  assert.equal(losses({ fsync: 'everysec', version: [7, 2] }), '')
  assert.match(
    losses({ fsync: 'everysec' }),
    /if it is killed or the power fails, the last seconds of changes can be lost/,
  )
  assert.match(losses({ fsync: 'no' }), /half a minute of changes can be lost/)
  assert.match(losses({ fsync: null }), /does not say how often it syncs/)
  const unknown = { fsync: null, version: [7, 2] } as const
  assert.equal(losses(unknown), '')
  assert.match(losses({ ...unknown, confirmsEarly: true }), /does not say how often it syncs/)
  assert.match(losses({ aof: false }), /keeps nothing on disk: all data is lost/)
  assert.match(losses({ aof: false, snapshots: true }), /changes since the last snapshot are lost/)
  assert.match(losses({ aof: false, snapshots: null }), /at most snapshots/)
  assert.match(losses({ aof: null }), /does not say whether it keeps an append-only file/)
  assert.match(losses({ evicts: 'any' }), /^Redis evicts keys when its memory is full: gateways/)
  assert.match(
    losses({ evicts: 'expiring' }),
    /^Redis evicts expiring keys when its memory is full: sessions, OAuth tokens and their revocations/,
  )
  const guarded = { needed: 1, spared: 0, judges: 'sentinels' } as const
  assert.match(lossesOf(safest, guarded).join(' '), /Set min-replicas-to-write 1/)
  const strict = { ...safest, minReplicas: 1 }
  assert.deepEqual(lossesOf(strict, guarded), [])
  const lazy = { ...strict, fsync: 'everysec', version: [7, 2] } as const
  assert.match(lossesOf(lazy, guarded).join(' '), /^Redis replicas confirm .* Set appendfsync always\.$/)
  assert.match(lossesOf(strict, { ...guarded, spared: 1 }).join(' '), /^Sentinels call 1 of 2 replicas down/)
  assert.match(lossesOf(strict, { ...guarded, judges: null }).join(' '), /the URL names no Sentinels/)
})

test('settings are read from INFO and CONFIG GET, as far as they are told', () => {
  const info =
    '# Server\r\nredis_version:7.2.4\r\naof_enabled:1\r\nmaxmemory:1\r\nmaxmemory_policy:allkeys-lru\r\n'
  const hello = ['server', 'redis', 'version', '7.0.15', 'role', 'master']
  const told = (name: string, value: string) => [name, value]
  const answers = [info, hello, told('appendfsync', 'everysec'), told('save', '3600 1'), told('', '2')]
  assert.deepEqual(settingsOf(answers), {
    version: [7, 2],
    confirmsEarly: true,
    aof: true,
    fsync: 'everysec',
    snapshots: true,
    evicts: 'any',
    minReplicas: 2,
  })
  const denied = new Error('NOPERM')
  const none = { aof: null, fsync: null, snapshots: null, evicts: null, minReplicas: null }
  assert.deepEqual(settingsOf(Array(5).fill(denied)), { version: [0, 0], confirmsEarly: true, ...none })
  assert.deepEqual(settingsOf([denied, hello, denied, denied, denied]), {
    ...{ version: [7, 0], confirmsEarly: true },
    ...none,
  })
})

test('WAITAOF is believed of Redis 8, and not of a Valkey', () => {
  const confirmsEarly = (info: string, hello: readonly string[]) =>
    settingsOf([info, hello, null, null, null]).confirmsEarly
  const hello = (server: string, version: string) => ['server', server, 'version', version]
  assert.equal(confirmsEarly('redis_version:8.0.2\r\n', hello('redis', '8.0.2')), false)
  assert.equal(confirmsEarly('redis_version:7.4.2\r\n', hello('redis', '7.4.2')), true)
  assert.equal(
    confirmsEarly('redis_version:7.2.4\r\nvalkey_version:8.1.1\r\n', hello('valkey', '8.1.1')),
    true,
  )
  assert.equal(
    confirmsEarly('redis_version:9.9.9\r\nvalkey_version:9.9.9\r\n', hello('redis', '9.9.9')),
    true,
  )
  assert.equal(confirmsEarly('', hello('valkey', '9.1.2')), true)
})

/** Nothing is said where a server that has WAITAOF proves each write. */
const setUps: readonly [name: string, settings: RedisSettings, expected: RegExp][] = [
  ['syncs always', { aof: 'always' }, /^$/],
  ['keeps nothing on disk', { aof: false }, /^Redis keeps nothing on disk/],
  ['makes snapshots only', { aof: false, args: ['--save', '3600 1'] }, /^Redis writes snapshots/],
  ['leaves syncing to the system', { aof: 'no' }, /^(Redis lets the system|$)/],
  [
    'may evict what expires',
    { args: ['--maxmemory', '100mb', '--maxmemory-policy', 'volatile-ttl'] },
    /^Redis evicts expiring keys/,
  ],
  ['denies CONFIG', { args: ['--rename-command', 'CONFIG', ''] }, /^(Redis does not say|$)/],
]

test('a server that is set to evict records while it is used is described as such', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url)
  await server.ask('CONFIG', 'SET', 'maxmemory', '100mb')
  await server.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
  assert.match((await store.durability()).join('\n'), /^Redis evicts keys when/)
})

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
  assert.match((await store.durability()).join('\n'), /^Redis does not say whether/)
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
  await assert.rejects(store.tokens.insert(token()), StoreUnreachable)
  assert.equal(store.isUnreachable, false, 'it is there to be read')
  await replica.kill()
  await until(async () => String(await primary.ask('INFO', 'replication')).includes('connected_slaves:0'))
  await assert.rejects(store.tokens.insert(token()), StoreUnreachable, 'one that went away is missed')
  assert.equal(store.refusal, '0 of 1 replica confirms writes')
  await replica.restart()
  await until(() => store.refusal === null)
  assert.equal(await store.tokens.insert(token()), true)
})

test('a change that was only read is expected again as soon as the replicas have it, and not before', async t => {
  const primary = await startRedis(t, { aof: false })
  const replica = await startRedis(t, { args: ['--replicaof', `127.0.0.1 ${primary.port}`] })
  await replicates(primary)
  const [reader, writer] = await Promise.all([openRedis(t, primary.url), openRedis(t, primary.url)])
  reader.trust.expect(await reader.adopt())
  const [kept, unconfirmed, later] = [token(), token(), token()]
  const readerExpects = (generation: number) => until(() => reader.trust.seen?.generation === generation)
  const comesBackOlder = async () => {
    await primary.restart()
    await replicates(primary)
    await until(() => !reader.isUnreachable && !writer.isUnreachable)
  }
  assert.equal(await writer.tokens.insert(kept), true)
  await readerExpects(1)
  await primary.ask('SAVE')

  replica.stop()
  await assert.rejects(writer.tokens.insert(unconfirmed), StoreUnreachable)
  assert.deepEqual(await reader.tokens.findByDigest(unconfirmed.digest), unconfirmed)
  assert.equal(reader.trust.seen?.generation, 1)
  // Before the replica could confirm it after all.
  await primary.kill()
  await replica.restart()
  await comesBackOlder()
  assert.deepEqual(await reader.tokens.findByDigest(kept.digest), kept)
  assert.deepEqual(reader.degradation.reasons, [])

  const isWritten = () =>
    writer.tokens.insert(later).then(
      () => true,
      () => false,
    )
  await until(isWritten)
  await readerExpects(2)
  await comesBackOlder()
  await assert.rejects(reader.tokens.findByDigest(kept.digest), {
    message:
      'the store is older than this machine has seen it: generation 1, seen 2: the last change is missing',
  })
})

test('a connection that ends while a proof is awaited leaves the change in doubt, and is not said to be a refusal', async t => {
  const primary = await startRedis(t)
  const replica = await startRedis(t, { args: ['--replicaof', `127.0.0.1 ${primary.port}`] })
  await replicates(primary)
  const store = await openRedis(t, primary.url, 5_000)
  replica.stop()
  const unknown = { fault: 'unreachable', isUndone: false, isDoubtful: true }
  const lost = assert.rejects(store.tokens.insert(token()), unknown)
  const blocked = async () => /^id=(\d+) .* flags=b /m.exec(String(await primary.ask('CLIENT', 'LIST')))?.[1]
  await until(async () => (await blocked()) !== undefined)
  await primary.ask('CLIENT', 'KILL', 'ID', (await blocked())!)
  await lost
  await turnsUntil(() => !store.isUnreachable)
  assert.doesNotMatch(String(store.refusal), /ECONNRESET/)
})

test('a response that no replica has is not returned again before one has it', async t => {
  const primary = await startRedis(t)
  const replica = await startRedis(t, { args: ['--replicaof', `127.0.0.1 ${primary.port}`] })
  await replicates(primary)
  const store = await openRedis(t, primary.url, 3_000)
  const client = oauthClient()
  const response = storedResponse({ account: client.account })
  const unconfirmed = {
    name: 'StoreUnreachable',
    message: 'store did not confirm (0 of 1 replica confirms writes)',
    ...{ fault: 'unconfirmed', reason: 'UNCONFIRMED', isUndone: false },
  }
  replica.stop()
  await assert.rejects(store.oauthClients.insert(client, { response }), unconfirmed)
  await assert.rejects(store.responses.get(response.account, response.key), unconfirmed)
  await assert.rejects(store.confirm(), unconfirmed)
  replica.cont()
  assert.deepEqual(await store.responses.get(response.account, response.key), response)
  await store.confirm()
})

test('a server that comes back without confirmed writes is reported', async t => {
  const primary = await startRedis(t, { aof: false })
  await startRedis(t, { args: ['--replicaof', `127.0.0.1 ${primary.port}`] })
  await replicates(primary)
  const store = await openRedis(t, primary.url, 2_000)
  const write = async () => assert.equal(await store.tokens.insert(token()), true)
  for (let i = 0; i < 2; i++) await write()
  const saysLost = async () =>
    (await store.durability()).some(loss => /^Confirmed changes were lost/.test(loss))
  const comesBack = async () => {
    await primary.restart()
    await until(() => !store.isUnreachable)
    await until(() =>
      write().then(
        () => true,
        () => false,
      ),
    )
  }
  await primary.ask('SAVE')
  await comesBack()
  assert.equal(await saysLost(), false, 'all was saved')
  for (let i = 0; i < 2; i++) await write()
  await primary.ask('SAVE')
  for (let i = 0; i < 3; i++) await write()
  await comesBack()
  assert.equal(await saysLost(), true)
})
