// What a route changes about requests and answers, on the wire, and how it is told that it can't.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { HeaderRewrite, RewriteConfig } from '../../src/config/rewrite-config.ts'
import { codeOf, type EdgeSettings, startEdge } from '../help/edge.ts'
import { ok, type Respond, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, type Message, request } from '../help/raw.ts'

type Headers = Readonly<Record<string, string | null>>

interface Rules {
  readonly path?: string
  readonly request?: Headers
  readonly response?: Headers
}

/** Starts an edge whose route has these rules, before an origin. */
async function startRewriting(
  t: TestContext,
  rules: Rules,
  answer: string | Respond = ok('hi'),
  settings: EdgeSettings = {},
) {
  const origin = await startResponder(t, answer)
  const route = { ...settings.route, rewrite: rewriteOf(rules) }
  const edge = await startEdge(t, [origin.url], { ...settings, route })
  return { edge, origin }
}

function rewriteOf({ path = undefined, request = {}, response = {} }: Rules): RewriteConfig {
  return { path: path ?? null, requestHeaders: headersOf(request), responseHeaders: headersOf(response) }
}

function headersOf(headers: Headers): HeaderRewrite[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value }))
}

const json = 'Accept: application/json'

for (const [rule, sent, received] of [
  ['"/v2" + request.path', '/a/b?x=1', '/v2/a/b?x=1'],
  ['"/v2" + request.path', '/caf\xc3\xa9', '/v2/caf\xc3\xa9'],
  ['"/v2" + request.path', '/a?', '/v2/a?'],
  ['"/search?q=" + request.path.substring(1)', '/cats?x=1', '/search?q=cats'],
  ['request.path + "?"', '/a?x=1', '/a?'],
  ['request.path + "?" + request.query + "&host=" + request.host', '/a?x=1', '/a?x=1&host=site.test'],
  ['request.path == "/old" ? "/new" : request.path', '/old', '/new'],
  ['request.path', '/a//b/./c...d/%41', '/a//b/./c...d/%41'],
  ['request.path', '/a?to=/../b', '/a?to=/../b'],
  ['"/cdn-cgi-not" + request.path', '/', '/cdn-cgi-not/'],
] as const) {
  test(`path: ${rule} makes ${received} of ${sent}`, async t => {
    const { edge, origin } = await startRewriting(t, { path: rule })
    const answer = await edge.ask(request(`GET ${sent}`))
    assert.deepEqual([answer.status, answer.text], [200, 'hi'])
    assert.equal(origin.requests[0]!.target, received)
    assert.equal(edge.accesses[0]!.path, sent.replace(/\?.*/, ''))
  })
}

test('a request that is about no path keeps its target', async t => {
  const { edge, origin } = await startRewriting(t, { path: '"/v2" + request.path' })
  await edge.ask(request('OPTIONS *'))
  assert.equal(origin.requests[0]!.target, '*')
})

for (const [rule, why] of [
  ['request.query', 'it is empty'],
  ['"a" + request.path', 'it has no slash at its begin'],
  ['"https://evil.test/"', 'it names a host'],
  ['request.path + " HTTP/1.1\\r\\nX-Injected: 1\\r\\n\\r\\n"', 'it ends the line'],
  ['request.path + "\\n"', 'it ends in a line break'],
  ['request.path + "?x=\\u0000"', 'it has a NUL in its query'],
  ['request.path + "#top"', 'it has a fragment'],
  ['request.path + "/\\u20ac"', 'it has a character that is no byte'],
  ['"/cdn-cgi/error/500"', 'it is ours'],
  ['"/cdn-cgi"', 'it is ours as a whole'],
  ['"//x/%2E%2e/cdn%2dcgi/trace"', 'it is ours in disguise'],
] as const) {
  test(`1035: the new path is refused where ${why}`, async t => {
    const { edge, origin } = await startRewriting(t, { path: rule })
    assert.equal(codeOf(await edge.ask(request('GET /', json))), 1035)
    assert.equal(edge.accesses[0]!.cause, 'rewrite of path')
    assert.equal(origin.wires.length, 0)
  })
}

for (const path of ['/../secret', '/a/..', '/a/%2e%2E/secret', '/.%2e?x', '/..;x/secret'])
  test(`1035: nobody leaves the prefix of a rule by ${path}`, async t => {
    const { edge, origin } = await startRewriting(t, { path: '"/public" + request.path' })
    assert.equal(codeOf(await edge.ask(request(`GET ${path}`, json))), 1035)
    assert.equal(origin.wires.length, 0)
  })

test('1036: the new path counts with its query, up to the limit', async t => {
  const { edge, origin } = await startRewriting(t, { path: '"/longer" + request.path' }, ok(), {
    limits: { url: 16 },
  })
  assert.equal((await edge.ask(request('GET /123456?8', json))).status, 200)
  assert.equal(origin.requests[0]!.target, '/longer/123456?8')
  assert.equal(codeOf(await edge.ask(request('GET /123456?89', json))), 1036)
})

for (const [what, rules] of [
  ['path', { path: '"/" + request.headers["x-tenant"][0]' }],
  ['request header X-Tenant', { request: { 'X-Tenant': 'request.headers["x-tenant"][0]' } }],
  ['response header X-Tenant', { response: { 'X-Tenant': 'request.headers["x-tenant"][0]' } }],
] as const) {
  test(`1037: an expression that fails is refused before an origin is asked, and counted: ${what}`, async t => {
    const { edge, origin } = await startRewriting(t, rules)
    assert.equal(codeOf(await edge.ask(request('GET /', json))), 1037)
    assert.equal(edge.metrics.expressionFailures.rewrite.value, 1)
    assert.equal(edge.accesses[0]!.cause, `rewrite of ${what}`)
    assert.equal(origin.wires.length, 0)
    assert.equal((await edge.ask(request('GET /', 'X-Tenant: a'))).status, 200)
    assert.equal(edge.metrics.expressionFailures.rewrite.value, 1)
  })
}

test('1038: a head that the rules make too large is refused, and one that they leave alone never is', async t => {
  const limits = { headerSection: 600 }
  const { edge } = await startRewriting(t, { request: { 'X-Copy': 'request.query' } }, ok(), { limits })
  assert.equal((await edge.ask(request(`GET /?${'x'.repeat(200)}`))).status, 200)
  assert.equal(codeOf(await edge.ask(request(`GET /?${'x'.repeat(400)}`, json))), 1038)
  const full = `${`GET / HTTP/1.1\r\nHost:site.test\r\nX-Old:1\r\nX:`.padEnd(596, 'x')}\r\n\r\n`
  const same = await startRewriting(t, { request: { 'X-Old': '"1"' } }, ok(), { limits })
  assert.equal((await same.edge.ask(full)).status, 200)
})

test('a header is set in place of all that the client sent of its name, and its twins', async t => {
  const { edge, origin } = await startRewriting(t, { request: { 'X-Env': '"prod"' } })
  await edge.ask(request('GET /', 'x-env: dev', 'X-Env: test', 'X_Env: evil', 'x_ENV: evil', 'X-Other: 1'))
  const { lines } = origin.requests[0]!
  assert.deepEqual(
    lines.filter(line => /env|other/i.test(line)),
    ['X-Other: 1', 'X-Env: prod'],
  )
})

test('what is set crosses even where the client lists it as its own in Connection', async t => {
  const { edge, origin } = await startRewriting(t, { request: { 'X-Env': '"prod"' } })
  await edge.ask(request('GET /', 'Connection: X-Env, X-Mine', 'X-Env: dev', 'X-Mine: 1'))
  assert.equal(origin.requests[0]!.field('x-env'), 'prod')
  assert.equal(origin.requests[0]!.field('x-mine'), null)
})

test('a header is removed by remove, and by an empty value', async t => {
  const { edge, origin } = await startRewriting(t, {
    request: { 'X-Debug': null, 'X-Query': 'request.query' },
  })
  await edge.ask(request('GET /', 'X-Debug: 1', 'x-query: 2', 'X-Other: 3'))
  const [{ lines }] = origin.requests as [Message]
  assert.deepEqual(
    lines.filter(line => /^x-(debug|query|other)/i.test(line)),
    ['X-Other: 3'],
  )
})

test('expressions see the request as the client sent it, whatever other rules make of it', async t => {
  const { edge, origin } = await startRewriting(t, {
    path: '"/v2" + request.path',
    request: { 'X-Path': 'request.path', 'X-A': null, 'X-B': 'request.headers["x-a"][0]' },
  })
  await edge.ask(request('GET /p', 'X-A: a'))
  const [received] = origin.requests as [Message]
  assert.deepEqual(
    ['x-path', 'x-a', 'x-b'].map(name => received.field(name)),
    ['/p', null, 'a'],
  )
})

test('headers that belong to the message but not to the hop may be rewritten', async t => {
  const { edge, origin } = await startRewriting(t, { request: { Accept: '"text/x"', Cookie: null } })
  await edge.ask(request('GET /', 'Accept: a/b', 'Accept: c/d', 'Cookie: a=1'))
  assert.equal(origin.requests[0]!.field('accept'), 'text/x')
  assert.equal(origin.requests[0]!.field('cookie'), null)
})

for (const name of ['x_forwarded_for', 'Content_Length', 'Host', 'transfer-encoding', 'svc-ray']) {
  test(`1040: ${name} of a request is the gateway's`, async t => {
    for (const value of ['"1"', null]) {
      const { edge, origin } = await startRewriting(t, { request: { [name]: value } })
      assert.equal(codeOf(await edge.ask(request('GET /', json))), 1040)
      assert.equal(edge.accesses[0]!.cause, `rewrite of request header ${name}`)
      assert.equal(origin.wires.length, 0)
    }
  })
}

for (const name of ['Content-Length', 'transfer-encoding', 'Connection', 'svc-ray']) {
  test(`1040: ${name} of an answer is the gateway's`, async t => {
    const { edge, origin } = await startRewriting(t, { response: { [name]: '"1"' } })
    assert.equal(codeOf(await edge.ask(request('GET /', json))), 1040)
    assert.equal(origin.wires.length, 0)
  })
}

for (const [what, value] of [
  ['a line break', '"a\\r\\nX-Injected: " + request.path'],
  ['a bare line feed', '"a\\n" + request.path'],
  ['a NUL', '"a\\u0000"'],
  ['a DEL', '"a\\u007f"'],
  ['a character that is no byte', '"\\u20ac"'],
  ['a line separator', '"\\u2028"'],
  ['more than 8 KiB', 'request.query'],
] as const) {
  test(`1041: no header gets ${what}`, async t => {
    for (const place of ['request', 'response'] as const) {
      const { edge, origin } = await startRewriting(t, { [place]: { 'X-Env': value } })
      assert.equal(codeOf(await edge.ask(request(`GET /?${'x'.repeat(8193)}`, json))), 1041)
      assert.equal(edge.accesses[0]!.cause, `rewrite of ${place} header X-Env`)
      assert.equal(origin.wires.length, 0)
    }
  })
}

test('a value may have 8 KiB, and bytes beyond ASCII as they came', async t => {
  const { edge, origin } = await startRewriting(t, { request: { 'X-Copy': 'request.query' } })
  const query = `${'x'.repeat(8190)}\xc3\xa9`
  assert.equal((await edge.ask(request(`GET /?${query}`))).status, 200)
  assert.equal(origin.requests[0]!.field('x-copy'), query)
})

test('an encoded line break of the client stays encoded', async t => {
  const rules = { request: { 'X-Copy': 'request.query' }, response: { 'X-Copy': 'request.query' } }
  const { edge, origin } = await startRewriting(t, rules)
  const answer = await edge.ask(request('GET /?%0d%0aX-Injected:%201'))
  assert.equal(origin.requests[0]!.field('x-copy'), '%0d%0aX-Injected:%201')
  assert.equal(answer.field('x-copy'), '%0d%0aX-Injected:%201')
})

test('headers of an answer are set and removed', async t => {
  const rules = {
    response: { Server: null, 'X-Served-By': '"gatehouse at " + request.host', 'X-None': '""' },
  }
  const origin = ok('hi', 'Server: secret/1', 'x-served-by: a', 'X-None: 1', 'Set-Cookie: a', 'Set-Cookie: b')
  const { edge } = await startRewriting(t, rules, origin)
  const answer = await edge.ask(request('GET /'))
  assert.deepEqual([answer.status, answer.text], [200, 'hi'])
  assert.equal(answer.field('server'), null)
  assert.equal(answer.field('x-none'), null)
  assert.equal(answer.field('x-served-by'), 'gatehouse at site.test')
  assert.deepEqual(answer.all('set-cookie'), ['a', 'b'])
})

test('what is set in an answer crosses even where the origin lists it in Connection', async t => {
  const rules = { response: { 'X-Served-By': '"gatehouse"' } }
  const { edge } = await startRewriting(t, rules, ok('', 'Connection: X-Served-By, X-Mine', 'X-Mine: 1'))
  const answer = await edge.ask(request('GET /'))
  assert.equal(answer.field('x-served-by'), 'gatehouse')
  assert.equal(answer.field('x-mine'), null)
})

for (const [what, value, expected] of [
  ['set', '"Thu, 01 Jan 1970 00:00:00 GMT"', /^Thu, 01 Jan 1970 00:00:00 GMT$/],
  ['removed', null, /^\w{3}, \d\d \w{3} 20\d\d /],
] as const) {
  test(`an answer says once when it was made where its Date is ${what}`, async t => {
    const rules = { response: { Date: value } }
    for (const fields of [[], ['Date: Fri, 02 Jan 1970 00:00:00 GMT']]) {
      const { edge } = await startRewriting(t, rules, ok('', ...fields))
      assert.match((await edge.ask(request('GET /'))).field('date')!, expected)
    }
  })
}

test('an error of the origin is rewritten, one of the gateway is not', async t => {
  const rules = { response: { 'X-Served-By': '"gatehouse"', Server: null } }
  const failing = 'HTTP/1.1 503 No\r\nServer: secret/1\r\nContent-Length: 2\r\n\r\nno'
  const { edge, origin } = await startRewriting(t, rules, failing)
  const theirs = await edge.ask(request('GET /'))
  assert.deepEqual(
    [theirs.status, theirs.text, theirs.field('server'), theirs.field('x-served-by')],
    [503, 'no', null, 'gatehouse'],
  )
  await origin.goDown()
  const ours = await edge.ask(request('GET /', json))
  assert.equal(codeOf(ours), 521)
  assert.equal(ours.field('x-served-by'), null)
})

test('an interim answer is passed on as it came', async t => {
  const early = 'HTTP/1.1 103 Early Hints\r\nServer: a\r\n\r\n'
  const { edge } = await startRewriting(t, { response: { Server: '"b"' } }, early + ok('', 'Server: c'))
  const client = await edge.connect()
  await client.send(request('GET /'))
  assert.match(await client.until('\r\n\r\n'), /^HTTP\/1\.1 103 Early Hints\r\nServer: a\r\n\r\n$/)
  assert.equal((await client.response()).field('server'), 'b')
})

test('what the rules speak of does not come back as a trailer', async t => {
  const chunked = `Transfer-Encoding: chunked\r\n\r\n${chunks('hi')}0\r\nX-Env: 1\r\nX-Sum: 2\r\n\r\n`
  const rules = { request: { 'X-Env': '"prod"' }, response: { 'x-env': null } }
  const { edge, origin } = await startRewriting(t, rules, `HTTP/1.1 200 OK\r\n${chunked}`)
  const trailing = `POST / HTTP/1.1\r\nHost: site.test\r\n${chunked}`.replace('X-Sum', 'X_ENV: 1\r\nX-Sum')
  const answer = await edge.ask(trailing)
  assert.deepEqual(origin.requests[0]!.trailers, ['X-Sum: 2'])
  assert.deepEqual(answer.trailers, ['X-Sum: 2'])
})

test('a WebSocket handshake and its answer are rewritten', async t => {
  const switched = 'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nServer: a\r\n\r\n'
  const origin = await startOrigin(t, async wire => {
    const asked = await wire.request()
    await wire.send(`${switched}${asked.target} ${asked.field('x-env')}`)
  })
  const rewrite = rewriteOf({
    path: '"/v2" + request.path',
    request: { 'X-Env': '"prod"' },
    response: { Server: '"b"' },
  })
  const edge = await startEdge(t, [origin.url], { route: { rewrite } })
  const client = await edge.connect()
  await client.send(request('GET /ws', 'Connection: Upgrade', 'Upgrade: websocket'))
  const head = await client.until('\r\n\r\n')
  assert.match(head, /^HTTP\/1\.1 101 /)
  assert.match(head, /\r\nServer: b\r\n/)
  assert.doesNotMatch(head, /Server: a/)
  assert.equal(await client.until('prod'), '/v2/ws prod')
})

test('a request that is sent again is sent as it was rewritten', async t => {
  const rules = { path: '"/v2" + request.path', request: { 'X-Env': '"prod"' } }
  const { edge, origin } = await startRewriting(t, rules, (_, wire) => {
    const isFirst = wire !== origin.wires[0] || origin.requests.length === 1
    return isFirst ? ok() : void wire.reset()
  })
  const client = await edge.connect()
  for (let i = 0; i < 2; i++) {
    await client.send(request('GET /a', 'X-Env: dev'))
    assert.equal((await client.response()).status, 200)
  }
  assert.equal(edge.accesses[1]!.retries, 1)
  assert.equal(origin.requests.length, 3)
  for (const asked of origin.requests)
    assert.deepEqual([asked.target, asked.field('x-env')], ['/v2/a', 'prod'])
})

test('a redirect is followed with the rewritten fields', async t => {
  const { edge, origin } = await startRewriting(
    t,
    { request: { 'X-Env': '"prod at " + request.path', 'X-Old': null } },
    ({ target }) => (target === '/to' ? ok('there') : redirect),
    { route: { redirects: 1 } },
  )
  assert.equal((await edge.ask(request('GET /from', 'X-Old: 1', 'X-Env: dev'))).text, 'there')
  for (const asked of origin.requests)
    assert.deepEqual([asked.field('x-env'), asked.field('x-old')], ['prod at /from', null])
})

const redirect = 'HTTP/1.1 302 Found\r\nLocation: /to\r\nContent-Length: 0\r\n\r\n'
