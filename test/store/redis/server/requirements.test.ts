import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { openStore } from '../../../../src/store/open.ts'
import { RedisStore } from '../../../../src/store/redis/redis-store.ts'
import { StoreDegraded, type StoreUnreachable } from '../../../../src/store/contract/store.ts'
import { aclLine } from '../../../help/acl.ts'
import { gatehouse } from '../../../help/command.ts'
import { writeConfig } from '../../../help/gateway.ts'
import { type RedisServer, startCluster, startRedis } from '../../../help/redis.ts'
import { until } from '../../../help/until.ts'
import { token } from '../../contract-specimens.ts'
import { openRedis } from '../open.ts'

const commandTimeout = 4_000
const keys = '~{gatehouse*'

/** Returns the sentence with which opening is refused. */
async function refusalAt(url: string): Promise<string> {
  try {
    await (await RedisStore.open(url, { commandTimeout })).close()
  } catch (error) {
    return (error as Error).message
  }
  return 'opened'
}

const rename = (...names: string[]) => names.flatMap(name => ['--rename-command', name, ''])

const renamed: readonly [args: readonly string[], what: string][] = [
  [rename('XADD', 'ZPOPMIN'), 'XADD and ZPOPMIN'],
  [rename('EVAL'), 'EVAL'],
  [rename('EVALSHA'), 'EVALSHA'],
  [rename('EVAL', 'HSET', 'TIME'), 'HSET, EVAL and TIME'],
  [rename('EXISTS', 'GET'), 'EXISTS and GET'],
  [['--rename-command', 'SET', 'OTHER'], 'SET'],
]

for (const [args, what] of renamed)
  test(`a server without ${what} is refused`, async t => {
    const { url } = await startRedis(t, { args })
    assert.equal(
      await refusalAt(url),
      `the Redis server cannot be the store: it has no command ${what}. Remove rename-command for them from its configuration.`,
    )
  })

const denied: readonly [rules: readonly string[], what: string, grants: string][] = [
  [['-hset', '-xadd'], 'HSET and XADD', `${keys}, +hset and +xadd`],
  [['-eval'], 'EVAL', `${keys} and +eval`],
  [['-exists'], 'EXISTS', `${keys} and +exists`],
  [['resetkeys', '~other:*'], 'every command', `${keys} and the commands listed in docs/operations.md`],
]

for (const [rules, what, grants] of denied)
  test(`a user with ${rules.join(' ')} is refused`, async t => {
    const server = await startRedis(t)
    await server.ask('ACL', 'SETUSER', ...aclLine('limited', 'secret'), ...rules)
    assert.equal(
      await refusalAt(`redis://limited:secret@127.0.0.1:${server.port}`),
      `the Redis server cannot be the store: it denies user limited ${what} on the keys {gatehouse*. Grant ${grants} with ACL SETUSER.`,
    )
  })

test('a server that evicts records is refused, one that evicts what expires or has no bound is not', async t => {
  const bounded = (policy: string) => ['--maxmemory', '100mb', '--maxmemory-policy', policy]
  for (const policy of ['allkeys-lru', 'allkeys-lfu', 'allkeys-random']) {
    const { url } = await startRedis(t, { args: bounded(policy) })
    assert.equal(
      await refusalAt(url),
      `the Redis server cannot be the store: it evicts any key when its memory is full (maxmemory-policy ${policy}). Set maxmemory-policy noeviction.`,
    )
  }
  for (const args of [
    bounded('noeviction'),
    bounded('volatile-lru'),
    ['--maxmemory', '0', '--maxmemory-policy', 'allkeys-lru'],
  ])
    assert.equal(await refusalAt((await startRedis(t, { args })).url), 'opened', args.join(' '))
})

test('a version that is too old is refused, as far as the server tells it', async t => {
  const server = await startRedis(t)
  const version = /redis_version:(\S+)/.exec(String(await server.ask('INFO', 'server')))![1]!
  for (const old of ['4.0', '3.2']) {
    const told = old.padEnd(version.length, '.0')
    const port = await relay(t, server, [`redis_version:${version}`, `redis_version:${told}`])
    assert.equal(
      await refusalAt(`redis://127.0.0.1:${port}`),
      `the Redis server cannot be the store: it is version ${told}. Run Redis 5 or newer, at best 7.2.`,
    )
  }
})

test('before Redis 7, missing commands are found by its list of commands', async t => {
  const server = await startRedis(t, { args: rename('XADD') })
  const port = await relay(t, server, ['redis.acl_check_cmd', 'redis.acl_check_zzz'])
  assert.match(await refusalAt(`redis://127.0.0.1:${port}`), /it has no command XADD\. /)
  const whole = await relay(t, await startRedis(t), ['redis.acl_check_cmd', 'redis.acl_check_zzz'])
  assert.equal(await refusalAt(`redis://127.0.0.1:${whole}`), 'opened')
})

test('a node of a cluster by itself is refused, and so is a cluster that is none', async t => {
  for (const { url } of await startCluster(t))
    assert.equal(
      await refusalAt(url),
      'the Redis server cannot be the store: it is a node of a cluster. Write redis+cluster:// for redis:// in the store URL.',
    )
  const { port } = await startRedis(t)
  assert.equal(
    await refusalAt(`redis+cluster://127.0.0.1:${port}`),
    'the Redis server cannot be the store: it is not a cluster. Write redis:// for redis+cluster:// in the store URL.',
  )
})

test('a cluster that lacks something is refused as a server is', async t => {
  const nodes = await startCluster(t)
  for (const node of nodes) {
    await node.ask('CONFIG', 'SET', 'maxmemory', '100mb')
    await node.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
  }
  assert.match(await refusalAt(`redis+cluster://127.0.0.1:${nodes[0]!.port}`), /it evicts any key/)
})

test('everything that is missing is reported together, also by the command line, without secrets', async t => {
  const server = await startRedis(t, {
    args: [...rename('XADD'), '--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'],
  })
  await server.ask('ACL', 'SETUSER', 'limited', 'on', '>s3cret', '~*', '&*', '+@all', '-hset')
  const url = `redis://limited:s3cret@127.0.0.1:${server.port}`
  const sentence =
    'the Redis server cannot be the store: it has no command XADD; it denies user limited HSET on the keys {gatehouse*; it evicts any key when its memory is full (maxmemory-policy allkeys-lru). Remove rename-command for them from its configuration. Grant ~{gatehouse* and +hset with ACL SETUSER. Set maxmemory-policy noeviction.'
  assert.equal(await refusalAt(url), sentence)
  const file = writeConfig(
    t,
    `zones: []\nstore: { url: '${url}' }\nadmin: 127.0.0.1:0\nlisten: ['127.0.0.1:0']`,
  )
  for (const command of ['start', 'store accept']) {
    const { code, stdout, stderr } = await gatehouse([...command.split(' '), '--config', file])
    assert.equal(code, 1, command)
    assert.ok((stdout + stderr).includes(sentence), stdout + stderr)
    assert.ok(!(stdout + stderr).includes('s3cret'))
  }
})

test('an open store whose server comes back without what it needs is unreachable and says why, until the server has it', async t => {
  const server = await startRedis(t)
  await server.ask('ACL', 'SETUSER', ...aclLine('limited', 'secret'))
  const store = await openRedis(t, `redis://limited:secret@127.0.0.1:${server.port}`, commandTimeout)
  assert.equal(await store.tokens.insert(token()), true)
  await server.ask('ACL', 'SETUSER', 'limited', '-hset')
  await server.ask('CLIENT', 'KILL', 'USER', 'limited')
  await until(() => store.degradation.reasons.length > 0)
  const [{ code, message, remedy }] = store.degradation.reasons as [(typeof store.degradation.reasons)[0]]
  assert.deepEqual(
    [code, message, remedy],
    [
      'server_unfit',
      'the Redis server cannot be the store: it denies user limited HSET on the keys {gatehouse*',
      `Grant ${keys} and +hset with ACL SETUSER`,
    ],
  )
  assert.equal(store.isUnreachable, true)
  await assert.rejects(store.tokens.insert(token()), StoreDegraded)
  // Each connection finds out by itself.
  await until(async () => (await reasonAt(store)) === 'UNFIT')
  await server.ask('ACL', 'SETUSER', 'limited', '+hset')
  await until(() => !store.isUnreachable)
  assert.deepEqual(store.degradation.reasons, [])
  await until(() => store.tokens.insert(token()).catch(() => false))
})

async function reasonAt({ accounts }: RedisStore): Promise<string | null> {
  return accounts.list().then(
    () => null,
    error => (error as StoreUnreachable).reason,
  )
}

test('a store of a worker opens with a server that lacks something', async t => {
  const server = await startRedis(t)
  await server.ask('CONFIG', 'SET', 'maxmemory', '100mb')
  await server.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
  const store = await openStore(server.url, { commandTimeout, opensUnfit: true })
  t.after(() => store.close())
  assert.equal(store.isUnreachable, true)
  await server.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  await until(() => !store.isUnreachable)
  assert.deepEqual(await store.accounts.list(), [])
})

/** Passes all on to a server, and replaces one text by another as long, both ways. */
async function relay(
  t: TestContext,
  to: RedisServer,
  [from, by]: readonly [string, string],
): Promise<number> {
  assert.equal(from.length, by.length)
  const change = (bytes: string) => bytes.replaceAll(from, by)
  const server = createServer(client => {
    const origin = connect(to.port, '127.0.0.1')
    for (const socket of [client, origin]) socket.setEncoding('latin1')
    client.on('data', bytes => origin.write(change(String(bytes)), 'latin1')).on('error', () => {})
    origin.on('data', bytes => client.write(change(String(bytes)), 'latin1')).on('error', () => {})
    client.on('close', () => origin.destroy())
    origin.on('close', () => client.destroy())
    t.after(() => client.destroy())
  })
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
