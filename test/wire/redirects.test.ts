// Redirects that the gateway follows where a route asks for it: back to the same route only, with an end.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import type { RouteConfig } from '../../src/config/model/config.ts'
import { codeOf, edgeConfig, recordOf, startEdge, zoneTo } from '../help/edge.ts'
import { type Origin, ok, type Respond, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, type Message, post, request } from '../help/raw.ts'
import { thorough } from '../help/thorough.ts'
import { turnsUntil, until } from '../help/until.ts'

const json = 'Accept: application/json'

function redirect(status: number, location: string, body = 'gone'): string {
  return `HTTP/1.1 ${status} Elsewhere\r\nLocation: ${location}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** Starts an edge whose route follows redirects, before an origin that redirects `/from` and tells what it was asked for the rest. */
async function startFollowing(
  t: TestContext,
  from: string | Respond,
  route: Partial<RouteConfig> = {},
  trustedProxies: readonly string[] = [],
) {
  const origin: Origin = await startResponder(t, (message, wire) => {
    if (message.target !== '/from') return ok(`${message.startLine} ${message.text}`.trim())
    return typeof from === 'string' ? from : from(message, wire)
  })
  const edge = await startEdge(t, [origin.url], { route: { redirects: 3, ...route }, trustedProxies })
  return { edge, origin }
}

const lines = ({ requests }: Origin) => requests.map(({ startLine }) => startLine.replace(' HTTP/1.1', ''))

for (const status of [301, 302, 303, 307, 308]) {
  test(`a GET follows ${status} on the same connection`, async t => {
    const { edge, origin } = await startFollowing(t, redirect(status, '/to?x=1'))
    const answer = await edge.ask(request('GET /from', 'X-Mine: 1', 'Content-Type: text/plain'))
    assert.deepEqual([answer.status, answer.text], [200, 'GET /to?x=1 HTTP/1.1'])
    assert.equal(origin.wires.length, 1)
    const [first, second] = origin.requests
    assert.deepEqual(second!.lines, first!.lines)
    assert.deepEqual([edge.accesses[0]!.path, edge.accesses[0]!.status], ['/from', 200])
  })
}

for (const [status, method] of [
  [301, 'GET'],
  [302, 'GET'],
  [303, 'GET'],
  [307, 'POST'],
  [308, 'POST'],
] as const) {
  test(`a POST follows ${status} as ${method}`, async t => {
    const { edge, origin } = await startFollowing(t, redirect(status, '/to'))
    const answer = await edge.ask(post('/from', 'body', 'Content-Type: text/plain', 'X-Mine: 1'))
    assert.equal(answer.text, method === 'GET' ? 'GET /to HTTP/1.1' : 'POST /to HTTP/1.1 body')
    const [, second] = origin.requests
    assert.equal(second!.field('content-type'), method === 'GET' ? null : 'text/plain')
    assert.equal(second!.field('content-length'), method === 'GET' ? null : '4')
    assert.equal(second!.field('x-mine'), '1')
  })
}

test('a HEAD stays a HEAD', async t => {
  const { edge, origin } = await startFollowing(t, 'HTTP/1.1 303 See\r\nLocation: /to\r\n\r\n')
  const client = await edge.connect()
  await client.send(request('HEAD /from'))
  assert.equal((await client.response('HEAD')).status, 200)
  assert.deepEqual(lines(origin), ['HEAD /from', 'HEAD /to'])
})

test('a small body in chunks goes along with a 307, and not with a 303', async t => {
  const bytes = `${request('POST /from', 'Transfer-Encoding: chunked')}${chunks('bo', 'dy')}0\r\n\r\n`
  const temporary = await startFollowing(t, redirect(307, '/to'))
  assert.equal((await temporary.edge.ask(bytes)).text, 'POST /to HTTP/1.1 body')
  const seeOther = await startFollowing(t, redirect(303, '/to'))
  assert.equal((await seeOther.edge.ask(bytes)).text, 'GET /to HTTP/1.1')
})

test('a PUT keeps its method and body', async t => {
  const { edge } = await startFollowing(t, redirect(301, '/to'))
  const answer = await edge.ask(post('/from', 'body').replace('POST', 'PUT'))
  assert.equal(answer.text, 'PUT /to HTTP/1.1 body')
})

test('a body that was streamed cannot be sent again, and is not needed where the redirect requires a GET', async t => {
  const bytes = `${request('POST /from', 'Transfer-Encoding: chunked')}${chunks('x'.repeat(100_000))}0\r\n\r\n`
  const seeOther = await startFollowing(t, redirect(303, '/to'))
  assert.equal((await seeOther.edge.ask(bytes)).text, 'GET /to HTTP/1.1')
  assert.equal(seeOther.origin.requests[1]!.field('transfer-encoding'), null)
  const temporary = await startFollowing(t, redirect(307, '/to'))
  assert.equal((await temporary.edge.ask(bytes)).status, 307)
})

test('a location may name the host of the request or of the origin, and be relative', async t => {
  let location = ''
  const { edge, origin } = await startFollowing(t, () => redirect(302, location))
  for (location of [
    'http://site.test/to',
    'http://SITE.test:80/to',
    `${origin.url}/to`,
    '//site.test/to#part',
    'to',
    './a/../to',
  ])
    assert.equal((await edge.ask(request('GET /from'))).text, 'GET /to HTTP/1.1', location)
})

test("a redirect to the other scheme is the client's, judged by the scheme that a trusted hop reports", async t => {
  let location = ''
  const { edge, origin } = await startFollowing(t, () => redirect(301, location), {}, ['127.0.0.1'])
  const secure = 'X-Forwarded-Proto: https'
  for (const [fields, followed, left] of [
    [[], 'http://site.test/to', 'https://site.test/to'],
    [[secure], 'https://site.test:443/to', 'http://site.test/to'],
  ] as const) {
    location = followed
    assert.equal((await edge.ask(request('GET /from', ...fields))).text, 'GET /to HTTP/1.1')
    location = left
    assert.equal((await edge.ask(request('GET /from', ...fields))).field('location'), left)
  }
  location = origin.url.replace('http', 'https')
  assert.equal((await edge.ask(request('GET /from'))).status, 301)
  const doubted = await startFollowing(t, redirect(301, 'https://site.test/to'))
  assert.equal((await doubted.edge.ask(request('GET /from', secure))).status, 301)
})

test("a redirect that sets a cookie is the client's", async t => {
  const { edge, origin } = await startFollowing(
    t,
    'HTTP/1.1 302 Found\r\nLocation: /to\r\nSet-Cookie: session=1\r\nContent-Length: 0\r\n\r\n',
  )
  const answer = await edge.ask(post('/from', 'user=1'))
  assert.deepEqual([answer.status, answer.field('set-cookie')], [302, 'session=1'])
  assert.deepEqual(lines(origin), ['POST /from'])
})

test('a redirect that arrives after a reload is followed by the previous rules', async t => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { edge, origin } = await startFollowing(t, async () => {
    await promise
    return redirect(302, '/to')
  })
  const answer = edge.ask(request('GET /from'))
  await turnsUntil(() => origin.requests.length > 0)
  edge.reload(edgeConfig([origin.url]))
  resolve()
  assert.equal((await answer).text, 'GET /to HTTP/1.1')
})

test('redirects to other hosts are left to the client', async t => {
  let location = ''
  const { edge, origin } = await startFollowing(t, () => redirect(302, location))
  for (location of [
    'http://elsewhere.test/to',
    '//elsewhere.test/to',
    'http://site.test:8080/to',
    'http://user@site.test/to',
    'ftp://site.test/to',
    'http://169.254.169.254/latest',
    '\\\\elsewhere.test\\to',
    'http://[',
    'caf\xe9',
    '/cdn-cgi/error/500',
    `/${'x'.repeat(20_000)}`,
  ]) {
    const answer = await edge.ask(request('GET /from'))
    assert.deepEqual([answer.status, answer.field('location')], [302, location], location)
    assert.equal(answer.text, 'gone')
  }
  assert.deepEqual([...new Set(lines(origin))], ['GET /from'])
})

test('whatever a location contains, the origin gets a valid path, or the client gets the response', async t => {
  let location = ''
  const { edge, origin } = await startFollowing(t, () => redirect(302, location))
  const client = await edge.connect()
  const hard = ['/', '//', '..', '%2e', '\\', '?', '#', '@', ':', 'http://', 'site.test', '[::1]', '\t', ' ']
  const byte = fc.integer({ min: 0x21, max: 0xff }).map(code => String.fromCharCode(code))
  const piece = fc.oneof(fc.constantFrom(...hard), fc.string({ unit: byte, maxLength: 4 }))
  const texts = fc.array(piece, { minLength: 1, maxLength: 6 }).map(pieces => pieces.join('').trim())
  await fc.assert(
    fc.asyncProperty(texts, async text => {
      fc.pre(text !== '' && !text.includes('\x7f'))
      location = text
      origin.requests.length = 0
      await client.send(request('GET /from', json))
      const answer = await client.response()
      if (answer.status === 302) return assert.equal(answer.field('location'), text)
      if (answer.status === 500) return assert.deepEqual([codeOf(answer), origin.requests.length], [1205, 1])
      assert.equal(answer.status, 200)
      assert.match(origin.requests[1]!.startLine, /^GET \/[\x21-\x7e]* HTTP\/1\.1$/)
      assert.equal(origin.requests[1]!.field('host'), 'site.test')
    }),
    { numRuns: thorough(500, 150) },
  )
})

test("a redirect without one location is the client's", async t => {
  for (const fields of ['', 'Location: /a\r\nLocation: /b\r\n']) {
    const { edge } = await startFollowing(t, `HTTP/1.1 302 Found\r\n${fields}Content-Length: 0\r\n\r\n`)
    assert.equal((await edge.ask(request('GET /from'))).status, 302)
  }
})

test('other responses with a location, and routes without redirects, are left alone', async t => {
  for (const [status, redirects] of [
    [201, 3],
    [300, 3],
    [302, 0],
  ] as const) {
    const { edge } = await startFollowing(t, redirect(status, '/to'), { redirects })
    assert.equal((await edge.ask(request('GET /from'))).status, status)
  }
})

for (const [what, limit] of [
  ['counts what it leads to', { when: 'request.path == "/to"' }],
  ['counts by path', { key: [{ by: 'path' }] }],
] as const)
  test(`a redirect is the client's where a rate limit ${what}`, async t => {
    const common = { name: 'few', limit: 2, period: 60_000, key: [], when: null, action: 'block' } as const
    const rateLimits = [{ ...common, ...limit }]
    const { edge, origin } = await startFollowing(t, redirect(307, '/to'), { rateLimits })
    assert.equal((await edge.ask(request('GET /from'))).status, 307)
    assert.deepEqual(lines(origin), ['GET /from'])
  })

test('a redirect is followed where a rate limit counts something else', async t => {
  const limit = { name: 'few', limit: 2, period: 60_000, key: [], when: null, action: 'block' } as const
  const rateLimits = [limit, { ...limit, name: 'login', when: 'request.path == "/login"' }]
  const { edge } = await startFollowing(t, redirect(307, '/to'), { rateLimits })
  assert.equal((await edge.ask(request('GET /from'))).status, 200)
})

test('a path of another route is not reached by a redirect', async t => {
  const origin = await startResponder(t, redirect(302, '/private'))
  const route = zoneTo([origin.url]).routes[0]!
  const edge = await startEdge(t, [], {
    zone: { routes: [{ ...route, path: '/from', redirects: 3 }, route] },
  })
  assert.equal((await edge.ask(request('GET /from'))).status, 302)
  assert.equal(origin.requests.length, 1)
})

test('a path that the access rules deny is not reached by a redirect, nor held against the client', async t => {
  const origin = await startResponder(t, redirect(302, '/private'))
  const condition = { kind: 'path', prefixes: ['/private'] } as const
  const edge = await startEdge(t, [origin.url], {
    route: { redirects: 3 },
    zone: {
      access: {
        rules: [{ action: 'deny', condition, description: null }],
        otherwise: 'allow',
        ban: { refusals: 2, within: 60_000, lasts: 60_000 },
      },
    },
  })
  for (let i = 0; i < 4; i++) assert.equal((await edge.ask(request('GET /from'))).status, 302)
  assert.equal(origin.requests.length, 4)
})

test('redirects of a route that rewrites paths are left to the client', async t => {
  const origin = await startResponder(t, redirect(302, '/v2/to'))
  const edge = await startEdge(t, [origin.url], {
    route: {
      redirects: 3,
      rewrite: { path: '"/v2" + request.path', requestHeaders: [], responseHeaders: [] },
    },
  })
  assert.equal((await edge.ask(request('GET /from'))).field('location'), '/v2/to')
  assert.deepEqual(lines(origin), ['GET /v2/from'])
})

test('redirects in a circle are 1205, which may be retried', async t => {
  const { edge, origin } = await startFollowing(t, redirect(301, 'http://site.test/from'))
  const answer: Message = await edge.ask(request('GET /from', json))
  assert.deepEqual([codeOf(answer), answer.status, recordOf(answer).retry_after], [1205, 500, 5])
  assert.deepEqual(lines(origin), ['GET /from'])
})

test('more redirects than the route follows are 1205', async t => {
  const origin = await startResponder(t, ({ target }) => redirect(302, `${target}x`))
  const edge = await startEdge(t, [origin.url], { route: { redirects: 2 } })
  assert.equal(codeOf(await edge.ask(request('GET /', json))), 1205)
  assert.deepEqual(lines(origin), ['GET /', 'GET /x', 'GET /xx'])
})

test('the body of a redirect never reaches the client, however it ends', async t => {
  const long = 'x'.repeat(100_000)
  for (const answer of [
    redirect(302, '/to', long),
    `HTTP/1.1 302 Found\r\nLocation: /to\r\nTransfer-Encoding: chunked\r\n\r\n${chunks('some', 'body')}0\r\n\r\n`,
    `HTTP/1.1 302 Found\r\nLocation: /to\r\nTransfer-Encoding: chunked\r\n\r\n${chunks(long)}`,
    'HTTP/1.1 302 Found\r\nLocation: /to\r\n\r\nuntil the end',
  ]) {
    const { edge } = await startFollowing(t, answer)
    const client = await edge.connect()
    for (let i = 0; i < 2; i++) {
      await client.send(request('GET /from'))
      assert.equal((await client.response()).text, 'GET /to HTTP/1.1')
    }
  }
})

test('an origin that stops in the body of a redirect does not stop its client', async t => {
  const { edge } = await startFollowing(t, async (_, wire) => {
    await wire.send('HTTP/1.1 302 Found\r\nLocation: /to\r\nContent-Length: 10\r\n\r\nbegin')
    wire.reset()
    return undefined
  })
  assert.equal((await edge.ask(request('GET /from'))).text, 'GET /to HTTP/1.1')
})

test('an origin that stalls in the body of a redirect costs its client the idle timeout', async t => {
  const { edge } = await startFollowing(
    t,
    () => 'HTTP/1.1 302 Found\r\nLocation: /to\r\nContent-Length: 10\r\n\r\nbegin',
    { timeouts: { connect: 1_000, handshake: 1_000, response: 1_000, write: 1_000, idle: 150, total: 0 } },
  )
  assert.equal((await edge.ask(request('GET /from'))).text, 'GET /to HTTP/1.1')
})

test('a client that leaves while its redirect waits for a connection costs no one the previous connection', async t => {
  const queued = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  const origin = await startResponder(t, async ({ target }) => {
    await (target === '/from' ? queued : left).promise
    return target === '/from' ? redirect(302, '/to') : ok(target)
  })
  const edge = await startEdge(t, [origin.url], {
    route: { redirects: 3 },
    transport: { connections: 1, queue: { size: 2, timeout: 5_000 } },
  })
  const redirected = await edge.connect()
  await redirected.send(request('GET /from'))
  await until(() => origin.requests.length === 1)
  const other = edge.ask(request('GET /other'))
  await until(() => edge.metrics.originQueue.value === 1)
  queued.resolve()
  await until(() => origin.requests.length === 2)
  redirected.reset()
  await until(() => edge.metrics.clientAborts.value === 1)
  left.resolve()
  assert.equal((await other).text, '/other')
  assert.deepEqual([origin.wires.length, lines(origin)], [1, ['GET /from', 'GET /other']])
})

test('a redirect of a request with a thousand fields examines each a few times', async t => {
  const origin = await startResponder(t, ({ target }) => (target === '/from' ? redirect(303, '/to') : ok()))
  const edge = await startEdge(t, [origin.url], { route: { redirects: 3 }, limits: { headers: 1_000 } })
  const fields = Array.from({ length: 990 }, (_, i) => `Content-${i}: x`)
  let looks = 0
  const { includes } = Array.prototype
  Array.prototype.includes = function (...args) {
    looks += this.length
    return includes.apply(this, args)
  }
  t.after(() => {
    Array.prototype.includes = includes
  })
  const answer = await edge.ask(post('/from', 'body', ...fields))
  assert.equal(answer.status, 200)
  assert.equal(origin.requests[1]!.field('content-7'), null)
  assert.ok(looks < 10_000, `${looks} looks`)
})

test('at each hop, a kept connection that its origin has closed is replaced by a new one', async t => {
  // Each connection serves one request, seems to be kept, and closes as it takes the second.
  const origin = await startOrigin(t, async wire => {
    const { target } = await wire.request()
    const nth = Number(/\d+/.exec(target)![0])
    await wire.send(nth < 3 ? redirect(302, `/${nth + 1}`) : ok('whole'))
    await wire.request()
    wire.reset()
  })
  const pool = { retries: { most: 0, budget: 0 } }
  const edge = await startEdge(t, [origin.url], { route: { redirects: 3 }, pool })
  for (let i = 0; i < 3; i++) assert.equal((await edge.ask(request('GET /0'))).text, 'whole')
  const [first, second] = edge.accesses.map(({ retries }) => retries)
  assert.deepEqual([first, second], [3, 4])
  const [member] = edge.plane.snapshot.pools.named[0]!.members
  assert.deepEqual([member!.health.failures, edge.metrics.ejections.value], [0, 0])
})

test('at each hop, a redirect with a body is retried on a new connection, and a POST is not', async t => {
  const start = async (status: number) => {
    const origin = await startOrigin(t, async wire => {
      const { target } = await wire.request()
      await wire.send(target === '/to' ? ok('whole') : redirect(status, '/to'))
      await wire.request()
      wire.reset()
    })
    return startEdge(t, [origin.url], { route: { redirects: 3 } })
  }
  const put = await start(307)
  assert.equal((await put.ask(post('/from', 'body').replace('POST', 'PUT'))).text, 'whole')
  const repeated = await start(307)
  assert.equal(codeOf(await repeated.ask(post('/from', 'body', json))), 520)
  const turned = await start(303)
  assert.equal((await turned.ask(post('/from', 'body'))).text, 'whole')
})
