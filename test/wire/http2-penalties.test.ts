// Clients that attack over HTTP/2, with and without TLS: each connection ends and is counted, others go on, and whoever comes again is held for a moment before there is anything to attack.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectSession } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { errorCode, flag, frameType, setting } from '../../src/http2/frames/frames.ts'
import type { SessionFault } from '../../src/http2/server/session-user.ts'
import { Authority } from '../help/certificates.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { Edge, type EdgeSettings, edgeConfig, listenAt } from '../help/edge.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { codeOf, frame, framesOf, get, headers, ping, preface, rstStream, settings } from '../help/http2.ts'
import { many } from '../help/http2-origin.ts'
import { ok, startResponder } from '../help/origin.ts'
import { proxyHeader } from '../help/proxy-header.ts'
import { connectTo, request } from '../help/raw.ts'
import { turnsUntil } from '../help/until.ts'

const authority = new Authority()
const identity = authority.issue(['site.test', '127.0.0.1'])
const tlsOptions = { ca: authority.certificate, servername: 'site.test' }

const plain = { host: '127.0.0.1', port: 0, tls: false }

async function start(t: TestContext, listener: object, more: EdgeSettings = {}, penalty = 20_000) {
  const origin = await startResponder(t, ok('hello'))
  const clock = new ManualClock()
  const config = {
    ...edgeConfig([origin.url], { ...patient, ...more }),
    listen: [{ ...plain, ...listener }, plain],
    tls: { certificates: [identity], minVersion: 'TLSv1.2' } as const,
    http2: { enabled: true, maxConcurrentStreams: 128, penalty },
  }
  const edge = await listenAt(t, new Edge(t, config, { clock }))
  return { edge, clock, origin }
}

/** Connects from an address of loopback. */
function join(t: TestContext, edge: Edge, localAddress: string, isTls = false): Socket {
  const to = { host: '127.0.0.1', port: edge.port, localAddress }
  const socket = isTls ? connectTls({ ...to, ...tlsOptions, ALPNProtocols: ['h2'] }) : connect(to)
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  return socket
}

/** Attacks, and waits for the end of the connection. */
async function attack(t: TestContext, edge: Edge, from: string, bytes: Buffer, isTls = false): Promise<void> {
  const socket = join(t, edge, from, isTls)
  socket.write(bytes)
  // Those that are refused may fail before they are connected, which is no news.
  await new Promise(resolve => socket.resume().on('close', resolve))
}

/** Opens a connection over HTTP/2 from an address of loopback, which may be held. */
function connect2(t: TestContext, url: string, localAddress: string): ClientHttp2Session {
  const createConnection = ({ port, hostname: host }: URL) =>
    connect({ host, port: Number(port), localAddress })
  const session = connectSession(url, { createConnection })
  session.on('error', () => {})
  t.after(() => session.destroy())
  return session
}

/** Connects to a port where the connection is refused, and waits for its end. */
function refused(t: TestContext, port: number, localAddress: string): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, localAddress })
  t.after(() => socket.destroy())
  return new Promise(resolve => {
    socket.on('error', () => {}).on('close', () => resolve())
  })
}

/** Waits for so many acknowledgements of PING. */
function pongs(socket: Socket, count: number): Promise<void> {
  let got: Buffer = Buffer.alloc(0)
  return new Promise(resolve => {
    socket.on('data', (bytes: Buffer) => {
      got = Buffer.concat([got, bytes])
      if (got.length < count * ping.length) return
      if (framesOf(got).filter(({ type }) => type === frameType.ping).length === count) resolve()
    })
  })
}

const greeting = Buffer.concat([preface, settings()])
const flood = Buffer.concat([greeting, many(4_000, ping)])

const attacks: Readonly<Record<string, readonly [SessionFault, Buffer]>> = {
  'resets of requests': [
    'resets',
    Buffer.concat(
      Array.from({ length: 1_000 }, (_, i) => Buffer.concat([headers(2 * i + 1), rstStream(2 * i + 1)])),
    ),
  ],
  'heads that are malformed': [
    'resets',
    Buffer.concat(Array.from({ length: 1_000 }, (_, i) => headers(2 * i + 1, [...get, ['connection', 'x']]))),
  ],
  SETTINGS: ['control_frames', many(4_000, settings([setting.initialWindowSize, 1]))],
  PING: ['control_frames', many(4_000, ping)],
  'CONTINUATION without end': [
    'header_block',
    Buffer.concat([headers(1, get, flag.endStream), many(200, frame(frameType.continuation, 0, 1))]),
  ],
  'a header block that is none': [
    'protocol',
    frame(frameType.headers, flag.endHeaders, 1, '\xff\xff\xff\xff\xff'),
  ],
}

test('over TLS each kind of attack ends its connection and is counted, and others go on', async t => {
  const { edge } = await start(t, { tls: true })
  const other = await connectHttp2(t, `https://127.0.0.1:${edge.port}`, tlsOptions)
  let nth = 2
  for (const [name, [fault, bytes]] of Object.entries(attacks)) {
    const before = edge.metrics.http2Failures[fault].value
    await attack(t, edge, `127.0.0.${nth++}`, Buffer.concat([greeting, bytes]), true)
    assert.equal(edge.metrics.http2Failures[fault].value, before + 1, name)
    assert.equal((await ask(other)).status, 200, name)
  }
  await turnsUntil(() => edge.metrics.clientConnections.value === 1)
})

/** Has an address offend, also with the ten connections that are taken in spite of it, and connect so often again; returns once all of these are held. */
async function offend(
  t: TestContext,
  edge: Edge,
  from: string,
  count: number,
  { isTls = false, bytes = flood } = {},
): Promise<void> {
  for (let i = 0; i < 11; i++) await attack(t, edge, from, flood, isTls)
  for (let i = 0; i < count; i++) void attack(t, edge, from, bytes, isTls)
  await turnsUntil(() => edge.metrics.heldConnections.value === count)
}

test('a client that attacks again and again has few connections taken at once, and each other one held before its handshake', async t => {
  const { edge, clock } = await start(t, { tls: true })
  const { refusedConnections, tlsHandshakes, http2Failures, heldConnections } = edge.metrics
  await offend(t, edge, '127.0.0.2', 13, { isTls: true })
  assert.equal(http2Failures.control_frames.value, 11)
  clock.advance(100)
  await turnsUntil(() => heldConnections.value === 12 && http2Failures.control_frames.value === 12)
  const other = await connectHttp2(t, `https://127.0.0.1:${edge.port}`, tlsOptions)
  assert.equal((await ask(other)).status, 200)
  assert.equal(heldConnections.value, 12)
  assert.equal(tlsHandshakes.full.value + tlsHandshakes.resumed.value, 13)
  clock.advance(100)
  await turnsUntil(() => heldConnections.value === 0 && http2Failures.control_frames.value === 24)
  assert.equal(refusedConnections.penalty.value, 0)
})

/** Keeps so many connections that attack, each of which is followed by another one as soon as it ends; returns how many have ended so far. */
function besiege(t: TestContext, edge: Edge, from: string, count: number, isTls: boolean): () => number {
  let ended = 0
  const goOn = async () => {
    while (!t.signal.aborted) {
      await attack(t, edge, from, flood, isTls)
      ended++
    }
  }
  for (let i = 0; i < count; i++) void goOn()
  return () => ended
}

for (const isTls of [false, true])
  test(`a client that shares the address of an attacker that replaces each connection is served within half a second (TLS: ${isTls})`, async t => {
    const { edge, clock } = await start(t, isTls ? { tls: true } : { h2c: true })
    const { heldConnections, refusedConnections } = edge.metrics
    await offend(t, edge, '127.0.0.2', 0, { isTls })
    const endedBefore = besiege(t, edge, '127.0.0.2', 60, isTls)
    await turnsUntil(() => heldConnections.value === 60)
    const visitor = connectSession(`${isTls ? 'https' : 'http'}://127.0.0.1:${edge.port}`, {
      createConnection: () => join(t, edge, '127.0.0.2', isTls),
    })
    visitor.on('error', () => {})
    t.after(() => visitor.destroy())
    let served: number | undefined
    void ask(visitor).then(({ status }) => {
      served = status
    })
    await turnsUntil(() => heldConnections.value === 61)
    const endedBehind = besiege(t, edge, '127.0.0.2', 1, isTls)
    await turnsUntil(() => heldConnections.value === 62)
    const ended = () => endedBefore() + endedBehind()
    for (let waited = 0; waited < 500 && served === undefined; waited += 100) {
      const before = ended()
      clock.advance(100)
      // Where only one is taken, the attacker has replaced it behind the visitor by then.
      await turnsUntil(() => served !== undefined || (ended() === before + 1 && heldConnections.value === 62))
    }
    assert.deepEqual([served, refusedConnections.penalty.value], [200, 0])
    assert.ok(ended() > 0, 'the attacker has replaced none')
  })

test('with its penalty, a client loses the connections that it has opened for later, and no others', async t => {
  const { edge, clock } = await start(t, { h2c: true })
  const { refusedConnections, clientConnections } = edge.metrics
  const [, plainPort] = edge.ports
  const served = connect2(t, `http://127.0.0.1:${edge.port}`, '127.0.0.2')
  assert.equal((await ask(served)).status, 200)
  const silent = Array.from({ length: 60 }, () => join(t, edge, '127.0.0.2'))
  const ends = silent.map(socket => new Promise(resolve => socket.resume().on('close', resolve)))
  const other = join(t, edge, '127.0.0.3')
  const plain = await connectTo(t, plainPort!, '127.0.0.2')
  await turnsUntil(() => {
    // Of connections that say nothing, an address has eight at a time.
    clock.advance(20)
    return clientConnections.value === 63
  })
  const before = edge.plane.coarseNow
  clock.advance(1_000)
  await turnsUntil(() => edge.plane.coarseNow > before)
  const young = join(t, edge, '127.0.0.2')
  await turnsUntil(() => clientConnections.value === 64)
  await attack(t, edge, '127.0.0.2', flood)
  await Promise.all(ends)
  assert.equal(refusedConnections.penalty.value, 60)
  assert.equal((await ask(served)).status, 200)
  await plain.send(request('GET /'))
  assert.equal((await plain.response()).status, 200)
  assert.deepEqual([other.closed, young.closed, clientConnections.value], [false, false, 4])
})

test('a client that breaks a rule long after it connected still learns which', async t => {
  const { edge, clock } = await start(t, { h2c: true })
  const late = join(t, edge, '127.0.0.2')
  let got: Buffer = Buffer.alloc(0)
  late.on('data', (bytes: Buffer) => (got = Buffer.concat([got, bytes])))
  late.write(greeting)
  await once(late, 'data')
  const before = edge.plane.coarseNow
  clock.advance(1_000)
  await turnsUntil(() => edge.plane.coarseNow > before)
  late.write(headers(2))
  await once(late, 'close')
  assert.equal(codeOf(framesOf(got), 0), errorCode.protocol)
})

test('connections that an address has at one time spend together no more than four times what one may', async t => {
  const { edge } = await start(t, { h2c: true })
  const { control_frames: faults } = edge.metrics.http2Failures
  const sockets = Array.from({ length: 5 }, () => join(t, edge, '127.0.0.2'))
  const polite = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  const ends: Promise<unknown>[] = []
  for (const [i, socket] of sockets.entries()) {
    assert.equal(faults.value, 0)
    ends.push(new Promise(resolve => socket.resume().on('close', resolve)))
    const acknowledged = i === 4 ? ends[4]! : pongs(socket, 1_900)
    socket.write(Buffer.concat([greeting, many(1_900, ping)]))
    await acknowledged
  }
  assert.equal(faults.value, 1)
  assert.equal((await ask(polite)).status, 200)
  sockets[0]!.write(many(81, ping))
  await ends[0]
  assert.equal(faults.value, 2)
})

test('behind its penalty a client is served at once', async t => {
  const { edge, clock } = await start(t, { tls: true })
  await attack(t, edge, '127.0.0.2', flood, true)
  const before = edge.plane.coarseNow
  clock.advance(20_000)
  await turnsUntil(() => edge.plane.coarseNow > before)
  for (let i = 0; i < 20; i++) {
    await once(join(t, edge, '127.0.0.2', true), 'secureConnect')
    // Of connections that say nothing, an address has eight at a time.
    clock.advance(20)
  }
  assert.equal(edge.metrics.refusedConnections.penalty.value, 0)
})

test('few of those that are held are released at one time', async t => {
  const { edge, clock } = await start(t, { h2c: true }, {}, 1_000)
  const { heldConnections } = edge.metrics
  await offend(t, edge, '127.0.0.2', 20, { bytes: greeting })
  clock.advance(1_000)
  const seen = new Set<number>()
  await turnsUntil(() => seen.add(heldConnections.value) && heldConnections.value === 0)
  assert.deepEqual([...seen], [20, 17, 14, 11, 8, 5, 2, 0])
})

test('a connection that is held counts under the limits', async t => {
  const client = { ...patient.client, connectionsPerAddress: 3, connections: 4 }
  const { edge, clock } = await start(t, { h2c: true }, { client })
  const { refusedConnections, heldConnections } = edge.metrics
  await offend(t, edge, '127.0.0.2', 3)
  await attack(t, edge, '127.0.0.2', flood)
  assert.equal(refusedConnections.connections_per_address.value, 1)
  const [, plainPort] = edge.ports
  const served = await connectTo(t, plainPort!, '127.0.0.3')
  await turnsUntil(() => edge.metrics.clientConnections.value === 1)
  await refused(t, plainPort!, '127.0.0.4')
  assert.equal(refusedConnections.connections.value, 1)
  clock.advance(5_000)
  await turnsUntil(() => heldConnections.value === 0)
  await turnsUntil(() => edge.metrics.clientConnections.value === 1)
  await served.send(request('GET /'))
  assert.equal((await served.response()).status, 200)
  const another = await connectTo(t, plainPort!, '127.0.0.2')
  await another.send(request('GET /'))
  assert.equal((await another.response()).status, 200)
})

test('what is held is reset as the gateway stops, and nobody waits for it', async t => {
  const { edge } = await start(t, { tls: true })
  await offend(t, edge, '127.0.0.2', 0, { isTls: true })
  const ends = [1, 2, 3].map(() => attack(t, edge, '127.0.0.2', flood, true))
  await turnsUntil(() => edge.metrics.heldConnections.value === 3)
  await edge.plane.drain(10_000)
  await Promise.all(ends)
  assert.equal(edge.metrics.heldConnections.value, 0)
})

test('a penalty leaves a listener of HTTP/1.1 alone as it is', async t => {
  const { edge } = await start(t, { h2c: true })
  const [, plainPort] = edge.ports
  await offend(t, edge, '127.0.0.2', 2)
  for (let i = 0; i < 20; i++) {
    const wire = await connectTo(t, plainPort!, '127.0.0.2')
    await wire.send(request('GET /'))
    assert.equal((await wire.response()).status, 200)
  }
  assert.equal(edge.metrics.refusedConnections.penalty.value, 0)
})

test('a trusted hop, which may have many clients, has no penalty', async t => {
  const { edge } = await start(t, { h2c: true }, { trustedProxies: ['127.0.0.2'] })
  for (let i = 0; i < 20; i++) await attack(t, edge, '127.0.0.2', flood)
  assert.equal(edge.metrics.refusedConnections.penalty.value, 0)
  assert.equal(edge.metrics.heldConnections.value, 0)
  assert.equal(edge.metrics.http2Failures.control_frames.value, 20)
})

test('behind a load balancer a client pays for itself, and no other one', async t => {
  const { edge, clock } = await start(
    t,
    { h2c: true, proxyProtocol: true },
    { trustedProxies: ['127.0.0.1'] },
  )
  const { heldConnections, refusedConnections, http2Failures, clientConnections } = edge.metrics
  const from = (client: string, bytes: Buffer) =>
    attack(t, edge, '127.0.0.1', Buffer.concat([proxyHeader({ client }), bytes]))
  for (let i = 0; i < 11; i++) await from('192.0.2.7', flood)
  const held = [from('192.0.2.7', flood), from('192.0.2.7', flood)]
  await turnsUntil(() => heldConnections.value === 2)
  await from('192.0.2.8', flood)
  assert.equal(http2Failures.control_frames.value, 12)
  const leaving = join(t, edge, '127.0.0.1')
  leaving.write(Buffer.concat([proxyHeader({ client: '192.0.2.7' }), flood]))
  await turnsUntil(() => heldConnections.value === 3)
  leaving.destroy()
  clock.advance(100)
  await turnsUntil(() => heldConnections.value === 2 && http2Failures.control_frames.value === 13)
  clock.advance(100)
  await Promise.all(held)
  await turnsUntil(() => heldConnections.value === 0)
  assert.equal(refusedConnections.penalty.value, 0)
  await turnsUntil(() => clientConnections.value === 0)
})
