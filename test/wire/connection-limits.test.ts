// How many connections clients may have, and what becomes of more.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type Edge, type EdgeSettings, edgeConfig, startEdge } from '../help/edge.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { main, spawnGateway, startGateway, writeConfig } from '../help/gateway.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { ok, type Origin, startOrigin, startResponder } from '../help/origin.ts'
import { connectTo, request, type Wire } from '../help/raw.ts'
import { readMetrics } from '../help/prometheus.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'

const get = request('GET /')

async function isServed(wire: Wire): Promise<boolean> {
  await wire.send(get)
  return wire.response().then(
    () => true,
    () => false,
  )
}

/** Starts an edge before an origin that responds to nothing. */
async function startBusy(t: TestContext, settings: EdgeSettings) {
  const origin = await startOrigin(t, wire => wire.ending)
  const edge = await startEdge(t, [origin.url], settings)
  let count = 0
  /** Connects a client with a request that stays under way. */
  const join = async (from?: string) => {
    const wire = await edge.connect(from)
    await wire.send(get)
    count++
    await until(() => origin.wires.length === count)
    return wire
  }
  return { edge, join }
}

/** Connects, and asserts that the connection is reset: before the client learns that it stands, or right after. */
async function assertRefused(edge: Edge): Promise<void> {
  const ending = await edge.connect().then(
    wire => wire.ending,
    ({ code }) => code,
  )
  assert.match(ending, /^(RST|ECONNRESET)$/)
}

test('among many with a request under way the only idle one makes room', async t => {
  const { edge, join } = await startBusy(t, { client: { connections: 150 } })
  for (let i = 0; i < 149; i++) await join()
  const idle = await edge.connect()
  await idle.send(get.replace(/^host: .*$/im, 'host: elsewhere.test'))
  await idle.response()
  await join()
  assert.equal(await idle.ending, 'FIN')
  assert.equal(edge.metrics.refusedConnections.connections.value, 0)
  await assertRefused(edge)
})

test('connections over the limit are reset and counted; one that closes makes room', async t => {
  const { edge, join } = await startBusy(t, { client: { connections: 3 } })
  const first = [await join(), await join(), await join()]
  for (let i = 0; i < 5; i++) await assertRefused(edge)
  assert.equal(edge.metrics.refusedConnections.connections.value, 5)
  assert.equal(edge.metrics.clientConnections.value, 3)
  first[0]!.leave()
  await until(() => edge.metrics.clientConnections.value === 2)
  await edge.connect()
  await until(() => edge.metrics.clientConnections.value === 3)
})

test('an idle connection makes room for a new one', async t => {
  const { promise: go, resolve } = Promise.withResolvers<void>()
  const origin = await startResponder(t, async ({ target }) => {
    if (target === '/busy') await go
    return ok(target)
  })
  const edge = await startEdge(t, [origin.url], { client: { connections: 3 } })
  const busy = await edge.connect()
  await busy.send(request('GET /busy'))
  const idle = [await edge.connect(), await edge.connect()]
  for (const wire of idle) assert.ok(await isServed(wire))
  for (let i = 0; i < 50; i++) {
    const wire = await edge.connect()
    assert.ok(await isServed(wire))
    idle.push(wire)
    await idle.shift()!.ending
  }
  assert.equal(edge.metrics.clientConnections.value, 3)
  resolve()
  assert.equal((await busy.response()).text, '/busy')
  assert.equal(edge.metrics.refusedConnections.connections.value, 0)
  for (const wire of [busy, ...idle]) wire.leave()
  await until(() => edge.metrics.clientConnections.value === 0)
})

test('an address at its limit takes nothing from others, unless it is a trusted proxy', async t => {
  const client = { connectionsPerAddress: 2 }
  const { edge, join } = await startBusy(t, { client, trustedProxies: ['127.0.0.3'] })
  for (let i = 0; i < 2; i++) await join()
  await assertRefused(edge)
  assert.equal(edge.metrics.refusedConnections.connections_per_address.value, 1)
  await join('127.0.0.2')
  await assertRefused(edge)
  for (let i = 0; i < 5; i++) await join('127.0.0.3')
})

test('an idle connection makes room for a new one of its address', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { client: { connectionsPerAddress: 2 } })
  const other = await edge.connect('127.0.0.2')
  assert.ok(await isServed(other))
  const idle = [await edge.connect(), await edge.connect()]
  for (const wire of idle) assert.ok(await isServed(wire))
  for (let i = 0; i < 50; i++) {
    idle.push(await edge.connect())
    assert.ok(await isServed(idle.at(-1)!))
    await Promise.race(idle.slice(0, -1).map(({ ending }) => ending))
    idle.splice(0, idle.length, ...idle.filter(({ socket }) => !socket.destroyed && socket.readable))
  }
  assert.ok(await isServed(other))
  assert.equal(edge.metrics.refusedConnections.connections_per_address.value, 0)
})

test('a reload changes the limits for new connections', async t => {
  const { promise: go, resolve } = Promise.withResolvers<void>()
  const origin = await startResponder(t, () => go.then(() => ok()))
  const edge = await startEdge(t, [origin.url])
  const wires = [await edge.connect(), await edge.connect()]
  const served = wires.map(isServed)
  await until(() => origin.requests.length === 2)
  edge.reload(edgeConfig([origin.url], { client: { connections: 2 } }))
  await assertRefused(edge)
  resolve()
  for (const isOne of served) assert.ok(await isOne)
})

test('connections that say nothing, or half of something, make room for whoever comes with a request', async t => {
  const origin = await startResponder(t, ok('hi'))
  const clock = new ManualClock()
  const client = { ...patient.client, connections: 41, connectionsPerAddress: 20 }
  const edge = await startEdge(t, [origin.url], { ...patient, client, clock })
  const kept = await edge.connect('127.0.0.5')
  assert.ok(await isServed(kept))
  for (const from of ['127.0.0.2', '127.0.0.3'])
    for (let i = 0; i < 20; i++) {
      const wire = await edge.connect(from)
      if (i % 2 === 1) await wire.send(get.slice(0, 10))
    }
  const { evictedConnections, clientConnections } = edge.metrics
  await until(() => clientConnections.value === 41)
  const before = edge.plane.coarseNow
  clock.advance(1_000)
  await until(() => edge.plane.coarseNow > before)
  for (let i = 1; i <= 30; i++) assert.ok(await isServed(await edge.connect(`127.0.1.${i}`)), String(i))
  assert.ok(await isServed(kept))
  assert.equal(evictedConnections.idle.value, 0)
  assert.equal(evictedConnections.silent.value, 30)
  assert.equal(edge.metrics.refusedConnections.connections.value, 0)
  assert.equal(edge.metrics.refusedConnections.connections_per_address.value, 0)
})

/** Starts a gateway with few file descriptors before an origin. */
async function startWithFew(t: TestContext, origin: Origin, listen = '') {
  const file = writeConfig(
    t,
    `${listen}pools: { main: { origins: ['${origin.url}'] } }\nzones: [{ hosts: [site.test], routes: [{ path: /, pool: main }] }]\n`,
  )
  const limited = ['sh', '-c', 'ulimit -n 128; exec "$0" "$@"']
  const env = { ...process.env, GATEHOUSE_DATA: `${file}.data`, STORE: 'sqlite::memory:' }
  const gateway = await spawnGateway(t, [main, 'start', '--config', file], { env }, file, limited)
  const counted = async (series: string) =>
    Number(
      (await gateway.metrics())
        .split('\n')
        .find(line => line.startsWith(`${series} `))
        ?.slice(series.length),
    )
  return { gateway, port: Number(new URL(gateway.edge).port), counted }
}

test('a process that runs out of descriptors logs and counts it, and has an origin connection for each client that it lets in', async t => {
  const { promise: go, resolve } = Promise.withResolvers<void>()
  const origin = await startResponder(t, () => go.then(() => ok('hi')))
  const { gateway, port, counted } = await startWithFew(t, origin)
  const attempts = Array.from({ length: 300 }, async () => {
    const wire = await connectTo(t, port)
    void wire.send(get).catch(() => {})
    const cut = wire.ending.then(() => 0)
    return Promise.race([wire.response().then(({ status }) => status), cut])
  })
  const ends = Promise.all(attempts.map(attempt => attempt.catch(() => 0)))
  const sum = async () =>
    (await counted('gatehouse_connections_refused_total{reason="descriptors"}')) +
    (await counted('gatehouse_connections_evicted_total{state="silent"}')) +
    (await counted('gatehouse_connections_open{side="origin"}'))
  const shortages = () => counted('gatehouse_origin_descriptor_shortages_total')
  await until(async () => (await sum()) === 300 || (await shortages()) > 0)
  assert.equal(await shortages(), 0)
  // All of those that are left have a request under way.
  await connectTo(t, port).catch(() => null)
  await until(async () => (await counted('gatehouse_connections_refused_total{reason="descriptors"}')) > 0)
  resolve()
  const all = await ends
  const served = all.filter(status => status === 200).length
  assert.ok(served > 10, `${served} are served`)
  assert.equal(served + all.filter(status => status === 0).length, 300)
  const line = await gateway.logged('client connections refused')
  assert.deepEqual(
    [line.limit, gateway.lines.filter(({ msg }) => msg === line.msg).length],
    ['descriptors', 1],
  )
})

/** More than there are descriptors. */
const visitors = thorough(300, 160)

test('among idle clients and few descriptors everybody is served, at the side port too', async t => {
  const origin = await startResponder(t, ok('hi'))
  const { gateway, port, counted } = await startWithFew(t, origin)
  for (let i = 0; i < visitors; i++) {
    assert.ok(await isServed(await connectTo(t, port)), String(i))
    if (i % 10 === 0) assert.equal((await fetch(`${gateway.admin}/healthz`)).status, 200)
  }
  assert.equal(await counted('gatehouse_connections_refused_total{reason="descriptors"}'), 0)
  const open = await counted('gatehouse_connections_open{side="client"}')
  assert.equal(await counted('gatehouse_connections_evicted_total{state="idle"}'), visitors - open)
})

for (const from of thorough(['127.0.0.1', '127.0.0.9'], ['127.0.0.9']))
  test(`a crowd at ${from} that says nothing, connects again at once and is new all the time keeps nobody out`, async t => {
    const origin = await startResponder(t, ok('hi'))
    const { gateway, port, counted } = await startWithFew(t, origin)
    let cuts = 0
    let isOver = false
    t.after(() => (isOver = true))
    const join = (): void => {
      const socket = connect({ port, host: '127.0.0.1', localAddress: from })
      socket.on('error', () => {})
      socket.on('close', () => {
        cuts++
        if (!isOver) join()
      })
      t.after(() => socket.destroy())
    }
    for (let i = 0; i < 60; i++) join()
    const silent = 'gatehouse_connections_evicted_total{state="silent"}'
    await until(async () => (await counted(silent)) > 100)
    for (let i = 0; i < thorough(40, 15); i++) {
      // The crowd has come anew since the last visitor.
      const before = cuts
      await until(() => cuts > before)
      assert.ok(await isServed(await connectTo(t, port)), String(i))
      if (i % 10 === 0) assert.equal((await fetch(`${gateway.admin}/healthz`)).status, 200)
    }
    assert.equal(await counted('gatehouse_connections_refused_total{reason="descriptors"}'), 0)
  })

test('a flood of the side port leaves the edge its descriptors, and is logged and counted', async t => {
  const origin = await startResponder(t, ok('hi'))
  const { gateway, port, counted } = await startWithFew(t, origin)
  const sidePort = Number(new URL(gateway.admin).port)
  const flood = await Promise.all(Array.from({ length: 150 }, () => connectTo(t, sidePort).catch(() => null)))
  await gateway.logged('admin listener connections refused: too many for the file descriptors')
  for (let i = 0; i < 10; i++) assert.ok(await isServed(await connectTo(t, port)))
  let ended = 0
  for (const wire of flood) void (wire?.ending ?? Promise.resolve()).finally(() => ended++).catch(() => {})
  await until(() => ended > 100)
  const before = ended
  for (const wire of flood) wire?.leave()
  // Until it has seen them go, it refuses who asks.
  const refused = () => counted('gatehouse_side_port_connections_refused_total').catch(() => 0)
  await until(async () => (await refused()) >= before)
})

test('connections to origins leave descriptors for the side port, and a request without one gets an error', async t => {
  const origin = await startOrigin(t, wire => wire.ending)
  const { gateway, counted } = await startWithFew(
    t,
    origin,
    "listen: [{ address: '127.0.0.1:0', h2c: true }]\n",
  )
  const shortages = 'gatehouse_origin_descriptor_shortages_total'
  const session = await connectHttp2(t, gateway.edge)
  const errors: number[] = []
  for (let i = 0; i < 120; i++) void ask(session).then(({ status }) => errors.push(status))
  await until(
    async () =>
      (await counted('gatehouse_connections_open{side="origin"}')) + (await counted(shortages)) === 120,
  )
  const short = await counted(shortages)
  assert.ok(short > 0 && short < 110, `${short} have none`)
  await until(() => errors.length === short)
  assert.deepEqual(new Set(errors), new Set([500]))
  const { code } = (await gateway.logged('origin connections failed: no file descriptors left')).err as {
    code: string
  }
  assert.equal(code, 'EMFILE')
})

test('with workers the limits are those of all, whoever gets the connections, and hold when one is killed or a reload changes them', async t => {
  const { promise: go, resolve } = Promise.withResolvers<void>()
  const origin = await startResponder(t, async ({ target }) => {
    if (target === '/busy') await go
    return ok('hi')
  })
  t.after(() => resolve())
  const yaml = (limits: string) => `
pools: { main: { origins: ['${origin.url}'] } }
zones: [{ hosts: [site.test], routes: [{ path: /, pool: main }] }]
workers: 2
client: { header_timeout: 10m, ${limits} }
`
  const gateway = await startGateway(t, yaml('connections: 7, connections_per_address: 5'))
  const counted = async (series: string) => readMetrics(await gateway.metrics()).samples.get(series)
  const port = Number(new URL(gateway.edge).port)
  const open = () => counted('gatehouse_connections_open{side="client"}')
  let wires: Wire[] = []
  /** Connects until it is taken, as one of so many: a worker that was denied more asks again only a tenth of a second later. */
  const join = (from: string, count: number, target = '/busy') =>
    until(async () => {
      const wire = await connectTo(t, port, from).catch(() => null)
      const isOver = () => wire === null || wire.socket.destroyed || !wire.socket.readable
      await until(async () => isOver() || (await open()) === count)
      if (isOver()) return false
      wires.push(wire!)
      // With a request under way it makes room for nobody.
      const { length } = origin.requests
      await wire!.send(request(`GET ${target}`))
      await until(() => origin.requests.length > length || isOver())
      return !isOver()
    })
  const assertFull = async (from: string, reason: string) => {
    const series = `gatehouse_connections_refused_total{reason="${reason}"}`
    const before = (await counted(series))!
    const ending = connectTo(t, port, from).then(
      wire => wire.ending,
      ({ code }) => code,
    )
    await until(async () => (await counted(series)) === before + 1)
    assert.match(await ending, /^(RST|ECONNRESET)$/)
  }
  for (let count = 1; count <= 5; count++) await join('127.0.0.1', count)
  await assertFull('127.0.0.1', 'connections_per_address')
  await join('127.0.0.2', 6)
  await join('127.0.0.2', 7)
  await assertFull('127.0.0.3', 'connections')
  wires.pop()!.leave()
  await until(async () => (await open()) === 6)
  await join('127.0.0.2', 7, '/')
  const idle = wires.pop()!
  await idle.response()
  // Whichever worker has it.
  await until(async () => {
    const late = await connectTo(t, port, '127.0.0.3').catch(() => null)
    if (late === null || !(await isServed(late).catch(() => false))) return false
    await late.send(request('GET /busy'))
    return wires.push(late) > 0
  })
  await idle.ending
  assert.equal(await open(), 7)
  process.kill(workersOf(gateway.pid)[0]!, 'SIGKILL')
  await gateway.logged('worker ended, starting another')
  await until(async () => {
    wires = wires.filter(({ socket }) => !socket.destroyed && socket.readable)
    return (await open()) === wires.length
  })
  for (let i = 4; wires.length < 7; i++) await join(`127.0.0.${i}`, wires.length + 1)
  await assertFull('127.0.1.1', 'connections')
  gateway.rewrite(yaml('connections: 9, connections_per_address: 5'))
  await gateway.logged('configuration reloaded')
  for (let i = 2; i < 4; i++) await join(`127.0.1.${i}`, wires.length + 1)
  await assertFull('127.0.1.4', 'connections')
})

function workersOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
}
