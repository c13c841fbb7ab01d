// HTTP/2 to clients: what holds of a request over HTTP/1.1 holds of the same request here, on as many streams as a connection has.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { constants } from 'node:http2'
import { test, type TestContext } from 'node:test'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import fc from 'fast-check'
import { Http2Connection } from '../../src/edge/client/http2/http2-connection.ts'
import { StreamClient } from '../../src/edge/client/http2/http2-stream.ts'
import { startAi } from '../help/ai.ts'
import { Authority } from '../help/certificates.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { Edge, type EdgeParts, type EdgeSettings, edgeConfig, listenAt, zoneTo } from '../help/edge.ts'
import { ask, connectHttp2, open, responseTo } from '../help/http2-client.ts'
import { ok, type Origin, type Respond, type Script, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, type Message } from '../help/raw.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'

const json = { accept: 'application/json' }
const large = 'x'.repeat(1024 * 1024)

async function startWith(t: TestContext, origin: Origin, settings: EdgeSettings = {}, parts: EdgeParts = {}) {
  const config = edgeConfig([origin.url], { ...settings, h2c: true })
  const edge = await listenAt(t, new Edge(t, config, parts))
  return { origin, edge, session: await connectHttp2(t, `http://127.0.0.1:${edge.port}`) }
}

async function start(t: TestContext, respond: Respond | string = ok('hello'), settings: EdgeSettings = {}) {
  return startWith(t, await startResponder(t, respond), settings)
}

async function startScript(
  t: TestContext,
  script: Script,
  settings: EdgeSettings = {},
  parts: EdgeParts = {},
) {
  return startWith(t, await startOrigin(t, script), settings, parts)
}

/** What of a request an origin sees that does not differ by nature. */
function seen({ startLine, lines, text, trailers }: Message): unknown {
  const kept = lines.filter(line => !/^(via|svc-ray):/i.test(line)).map(line => line.toLowerCase())
  return { startLine, lines: kept.toSorted(), text, trailers }
}

test('a request is the same to the origin, and its response the same to the client, over both versions', async t => {
  const { edge, origin, session } = await start(t, ({ target, startLine }) => {
    if (target === '/204') return 'HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n'
    if (target === '/304') return 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 5\r\n\r\n'
    if (target === '/chunked')
      return `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks('a', 'bc')}0\r\n\r\n`
    if (startLine.startsWith('HEAD')) return 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n'
    return ok(
      'hello',
      'X-A: 1',
      'X-A: 2',
      'Set-Cookie: a=1',
      'Set-Cookie: b=2',
      'Connection: X-Gone',
      'X-Gone: 1',
    )
  })
  const rows: [method: string, target: string, fields: Record<string, string>, body: string | null][] = [
    ['GET', '/', {}, null],
    ['GET', '/a%20b?c=d&e', { accept: '*/*', 'x-two': 'a, b' }, null],
    ['HEAD', '/', {}, null],
    ['GET', '/204', {}, null],
    ['GET', '/304', { 'if-none-match': '"a"' }, null],
    ['GET', '/chunked', {}, null],
    ['POST', '/', { 'content-length': '5' }, 'hello'],
    ['PUT', '/', { 'content-length': '0' }, ''],
    ['DELETE', '/x', {}, null],
    ['OPTIONS', '*', {}, null],
    ['TRACE', '/', json, null],
    ['GET', '/cdn-cgi/error/1015', json, null],
    ['GET', '/', { expect: 'more', ...json }, null],
    ['GET', '/', { 'x-forwarded-for': '1.2.3.4', forwarded: 'for=1.2.3.4', proxy: 'x' }, null],
  ]
  for (const [method, target, fields, body] of rows) {
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    origin.requests.length = 0
    const one = await edge.ask(
      `${method} ${target} HTTP/1.1\r\nHost: site.test\r\n${lines.join('')}\r\n${body ?? ''}`,
    )
    const two = await ask(session, { ':method': method, ':path': target, ...fields }, body)
    const title = `${method} ${target}`
    const varying = /"(ray_id|instance)":"[^"]*"|"timestamp":"[^"]*"/g
    assert.equal(two.status, one.status, title)
    assert.equal(two.code, 0, title)
    assert.equal(two.body.toString().replace(varying, ''), one.text.replace(varying, ''), title)
    const names = one.lines.map(line => line.slice(0, line.indexOf(':')).toLowerCase())
    const wanted = new Set(names.filter(name => !['connection', 'transfer-encoding'].includes(name)))
    assert.deepEqual(new Set(Object.keys(two.headers).filter(name => name !== ':status')), wanted, title)
    for (const name of wanted)
      if (!['date', 'svc-ray'].includes(name))
        assert.equal(String(two.headers[name]), one.all(name).join(name === 'set-cookie' ? ',' : ', '), title)
    if (origin.requests.length > 0) {
      assert.equal(origin.requests.length, 2, title)
      assert.deepEqual(seen(origin.requests[1]!), seen(origin.requests[0]!), title)
      assert.equal(origin.requests[1]!.field('via'), '2 gatehouse')
    }
  }
})

test('the same fields reach the origin over both versions, whatever they are', async t => {
  const { edge, origin, session } = await start(t)
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,12}$/).map(text => `x-${text}`)
  const value = fc.stringMatching(/^(?:[!-~\xa1-\xff](?:[ !-~\xa1-\xff]{0,60}[!-~\xa1-\xff])?)?$/)
  const path = fc.stringMatching(/^\/(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9a-f]{2}){0,40}$/)
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, value, { maxKeys: 8 }), path, async (fields, target) => {
      origin.requests.length = 0
      const lines = Object.entries(fields).map(([of, text]) => `${of}: ${text}\r\n`)
      const one = await edge.ask(`GET ${target} HTTP/1.1\r\nHost: site.test\r\n${lines.join('')}\r\n`)
      const two = await ask(session, { ':path': target, ...fields })
      assert.equal(two.status, one.status)
      assert.equal(origin.requests.length % 2, 0)
      if (origin.requests.length === 2) assert.deepEqual(seen(origin.requests[1]!), seen(origin.requests[0]!))
    }),
    { numRuns: thorough(60, 25) },
  )
})

test('any body goes both ways, with a length and without, in pieces of any size', async t => {
  const { session } = await start(
    t,
    ({ body }) =>
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body.length === 0 ? '' : chunks(body.toString('latin1'))}0\r\n\r\n`,
  )
  const pieces = fc.array(fc.uint8Array({ maxLength: 70_000, size: 'max' }), { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(pieces, fc.boolean(), async (parts, hasLength) => {
      const whole = Buffer.concat(parts)
      const length: Record<string, string> = hasLength ? { 'content-length': String(whole.length) } : {}
      const stream = open(session, { ':method': 'POST', ...length }, false)
      for (const part of parts) stream.write(part)
      stream.end()
      const { status, body } = await responseTo(stream)
      assert.equal(status, 200)
      assert.ok(whole.equals(body))
    }),
    { numRuns: thorough(25, 12) },
  )
})

test('streams never mix, however many there are, and a slow one keeps no other waiting', async t => {
  const { session } = await start(t, ({ target, text }) =>
    ok(`${target} ${text} ${target === '/slow' ? large : ''}`),
  )
  const slow = open(session, { ':path': '/slow' })
  await once(slow, 'response')
  const all = Array.from({ length: 100 }, async (_, i) => {
    const body = `${i}`.repeat(i * 50)
    const response = await ask(session, { ':method': 'POST', ':path': `/${i}` }, body)
    assert.equal(response.body.toString(), `/${i} ${body} `)
  })
  await Promise.all(all)
  assert.ok((await responseTo(slow)).body.length > large.length)
})

test('trailers go both ways', async t => {
  const { session, origin } = await start(
    t,
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks('a')}0\r\nX-Sum: 1\r\nContent-Type: late\r\n\r\n`,
  )
  const stream = session.request(
    { ':method': 'POST', ':authority': 'site.test', ':path': '/' },
    { waitForTrailers: true },
  )
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-total': '2', authorization: 'late' }))
  stream.end('body')
  const { trailers } = await responseTo(stream)
  assert.deepEqual(Object.entries(trailers), [['x-sum', '1']])
  assert.deepEqual(origin.requests[0]!.trailers, ['x-total: 2'])
})

test('interim responses come before the final one, and a body that waits is asked for', async t => {
  const { session } = await start(t, async (_, wire) => {
    await wire.send('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n')
    return ok('done')
  })
  const hinted = open(session)
  const heard: unknown[] = []
  hinted.on('headers', headers => heard.push([headers[':status'], headers.link]))
  assert.equal((await responseTo(hinted)).body.toString(), 'done')
  assert.deepEqual(heard, [[103, '</a>']])
  const waiting = open(session, { ':method': 'POST', expect: '100-continue' }, false)
  await once(waiting, 'continue')
  waiting.end('body')
  assert.equal((await responseTo(waiting)).status, 200)
})

test('a client that pauses in its body gets the response to what it has sent', async t => {
  const { session } = await startScript(t, async wire => {
    await wire.head()
    await wire.until(chunks('begun'))
    await wire.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    await wire.until('0\r\n\r\n')
    await wire.send('0\r\n\r\n')
  })
  const stream = open(session, { ':method': 'POST' }, false)
  const response = responseTo(stream)
  stream.write('begun')
  await once(stream, 'response')
  stream.end()
  assert.equal((await response).status, 200)
})

test('body bytes that arrive while a request waits for a connection follow its beginning', async t => {
  const isTime = Promise.withResolvers<void>()
  const { session, edge } = await startScript(
    t,
    async wire => {
      await wire.request()
      await isTime.promise
      await wire.send(ok())
      await wire.head()
      await wire.until(chunks('more'))
      await wire.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      await wire.until('0\r\n\r\n')
      await wire.send('0\r\n\r\n')
    },
    { transport: { connections: 1 } },
  )
  const first = ask(session)
  await until(() => edge.metrics.originConnections.value === 1)
  const stream = open(session, { ':method': 'POST' }, false)
  const response = responseTo(stream)
  stream.write('x'.repeat(65_537))
  await until(() => edge.metrics.originQueue.value === 1)
  stream.write('more')
  // Behind that, so that it is here.
  await new Promise(resolve => session.ping(resolve))
  isTime.resolve()
  await once(stream, 'response')
  stream.end()
  assert.deepEqual([(await first).status, (await response).status], [200, 200])
})

test('events come as they are sent, and a last one behind a fault, before the stream is reset', async t => {
  const { session, origin } = await startScript(t, async wire => {
    await wire.request()
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
    await wire.send(`${head}${chunks('data: 1\n\n')}`)
    await wire.ending
  })
  const stream = open(session)
  const [first] = await once(stream, 'data')
  assert.equal(String(first), 'data: 1\n\n')
  const rest = responseTo(stream)
  origin.wires[0]!.socket.resetAndDestroy()
  const { body, code } = await rest
  assert.match(body.toString(), /^event: error\ndata: \{.*"error_code":520.*\n\n$/)
  assert.equal(code, constants.NGHTTP2_INTERNAL_ERROR)
})

test('a client sees that a response was cut short, and others on its connection see nothing of it', async t => {
  const { session, origin } = await startScript(t, async wire => {
    const { target } = await wire.request()
    await wire.send(target === '/dies' ? 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf' : ok('whole'))
    await wire.ending
  })
  const stream = open(session, { ':path': '/dies' })
  await once(stream, 'response')
  const cut = responseTo(stream)
  origin.wires[0]!.socket.resetAndDestroy()
  assert.equal((await cut).code, constants.NGHTTP2_INTERNAL_ERROR)
  assert.equal((await ask(session)).body.toString(), 'whole')
})

test('an origin hears of a client that resets its stream, or leaves', async t => {
  for (const leave of ['reset', 'destroy'] as const) {
    const { session, origin, edge } = await startScript(t, wire => wire.request().then(() => wire.ending))
    const stream = open(session)
    await until(() => origin.bytesReceived > 0)
    if (leave === 'reset') stream.close(constants.NGHTTP2_CANCEL)
    else session.destroy()
    await origin.wires[0]!.ending
    await until(() => edge.accesses.length === 1)
    assert.equal(edge.metrics.clientAborts.value, 1)
  }
})

test('a body over the limit is refused, announced or counted', async t => {
  const { session, origin } = await start(t, ok('hello'), { route: { bodyLimit: 100_000 } })
  const announced = open(session, { ':method': 'POST', 'content-length': '100001' }, false)
  assert.equal((await responseTo(announced)).status, 413)
  assert.equal((await ask(session, { ':method': 'POST' }, 'x'.repeat(200_000))).status, 413)
  assert.equal((await ask(session, { ':method': 'POST' }, 'x'.repeat(90_000))).status, 200)
  assert.equal(origin.requests.length, 1)
})

test('requests that HTTP/1.1 could not carry never reach an origin', async t => {
  const { session, origin } = await start(t)
  const bad: Record<string, string>[] = [
    { ':path': '/a b' },
    { ':path': '' },
    { ':path': 'a' },
    { ':authority': 'site.test, other.test' },
    { ':authority': 'user@site.test' },
    { host: 'other.test' },
    { 'content-length': '3, 3' },
    { ':method': 'GE T' },
  ]
  for (const headers of bad) {
    const { status } = await ask(session, headers)
    assert.ok(
      status === 0 || status === 400 || status >= 1000 || status === 409,
      JSON.stringify([headers, status]),
    )
  }
  const short = open(session, { ':method': 'POST', 'content-length': '9' }, false)
  short.end('body')
  assert.equal((await responseTo(short)).code, constants.NGHTTP2_PROTOCOL_ERROR)
  assert.equal((await ask(session)).status, 200)
  assert.equal(origin.requests.length, 1)
})

test('a connection that has served its requests says so, and closes behind the last of them', async t => {
  const { session } = await start(t, ok('hello'), { limits: { requestsPerConnection: 3 } })
  const farewell = once(session, 'goaway')
  for (let i = 0; i < 3; i++) assert.equal((await ask(session)).status, 200)
  assert.equal((await farewell)[0], constants.NGHTTP2_NO_ERROR)
  await once(session, 'close')
})

test('a drain announces the end, serves what is under way, and closes', async t => {
  let go = () => {}
  const { session, edge, origin } = await start(t, async () => {
    await new Promise<void>(resolve => {
      go = resolve
    })
    return ok('late')
  })
  const response = ask(session)
  await until(() => origin.requests.length === 1)
  const farewell = once(session, 'goaway')
  const drained = edge.plane.drain(20_000)
  await farewell
  go()
  assert.equal((await response).body.toString(), 'late')
  await drained
})

test('an idle connection is told that it closes, one that never asks and one that did', async t => {
  const clock = new ManualClock()
  const settings = { client: { ...patient.client, keepAlive: 60_000, headerTimeout: 10_000 } }
  const origin = await startResponder(t, ok('hello'))
  const { edge, session } = await startWith(t, origin, settings, { clock })
  const silent = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  assert.equal((await ask(session)).status, 200)
  const closed = once(silent, 'close')
  clock.advance(10_001)
  await once(silent, 'goaway')
  const beat = setInterval(() => clock.advance(1_000), 50)
  t.after(() => clearInterval(beat))
  await closed
  await once(session, 'close')
  assert.equal(edge.metrics.slowClients.head.value, 1)
})

test('a body that stands still is refused with 408, and its stream alone ends', async t => {
  const clock = new ManualClock()
  const { session } = await startScript(t, wire => wire.ending, { timeouts: { idle: 5_000 } }, { clock })
  const stream = open(session, { ':method': 'POST', 'content-length': '200000', ...json }, false)
  stream.write('x')
  const response = responseTo(stream)
  const beat = setInterval(() => clock.advance(500), 50)
  t.after(() => clearInterval(beat))
  assert.equal((await response).status, 408)
  assert.equal(session.closed, false)
})

test('a bug in one stream costs that stream alone', async t => {
  const { session, edge } = await start(t)
  const rows: [object, string][] = [
    [StreamClient.prototype, 'relay'],
    [StreamClient.prototype, 'flush'],
    [Http2Connection.prototype, 'concluded'],
  ]
  for (const [where, method] of rows) {
    const planted = t.mock.method(where as Record<string, () => void>, method, () => {
      planted.mock.restore()
      throw new RangeError('planted')
    })
    const { status, code } = await ask(session)
    assert.ok(status === 500 || code !== 0 || method === 'concluded', `${method} ${status} ${code}`)
    assert.equal((await ask(session)).status, 200, method)
  }
  assert.ok(edge.events.length >= 3)
})

test('each request is logged with its version', async t => {
  const { session, edge } = await start(t)
  await ask(session)
  await until(() => edge.accesses.length === 1)
  assert.equal(edge.accesses[0]!.version, '2')
  assert.equal(edge.metrics.versions['2'].value, 1)
})

// ── AI ──

const chat = '{"model":"openai/gpt-4o-mini","stream":true,"messages":[{"role":"user","content":"Hi"}]}'

test('AI calls are gathered, refused and cut short as over HTTP/1.1', async t => {
  const provider = await startOrigin(t, async wire => {
    await wire.request()
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
    await wire.send(head + chunks('data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n'))
    await wire.ending
  })
  const ai = await startAi(t, { openai: { url: provider.url } }, { h2c: true })
  const session = await connectHttp2(t, `http://127.0.0.1:${ai.edge.port}`)
  const to = { ':method': 'POST', ':authority': 'ai.test', ':path': `${ai.rest}/v1/chat/completions` }
  const known = { ...to, authorization: `Bearer ${ai.token}`, 'content-type': 'application/json' }
  const refused = await ask(session, to, chat)
  assert.deepEqual([refused.status, JSON.parse(String(refused.body)).success], [401, false])
  const stream = open(session, known, false)
  for (const half of [chat.slice(0, 20), chat.slice(20)]) stream.write(half)
  stream.end()
  const [first] = await once(stream, 'data')
  assert.match(String(first), /"content":"Hel"/)
  const rest = responseTo(stream)
  provider.wires[0]!.socket.resetAndDestroy()
  const { body, code } = await rest
  assert.match(String(body), /^data: \{"error":\{.*"code":520/)
  assert.equal(code, constants.NGHTTP2_NO_ERROR)
  const entry = await ai.entry()
  assert.deepEqual([entry.success, entry.error], [false, 'origin_unknown_error'])
})

// ── TLS ──

const authority = new Authority()
const shared = authority.issue(['site.test', 'other.test', 'strict.test', 'picky.test', '127.0.0.1'])
const alone = authority.issue(['alone.test'])

async function startTls(t: TestContext, enabled = true) {
  const origin = await startResponder(t, ok('hello'))
  const another = (name: string) => ({ ...zoneTo([origin.url]), name, hosts: [`${name}.test`] })
  const { tls } = zoneTo([origin.url])
  const mode = 'required' as const
  const client = {
    mode,
    authorities: authority.certificate,
    revocationLists: null,
    forward: 'subject' as const,
  }
  const strict = { ...another('strict'), tls: { ...tls, client } }
  const picky = { ...another('picky'), tls: { ...tls, ciphers: ['TLS_AES_256_GCM_SHA384'] as const } }
  const config = {
    ...edgeConfig([origin.url], { zones: [another('other'), another('alone'), strict, picky] }),
    listen: [{ host: '127.0.0.1', port: 0, tls: true }],
    tls: { certificates: [shared, alone], minVersion: 'TLSv1.2' } as const,
    http2: { enabled, maxConcurrentStreams: 128, penalty: 1_000 },
  }
  return listenAt(t, new Edge(t, config))
}

const secured = { ca: authority.certificate, servername: 'site.test' }

test('TLS offers HTTP/2 and HTTP/1.1, and HTTP/1.1 alone where that is set', async t => {
  for (const [enabled, offered, agreed] of [
    [true, ['h2', 'http/1.1'], 'h2'],
    [true, ['http/1.1'], 'http/1.1'],
    [false, ['h2', 'http/1.1'], 'http/1.1'],
  ] as const) {
    const edge = await startTls(t, enabled)
    const options: ConnectionOptions = {
      host: '127.0.0.1',
      port: edge.port,
      ...secured,
      ALPNProtocols: [...offered],
    }
    const socket = connectTls(options)
    await once(socket, 'secureConnect')
    assert.equal(socket.alpnProtocol, agreed)
    socket.destroy()
  }
})

test('a connection serves other zones of its certificate, and is the wrong one for those of another, or that ask for more', async t => {
  const edge = await startTls(t)
  const session = await connectHttp2(t, `https://127.0.0.1:${edge.port}`, secured)
  assert.equal((await ask(session)).status, 200)
  assert.equal((await ask(session, { ':authority': 'other.test' })).status, 200)
  for (const other of ['alone.test', 'strict.test', 'picky.test']) {
    const { status, body } = await ask(session, { ':authority': other, ...json })
    assert.deepEqual([status, JSON.parse(String(body)).error_name], [421, 'misdirected_request'])
  }
  const servername = 'picky.test'
  const picky = await connectHttp2(t, `https://127.0.0.1:${edge.port}`, { ...secured, servername })
  assert.equal((await ask(picky, { ':authority': servername })).status, 200)
  const nameless = await connectHttp2(t, `https://127.0.0.1:${edge.port}`, { ...secured, servername: '' })
  assert.equal((await ask(nameless)).status, 200)
  assert.equal((await ask(nameless, { ':authority': 'strict.test' })).status, 421)
})

// ── WebSocket ──

const websocket = {
  ':method': 'CONNECT',
  ':protocol': 'websocket',
  ':scheme': 'http',
  'sec-websocket-version': '13',
}

/** Answers the handshake of a WebSocket. */
function switching(request: Message): string {
  const key = createHash('sha1').update(
    `${request.field('sec-websocket-key')}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`,
  )
  return `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: chat\r\nSec-WebSocket-Accept: ${key.digest('base64')}\r\n\r\n`
}

test('a WebSocket opens by an extended CONNECT, and its bytes go both ways until one side ends', async t => {
  const { session, origin, edge } = await startScript(t, async wire => {
    await wire.send(switching(await wire.request()))
    wire.socket.on('data', bytes => wire.socket.write(bytes))
    await wire.ending
  })
  await once(session, 'remoteSettings')
  const stream = open(session, websocket, false)
  const [headers] = await once(stream, 'response')
  assert.deepEqual([headers[':status'], headers['sec-websocket-protocol']], [200, 'chat'])
  assert.equal(headers['sec-websocket-accept'], undefined)
  for (const text of ['one', 'two']) {
    stream.write(text)
    assert.equal(String((await once(stream, 'data'))[0]), text)
  }
  assert.equal(edge.metrics.webSockets.value, 1)
  const [request] = [origin.wires[0]!]
  stream.end()
  await request.ending
  request.socket.end()
  await once(stream, 'close')
  assert.equal(stream.rstCode, 0)
  await until(() => edge.metrics.webSockets.value === 0)
})

test('the key of a proxy that has a WebSocket of HTTP/1 on its other side goes to the origin, and its proof back', async t => {
  const { session, origin } = await startScript(t, async wire => {
    const request = await wire.request()
    assert.equal(request.lines.filter(line => /^sec-websocket-key:/i.test(line)).length, 1)
    await wire.send(switching(request))
    await wire.ending
  })
  await once(session, 'remoteSettings')
  const key = 'dGhlIHNhbXBsZSBub25jZQ=='
  const stream = open(session, { ...websocket, 'sec-websocket-key': key }, false)
  const [headers] = await once(stream, 'response')
  assert.equal(headers[':status'], 200)
  assert.equal(headers['sec-websocket-accept'], 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
  stream.close()
  await once(stream, 'close')
  await origin.wires[0]!.ending
})

test('the end of one half of a WebSocket reaches the other side, however early it comes, and its loss is no end', async t => {
  const { session, origin, edge } = await startScript(t, async wire => {
    const request = await wire.request()
    await wire.send(switching(request))
    if (request.startLine.includes('reset')) {
      await wire.send('cut ')
      await wire.until('go')
      return wire.reset()
    }
    await wire.ending
    await wire.send('last words')
    wire.socket.end()
  })
  await once(session, 'remoteSettings')
  // With its HEADERS, before the tunnel is open, and behind data.
  const early = open(session, websocket, true)
  const soon = open(session, websocket, false)
  soon.end('soon')
  const late = open(session, websocket, false)
  late.once('response', () => late.end('late'))
  for (const { status, body, code } of await Promise.all([early, soon, late].map(responseTo)))
    assert.deepEqual([status, String(body), code], [200, 'last words', 0])
  const received = await Promise.all(origin.wires.map(wire => wire.rest()))
  assert.deepEqual(received.toSorted(), ['', 'late', 'soon'])
  const lost = open(session, { ...websocket, ':path': '/reset' }, false)
  lost.once('data', () => lost.write('go'))
  const { body, code } = await responseTo(lost)
  assert.deepEqual([String(body), code], ['cut ', constants.NGHTTP2_CANCEL])
  await until(() => edge.metrics.webSockets.value === 0)
})

test('a drain closes a WebSocket by its own means', async t => {
  const { session, edge } = await startScript(t, async wire => {
    await wire.send(switching(await wire.request()))
    wire.socket.on('data', bytes => wire.socket.write(bytes))
    await wire.ending
  })
  await once(session, 'remoteSettings')
  const stream = open(session, websocket, false)
  await once(stream, 'response')
  const farewell = once(stream, 'data')
  const drained = edge.plane.drain(1_000)
  assert.equal((await farewell)[0].toString('latin1'), '\x88\x02\x03\xe9')
  stream.destroy()
  await drained
})

test('an origin that does not switch, or not as asked, opens no tunnel', async t => {
  const answers: [string, number][] = [
    [ok('hello'), 502],
    ['HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n', 403],
    [
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n',
      502,
    ],
  ]
  for (const [answer, wanted] of answers) {
    const { session } = await startScript(t, async wire => {
      await wire.request()
      await wire.send(answer)
      await wire.ending
    })
    await once(session, 'remoteSettings')
    const { status } = await responseTo(open(session, { ...websocket, ...json }, false))
    assert.ok(status === wanted || (wanted === 502 && status >= 500), `${status}`)
  }
})

// ── gRPC ──

test('a refused call of gRPC gets a status in place of trailers, with the detail of the record', async t => {
  const { session } = await start(t, ok('hello'), { route: { bodyLimit: 10 } })
  const call = { ':method': 'POST', 'content-type': 'application/grpc+proto', te: 'trailers' }
  const large = await ask(session, { ...call }, 'x'.repeat(20))
  const unknown = await ask(session, { ...call, ':authority': 'nobody.test' }, '')
  const preview = await ask(session, { ...call, ':path': '/cdn-cgi/error/1015' }, '')
  for (const [response, status] of [
    [large, '8'],
    [unknown, '2'],
    [preview, '8'],
  ] as const) {
    assert.equal(response.status, 200)
    assert.equal(response.headers['content-type'], 'application/grpc')
    assert.equal(response.headers['grpc-status'], status)
    assert.match(String(response.headers['grpc-message']), /^[ -~]+$/)
    assert.match(String(response.headers['svc-ray']), /^[0-9a-f]{16}$/)
    assert.equal(response.body.length, 0)
  }
  assert.ok(Number(preview.headers['grpc-retry-pushback-ms']) > 0)
})

test('a call of gRPC ends with its deadline', async t => {
  const { session } = await startScript(t, wire => wire.ending)
  const call = { ':method': 'POST', 'content-type': 'application/grpc', 'grpc-timeout': '200m' }
  assert.equal((await ask(session, call, '')).headers['grpc-status'], '4')
})

test('a tunnel with a length is refused: an origin that opens none would take the next request for a body', async t => {
  const { session, origin } = await start(t, ok('hello'))
  await once(session, 'remoteSettings')
  for (const length of ['0', '30']) {
    const stream = open(session, { ...websocket, 'content-length': length }, false)
    assert.equal((await responseTo(stream)).status, 400)
  }
  assert.equal(origin.requests.length, 0)
})

test('a WebSocket that is reset in the middle of a frame ends at its origin, and nothing else on the connection does', async t => {
  const { promise: isBegun, resolve: begun } = Promise.withResolvers<unknown>()
  const { session, origin, edge } = await startScript(t, async wire => {
    await wire.send(switching(await wire.request()))
    wire.socket.once('data', begun)
    await wire.ending
  })
  await once(session, 'remoteSettings')
  const [first, second] = [open(session, websocket, false), open(session, websocket, false)]
  await Promise.all([once(first, 'response'), once(second, 'response')])
  first.write(Buffer.from([0x82, 0xfe, 0x40, 0x00, 1, 2, 3, 4, 5]))
  await isBegun
  first.close(constants.NGHTTP2_CANCEL)
  await until(() => edge.metrics.webSockets.value === 1)
  assert.equal(second.closed, false)
  await until(
    () => origin.wires.filter(({ socket }) => !socket.readableEnded && !socket.destroyed).length === 1,
  )
  second.close(constants.NGHTTP2_CANCEL)
  await until(() => edge.metrics.webSockets.value === 0)
})
