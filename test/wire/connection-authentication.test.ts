// Origins that authenticate connections (NTLM, Negotiate and the like): nobody is served on a connection that is another client's, and each client stays on its own.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createSecureServer, constants, createServer as createHttp2 } from 'node:http2'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import type { EdgeMember } from '../../src/edge/origin/pools.ts'
import { selfSigned } from '../../src/process/demo/self-signed.ts'
import { call, startAi } from '../help/ai.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { type Edge, edgeConfig, type EdgeSettings, startEdge } from '../help/edge.ts'
import { ask, connectHttp2, open, responseTo } from '../help/http2-client.ts'
import { authenticate, ntlmMessage, startNtlmOrigin } from '../help/ntlm.ts'
import { ok, type Origin, startOrigin, startResponder } from '../help/origin.ts'
import { post, request, type Wire } from '../help/raw.ts'
import { turnsUntil, until } from '../help/until.ts'

const first = `Authorization: NTLM ${ntlmMessage(1, '')}`

async function start(t: TestContext, settings: EdgeSettings = {}) {
  const origin = await startNtlmOrigin(t)
  return { origin, edge: await startEdge(t, [origin.url], settings) }
}

async function say(client: Wire, text = request('GET /')): Promise<string> {
  await client.send(text)
  return (await client.response(text.split(' ')[0])).text
}

function membersOf(edge: Edge): readonly EdgeMember[] {
  const route = edge.plane.snapshot.zones.find('site.test')!.routes.find(['/'])
  assert.ok(route !== null && route !== 'ambiguous')
  return route.pool.members
}

/** Moves the clock of an edge on, and waits until it has swept. */
async function pass(edge: Edge, clock: ManualClock, ms: number): Promise<void> {
  for (const step of [ms, 1]) {
    clock.advance(step)
    await turnsUntil(() => edge.plane.coarseNow === clock.monotonic())
  }
}

test('a client without credentials is never served as the one that authenticated before it', async t => {
  const { edge, origin } = await start(t)
  const alice = await edge.connect()
  assert.equal((await authenticate(alice, { user: 'alice' })).text, 'alice by 0: GET /')
  const other = await edge.ask(request('GET /'))
  assert.deepEqual([other.status, other.text], [401, 'nobody by 1: GET /'])
  assert.equal(origin.wires.length, 2)
})

test('a client has the three messages of the handshake and all that follows on one connection, although others come in between', async t => {
  const { edge } = await start(t)
  const [alice, bob] = [await edge.connect(), await edge.connect()]
  const between = async () => void (await authenticate(bob, { user: 'bob', line: 'POST /b', body: 'of bob' }))
  const last = await authenticate(alice, { user: 'alice', line: 'POST /a', body: 'of alice', between })
  assert.equal(last.text, 'alice by 0: POST /a of alice')
  for (let i = 0; i < 3; i++) {
    assert.equal(await say(alice), 'alice by 0: GET /')
    assert.equal(await say(bob, post('/b', 'x'.repeat(100_000))), `bob by 1: POST /b ${'x'.repeat(100_000)}`)
    assert.equal((await edge.ask(request('GET /'))).status, 401)
  }
})

test('requests that are sent at once go on the connection of their client, in turn', async t => {
  const { edge, origin } = await start(t)
  const alice = await edge.connect()
  await authenticate(alice, { user: 'alice' })
  await alice.send(`${request('GET /1')}${post('/2', 'two')}${request('HEAD /3')}${request('GET /4')}`)
  const texts = []
  for (const method of ['GET', 'POST', 'HEAD', 'GET']) texts.push((await alice.response(method)).text)
  assert.deepEqual(texts, ['alice by 0: GET /1', 'alice by 0: POST /2 two', '', 'alice by 0: GET /4'])
  assert.equal(origin.wires.length, 1)
})

test('a handshake by HEAD is on one connection, although the origin might send a body', async t => {
  const { edge, origin } = await start(t)
  const alice = await edge.connect()
  assert.equal((await authenticate(alice, { user: 'alice', line: 'HEAD /' })).status, 200)
  assert.equal(origin.wires.length, 1)
})

test('the connection ends with that of its client, and with an abort', async t => {
  const { edge, origin } = await start(t)
  const alice = await edge.connect()
  await authenticate(alice, { user: 'alice' })
  assert.deepEqual([edge.metrics.originConnections.value, edge.metrics.pinnedConnections.value], [1, 1])
  alice.leave()
  await origin.wires[0]!.ending
  await until(() => edge.metrics.originConnections.value === 0)
  assert.equal(edge.metrics.pinnedConnections.value, 0)
  const bob = await edge.connect()
  await authenticate(bob, { user: 'bob' })
  await bob.send(`${request('POST /', 'Content-Length: 100000')}${'x'.repeat(70_000)}`)
  await until(() => origin.wires[1]!.unread.length > 60_000)
  bob.reset()
  await origin.wires[1]!.ending
  await until(() => edge.metrics.pinnedConnections.value === 0)
  assert.equal((await edge.ask(request('GET /'))).status, 401)
})

test('after an error the client starts over on another connection', async t => {
  const origin = await startNtlmOrigin(t, {
    serve: ({ target }) => (target === '/bad' ? 'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n' : undefined),
  })
  const edge = await startEdge(t, [origin.url])
  const alice = await edge.connect()
  await authenticate(alice, { user: 'alice' })
  await alice.send(request('GET /bad'))
  assert.equal((await alice.response()).status, 502)
  await origin.wires[0]!.ending
  assert.equal(await say(alice), 'nobody by 1: GET /')
  assert.equal((await authenticate(alice, { user: 'alice' })).text, 'alice by 1: GET /')
})

test('a connection that its origin closed is not missed: a GET is sent again, and challenged', async t => {
  const { edge, origin } = await start(t)
  const alice = await edge.connect()
  await authenticate(alice, { user: 'alice' })
  origin.wires[0]!.leave()
  await until(() => edge.metrics.pinnedConnections.value === 0)
  assert.equal(await say(alice), 'nobody by 1: GET /')
  // One that closes as the request comes.
  const closing = await startOrigin(t, async (wire, nth) => {
    await wire.request()
    await wire.send('HTTP/1.1 401 No\r\nWWW-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n')
    if (nth === 0) return void (await wire.request())
    await wire.ending
  })
  const other = await startEdge(t, [closing.url])
  const client = await other.connect()
  for (const wires of [1, 2]) {
    await client.send(request('GET /'))
    assert.equal((await client.response()).status, 401)
    assert.equal(closing.wires.length, wires)
  }
})

/** What an origin or a client says of itself, and whether its connection is for one client from then on. */
const kerberos = 'YIIByAYGKwYBBQUCoIIBvDCCAbigDTALBgkqhkiG9xIBAgI='
const said: readonly [isPinned: boolean, isOfClient: boolean, lines: readonly string[]][] = [
  [true, true, ['Authorization: NTLM TlRMTVNTUAABAAAA']],
  [true, true, ['aUTHORIZATION:  nTlM TlRMTVNTUAABAAAA']],
  [true, true, ['Authorization: NTLM\tTlRMTVNTUAABAAAA']],
  [true, true, [`Authorization: Negotiate ${kerberos}`]],
  [true, true, [`authorization: NEGOTIATE ${kerberos}`]],
  [true, true, [`Authorization: Negotiate:Kerberos ${kerberos}`]],
  [true, true, [`Authorization: Nego2 ${kerberos}`]],
  [true, true, [`Authorization: Kerberos ${kerberos}`]],
  [true, true, ['Authorization: CredSSP MDegAwIBBqEwMC4=']],
  [true, true, ['Authorization: X-Windows TlRMTVNTUAADAAAA']],
  [true, true, ['Authorization: Bearer abc', 'Authorization: NTLM TlRMTVNTUAABAAAA']],
  [true, true, ['Authorization: Bearer abc, NTLM TlRMTVNTUAABAAAA']],
  [true, true, ['Authorization: , ,negotiate abc']],
  [true, true, ['Authorization: Basic YTpi, Digest username="a", ntlm TlRMTVNTUAABAAAA']],
  [false, true, ['Authorization: Bearer TlRMabc']],
  [false, true, ['Authorization: Basic YTpi']],
  [false, true, ['Authorization: Digest username="a", realm="b, c", nonce="d", qop=auth']],
  [false, true, ['X-Authorization: NTLM abc']],
  [true, false, ['WWW-Authenticate: NTLM']],
  [true, false, ['Www-authenticate: ntlm']],
  [true, false, [`WWW-Authenticate: Negotiate ${kerberos}`]],
  [true, false, ['WWW-Authenticate: Basic realm="a"', 'WWW-Authenticate: Negotiate']],
  [true, false, ['WWW-Authenticate: Basic realm="a, b", Digest realm="c", qop="auth",\tNegotiate, NTLM']],
  [true, false, ['WWW-Authenticate: Foo TlRMTVNTUAACAAAA']],
  [true, false, ['Proxy-Authenticate: NTLM']],
  [true, false, ['Persistent-Auth: true']],
  [false, false, ['Persistent-Auth: false']],
  [false, false, ['WWW-Authenticate: Basic realm="Kerberos, Inc."', 'WWW-Authenticate: Bearer']],
  [false, false, ['WWW-Authenticate: Digest realm="ntlm", nonce="abc"']],
]

for (const [isPinned, isOfClient, lines] of said)
  test(`${isPinned ? 'one client alone has' : 'all clients share'} a connection with ${lines.join(' and ')}`, async t => {
    for (const status of [200, 401]) {
      const fields = isOfClient ? [] : lines
      const response = `${[`HTTP/1.1 ${status} X`, ...fields].join('\r\n')}\r\nContent-Length: 0\r\n\r\n`
      const origin = await startResponder(t, response)
      const edge = await startEdge(t, [origin.url])
      const client = await edge.connect()
      for (let i = 0; i < 2; i++) {
        await client.send(request('GET /', ...(isOfClient ? lines : [])))
        await client.response()
      }
      await edge.ask(request('GET /'))
      assert.equal(origin.wires.length, isPinned ? 2 : 1)
      await client.send(request('GET /'))
      await client.response()
      assert.equal(origin.wires.length, isPinned ? 2 : 1)
    }
  })

test('credentials that a rule of the route sets count, and those that it removes do not', async t => {
  for (const value of ['"Negotiate abc"', null]) {
    const origin = await startResponder(t, ok())
    const rewrite = { path: null, requestHeaders: [{ name: 'Authorization', value }], responseHeaders: [] }
    const edge = await startEdge(t, [origin.url], { route: { rewrite } as EdgeSettings['route'] & {} })
    const client = await edge.connect()
    await say(client, request('GET /', first))
    assert.equal(edge.metrics.pinnedConnections.value, value === null ? 0 : 1)
  }
})

test('a WebSocket opens on the connection that its client has authenticated', async t => {
  const server = new WebSocketServer({ noServer: true })
  const users = new WeakMap<object, string>()
  const learn = ({ headers: { authorization }, socket }: IncomingMessage) => {
    if (authorization !== undefined) users.set(socket, authorization)
  }
  const http = createServer((incoming, outgoing) => {
    learn(incoming)
    outgoing.writeHead(users.has(incoming.socket) ? 200 : 401, { 'WWW-Authenticate': 'Negotiate' }).end()
  })
  http.on('upgrade', (incoming: IncomingMessage, socket, head) => {
    learn(incoming)
    if (!users.has(incoming.socket))
      return void socket.end('HTTP/1.1 401 No\r\nWWW-Authenticate: Negotiate\r\nContent-Length: 0\r\n\r\n')
    server.handleUpgrade(incoming, socket, head, one => one.send(users.get(incoming.socket)!))
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.after(() => {
    for (const one of server.clients) one.terminate()
    http.closeAllConnections()
    http.close()
  })
  const edge = await startEdge(t, [`http://127.0.0.1:${(http.address() as AddressInfo).port}`])
  const client = await edge.connect()
  await say(client, request('GET /', 'Authorization: Negotiate alice'))
  const upgrade = request(
    'GET /socket',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  )
  const stranger = await edge.connect()
  await stranger.send(upgrade)
  assert.equal((await stranger.response()).status, 401)
  await client.send(upgrade)
  assert.equal((await client.head()).status, 101)
  await client.until('Negotiate alice')
  client.leave()
  await until(() => edge.metrics.originConnections.value === 0)
  // And one that brings the credentials itself.
  const socket = new WebSocket(`ws://127.0.0.1:${edge.port}/`, {
    headers: { Host: 'site.test', Authorization: 'Negotiate bob' },
  })
  t.after(() => socket.terminate())
  const [message] = await once(socket, 'message')
  assert.equal(String(message), 'Negotiate bob')
  assert.equal(edge.metrics.pinnedConnections.value, 1)
  socket.terminate()
  await until(() => edge.metrics.originConnections.value === 0)
})

test('redirects are followed on the connection of the client', async t => {
  const origin = await startNtlmOrigin(t, {
    serve: ({ target }) =>
      target === '/from' ? 'HTTP/1.1 302 X\r\nLocation: /to\r\nContent-Length: 4\r\n\r\ngone' : undefined,
  })
  const edge = await startEdge(t, [origin.url], { route: { redirects: 3 } })
  const alice = await edge.connect()
  await authenticate(alice, { user: 'alice' })
  assert.equal(await say(alice, request('GET /from')), 'alice by 0: GET /to')
  assert.equal((await edge.ask(request('GET /'))).status, 401)
})

test('a client stays at the member that it has authenticated to, as long as that is healthy', async t => {
  const origins = [await startNtlmOrigin(t), await startNtlmOrigin(t), await startNtlmOrigin(t)]
  const edge = await startEdge(
    t,
    origins.map(({ url }) => url),
  )
  const alice = await edge.connect()
  await authenticate(alice, { user: 'alice' })
  const home = origins.findIndex(({ requests }) => requests.length === 2)
  assert.notEqual(home, -1, 'both messages went to one member')
  for (let i = 0; i < 5; i++) {
    assert.equal(await say(alice), 'alice by 0: GET /')
    await edge.ask(request('GET /'))
  }
  const { health } = membersOf(edge)[home]!
  health.applyCheck({
    isUp: false,
    since: 0,
    nextCheckAt: 0,
    lastCheckAt: 0,
    lastDuration: 0,
    lastStatus: null,
    lastError: 'down',
  })
  assert.match(await say(alice), /^nobody/)
})

test('several clients behind one proxy do not share what one of them has authenticated', async t => {
  const { edge } = await start(t, { trustedProxies: ['127.0.0.1'] })
  const proxy = await edge.connect()
  const from = (address: string) => `X-Forwarded-For: ${address}`
  await authenticate(proxy, { user: 'alice', fields: [from('192.0.2.1')] })
  assert.equal(await say(proxy, request('GET /', from('192.0.2.2'))), 'nobody by 1: GET /')
  assert.equal(await say(proxy, request('GET /', from('192.0.2.1'))), 'alice by 0: GET /')
})

// ── limits, time, reloads ──

test('at the connection limit of an origin, a connection left idle by its client makes room after a while', async t => {
  const clock = new ManualClock()
  const transport = { connections: 1, queue: { size: 10, timeout: 0 } }
  const { edge, origin } = await start(t, { ...patient, transport, clock } as EdgeSettings)
  const alice = await edge.connect()
  let queued: Promise<string> | null = null
  const bob = await edge.connect()
  const between = async () => {
    queued = say(bob)
    await turnsUntil(() => membersOf(edge)[0]!.target.queueLength === 1)
    await pass(edge, clock, 998)
  }
  assert.equal((await authenticate(alice, { user: 'alice', between })).text, 'alice by 0: GET /')
  await pass(edge, clock, 1_000)
  assert.equal(await queued, 'nobody by 1: GET /')
  assert.equal(await origin.wires[0]!.ending, 'FIN')
  // Who comes later need not wait for the sweep.
  await pass(edge, clock, 1_000)
  assert.equal(await say(alice), 'nobody by 2: GET /')
})

test('an idle one closes when the origin says so, or after a minute', async t => {
  for (const [fields, ms] of [
    [[], 60_000],
    [['Keep-Alive: timeout=3'], 3_000],
  ] as const) {
    const clock = new ManualClock()
    const origin = await startNtlmOrigin(t, { fields })
    const edge = await startEdge(t, [origin.url], { ...patient, clock })
    const alice = await edge.connect()
    await authenticate(alice, { user: 'alice' })
    await pass(edge, clock, ms - 10)
    assert.equal(await say(alice), 'alice by 0: GET /')
    await pass(edge, clock, ms)
    await turnsUntil(() => edge.metrics.pinnedConnections.value === 0)
    assert.equal(await say(alice), 'nobody by 1: GET /')
  }
})

test('a reload that drops the origin closes an idle one, and one in use as it comes back', async t => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const origin = await startNtlmOrigin(t, {
    serve: async ({ target }) => {
      if (target === '/slow') await held
      return undefined
    },
  })
  const edge = await startEdge(t, [origin.url])
  const [alice, bob] = [await edge.connect(), await edge.connect()]
  await authenticate(alice, { user: 'alice' })
  await authenticate(bob, { user: 'bob' })
  edge.reload(edge.config)
  assert.equal(await say(alice), 'alice by 0: GET /')
  const slow = say(bob, request('GET /slow'))
  await turnsUntil(() => origin.requests.at(-1)!.target === '/slow')
  edge.reload(edgeConfig([(await startNtlmOrigin(t)).url]))
  await origin.wires[0]!.ending
  release()
  assert.equal(await slow, 'bob by 1: GET /slow')
  await origin.wires[1]!.ending
  await until(() => edge.metrics.pinnedConnections.value === 0)
  assert.equal(await say(alice), 'nobody by 0: GET /')
})

test('idle connections of clients are not outstanding requests of their origin', async t => {
  const { edge } = await start(t)
  const alice = await edge.connect()
  await authenticate(alice, { user: 'alice' })
  const [member] = membersOf(edge)
  assert.deepEqual([member!.target.outstanding, member!.target.connections], [0, 1])
})

// ── HTTP/2 ──

async function startHttp2Client(t: TestContext, origin: Origin, settings: EdgeSettings = {}) {
  const edge = await startEdge(t, [origin.url], { ...settings, h2c: true })
  const connect = () => connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  return { edge, connect, session: await connect() }
}

/** An origin that takes a connection for authenticated once it has seen credentials of Negotiate, in one message. */
const startNegotiateOrigin = (t: TestContext) =>
  startOrigin(t, async (wire, nth) => {
    for (let user = 'nobody'; ; ) {
      const message = await wire.request()
      const credentials = message.field('authorization')
      if (credentials !== null) user = credentials.slice('Negotiate '.length)
      const challenge =
        user === 'nobody' ? 'WWW-Authenticate: Negotiate' : 'WWW-Authenticate: Negotiate oRQwEqAD'
      const body = `${user} by ${nth}`
      const status = user === 'nobody' ? '401 No' : '200 OK'
      await wire.send(`HTTP/1.1 ${status}\r\n${challenge}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    }
  })

test('over HTTP/2 the connection of one client is no other client’s, and serves what follows', async t => {
  const { session, connect } = await startHttp2Client(t, await startNegotiateOrigin(t))
  const text = async (headers = {}) => (await ask(session, headers)).body.toString()
  assert.equal(await text(), 'nobody by 0')
  assert.equal(await text({ authorization: 'Negotiate alice' }), 'alice by 0')
  assert.equal(await text(), 'alice by 0')
  const stranger = await connect()
  assert.equal((await ask(stranger)).body.toString(), 'nobody by 1')
  assert.equal(await text(), 'alice by 0')
})

test('streams at a time have a connection each', async t => {
  let most = 0
  let now = 0
  const origin = await startOrigin(t, async wire => {
    for (;;) {
      const { target } = await wire.request()
      assert.ok(!wire.unread, 'one request at a time')
      most = Math.max(most, ++now)
      await turnsUntil(() => most === 5)
      now--
      await wire.send(ok(target, 'Persistent-Auth: true'))
    }
  })
  const { session, edge } = await startHttp2Client(t, origin)
  const asking = Array.from({ length: 5 }, (_, i) =>
    ask(session, { ':path': `/${i}`, authorization: 'Negotiate alice' }),
  )
  const answers = await Promise.all(asking)
  assert.deepEqual(
    answers.map(({ body }) => body.toString()),
    ['/0', '/1', '/2', '/3', '/4'],
  )
  assert.equal(edge.metrics.pinnedConnections.value, 5)
  session.destroy()
  await until(() => edge.metrics.originConnections.value === 0)
})

test('no more than six wait for one client', async t => {
  const held: (() => void)[] = []
  const origin = await startResponder(t, async () => {
    await new Promise<void>(resolve => held.push(resolve))
    return ok()
  })
  const { session, edge } = await startHttp2Client(t, origin)
  const asking = Array.from({ length: 9 }, () => ask(session, { authorization: 'Negotiate alice' }))
  await until(() => held.length === 9)
  for (const release of held) release()
  await Promise.all(asking)
  await until(() => edge.metrics.pinnedConnections.value === 6)
})

test('a client of HTTP/2 is sent to HTTP/1.1 for a handshake of several messages', async t => {
  const origin = await startNtlmOrigin(t)
  const { session, edge } = await startHttp2Client(t, origin)
  assert.equal((await ask(session)).status, 401)
  const { status, code } = await ask(session, { authorization: `NTLM ${ntlmMessage(1, '')}` })
  assert.deepEqual([status, code], [0, constants.NGHTTP2_HTTP_1_1_REQUIRED])
  const alice = await edge.connect()
  const { text } = await authenticate(alice, { user: 'alice' })
  assert.match(text, /^alice/)
  assert.equal((await ask(session)).status, 401)
})

/** An origin of both versions behind TLS that keeps what credentials each of its connections brought. */
async function startBoth(t: TestContext, rejectsHttp2: boolean) {
  const users = new WeakMap<object, string>()
  const versions: string[] = []
  const server = createSecureServer(
    { ...selfSigned('localhost'), allowHTTP1: true },
    (incoming, outgoing) => {
      const { httpVersion, headers } = incoming
      versions.push(httpVersion)
      if (httpVersion === '2.0' && rejectsHttp2)
        return void incoming.stream.close(constants.NGHTTP2_HTTP_1_1_REQUIRED)
      const socket = httpVersion === '2.0' ? incoming.stream.session!.socket : incoming.socket
      if (headers.authorization !== undefined) users.set(socket, headers.authorization)
      const user = users.get(socket) ?? 'nobody'
      outgoing.writeHead(user === 'nobody' ? 401 : 200, { 'WWW-Authenticate': 'Negotiate' })
      outgoing.end(`${user} ${httpVersion}`)
    },
  )
  server.on('session', session => t.after(() => session.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { versions, member: { url, tls: { verify: false } } }
}

test('an origin of HTTP/2 gets such credentials over HTTP/1.1, and the requests that follow', async t => {
  const { member } = await startBoth(t, false)
  const edge = await startEdge(t, [member], { transport: { http: '2' } })
  const alice = await edge.connect()
  assert.equal(await say(alice), 'nobody 2.0')
  assert.equal(await say(alice, request('GET /', 'Authorization: Negotiate alice')), 'Negotiate alice 1.1')
  assert.equal(await say(alice), 'Negotiate alice 1.1')
  assert.equal((await edge.ask(request('GET /'))).text, 'nobody 2.0')
  assert.equal((await edge.ask(request('GET /', 'Authorization: Bearer abc'))).text, 'Bearer abc 2.0')
})

for (const [method, text] of [
  ['GET', request('GET /')],
  ['POST', post('/', 'body')],
] as const)
  test(`a ${method} for which an origin of HTTP/2 requires HTTP/1.1 is sent over that`, async t => {
    const { member, versions } = await startBoth(t, true)
    const edge = await startEdge(t, [member], { transport: { http: '2' } })
    const client = await edge.connect()
    assert.equal(await say(client, text), 'nobody 1.1')
    assert.deepEqual(versions, ['2.0', '1.1'])
    assert.equal(edge.accesses[0]!.retries, 1)
  })

test('credentials for which an origin is asked by HTTP/1.1, which it does not speak, are not held against it', async t => {
  const server = createHttp2((_, outgoing) => void outgoing.end('h2'))
  server.on('session', session => t.after(() => session.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const other = await startResponder(t, ok())
  const edge = await startEdge(t, [url, other.url], {
    transport: { http: 'h2c' },
    pool: { ejection: { failures: 1, base: 60_000, longest: 60_000 }, retries: { most: 0, budget: 0 } },
  })
  for (let i = 0; i < 4; i++) await edge.ask(request('GET /', first))
  assert.equal(edge.metrics.ejections.value, 0)
})

test('what an AI provider authenticates is for one caller as well', async t => {
  const provider = await startNtlmOrigin(t)
  const ai = await startAi(t, { openai: { url: provider.url } })
  const mine = `svc-aig-authorization: Bearer ${ai.token}`
  const path = `${ai.native('openai')}/chat/completions`
  const alice = await ai.edge.connect()
  await alice.send(call(path, '{}', mine, first))
  assert.equal((await alice.response()).status, 401)
  await ai.edge.ask(call(path, '{}', mine))
  assert.equal(provider.wires.length, 2)
})

test('a stream that is left ends its connection', async t => {
  const origin = await startOrigin(t, wire => wire.ending)
  const { session, edge } = await startHttp2Client(t, origin)
  const stream = open(session, { authorization: 'Negotiate alice' })
  await until(() => edge.metrics.pinnedConnections.value === 1)
  stream.close(constants.NGHTTP2_CANCEL)
  await responseTo(stream)
  await until(() => edge.metrics.pinnedConnections.value === 0)
})
