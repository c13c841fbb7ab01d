// Cookies know no ports: those of the gateway's pages stay away from origins on the same host, and origins can't set them; all other cookies pass as they came.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flag, frameType } from '../../src/http2/frames/frames.ts'
import { call, completion, json, startAi } from '../help/ai.ts'
import { usualCompression } from '../help/codings.ts'
import { Edge, edgeConfig, listenAt, startEdge } from '../help/edge.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { data, headers, startHttp2Origin } from '../help/http2-origin.ts'
import { ok, startResponder } from '../help/origin.ts'
import { chunks, request } from '../help/raw.ts'
import { startRewriting } from './rewriting.ts'

const came = ['Cookie: a=1; gatehouse=SECRET', 'cookie: gatehouse-visit=SECRET', 'COOKIE: b="2" ;; c=3']
const went = ['Cookie: a=1', 'COOKIE: b="2" ;; c=3']
const sets = [
  'Set-Cookie: a=1; Path=/',
  'Set-Cookie: gatehouse=EVIL; Path=/',
  'set-cookie: __Host-gatehouse=EVIL; Path=/; Secure',
  'Set-Cookie: =gatehouse=EVIL',
  'Set-Cookie: gatehouse_consent=EVIL; Path=/auth',
  'Set-Cookie: b=gatehouse',
]
const gets = ['a=1; Path=/', 'b=gatehouse']
const handshake = (...fields: string[]) =>
  request(
    'GET /socket',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...fields,
  )
const switched = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n${sets.join('\r\n')}\r\n\r\n`

const cookieLines = ({ lines }: { readonly lines: readonly string[] }) =>
  lines.filter(line => /^cookie:/i.test(line))

test('an origin gets every cookie but ours, field for field, and sets every one but ours', async t => {
  const origin = await startResponder(t, ok('hi', ...sets))
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  // The lines of a head that comes again are not read again.
  for (let i = 0; i < 4; i++) {
    await client.send(request('GET /', ...came))
    const answer = await client.response()
    assert.deepEqual(answer.all('set-cookie'), gets)
    assert.deepEqual(cookieLines(origin.requests[i]!), went)
  }
  assert.deepEqual(cookieLines(origin.requests[0]!), went)
  assert.doesNotMatch(JSON.stringify([edge.accesses, edge.events]), /SECRET|EVIL/)
})

test('the crumbs of HTTP/2 are one field, without ours', async t => {
  const origin = await startResponder(t, ok('hi', ...sets))
  const edge = await listenAt(t, new Edge(t, edgeConfig([origin.url], { h2c: true })))
  const session = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  for (let i = 0; i < 3; i++) {
    const crumbs = [
      'a=1',
      'gatehouse=SECRET',
      '__Host-gatehouse-visit=SECRET; b=2',
      '__Secure-gatehouse_resume=SECRET',
    ]
    const answer = await ask(session, { cookie: crumbs })
    assert.deepEqual(answer.headers['set-cookie'], gets)
    assert.deepEqual(cookieLines(origin.requests[i]!), ['cookie: a=1; b=2'])
  }
  await ask(session, { cookie: 'gatehouse=SECRET' })
  assert.deepEqual(cookieLines(origin.requests[3]!), [])
})

test('an origin of HTTP/2 gets and sets none of ours, in early hints and trailers neither', async t => {
  const all = sets.map(line => [line.slice(0, 10).toLowerCase(), line.slice(12)] as const)
  const seen: string[] = []
  const origin = await startHttp2Origin(t, async wire => {
    const asked = (await wire.next(frameType.headers))!
    seen.push(...wire.fieldsOf(asked).flatMap(([name, value]) => (name === 'cookie' ? [value] : [])))
    wire.send(
      headers(asked.stream, [[':status', '103'], ...all], flag.endHeaders),
      headers(asked.stream, [[':status', '200'], ...all], flag.endHeaders),
      data(asked.stream, 'hi'),
      headers(asked.stream, [...all, ['x-sum', '1']]),
    )
  })
  const edge = await startEdge(t, [origin.url], { transport: { http: 'h2c' } })
  const client = await edge.connect()
  await client.send(request('GET /', 'TE: trailers', ...came))
  assert.doesNotMatch(await client.until('\r\n\r\n'), /EVIL/)
  const answer = await client.response()
  assert.deepEqual([answer.all('set-cookie'), answer.trailers], [gets, ['x-sum: 1']])
  assert.deepEqual(seen, ['a=1', 'b="2" ;; c=3'])
})

test('early hints, errors and refused redirects set none of ours', async t => {
  const lines = `${sets.join('\r\n')}\r\n`
  const origin = await startResponder(t, ({ target }) => {
    if (target === '/hints') return `HTTP/1.1 103 Early Hints\r\n${lines}Link: </a>\r\n\r\n${ok('', ...sets)}`
    const status = target === '/error' ? '503 Service Unavailable' : '302 Found'
    return `HTTP/1.1 ${status}\r\nLocation: /a\r\n${lines}Content-Length: 0\r\n\r\n`
  })
  const edge = await startEdge(t, [origin.url], { route: { redirects: 3 } })
  const client = await edge.connect()
  await client.send(request('GET /hints'))
  const hints = await client.until('\r\n\r\n')
  assert.deepEqual(
    hints.split('\r\n').filter(line => /^set-cookie/i.test(line)),
    gets.map(value => `Set-Cookie: ${value}`),
  )
  assert.deepEqual((await client.response()).all('set-cookie'), gets)
  for (const [target, status] of [
    ['/error', 503],
    ['/moved', 302],
  ] as const) {
    const answer = await edge.ask(request(`GET ${target}`))
    assert.deepEqual([answer.status, answer.all('set-cookie')], [status, gets])
  }
})

test('a redirect that is followed, and a request that is sent again, bear none of ours', async t => {
  const origin = await startResponder(t, ({ target }) =>
    target === '/from' ? 'HTTP/1.1 302 Found\r\nLocation: /to\r\nContent-Length: 0\r\n\r\n' : ok('there'),
  )
  const failing = await startResponder(t, 'HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n')
  const pool = { retryOn: [503], retries: { most: 1, budget: 1 } } as const
  const edge = await startEdge(t, [failing.url, origin.url], { route: { redirects: 3 }, pool })
  for (let i = 0; i < 2; i++) await edge.ask(request('GET /from', ...came))
  assert.ok(failing.requests.length > 0 && origin.requests.some(({ target }) => target === '/to'))
  for (const received of [...origin.requests, ...failing.requests])
    assert.deepEqual(cookieLines(received), went)
})

test('a WebSocket handshake bears none of ours, and its response sets none', async t => {
  const origin = await startResponder(t, switched)
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(handshake(...came))
  const answer = await client.until('\r\n\r\n')
  assert.match(answer, /^HTTP\/1.1 101/)
  assert.deepEqual(
    answer.split('\r\n').filter(line => /^set-cookie/i.test(line)),
    gets.map(value => `Set-Cookie: ${value}`),
  )
  assert.deepEqual(cookieLines(origin.requests[0]!), went)
})

test('no rule copies one of ours to an origin, or back to where pages could read it', async t => {
  const copies = {
    request: { 'X-Copy': 'request.headers["cookie"].join("; ")', Cookie: '"gatehouse=SECRET; d=4"' },
    response: { 'X-Back': 'request.headers["cookie"].join("; ")', 'Set-Cookie': '"gatehouse=EVIL"' },
  }
  const { edge, origin } = await startRewriting(t, copies)
  const answer = await edge.ask(request('GET /', ...came))
  const [received] = origin.requests
  assert.deepEqual(cookieLines(received!), ['Cookie: d=4'])
  assert.equal(received!.field('x-copy'), 'a=1; b="2" ;; c=3')
  assert.equal(answer.field('x-back'), 'a=1; b="2" ;; c=3')
  assert.equal(answer.field('set-cookie'), null)
})

test('a compressed response sets none of ours, and a request of trailers brings none', async t => {
  const origin = await startResponder(t, ok('hi'.repeat(2_000), 'Content-Type: text/plain', ...sets))
  const edge = await startEdge(t, [origin.url], { route: { compression: usualCompression } })
  const answer = await edge.ask(
    `${request('POST /', 'Accept-Encoding: gzip', 'Transfer-Encoding: chunked', ...came)}${chunks('hi')}0\r\nCookie: gatehouse=SECRET\r\n\r\n`,
  )
  assert.equal(answer.field('content-encoding'), 'gzip')
  assert.deepEqual(answer.all('set-cookie'), gets)
  assert.doesNotMatch(origin.requests[0]!.lines.concat(origin.requests[0]!.trailers).join('\n'), /SECRET/)
})

test('a request in a trace bears none of ours', async t => {
  const origin = await startResponder(t, ok())
  const trace = { continues: 'all', sample: 0 } as const
  const edge = await startEdge(t, [origin.url], { telemetry: { trace } })
  await edge.ask(
    request('GET /', 'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', ...came),
  )
  assert.deepEqual(cookieLines(origin.requests[0]!), went)
})

test('a provider gets no cookie, and sets none of ours', async t => {
  const provider = await startResponder(t, json(completion, ...sets))
  const ai = await startAi(t, { openai: provider.url })
  const answer = await ai.edge.ask(
    call(
      `${ai.native('openai')}/chat/completions`,
      '{}',
      `svc-aig-authorization: Bearer ${ai.token}`,
      ...came,
    ),
  )
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.all('set-cookie'), gets)
  assert.deepEqual(cookieLines(provider.requests[0]!), [])
})
