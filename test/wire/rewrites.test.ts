// What a route changes about requests and answers, on the wire.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf, startEdge } from '../help/edge.ts'
import { ok, startOrigin } from '../help/origin.ts'
import { chunks, type Message, request } from '../help/raw.ts'
import { rewriteOf, startRewriting } from './rewriting.ts'

const json = 'Accept: application/json'

for (const [rule, sent, received] of [
  ['"/v2" + request.path', '/a/b?x=1', '/v2/a/b?x=1'],
  ['"/v2" + request.path', '/caf\xc3\xa9', '/v2/caf\xc3\xa9'],
  ['"/v2" + request.path', '/a?', '/v2/a?'],
  ['"/v2" + request.path', '//a', '/v2//a'],
  ['"/index.php?p=" + request.path', '/a//b;c', '/index.php?p=/a//b;c'],
  ['"/search?q=" + request.path.substring(1)', '/cats?x=1', '/search?q=cats'],
  ['request.path + "?"', '/a?x=1', '/a?'],
  ['request.path + "?" + request.query + "&host=" + request.host', '/a?x=1', '/a?x=1&host=site.test'],
  ['request.path == "/old" ? "/new" : request.path', '/old', '/new'],
  ['request.path', '/a//b/./c...d/%41', '/a//b/./c...d/%41'],
  ['request.path.substring(4)', '/api/a//b;c/%41', '/a//b;c/%41'],
  ['"/search?q=" + request.path.substring(1)', '/a//b', '/search?q=a//b'],
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

for (const [rule, sent, value] of [
  ['request.path', '//a/b;c?x', '//a/b;c'],
  ['"https://shop.test" + request.path + "?" + request.query', '//a/b;c?x', 'https://shop.test//a/b;c?x'],
  ['request.path.substring(1)', '/a//b%2fc', 'a//b%2fc'],
  ['request.path.split("/")[1]', '/a//b;c', 'a'],
] as const)
  test(`a header has the path as it was sent: ${rule}`, async t => {
    const { edge, origin } = await startRewriting(t, { request: { 'X-Path': rule } })
    await edge.ask(request(`GET ${sent}`))
    assert.equal(origin.requests[0]!.field('x-path'), value)
  })

test('a request without a path keeps its target', async t => {
  const { edge, origin } = await startRewriting(t, { path: '"/v2" + request.path' })
  await edge.ask(request('OPTIONS *'))
  assert.equal(origin.requests[0]!.target, '*')
})

test('a header replaces all that the client sent with its name or its underscore variant', async t => {
  const { edge, origin } = await startRewriting(t, { request: { 'X-Env': '"prod"' } })
  await edge.ask(
    request('GET /', 'x-env: dev', 'X-Env: test', 'X_Env: evil', 'x_ENV: evil', 'X.Env: evil', 'X-Other: 1'),
  )
  const { lines } = origin.requests[0]!
  assert.deepEqual(
    lines.filter(line => /env|other/i.test(line)),
    ['X-Other: 1', 'X-Env: prod'],
  )
})

test('an operator may send the address of the client under another name, even if clients send that name', async t => {
  const rules = { request: { 'X-Real-IP': 'request.ip' } }
  const { edge, origin } = await startRewriting(t, rules, ok('hi'), { trustedProxies: ['127.0.0.2'] })
  for (const [address, expected] of [
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.2', '203.0.113.7'],
  ] as const) {
    const client = await edge.connect(address)
    await client.send(
      request('GET /', 'X-Forwarded-For: 203.0.113.7', 'x-real-ip: 6.6.6.6', 'X_Real_IP: 6.6.6.6'),
    )
    await client.response()
    const lines = origin.requests.at(-1)!.lines.filter(line => /real/i.test(line))
    assert.deepEqual(lines, [`X-Real-IP: ${expected}`])
  }
})

test('a field that is set is sent even where the client lists it in Connection', async t => {
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

test('headers of a response are set and removed', async t => {
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

test('a field that is set in a response is sent even where the origin lists it in Connection', async t => {
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
  test(`a response has one Date where that of the origin is ${what}`, async t => {
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

test('an interim response is passed on as it came', async t => {
  const early = 'HTTP/1.1 103 Early Hints\r\nServer: a\r\n\r\n'
  const { edge } = await startRewriting(t, { response: { Server: '"b"' } }, early + ok('', 'Server: c'))
  const client = await edge.connect()
  await client.send(request('GET /'))
  assert.match(await client.until('\r\n\r\n'), /^HTTP\/1\.1 103 Early Hints\r\nServer: a\r\n\r\n$/)
  assert.equal((await client.response()).field('server'), 'b')
})

test('a field that the rules change does not come back as a trailer', async t => {
  const chunked = `Transfer-Encoding: chunked\r\n\r\n${chunks('hi')}0\r\nX-Env: 1\r\nX-Sum: 2\r\n\r\n`
  const rules = { request: { 'X-Env': '"prod"' }, response: { 'x-env': null } }
  const { edge, origin } = await startRewriting(t, rules, `HTTP/1.1 200 OK\r\n${chunked}`)
  const trailing = `POST / HTTP/1.1\r\nHost: site.test\r\n${chunked}`.replace('X-Sum', 'X_ENV: 1\r\nX-Sum')
  const answer = await edge.ask(trailing)
  assert.deepEqual(origin.requests[0]!.trailers, ['X-Sum: 2'])
  assert.deepEqual(answer.trailers, ['X-Sum: 2'])
})

test('a WebSocket handshake and its response are rewritten', async t => {
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
