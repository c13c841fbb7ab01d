// A store that comes back empty: what was denied stays denied, nothing is made quietly, and an operator decides.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { freePort } from '../help/free-port.ts'
import { main, type RunningGateway, spawnGateway, startGateway, writeConfig } from '../help/gateway.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { startRedis } from '../help/redis.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'

const run = promisify(execFile)

/** A busy machine takes longer for some commands than the usual 250 ms. */
const inRedis = `store: { url: '\${STORE}', command_timeout: 5s }`

interface Readiness {
  readonly code: number
  readonly status: string
  readonly reason?: string
  readonly next?: string
}

async function start(t: TestContext, more: string, env: NodeJS.ProcessEnv = {}) {
  const origin = await startSite(t, (_, response) => response.end('the site'))
  const gateway = await startGateway(t, siteConfig(origin, more), { env })
  const { token } = await gateway.firstStart
  const deny = { action: 'deny', expression: 'request.path == "/secret"' }
  const set = await ask(gateway, token, 'POST', '/client/v4/zones/site/access_rules', deny)
  assert.equal(set.status, 200, JSON.stringify(set.json))
  await until(async () => (await statusOf(gateway, '/secret')) === 403)
  await remembers(gateway)
  return { gateway, token }
}

/** Waits until the store was seen: what is lost before that, no machine knows of. */
async function remembers(gateway: RunningGateway): Promise<void> {
  await until(() => existsSync(join(dirname(gateway.file), 'data', 'store.json')))
}

async function ask(gateway: RunningGateway, token: string, method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(`${gateway.admin}${path}`, {
    ...{ method, headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, json: (await response.json()) as { errors: { message: string }[] } }
}

async function statusOf({ edge }: RunningGateway, path: string): Promise<number> {
  const response = await fetch(edge + path)
  await response.arrayBuffer()
  return response.status
}

async function readinessOf({ admin }: { readonly admin: string }): Promise<Readiness> {
  const response = await fetch(`${admin}/readyz`)
  return { code: response.status, ...((await response.json()) as Omit<Readiness, 'code'>) }
}

/** Asks for what is denied, and for what is not, until it is ended; returns how often each status came. */
function load(gateway: RunningGateway) {
  const counts: Record<string, number> = {}
  let isOver = false
  const client = async () => {
    while (!isOver)
      for (const path of ['/secret', '/'] as const) {
        const name = `${path} ${await statusOf(gateway, path)}`
        counts[name] = (counts[name] ?? 0) + 1
      }
  }
  const clients = Promise.all(Array.from({ length: 4 }, client))
  return {
    counts,
    end: async () => {
      isOver = true
      await clients
    },
  }
}

async function storeCommand(gateway: RunningGateway, env: NodeJS.ProcessEnv = {}) {
  const data = { GATEHOUSE_DATA: join(dirname(gateway.file), 'data') }
  const { stdout } = await run(process.execPath, [main, 'store', 'accept', '--config', gateway.file], {
    env: { ...process.env, ...data, ...env },
  })
  return stdout
}

for (const workers of thorough([0, 2], [2]))
  test(`Redis that is emptied under load opens nothing, is told, and ends when it comes back or is accepted, with ${workers} workers`, async t => {
    const redis = await startRedis(t)
    const env = { STORE: redis.url }
    const { gateway, token } = await start(t, `workers: ${workers}\n${inRedis}`, env)
    const dump = await dumpOf(redis)
    const running = load(gateway)
    await until(() => (running.counts['/secret 403'] ?? 0) > 20)
    await redis.ask('FLUSHALL')
    const lost = await gateway.logged('store not trusted')
    assert.match(String(lost.reason), /^the store is empty, and this machine has seen it at generation \d+$/)
    const before = running.counts['/secret 403']!
    await until(() => running.counts['/secret 403']! > before + 100)
    assert.deepEqual(await readinessOf(gateway), {
      code: 200,
      status: 'degraded',
      reason: lost.reason,
      next: lost.next,
    })
    assert.match(await gateway.metrics(), /^gatehouse_store_degraded\{reason="store_empty"\} 1$/m)
    const cookie = `gatehouse=${'a'.repeat(43)}; gatehouse_visitor=${'a'.repeat(43)}`
    for (const page of ['/dashboard', '/auth/account']) {
      const response = await fetch(gateway.admin + page, { headers: { cookie }, redirect: 'manual' })
      const text = await response.text()
      assert.equal(response.status, 503, page)
      assert.match(text, /The store is not trusted[\s\S]*the store is empty[\s\S]*gatehouse store accept/)
    }
    const refused = await ask(gateway, token, 'POST', '/client/v4/zones/site/access_rules', {
      ...{ action: 'deny', expression: 'true' },
    })
    assert.equal(refused.status, 503)
    assert.match(refused.json.errors[0]!.message, /store is empty.*gatehouse store accept/)

    const words = gateway.lines.map(({ msg }) => msg)
    assert.deepEqual(
      words.filter(msg => msg.includes('store unreachable')),
      [],
    )

    // It comes back as it was: nobody has to do anything.
    await restore(redis, dump)
    await gateway.logged('store trusted again')
    await until(async () => (await readinessOf(gateway)).status === 'ready')
    assert.equal((await ask(gateway, token, 'GET', '/client/v4/zones/site/access_rules')).status, 200)

    // Again, and now it is accepted: only then the rule is gone.
    gateway.lines.length = 0
    await redis.ask('FLUSHALL')
    await gateway.logged('store not trusted')
    await running.end()
    const { '/secret 403': denied, '/ 200': served, ...others } = running.counts
    assert.deepEqual(others, {})
    assert.ok(denied! > 100 && served! > 100)
    assert.equal(await statusOf(gateway, '/secret'), 403)
    const said = await storeCommand(gateway, env)
    assert.match(
      said,
      /^Remembered: redis:\/\/\S+, store [0-9a-f]{8} at generation \d+\nFound: {6}\S+, new, with no account\n/,
    )
    await until(async () => (await readinessOf(gateway)).status === 'ready')
    await until(async () => (await statusOf(gateway, '/secret')) === 200)
    assert.match(said, /\nThe store holds no account: the next start makes one, with a token\.\n$/)
    assert.match(await storeCommand(gateway, env), /^Remembered: .*\nFound: .*\nAccepted/)

    assert.match(
      await storeCommand(gateway, { ...env, GATEHOUSE_DATA: quickFolder(t, 'no-memory') }),
      /^Remembered: nothing\nFound: .*\nThere was nothing to accept: this machine remembered no store\./,
    )
  })

type Redis = Awaited<ReturnType<typeof startRedis>>

/** Reads all keys of a server as DUMP has them, in hex. */
async function dumpOf(redis: Redis): Promise<readonly [key: string, value: string][]> {
  const script =
    'local all = {} for _, key in ipairs(redis.call("KEYS", "*")) do local hex = string.gsub(redis.call("DUMP", key), ".", function (c) return string.format("%02x", string.byte(c)) end) all[#all + 1] = {key, hex} end return all'
  return (await redis.ask('EVAL', script, 0)) as [string, string][]
}

/** Brings all keys back in one step. */
async function restore(redis: Redis, dump: readonly [string, string][]): Promise<void> {
  const script =
    'for at = 1, #KEYS do local bytes = string.gsub(ARGV[at], "%x%x", function (hex) return string.char(tonumber(hex, 16)) end) redis.call("RESTORE", KEYS[at], 0, bytes, "REPLACE") end'
  await redis.ask('EVAL', script, dump.length, ...dump.map(([key]) => key), ...dump.map(([, hex]) => hex))
}

test('SQLite that is replaced by an empty file opens nothing, and a start on it waits until it is accepted', async t => {
  const { gateway } = await start(t, '')
  const file = join(dirname(gateway.file), 'data', 'gatehouse.db')
  const running = load(gateway)
  await until(() => (running.counts['/secret 403'] ?? 0) > 20)
  truncateSync(file)
  truncateSync(`${file}-wal`)
  const before = running.counts['/secret 403']!
  await until(() => running.counts['/secret 403']! > before + 200)
  await running.end()
  const { '/secret 403': denied, '/ 200': served, ...others } = running.counts
  assert.deepEqual(others, {})
  assert.ok(denied! > 200 && served! > 200)
  gateway.signal('SIGKILL')
  await gateway.exited
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
  writeFileSync(file, '')

  const port = await freePort()
  const config = readFileSync(gateway.file, 'utf8').replace('admin: 127.0.0.1:0', `admin: 127.0.0.1:${port}`)
  writeFileSync(gateway.file, config)
  const data = join(dirname(gateway.file), 'data')
  const remembered = readFileSync(join(data, 'store.json'), 'utf8')
  const env = { ...process.env, GATEHOUSE_DATA: data }
  const again = spawnGateway(t, [main, 'start', '--config', gateway.file], { env }, gateway.file)
  const admin = `http://127.0.0.1:${port}`
  const isUp = () =>
    readinessOf({ admin }).then(
      ({ reason }) => reason !== 'starting',
      () => false,
    )
  await until(isUp)
  const { code, status, reason, next } = await readinessOf({ admin })
  assert.deepEqual([code, status], [503, 'unready'])
  assert.match(reason!, /^the store is empty, and this machine has seen it at generation \d+$/)
  assert.match(next!, /gatehouse store accept/)
  assert.equal(readFileSync(join(data, 'store.json'), 'utf8'), remembered)
  const said = await storeCommand(gateway)
  assert.match(said, /Found: .* with no account\nAccepted/)
  const started = await again
  assert.equal((await readinessOf(started)).status, 'ready')
  await started.firstStart
  assert.equal(await statusOf(started, '/'), 200)
})

test('a gateway that is to replace one, or to upgrade it, does not begin on a store in doubt, and says why', async t => {
  const redis = await startRedis(t)
  const origin = await startSite(t, (_, response) => response.end('the site'))
  const config = siteConfig(origin, inRedis)
    .replace('admin: 127.0.0.1:0', `admin: 127.0.0.1:${await freePort()}`)
    .replace('127.0.0.1:0', `127.0.0.1:${await freePort()}`)
  const gateway = await startGateway(t, config, { env: { STORE: redis.url } })
  const { token } = await gateway.firstStart
  const deny = { action: 'deny', expression: 'request.path == "/secret"' }
  assert.equal((await ask(gateway, token, 'POST', '/client/v4/zones/site/access_rules', deny)).status, 200)
  await until(async () => (await statusOf(gateway, '/secret')) === 403)
  await remembers(gateway)
  await redis.ask('FLUSHALL')
  await gateway.logged('store not trusted')
  const running = load(gateway)

  const env = { ...process.env, STORE: redis.url, GATEHOUSE_DATA: join(dirname(gateway.file), 'data') }
  const args = [main, 'start', '--replace', '--config', gateway.file]
  await assert.rejects(run(process.execPath, args, { env }), ({ code, stdout, stderr }) => {
    assert.equal(code, 1)
    assert.match(stdout + stderr, /the store is not trusted: the store is empty.*gatehouse store accept/)
    return true
  })
  gateway.signal('SIGUSR2')
  await gateway.logged('upgrade failed, the running gateway continues')
  await running.end()
  const { '/secret 403': denied, '/ 200': served, ...others } = running.counts
  assert.deepEqual(others, {})
  assert.ok(denied! > 20 && served! > 20)
  assert.equal((await readinessOf(gateway)).status, 'degraded')
})

/** Starts a gateway again, from its file of before unless another is given, and waits until it responds. */
async function startAgain(t: TestContext, file: string, env: NodeJS.ProcessEnv) {
  const port = await freePort()
  writeFileSync(file, readFileSync(file, 'utf8').replace(/admin: 127.0.0.1:\d+/, `admin: 127.0.0.1:${port}`))
  const all = { ...process.env, GATEHOUSE_DATA: join(dirname(file), 'data'), ...env }
  const ready = spawnGateway(t, [main, 'start', '--config', file], { env: all }, file)
  const admin = `http://127.0.0.1:${port}`
  await until(() =>
    readinessOf({ admin }).then(
      ({ reason }) => reason !== 'starting',
      () => false,
    ),
  )
  return { ready, admin }
}

for (const kind of thorough(['dump of Redis', 'copy of SQLite'] as const, ['dump of Redis'] as const))
  test(`an older ${kind} that is restored between stop and start is not served before it is accepted, and what is missing is counted`, async t => {
    const redis = kind === 'dump of Redis' ? await startRedis(t, { aof: false }) : null
    const env = redis === null ? {} : { STORE: redis.url }
    const { gateway, token } = await start(t, redis === null ? '' : inRedis, env)
    const file = join(dirname(gateway.file), 'data', 'gatehouse.db')
    await (redis === null ? run(process.execPath, ['-e', backUp, file, `${file}.older`]) : dump(redis))
    await denyThree(gateway, token)
    gateway.signal('SIGTERM')
    await gateway.exited
    if (redis === null) {
      for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true })
      renameSync(`${file}.older`, file)
    } else await redis.restart()

    const { ready, admin } = await startAgain(t, gateway.file, env)
    const { code, status, reason, next } = await readinessOf({ admin })
    assert.deepEqual([code, status], [503, 'unready'])
    assert.match(reason!, threeMissing)
    assert.match(next!, /gatehouse store accept/)
    assert.match(await storeCommand(gateway, env), /Found: .* with 1 account\nAccepted/)
    const started = await ready
    await until(async () => (await readinessOf(started)).status === 'ready')
    await until(async () => (await statusOf(started, '/three')) === 200)
    assert.equal(await statusOf(started, '/secret'), 403)
  })

test('a failover that lost changes is told with how many, and the running gateway goes on denying what they denied', async t => {
  const primary = await startRedis(t)
  const next = await startRedis(t)
  const relay = await startRelay(t, primary.port)
  const env = { STORE: `redis://127.0.0.1:${relay.port}` }
  const { gateway, token } = await start(t, inRedis, env)
  // As a replica that its service doesn't show has it: changes wait for those that can be seen.
  await restore(next, await dumpOf(primary))
  await denyThree(gateway, token)
  relay.lead(next.port)
  await primary.kill()
  const lost = await gateway.logged('store not trusted')
  assert.match(String(lost.reason), threeMissing)
  for (const path of ['/secret', '/three']) assert.equal(await statusOf(gateway, path), 403)
  const { code, status, reason } = await readinessOf(gateway)
  assert.deepEqual([code, status, reason], [200, 'degraded', lost.reason])
  const rule = { action: 'deny', expression: 'true' }
  assert.equal((await ask(gateway, token, 'POST', '/client/v4/zones/site/access_rules', rule)).status, 503)
  assert.match(await storeCommand(gateway, env), /Accepted/)
  await gateway.logged('store trusted again')
  await until(async () => (await statusOf(gateway, '/three')) === 200)
  assert.equal(await statusOf(gateway, '/secret'), 403)
})

test('after Redis was emptied a running machine keeps serving, and one that restarts does not', async t => {
  const redis = await startRedis(t)
  const env = { STORE: redis.url }
  const { gateway: first } = await start(t, inRedis, env)
  const other = writeConfig(t, readFileSync(first.file, 'utf8'))
  const data = join(dirname(other), 'data')
  mkdirSync(data)
  copyFileSync(join(dirname(first.file), 'data', 'secrets.key'), join(data, 'secrets.key'))
  const { ready } = await startAgain(t, other, env)
  const second = await ready
  await until(async () => (await statusOf(second, '/secret')) === 403)
  second.signal('SIGTERM')
  await second.exited
  await redis.ask('FLUSHALL')
  const lost = await first.logged('store not trusted')
  const again = await startAgain(t, other, env)
  // The test ends it while it waits.
  again.ready.catch(() => {})
  const readiness = await readinessOf(again)
  assert.deepEqual([readiness.code, readiness.status], [503, 'unready'])
  assert.match(readiness.reason!, /^the store is empty, and this machine has seen it at generation \d+$/)
  assert.deepEqual(await readinessOf(first), {
    ...{ code: 200, status: 'degraded' },
    ...{ reason: lost.reason, next: lost.next },
  })
  assert.equal(await statusOf(first, '/secret'), 403)
  assert.equal(await statusOf(first, '/'), 200)
})

const threeMissing =
  /^the store is older than this machine has seen it: generation \d+, seen \d+: the last 3 changes are missing$/

/** Makes three changes. */
async function denyThree(gateway: RunningGateway, token: string): Promise<void> {
  for (const path of ['/one', '/two', '/three']) {
    const rule = { action: 'deny', expression: `request.path == "${path}"` }
    assert.equal((await ask(gateway, token, 'POST', '/client/v4/zones/site/access_rules', rule)).status, 200)
  }
  await until(async () => (await statusOf(gateway, '/three')) === 403)
}

/** Copies an SQLite file by its backup API. */
const backUp = `const { DatabaseSync, backup } = require('node:sqlite')
backup(new DatabaseSync(process.argv[1]), process.argv[2])`

/** Writes the file that a server without an append-only file starts from. */
async function dump(redis: Redis): Promise<void> {
  const before = Number(await redis.ask('LASTSAVE'))
  await until(() => Date.now() / 1000 > before + 1)
  await redis.ask('BGSAVE')
  await until(async () => Number(await redis.ask('LASTSAVE')) > before)
}

/** Leads connections to a port of this machine, until told another one. */
async function startRelay(t: TestContext, first: number) {
  let target = first
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    const there = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [socket, there],
      [there, socket],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {}).on('close', () => to.destroy())
      from.pipe(to)
    }
  })
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    lead: (port: number) => {
      target = port
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    },
  }
}
