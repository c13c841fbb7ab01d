// Credentials of the gateway in requests to origins: refused before a byte of them is sent, wherever they are and however the request comes.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { NameLookup } from '../../src/edge/resolver/name-lookup.ts'
import { mintToken } from '../../src/tokens/token.ts'
import { type EdgeSettings, recordOf, startEdge } from '../help/edge.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { ok, startResponder } from '../help/origin.ts'
import { chunks, post, request } from '../help/raw.ts'
import { rewriteOf } from './rewriting.ts'

const json = 'Accept: application/json'
const kinds = {
  svct_: mintToken('svct_').value,
  svco_: mintToken('svco_').value,
  svcr_: mintToken('svcr_').value,
  svcs_: `svcs_${'aB3-_'.repeat(9).slice(0, 43)}`,
}
const { svct_: token } = kinds
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
const bearer = `Authorization: Bearer ${token}`
const handshake = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

async function start(t: TestContext, settings: EdgeSettings = {}) {
  const origin = await startResponder(t, ok('site'))
  return { origin, edge: await startEdge(t, [origin.url], settings) }
}

/** Requests with a credential, and the place of it. */
const requests: readonly (readonly [request: string, place: string])[] = [
  ...Object.values(kinds).map(
    value => [request('GET /', json, `Authorization: Bearer ${value}`), 'the header authorization'] as const,
  ),
  ...[
    `svc-aig-authorization: Bearer ${token}`,
    `svc_aig_authorization: Bearer ${token}`,
    `authorization: ${token}`,
    `AUTHORIZATION: Token ${token}`,
    `authorization: ${basic(`${token}:`)}`,
    `authorization: ${basic(`user:${kinds.svcs_}`)}`,
    `proxy-authorization: Bearer ${token}`,
    `x-api-key: ${token}`,
    `x_api_key: ${token}`,
    `cookie: a=b; t=${token}`,
    `cookie: t=${encodeURIComponent(encodeURIComponent(`"${token}"`))}`,
    `referer: http://site.test/?key=${token.replace('_', '%5F')}`,
    `x-two: Bearer a, ${basic(`u:${token}`)}`,
    `x-json: {"a":"\\u0073${token.slice(1)}"}`,
    `via: 1.1 ${token}`,
    `x-forwarded-for: ${token}`,
    `user-agent: ${token}`,
    `accept-language: ${token}`,
    `content-type: text/plain; a=${token}`,
    `te: ${token}`,
  ].map(line => {
    const place = `the header ${line.slice(0, line.indexOf(':')).toLowerCase()}`
    return [request('GET /', json, line), place] as const
  }),
  [request('GET /', json, 'X-A: 1', `X-A: ${token}`, 'X-A: 2'), 'the header x-a'],
  [request('GET /', json, `X${token}: 1`), 'the name of a header'],
  [request(`GET /a/${token}/b`, json), 'the path'],
  [request(`GET /?key=${token}`, json), 'the query'],
  [request(`GET /?a=b&key=%73vc%74_${token.slice(5)}`, json), 'the query'],
  [request(`GET /?key=${token.replace('svct', '%2573%76ct')}`, json), 'the query'],
  [request(`${token} /`, json), 'the method'],
  [request('GET /', json, `X-A!: ${token}`), 'a header'],
  [post('/', 'body', json, `X-Api-Key: ${token}`), 'the header x-api-key'],
  [
    `${request('POST /', json, 'Transfer-Encoding: chunked', `X-Api-Key: ${token}`)}${chunks('body')}0\r\n\r\n`,
    'the header x-api-key',
  ],
  [
    request('GET /', json, ...handshake, `Sec-WebSocket-Protocol: a, key.${token}`),
    'the header sec-websocket-protocol',
  ],
  [request(`GET /?token=${token}`, json, ...handshake), 'the query'],
]

test('a credential of the gateway is refused before an origin is asked, wherever it is', async t => {
  const { edge, origin } = await start(t)
  for (const [asked, place] of requests) {
    const answer = await edge.ask(asked)
    assert.equal(answer.status, 400, place)
    const { detail, error_name, retryable } = recordOf(answer)
    assert.match(String(detail), new RegExp(`has a credential of this gateway in ${place}, `))
    assert.deepEqual([error_name, retryable, answer.field('x-should-retry')], ['bad_request', false, 'false'])
    assert.doesNotMatch(answer.text, /svc[tors]_/)
  }
  // Not even a connection was opened.
  assert.equal(origin.wires.length, 0)
  assert.equal(edge.accesses.length, requests.length)
  assert.doesNotMatch(JSON.stringify([edge.accesses, edge.events, edge.tallies]), /svc[tors]_/)
})

test('what only mentions a prefix, or has a credential of others, goes on', async t => {
  const { edge, origin } = await start(t)
  const bodies = post('/', token, 'X-Api-Key: sk-ours')
  for (const asked of [
    request('GET /search?q=svct_'),
    request('GET /docs/tokens-begin-with-svct_-and-client-secrets-with-svcs_'),
    request('GET /', 'Authorization: Bearer svct_your-token'),
    request('GET /', `Authorization: ${basic('user:password')}`),
    request('GET /', `Authorization: Bearer ${'x'.repeat(60)}`),
    request('GET /', `Cookie: a=${'%20'.repeat(60)}`),
    bodies,
  ])
    assert.equal((await edge.ask(asked)).status, 200, asked)
  assert.equal(origin.requests.length, 7)
})

test('requests of one connection are looked at one by one, however alike they are', async t => {
  const { edge, origin } = await start(t)
  const client = await edge.connect()
  const statuses: number[] = []
  for (const asked of [
    request('GET /', 'X-A: 1'),
    request('GET /', 'X-A: 1'),
    request('GET /', 'X-A: 1'),
    request(`GET /?${token}`, 'X-A: 1'),
    request('GET /', 'X-A: 1'),
    request('GET /', `X-A: ${token}`),
    request('GET /', `X-A: ${token}`),
    request('GET /', `X-A: ${token}`),
    request('GET /', 'X-A: 1'),
  ]) {
    await client.send(asked)
    statuses.push((await client.response()).status)
  }
  assert.deepEqual(statuses, [200, 200, 200, 400, 200, 400, 400, 400, 200])
  assert.equal(origin.requests.length, 5)
})

test('over HTTP/2 too: fields of its tables, crumbs of cookies, gRPC and WebSockets', async t => {
  const { edge, origin } = await start(t, { h2c: true })
  const session = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  const good = { accept: 'application/json', 'x-long': 'x'.repeat(60) }
  const bad = { ...good, 'x-key': token }
  const half = token.length >> 1
  for (const [headers, status] of [
    [good, 200],
    [bad, 400],
    [bad, 400],
    [good, 200],
    [{ ...good, 'x-long': token }, 400],
    [{ ...good, cookie: ['a=b', `t=${token}`] }, 400],
    [{ ...good, cookie: [`t=${token.slice(0, half)}`, token.slice(half)] }, 200],
    [{ ...good, ':path': `/?key=${token}` }, 400],
    [{ ...good, ':authority': `${token}.site.test` }, 0],
    [good, 200],
  ] as const) {
    const answer = await ask(session, headers)
    if (status === 0) assert.notEqual(answer.status, 200)
    else assert.equal(answer.status, status, JSON.stringify(headers))
  }
  const grpc = await ask(session, {
    ':method': 'POST',
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${token}`,
  })
  assert.notEqual(grpc.headers['grpc-status'] ?? grpc.trailers['grpc-status'], '0')
  const tunnel = await ask(session, {
    ':method': 'CONNECT',
    ':protocol': 'websocket',
    ':scheme': 'http',
    'sec-websocket-version': '13',
    authorization: `Bearer ${token}`,
  })
  assert.equal(tunnel.status, 400)
  assert.equal(origin.requests.length, 4)
})

test('a rewrite cannot copy one elsewhere, and a redirect that names one is for the client', async t => {
  const rewrite = rewriteOf({ request: { 'X-Copy': 'request.headers["x-mine"][0]', Authorization: null } })
  const origin = await startResponder(t, ({ target }) =>
    target === '/from'
      ? `HTTP/1.1 302 Found\r\nLocation: /to?key=${token}\r\nContent-Length: 0\r\n\r\n`
      : ok('to'),
  )
  const edge = await startEdge(t, [origin.url], { route: { rewrite } })
  assert.equal((await edge.ask(request('GET /', `X-Mine: ${token}`))).status, 400)
  assert.equal((await edge.ask(request('GET /', 'X-Mine: 1', `Authorization: Bearer ${token}`))).status, 400)
  assert.equal(origin.wires.length, 0)
  const following = await startEdge(t, [origin.url], { route: { redirects: 3 } })
  assert.equal((await following.ask(request('GET /from'))).status, 302)
  assert.equal(origin.requests.length, 1)
})

test('behind the body it is left out, since the request has gone', async t => {
  const { edge, origin } = await start(t)
  const head = request('POST /', 'Transfer-Encoding: chunked')
  const trailers = [`X-Foo: ${token}`, `X${token}: 1`, 'X-Kept: 1']
  assert.equal((await edge.ask(`${head}${chunks('a')}0\r\n${trailers.join('\r\n')}\r\n\r\n`)).status, 200)
  assert.deepEqual(origin.requests[0]!.trailers, ['X-Kept: 1'])
})

test('the error has the form that the client asks for, JSON for programs, and names where AI calls belong', async t => {
  const { edge } = await start(t, { ai: { hosts: ['ai.test', 'ai.local', 'ai.example', 'ai.other'] } })
  const asked = (...fields: string[]) => edge.ask(request('GET /', `X-Key: ${token}`, ...fields))
  for (const [accept, type] of [
    [[], 'application/json; charset=utf-8'],
    [['Accept: */*'], 'application/json; charset=utf-8'],
    [['Accept: application/problem+json'], 'application/problem+json; charset=utf-8'],
    [['Accept: text/html'], 'text/html; charset=utf-8'],
    [['Accept: text/markdown'], 'text/markdown; charset=utf-8'],
  ] as const) {
    const answer = await asked(...accept)
    assert.deepEqual([answer.status, answer.field('content-type')], [400, type])
    assert.match(answer.text, /the header x-key/)
    assert.match(answer.text, /AI calls belong to the host ai\.test or ai\.local or ai\.example, under/)
    assert.doesNotMatch(answer.text, /ai\.other/)
  }
  const { error } = JSON.parse((await asked()).text)
  assert.match(error.message, /the header x-key/)
  // The next one is told of its own place.
  assert.match((await edge.ask(request(`GET /?${token}`, 'Accept: text/html'))).text, /gateway in the query/)
})

test('a name that stands for another machine than that of the side port gets nothing, though it has the port', async t => {
  const origin = await startResponder(t, ok('site'))
  const lookup = new NameLookup({ system: async () => ['127.0.0.1'] })
  const asked = [
    request('GET /', bearer),
    post('/', 'body', bearer),
    `${request('POST /', bearer, 'Transfer-Encoding: chunked')}${chunks('x'.repeat(100_000))}0\r\n\r\n`,
    request('GET /', bearer, ...handshake),
  ]
  for (const [host, status] of [
    ['127.0.0.2', 400],
    ['127.0.0.1', 200],
  ] as const) {
    const endpoint = { host, port: origin.port }
    const sidePort = { endpoint, issuer: null, secret: Buffer.alloc(32) }
    const edge = await startEdge(t, [`http://side.test:${origin.port}`], { lookup, sidePort })
    for (const one of asked.slice(0, status === 200 ? 2 : 4))
      assert.equal((await edge.ask(one)).status, status)
    if (status === 400) assert.equal(origin.bytesReceived, 0)
  }
  assert.deepEqual(
    origin.requests.map(one => one.field('authorization')),
    [`Bearer ${token}`, `Bearer ${token}`],
  )
})

test('previews are no requests to an origin', async t => {
  const { edge } = await start(t)
  const answer = await edge.ask(request('GET /cdn-cgi/error/522', `Authorization: Bearer ${token}`))
  assert.equal(answer.status, 522)
})

test('rules and limits come first, and a refused body costs no connection', async t => {
  const rules = [
    { action: 'deny', condition: { kind: 'ip', networks: ['127.0.0.2'] }, description: null },
  ] as const
  const { edge, origin } = await start(t, { access: { rules } })
  const denied = await edge.connect('127.0.0.2')
  await denied.send(request('GET /', `X-Key: ${token}`))
  assert.equal((await denied.response()).status, 403)
  const client = await edge.connect()
  await client.send(post('/', 'body', `X-Key: ${token}`))
  assert.equal((await client.response()).status, 400)
  await client.send(request('GET /'))
  assert.equal((await client.response()).status, 200)
  assert.equal(origin.requests.length, 1)
})
