// What is open ends with the session that let it in, where its gate says so.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ClientHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import type { SignInGateConfig } from '../../src/config/model/protect-config.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { usualCompression } from '../help/codings.ts'
import type { Edge } from '../help/edge.ts'
import { closeFrame, frame, maskedCode, opcodes } from '../help/frames.ts'
import { connectHttp2, open, responseTo } from '../help/http2-client.ts'
import { type Origin, type Respond, startResponder } from '../help/origin.ts'
import { chunks, request, type Wire } from '../help/raw.ts'
import { startRedis } from '../help/redis.ts'
import { type SiteParts, startGatedSite, type Visitor } from '../help/site-sessions.ts'
import { turnsUntil, until } from '../help/until.ts'

const hour = 3_600_000
const json = 'Accept: application/json'
const handshake = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]
const chunked = 'Transfer-Encoding: chunked'
const text = Buffer.from('hello')
const bye = Buffer.concat([Buffer.from([0x03, 0xf0]), Buffer.from('no longer let in')])
const close1008 = frame({ opcode: opcodes.close, payload: bye })

const beginnings = new Map([
  ['/stream', `200 OK\r\n${chunked}\r\n\r\n${chunks('part')}`],
  ['/length', '200 OK\r\nContent-Length: 100\r\n\r\npart'],
  ['/events', `200 OK\r\nContent-Type: text/event-stream\r\n${chunked}\r\n\r\n${chunks('data: 1\n\n')}`],
  [
    '/socket',
    '101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
  ],
])

const socketHeaders = {
  ...{ ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'http', ':path': '/socket' },
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}
const grpc = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' }

/** Begins responses that do not end. */
const unending: Respond = async ({ target }, wire) => {
  const begun = beginnings.get(target)
  if (begun !== undefined) await wire.send(`HTTP/1.1 ${begun}`)
  if (target === '/socket') await wire.ending
  return undefined
}

async function start(t: TestContext, gate: Partial<SignInGateConfig> = { endsOpen: true }) {
  const origin = await startResponder(t, unending)
  const site = await startGatedSite(t, origin.url, { gate })
  return { origin, ...site, visitor: await site.visit() }
}

function of(line: string, { cookie }: Visitor, ...fields: string[]): string {
  return request(line, `Cookie: ${cookie}`, ...fields).replace('site.test', 'localhost')
}

async function begin(edge: Edge, line: string, visitor: Visitor, ...fields: string[]): Promise<Wire> {
  const client = await edge.connect()
  await client.send(of(line, visitor, ...fields))
  return client
}

/** Opens one of each kind over HTTP/1.1. */
async function openAll(edge: Edge, origin: Origin, visitor: Visitor) {
  const count = origin.wires.length
  const stream = await begin(edge, 'GET /stream', visitor)
  await stream.until(chunks('part'))
  const length = await begin(edge, 'GET /length', visitor)
  await length.until('\r\n\r\npart')
  const events = await begin(edge, 'GET /events', visitor)
  await events.until('data: 1\n\n')
  const pending = await begin(edge, 'GET /pending', visitor, json)
  const upload = await begin(edge, 'POST /upload', visitor, json, chunked)
  await upload.send(chunks('part'))
  const socket = await begin(edge, 'GET /socket', visitor, ...handshake)
  assert.equal((await socket.head()).status, 101)
  await until(() => origin.wires.length === count + 6)
  return { stream, length, events, pending, upload, socket }
}

const outcomes = (edge: Edge) => edge.plane.snapshot.zones.find('localhost')!.metrics.gates.sign_in!

test('with a session that has ended, nothing is opened', async t => {
  const { edge, origin, sessions, visitor: nobody } = await start(t)
  await sessions.endOne(nobody.user.id, nobody.session.id)
  const stream = 'Accept: text/event-stream'
  for (const fields of [[json], [stream], [json, ...handshake]])
    assert.equal((await edge.ask(of('GET /socket', nobody, ...fields))).status, 401)
  const session = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  await once(session, 'remoteSettings')
  for (const headers of [{}, { accept: 'text/event-stream' }, socketHeaders]) {
    const opened = openStream(session, nobody, headers, headers !== socketHeaders)
    assert.equal((await responseTo(opened)).status, 401)
  }
  assert.equal(origin.requests.length, 0)
  assert.equal(outcomes(edge).invalid.value, 6)
})

test('over HTTP/1.1, it ends within a second, and what others have open goes on', async t => {
  const { edge, origin, sessions, visitor, visit } = await start(t)
  const other = await visit()
  const going = await openAll(edge, origin, other)
  const all = await openAll(edge, origin, visitor)
  const atOrigin = origin.wires.slice(6)
  await all.socket.send(frame({ opcode: opcodes.text, payload: text, isMasked: true }))
  const { clock } = edge.plane
  await sessions.endOne(visitor.user.id, visitor.session.id)
  const endedAt = clock.monotonic()

  const { stream, length, events, pending, upload, socket } = all
  assert.equal(await stream.ending, 'RST')
  assert.equal(await length.ending, 'RST')
  assert.match(await events.rest(), /event: error\ndata: \{.*may have acted on it/)
  for (const client of [pending, upload]) {
    const refused = await client.response()
    assert.equal(refused.status, 401)
    assert.match(refused.text, /may have acted on it/)
    assert.equal(refused.field('connection'), client === upload ? 'close' : null)
  }
  await pending.send(of('GET /pending', visitor, json))
  assert.equal((await pending.response()).status, 401)
  assert.deepEqual(Buffer.from(await socket.rest(), 'latin1'), close1008)
  assert.deepEqual(
    await Promise.all(atOrigin.map(wire => wire.ending.then(() => 'ended'))),
    Array(6).fill('ended'),
  )
  const took = clock.monotonic() - endedAt
  assert.ok(took < 1_000, `${took} ms`)

  assert.equal(outcomes(edge).ended.value, 6)
  await until(() => edge.accesses.length === 7)
  assert.deepEqual(
    edge.accesses.map(({ path, status, error, cause }) => [path, status, error, cause]).toSorted(),
    [
      ['/events', 200],
      ['/length', 200],
      ['/pending', 401],
      ['/pending', 401],
      ['/socket', 101],
      ['/stream', 200],
      ['/upload', 401],
    ].map(entry => [...entry, 'unauthorized', 'GH_SESSION_ENDED']),
  )
  assert.deepEqual(
    [edge.metrics.webSockets.value, edge.metrics.eventStreams.value],
    [1, 1],
    'the other person has theirs',
  )
  await origin.wires[0]!.send(`${chunks('more')}0\r\n\r\n`)
  await going.stream.until('more')
  assert.equal(outcomes(edge).ended.value, 6)
})

/** Opens a stream for a visitor, whose body goes on if it is to. */
function openStream(session: ClientHttp2Session, { cookie }: Visitor, headers: object, endStream = true) {
  const all = { ':authority': 'localhost', cookie, accept: 'application/json', ...headers }
  const stream = open(session, all, endStream)
  return stream.on('end', () => stream.close())
}

test('over HTTP/2, streams end by themselves, and their connection serves on', async t => {
  const { edge, origin, sessions, visitor, visit } = await start(t)
  const other = await visit()
  const session = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  await once(session, 'remoteSettings')
  const going = openStream(session, other, { ':path': '/stream' })
  await once(going, 'data')
  const stream = openStream(session, visitor, { ':path': '/stream' })
  const events = openStream(session, visitor, { ':path': '/events' })
  const call = openStream(session, visitor, { ':path': '/stream', ...grpc })
  const upload = openStream(session, visitor, { ':path': '/upload', ':method': 'POST' }, false)
  const socket = openStream(session, visitor, socketHeaders, false)
  const ended = [stream, events, upload, socket, call].map(responseTo)
  upload.write('part')
  await Promise.all([
    once(stream, 'data'),
    once(events, 'data'),
    once(socket, 'response'),
    once(call, 'data'),
  ])
  await until(() => origin.wires.length === 6)
  const { clock } = edge.plane
  await sessions.endOne(visitor.user.id, visitor.session.id)
  const endedAt = clock.monotonic()
  await until(() => edge.accesses.length === 5)
  const took = clock.monotonic() - endedAt
  assert.ok(took < 1_000, `${took} ms`)
  const [streamed, told, uploaded, tunnelled, called] = await Promise.all(ended)
  assert.deepEqual([streamed!.status, streamed!.code], [200, 2])
  assert.match(String(told!.body), /event: error/)
  assert.deepEqual([told!.status, told!.code], [200, 2])
  assert.equal(uploaded!.status, 401)
  assert.deepEqual([tunnelled!.status, tunnelled!.body, tunnelled!.code], [200, close1008, 0])
  assert.deepEqual([called!.trailers['grpc-status'], called!.code], ['16', 0])
  assert.equal(outcomes(edge).ended.value, 5)
  await origin.wires[0]!.send(chunks('more'))
  assert.equal(String((await once(going, 'data'))[0]), 'more')
})

test('while bytes flow both ways, it ends at any moment, and no frame is split', async t => {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    request.on('data', bytes => response.write(bytes))
    const timer = setInterval(() => response.write('more of it. '.repeat(1_000)), 1)
    response.on('close', () => clearInterval(timer))
  })
  const sockets = new WebSocketServer({ server, perMessageDeflate: { threshold: 0 } })
  sockets.on('connection', socket => {
    socket.on('error', () => {})
    socket.on('message', data => socket.send(data))
  })
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate()
    server.close()
    server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const settings = { route: { compression: usualCompression } }
  const gate = { endsOpen: true }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { edge, visit, sessions } = await startGatedSite(t, url, { gate, settings })
  const session = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)

  /** Opens one of each kind, and ends their session; tells how the WebSocket ended. */
  async function endSome(): Promise<number> {
    const visitor = await visit()
    const headers = { cookie: visitor.cookie, host: 'localhost' }
    const socket = new WebSocket(`ws://127.0.0.1:${edge.port}/`, { headers })
    const faults: unknown[] = []
    socket.on('error', fault => faults.push(fault))
    const upload = openStream(session, visitor, { ':method': 'POST', 'accept-encoding': 'gzip' }, false)
    const download = openStream(session, visitor, { 'accept-encoding': 'br' })
    const client = await begin(edge, 'POST /', visitor, chunked, 'Accept-Encoding: gzip')
    await once(socket, 'open')
    const pumping = setInterval(() => {
      upload.write(Buffer.alloc(10_000))
      client.send(chunks('a'.repeat(10_000)))
      if (socket.readyState === WebSocket.OPEN) socket.send(randomBytes(50_000))
    }, 1)
    const over = [responseTo(upload), responseTo(download)]
    await Promise.all([once(upload, 'data'), once(download, 'data'), once(socket, 'message'), client.head()])
    const closed = once(socket, 'close')
    await sessions.endOne(visitor.user.id, visitor.session.id)
    const [code] = await closed
    await Promise.all([...over, client.ending])
    clearInterval(pumping)
    assert.deepEqual(faults, [])
    return code
  }

  const codes = await Promise.all(Array.from({ length: 5 }, endSome))
  for (const code of codes) assert.ok(code === 1008 || code === 1006, String(code))
  assert.equal(outcomes(edge).ended.value, 20)
  assert.deepEqual(edge.events, [])
  await until(() => sockets.clients.size === 0 && edge.metrics.webSockets.value === 0)
})

test('a WebSocket in the middle of a frame is cut, without a Close', async t => {
  const { edge, origin, sessions, visitor } = await start(t)
  const client = await begin(edge, 'GET /socket', visitor, ...handshake)
  await client.head()
  const begun = frame({ opcode: opcodes.binary, payload: Buffer.alloc(1_000) }).subarray(0, 30)
  const wire = await origin.wire()
  await wire.send(begun)
  await client.bytes(30)
  await client.send(frame({ opcode: opcodes.ping, payload: text, isMasked: true }))
  await wire.bytes(11)
  await sessions.endOne(visitor.user.id, visitor.session.id)
  assert.equal(await client.rest(), '')
  assert.equal(maskedCode(await wire.bytes(8)), 1001)
  await wire.ending
})

test('without end_open, what is open goes on, and nothing new begins', async t => {
  const { edge, origin, sessions, visitor } = await start(t, {})
  const all = await openAll(edge, origin, visitor)
  await sessions.endOne(visitor.user.id, visitor.session.id)
  await edge.pass(1_000)
  assert.equal((await edge.ask(of('GET /stream', visitor, json))).status, 401)
  for (const client of Object.values(all)) assert.doesNotMatch(client.unread, /[a-z]/)
  await origin.wires[0]!.send(`${chunks('more')}0\r\n\r\n`)
  assert.match(await all.stream.until('0\r\n\r\n'), /more/)
  await all.socket.send(closeFrame(1000, true))
  assert.equal(outcomes(edge).ended.value, 0)
})

test('it ends with the rights that the gate asks for, and with the person', async t => {
  const account = '0123456789abcdef0123456789abcdef'
  const { edge, store, town, visit, visitor } = await start(t, { endsOpen: true, accounts: [account] })
  const [member, leaver] = [await visit(), await visit()]
  await town.found({ id: account })
  await town.join(member.user, { id: account } as Parameters<typeof town.join>[1])
  const joined = await town.join(leaver.user, { id: account } as Parameters<typeof town.join>[1])
  assert.equal((await edge.ask(of('GET /stream', visitor, json))).status, 403)
  const openOne = async (of: Visitor) => {
    const client = await begin(edge, 'GET /stream', of)
    await client.until(chunks('part'))
    return client
  }
  const [first, second] = [await openOne(member), await openOne(leaver)]
  await store.members.remove(account, joined.id)
  assert.equal(await second.ending, 'RST')
  await until(() => edge.accesses.length === 2)
  const { error, cause } = edge.accesses[1]!
  assert.deepEqual([error, cause], ['forbidden', 'GH_SESSION_INSUFFICIENT'])
  assert.equal(outcomes(edge).ended.value, 1)
  await store.users.remove(member.user.account, member.user.id)
  assert.equal(await first.ending, 'RST')
})

/** Opens a stream before a gate with a clock that the test moves. */
async function openByHand(t: TestContext, parts: Pick<SiteParts, 'storeUrl' | 'grace'> = {}) {
  const origin = await startResponder(t, unending)
  const clock = new ManualClock()
  const gate = { endsOpen: true }
  const site = await startGatedSite(t, origin.url, { gate, clock, settings: patient, ...parts })
  const visitor = await site.visit()
  const client = await begin(site.edge, 'GET /stream', visitor)
  await client.until(chunks('part'))
  /** Fails where it does not go on for two sweeps that look at it. */
  const goesOn = async () => {
    const { plane } = site.edge
    for (let i = 0; i < 2; i++) {
      await turnsUntil(() => !plane.isReviewing)
      await turnsUntil(() => plane.isReviewing)
    }
    await origin.wires[0]!.send(chunks('more'))
    await client.until('more')
  }
  return { ...site, clock, client, goesOn, visitor }
}

test('what is open is no use of the session, which expires meanwhile', async t => {
  const { edge, clock, client, goesOn } = await openByHand(t)
  clock.advance(12 * hour - 1)
  await goesOn()
  clock.advance(1)
  assert.equal(await client.ending, 'RST')
  assert.equal(edge.accesses[0]!.cause, 'GH_SESSION_ENDED')
})

test('while the store is unreachable, it goes on for the grace of the store', async t => {
  const redis = await startRedis(t, { aof: false })
  const grace = 60_000
  const { edge, clock, client, goesOn } = await openByHand(t, { storeUrl: redis.url, grace })
  await goesOn()
  await redis.kill()
  clock.advance(grace - 1_000)
  await goesOn()
  clock.advance(2_000)
  await goesOn()
  clock.advance(5_000)
  assert.equal(await client.ending, 'RST')
  const { error, cause } = edge.accesses[0]!
  assert.deepEqual([error, cause], ['service_unavailable', 'GH_SESSION_UNCHECKED'])
})
