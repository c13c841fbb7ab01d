// Origins that are reached by name: every address in turn, names that move, and DNS that fails.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createSecureContext, type TlsOptions } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { NameLookup } from '../../src/edge/resolver/name-lookup.ts'
import { selfSigned } from '../../src/process/demo/self-signed.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { type DnsServer, startDns } from '../help/dns.ts'
import { codeOf, type Edge, type EdgeSettings, startEdge } from '../help/edge.ts'
import { freePort } from '../help/free-port.ts'
import { type Origin, ok, startOrigin, startResponder } from '../help/origin.ts'
import { request } from '../help/raw.ts'
import { turnsUntil } from '../help/until.ts'

const name = 'origin.test'
const A = 1
const ask = request('GET /', 'Accept: application/json')

interface Started {
  readonly edge: Edge
  readonly dns: DnsServer
  readonly clock: ManualClock
}

/** Starts an edge before the name, at this port, and a DNS server that it asks. */
async function start(t: TestContext, port: number, settings: EdgeSettings = {}): Promise<Started> {
  const dns = await startDns(t)
  const clock = new ManualClock()
  const lookup = new NameLookup({ servers: [dns.address] })
  const parts = { ...patient, ...settings, clock, lookup }
  const edge = await startEdge(t, [`http://${name}:${port}`], parts)
  return { edge, dns, clock }
}

/** Starts origins on one port of several addresses of loopback, each of which answers with its own. */
async function startAt(t: TestContext, hosts: readonly string[], ...fields: string[]): Promise<Origin[]> {
  const origins: Origin[] = []
  for (const host of hosts) {
    const port = origins[0]?.port ?? (await freePort())
    origins.push(await startResponder(t, ok(host, ...fields), port, host))
  }
  return origins
}

/** Listens and never accepts: when its queue is full, connecting to it takes for ever. */
async function startDeaf(t: TestContext, port: number, host: string): Promise<void> {
  const program = `
    const { parentPort, workerData } = require('node:worker_threads')
    require('node:net').createServer().listen({ ...workerData, backlog: 1 }, () => {
      parentPort.postMessage('')
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
    })`
  const worker = new Worker(program, { eval: true, workerData: { port, host } })
  t.after(() => worker.terminate())
  await once(worker, 'message')
  for (let i = 0; i < 2; i++) {
    const filler = connect({ port, host }).on('error', () => {})
    t.after(() => filler.destroy())
    await once(filler, 'connect')
  }
}

/** Starts an origin behind TLS whose handshakes wait until it is open, and tells when the first has begun. */
async function startTls(
  t: TestContext,
  text: string,
  place: { readonly host: string; readonly port: number },
  opened: Promise<void>,
): Promise<{ readonly port: number; readonly handshake: Promise<void> }> {
  const identity = selfSigned(name)
  const { promise: handshake, resolve: begin } = Promise.withResolvers<void>()
  const SNICallback: TlsOptions['SNICallback'] = (_, done) => {
    begin()
    void opened.then(() => done(null, createSecureContext(identity)))
  }
  const server = createServer({ ...identity, SNICallback }, (_, answer) => answer.end(text))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server.listen(place), 'listening')
  return { port: (server.address() as AddressInfo).port, handshake }
}

test('the addresses of a name are used in turn, and it is looked up once', async t => {
  const hosts = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
  const [origin] = await startAt(t, hosts, 'Connection: close')
  const { edge, dns } = await start(t, origin!.port)
  dns.addresses(name, hosts)
  const answers: string[] = []
  for (let i = 0; i < 6; i++) answers.push((await edge.ask(ask)).text)
  assert.deepEqual(answers, [...hosts, ...hosts])
  assert.equal(dns.count(name, A), 1)
  const phases = edge.accesses.map(entry => Object.keys(entry.phases as object))
  assert.deepEqual(phases[0], ['resolve', 'connect', 'wait', 'receive'])
  assert.deepEqual(phases[1], ['connect', 'wait', 'receive'])
})

test('many concurrent first requests make one lookup', async t => {
  const [origin] = await startAt(t, ['127.0.0.1'])
  const { edge, dns } = await start(t, origin!.port)
  dns.addresses(name, ['127.0.0.1'])
  const release = dns.hold(name)
  const crowd = Array.from({ length: 20 }, () => edge.ask(ask))
  await dns.asked(name, 1, A)
  release()
  assert.deepEqual([...new Set((await Promise.all(crowd)).map(({ text }) => text))], ['127.0.0.1'])
  assert.equal(dns.count(name, A), 1)
})

test('an address that refuses is passed over before anything is called a failure', async t => {
  const [origin] = await startAt(t, ['127.0.0.2'], 'Connection: close')
  const { edge, dns } = await start(t, origin!.port)
  dns.addresses(name, ['127.0.0.1', '127.0.0.2', '127.255.255.255', '127.0.0.3'])
  for (let i = 0; i < 5; i++) assert.equal((await edge.ask(ask)).text, '127.0.0.2')
  assert.equal(edge.metrics.retries.value, 0)
})

test('a name all of whose addresses refuse is 521, even where others have no route', async t => {
  const [origin] = await startAt(t, ['127.0.0.1'])
  await origin!.goDown()
  const { edge, dns } = await start(t, origin!.port)
  dns.addresses(name, ['127.255.255.255', '127.0.0.1', '127.0.0.2'])
  for (let i = 0; i < 4; i++) assert.equal(codeOf(await edge.ask(ask)), 521)
})

test('an address that does not respond is followed by the next', async t => {
  const [origin] = await startAt(t, ['127.0.0.1'], 'Connection: close')
  await startDeaf(t, origin!.port, '127.0.0.2')
  const dns = await startDns(t)
  dns.addresses(name, ['127.0.0.2', '127.0.0.1'])
  const lookup = new NameLookup({ servers: [dns.address] })
  const edge = await startEdge(t, [`http://${name}:${origin!.port}`], {
    lookup,
    timeouts: { connect: 60_000 },
  })
  for (let i = 0; i < 4; i++) assert.equal((await edge.ask(ask)).text, '127.0.0.1')
  assert.equal(edge.metrics.phases.connect.count, 4)
  assert.ok(edge.metrics.phases.connect.sum < 950, 'only the first of them waited for it')
})

test('when a name gets other addresses its idle connections close, and busy ones end with their response', async t => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const old = await startResponder(t, async ({ target }) => {
    if (target === '/slow') await answered
    return ok('old')
  })
  const moved = await startResponder(t, ok('new'), old.port, '127.0.0.2')
  const { edge, dns, clock } = await start(t, old.port, { transport: { dns: { refresh: 2_000, keep: 0 } } })
  dns.addresses(name, ['127.0.0.1'])
  const slow = edge.ask(ask.replace('/', '/slow'))
  const busy = await old.wire()
  assert.equal((await edge.ask(ask)).text, 'old')
  const idle = await old.wire(1)
  dns.addresses(name, ['127.0.0.2'])
  clock.advance(2_000)
  await idle.ending
  assert.equal((await edge.ask(ask)).text, 'new')
  answer()
  assert.equal((await slow).text, 'old')
  await busy.ending
  assert.equal((await edge.ask(ask)).text, 'new')
  assert.equal(old.requests.length, 2)
  assert.equal(moved.requests.length, 2)
})

test('a connection that opens only after its name has moved serves the waiting request, and no other', async t => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const old = await startTls(t, 'old', { host: '127.0.0.1', port: await freePort() }, opened)
  await startTls(t, 'new', { host: '127.0.0.2', port: old.port }, Promise.resolve())
  const dns = await startDns(t)
  const [clock, lookup] = [new ManualClock(), new NameLookup({ servers: [dns.address] })]
  const member = { url: `https://${name}:${old.port}`, tls: { verify: false } }
  const transport = { dns: { refresh: 1_000, keep: 0 } }
  const edge = await startEdge(t, [member], { lookup, clock, transport })
  dns.addresses(name, ['127.0.0.1'])
  const first = edge.ask(ask)
  await old.handshake
  dns.addresses(name, ['127.0.0.2'])
  clock.advance(1_000)
  const second = edge.ask(ask)
  await turnsUntil(() => edge.metrics.originLookups.found.value >= 2)
  open()
  assert.deepEqual([(await first).text, (await second).text], ['old', 'old'])
  assert.equal((await edge.ask(ask)).text, 'new')
})

test('a name that vanishes keeps its addresses for a while, and is 1016 then, until it is back', async t => {
  const [origin] = await startAt(t, ['127.0.0.1'], 'Connection: close')
  const { edge, dns, clock } = await start(t, origin!.port, {
    transport: { dns: { refresh: 1_000, keep: 20_000 } },
  })
  dns.addresses(name, ['127.0.0.1'])
  assert.equal((await edge.ask(ask)).text, '127.0.0.1')
  dns.fail(name, 'no_such_name')
  clock.advance(1_000)
  for (let i = 2; i <= 4; i++) {
    assert.equal((await edge.ask(ask)).text, '127.0.0.1')
    await dns.asked(name, i, A)
    clock.advance(5_000)
  }
  assert.equal((await edge.ask(ask)).text, '127.0.0.1')
  clock.advance(5_000)
  for (let i = 0; i < 2; i++) assert.equal(codeOf(await edge.ask(ask)), 1016)
  assert.ok(edge.metrics.originLookups.failed.value >= 4)
  dns.addresses(name, ['127.0.0.1'])
  assert.equal((await edge.ask(ask)).text, '127.0.0.1')
})

test('a name that was unused for a day is looked up before it is dialled, and may be gone', async t => {
  const [old] = await startAt(t, ['127.0.0.1', '127.0.0.2'], 'Connection: close')
  const { edge, dns, clock } = await start(t, old!.port)
  dns.addresses(name, ['127.0.0.1'], 5)
  assert.equal((await edge.ask(ask)).text, '127.0.0.1')
  const day = 24 * 3600 * 1000
  dns.addresses(name, ['127.0.0.2'], 5)
  clock.advance(day)
  assert.equal((await edge.ask(ask)).text, '127.0.0.2')
  dns.fail(name, 'no_such_name')
  clock.advance(day)
  assert.equal(codeOf(await edge.ask(ask)), 1016)
})

test('a name that was idle while its DNS server stopped responding is reached where it was', async t => {
  const [origin] = await startAt(t, ['127.0.0.1'], 'Connection: close')
  const dns = await startDns(t)
  const [clock, lookup] = [new ManualClock(), new NameLookup({ servers: [dns.address] })]
  const edge = await startEdge(t, [`http://${name}:${origin!.port}`], { clock, lookup, ...patient })
  dns.addresses(name, ['127.0.0.1'], 5)
  assert.equal((await edge.ask(ask)).text, '127.0.0.1')
  dns.fail(name, 'silence')
  clock.advance(60_000)
  const answer = edge.ask(ask)
  await dns.asked(name, 2, A)
  clock.advance(500)
  assert.equal((await answer).text, '127.0.0.1')
  assert.equal(edge.metrics.originLookups.failed.value, 0, 'the look-up still goes on')
})

test('a connection that is idle when its address expires is closed', async t => {
  const [origin] = await startAt(t, ['127.0.0.1'], 'Keep-Alive: timeout=60')
  const { edge, dns, clock } = await start(t, origin!.port, {
    transport: { dns: { refresh: 1_000, keep: 2_000 } },
  })
  dns.addresses(name, ['127.0.0.1'])
  await edge.ask(ask)
  dns.fail(name, 'no_such_name')
  clock.advance(1_000)
  await dns.asked(name, 2, A)
  assert.equal((await edge.ask(ask)).text, '127.0.0.1')
  await turnsUntil(() => edge.metrics.originLookups.failed.value > 0)
  clock.advance(2_000)
  await (await origin!.wire()).ending
  assert.equal(codeOf(await edge.ask(ask)), 1016)
})

for (const [failure, code] of [
  ['no_such_name', 'ENOTFOUND'],
  ['server_failure', 'ESERVFAIL'],
  ['refused', 'EREFUSED'],
] as const) {
  test(`a name for which DNS returns ${failure} is 1016`, async t => {
    const { edge, dns } = await start(t, 80)
    dns.fail(name, failure)
    assert.equal(codeOf(await edge.ask(ask)), 1016)
    assert.equal(edge.accesses[0]!.cause, code)
    assert.deepEqual(Object.keys(edge.accesses[0]!.phases as object), ['resolve'])
  })
}

test('a lookup without a reply is retried once before it counts as a failure', async t => {
  const origin = await startResponder(t, ok('hi'))
  let lost = 1
  let asked = 0
  const system = async () => {
    asked++
    if (lost-- > 0) throw Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' })
    return ['127.0.0.1']
  }
  const start = (host: string) =>
    startEdge(t, [`http://${host}:${origin.port}`], { lookup: new NameLookup({ system }) })
  const edge = await start(name)
  assert.equal((await edge.ask(ask)).text, 'hi')
  assert.deepEqual([asked, edge.metrics.retries.value], [2, 0])
  lost = Number.POSITIVE_INFINITY
  assert.equal(codeOf(await (await start('dead.test')).ask(ask)), 1016)
  assert.equal(asked, 4)
})

test('a DNS server that does not respond is 1016 when the time to connect is over', async t => {
  const dns = await startDns(t)
  dns.fail(name, 'silence')
  const lookup = new NameLookup({ servers: [dns.address] })
  const edge = await startEdge(t, [`http://${name}`], { lookup, timeouts: { connect: 200 } })
  assert.equal(codeOf(await edge.ask(ask)), 1016)
})

test('a name that resolves too late is not dialled', async t => {
  const origin = await startOrigin(t, wire => wire.ending)
  const dns = await startDns(t)
  dns.addresses(name, ['127.0.0.1'])
  const release = dns.hold(name)
  const lookup = new NameLookup({ servers: [dns.address] })
  const edge = await startEdge(t, [`http://${name}:${origin.port}`], { lookup, timeouts: { connect: 200 } })
  assert.equal(codeOf(await edge.ask(ask)), 1016)
  release()
  await turnsUntil(() => edge.metrics.originLookups.found.value > 0)
  const probe = connect({ port: origin.port, host: '127.0.0.1' })
  t.after(() => probe.destroy())
  const { socket } = await origin.wire()
  assert.equal(socket.remotePort, probe.localPort, 'the first to come is the test')
})

test('a client that leaves while a name is looked up does no harm', async t => {
  const origin = await startOrigin(t, wire => wire.ending)
  const { edge, dns } = await start(t, origin.port)
  dns.addresses(name, ['127.0.0.1'])
  const release = dns.hold(name)
  const client = await edge.connect()
  await client.send(ask)
  await dns.asked(name, 1, A)
  client.leave()
  await turnsUntil(() => edge.metrics.clientAborts.value > 0)
  edge.plane.destroy()
  release()
  while (edge.metrics.originLookups.found.value === 0 && edge.metrics.originLookups.failed.value === 0)
    await new Promise(setImmediate)
  assert.equal(origin.wires.length, 0)
  assert.equal(edge.metrics.originConnections.value, 0)
})
