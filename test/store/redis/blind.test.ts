// What is known of the replicas of a server that denies INFO.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'
import { type RedisServer, replicates, startRedis } from '../../help/redis.ts'
import { until } from '../../help/until.ts'
import { token } from '../contract-specimens.ts'
import { openRedis } from './open.ts'

/** Ms until a command is called lost: long enough for a replica on a busy machine. */
const timeout = 3_000

test('without INFO a replica is waited for from the first write, even one that hangs', async t => {
  const primary = await startRedis(t)
  const replica = await startReplica(t, primary.port)
  await replicates(primary)
  replica.stop()
  const store = await openRedis(t, await blindUrl(primary, '-info'), timeout)
  await assert.rejects(store.tokens.insert(token()), StoreUnreachable)
  replica.cont()
  await until(() => store.refusal === null)
  assert.equal(await store.tokens.insert(token()), true)
  await lose(replica, primary)
  await assert.rejects(store.tokens.insert(token()), StoreUnreachable)
  assert.equal(store.refusal, '0 of 1 replica confirms writes')
})

test('without INFO the replica that could be the next primary has to have a write, and no other', async t => {
  const primary = await startRedis(t)
  const fit = await startReplica(t, primary.port)
  const unfit = await startReplica(t, primary.port, '--replica-priority', '0')
  await until(async () => (await primary.ask('WAIT', 2, 1_000)) === 2)
  const sentinel = await startSentinelOf(t, primary, '0,100')
  const blind = await blindUrl(primary, '-info')
  const url = blind.replace(/^redis(.*@).*$/, `redis+sentinel$1127.0.0.1:${sentinel.port}/main`)
  const store = await openRedis(t, url, timeout)
  unfit.stop()
  assert.equal(await store.tokens.insert(token()), true)
  unfit.cont()
  fit.stop()
  await assert.rejects(store.tokens.insert(token()), StoreUnreachable)
  await until(() => store.refusal === 'a replica that could become the primary is behind')
})

test('without INFO and ROLE a replica that was too slow at first is waited for once it has answered', async t => {
  const primary = await startRedis(t)
  const link = await startLink(t, primary.port)
  const replica = await startReplica(t, link.port)
  await replicates(primary)
  link.delay = 700
  const store = await openRedis(t, await blindUrl(primary, '-info', '-role'), timeout)
  // Still longer than most looks last.
  link.delay = 100
  const told = async (section: string, what: RegExp) =>
    Number(what.exec(String(await primary.ask('INFO', section)))![1])
  const looks = () => told('commandstats', /^cmdstat_wait:calls=(\d+)/m)
  await until(async () => {
    replica.stop()
    const isRefused = await store.tokens.insert(token()).then(
      () => false,
      error => error instanceof StoreUnreachable,
    )
    replica.cont()
    const before = await looks()
    await until(async () => (await looks()) > before)
    await until(async () => (await told('clients', /^blocked_clients:(\d+)/m)) === 0)
    return isRefused
  }, 40_000)
  await until(() => store.refusal === null)
  assert.equal(await store.tokens.insert(token()), true)
  await lose(replica, primary)
  await assert.rejects(store.tokens.insert(token()), StoreUnreachable)
  assert.equal(store.refusal, '0 of 1 replica confirms writes')
})

/** Makes a user who may not ask these, and returns a URL with its name. */
async function blindUrl(primary: RedisServer, ...denied: string[]): Promise<string> {
  await primary.ask('ACL', 'SETUSER', 'blind', 'on', '>secret', '+@all', '~*', '&*', ...denied)
  return `redis://blind:secret@127.0.0.1:${primary.port}`
}

function startReplica(t: TestContext, port: number, ...args: string[]): Promise<RedisServer> {
  return startRedis(t, { args: ['--replicaof', `127.0.0.1 ${port}`, ...args] })
}

/** Starts a Sentinel that calls nothing down that hangs, and waits until it knows of replicas with these priorities. */
async function startSentinelOf(
  t: TestContext,
  { port }: RedisServer,
  expected: string,
): Promise<RedisServer> {
  const config = `sentinel monitor main 127.0.0.1 ${port} 1\nsentinel down-after-milliseconds main 60000`
  const sentinel = await startRedis(t, { sentinel: config })
  await until(async () => {
    const known = (await sentinel.ask('SENTINEL', 'REPLICAS', 'main')) as string[][]
    const priorities = known.map(fields => fields[fields.indexOf('slave-priority') + 1])
    return priorities.toSorted().join() === expected
  })
  return sentinel
}

/** Opens a way to a port on which all that is sent takes `delay` ms from then on. */
async function startLink(t: TestContext, port: number): Promise<{ readonly port: number; delay: number }> {
  const server = createServer(from => {
    const to = connect(port, '127.0.0.1')
    const pass = (source: Socket, target: Socket) => {
      let last = Promise.resolve()
      source.on('data', bytes => {
        const arrival = Promise.all([last, sleep(link.delay)])
        last = arrival.then(() => void target.write(bytes))
      })
      source.on('error', () => {}).on('close', () => target.destroy())
      t.after(() => source.destroy())
    }
    pass(from, to)
    pass(to, from)
  })
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const link = { port: (server.address() as AddressInfo).port, delay: 0 }
  return link
}

/** Kills the replica; the primary knows of none then. */
async function lose(replica: RedisServer, primary: RedisServer): Promise<void> {
  await replica.kill()
  await until(async () => String(await primary.ask('INFO', 'replication')).includes('connected_slaves:0'))
}
