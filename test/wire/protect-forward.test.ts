// Routes before which an outside authorizer is asked: what it learns, what becomes of its response, and that nobody passes without one.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ForwardGateConfig } from '../../src/config/model/protect-config.ts'
import { createLogger } from '../../src/log/log.ts'
import { mintToken } from '../../src/tokens/token.ts'
import { codeOf, Edge, edgeConfig, type EdgeSettings, listenAt, startEdge, zoneTo } from '../help/edge.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { sign, startIssuer } from '../help/issuer.ts'
import { ok, type Respond, type Script, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, post, request } from '../help/raw.ts'

const json = 'Accept: application/json'

const gateOf = (url: string, more: Partial<ForwardGateConfig> = {}): ForwardGateConfig => ({
  kind: 'forward',
  url: `${url}/verify`,
  ca: null,
  networks: ['127.0.0.0/8'],
  timeout: 2_000,
  concurrency: 10,
  send: ['authorization', 'cookie', 'accept'],
  copy: [],
  ...more,
})

async function start(
  t: TestContext,
  respond: string | Respond,
  gate: Partial<ForwardGateConfig> = {},
  settings: EdgeSettings = {},
) {
  const origin = await startResponder(t, ok('site'))
  const authorizer = await startResponder(t, respond)
  const protect = [gateOf(authorizer.url, gate)]
  const edge = await startEdge(t, [origin.url], { ...settings, h2c: true, route: { protect } })
  return { origin, authorizer, edge }
}

test('2xx lets in, and the authorizer learns of the request, but not its body or our credentials', async t => {
  const { edge, authorizer, origin } = await start(t, 'HTTP/1.1 202 X\r\nContent-Length: 0\r\n\r\n')
  const fields = [
    'Authorization: Basic YTpi',
    'Cookie: a=b; gatehouse=s3cret; c=d',
    'X-Secret: x',
    'X-Forwarded-User: m',
  ]
  assert.equal((await edge.ask(post('/a/b?c=d', 'body', ...fields))).status, 200)
  const [asked] = authorizer.requests
  assert.equal(asked!.startLine, 'GET /verify HTTP/1.1')
  assert.equal(asked!.field('x-forwarded-method'), 'POST')
  assert.equal(asked!.field('x-forwarded-uri'), '/a/b?c=d')
  assert.equal(asked!.field('x-forwarded-host'), 'site.test')
  assert.equal(asked!.field('x-forwarded-proto'), 'http')
  assert.equal(asked!.field('x-forwarded-for'), '127.0.0.1')
  assert.equal(asked!.field('authorization'), 'Basic YTpi')
  assert.equal(asked!.field('cookie'), 'a=b; c=d')
  assert.doesNotMatch([...asked!.lines, asked!.text].join(), /s3cret|x-secret|forwarded-user|body/i)
  assert.equal(origin.requests[0]!.text, 'body')
  assert.equal(origin.requests[0]!.field('authorization'), 'Basic YTpi')
  const own = await edge.ask(request('GET /', `Authorization: Bearer ${mintToken('svct_').value}`))
  assert.equal(own.status, 400)
  assert.equal(authorizer.requests.length, 1)
})

test('named fields are copied to the origin, and those of the client never', async t => {
  const response = ok('', 'X-User: alice', 'X-Groups: a', 'X-Groups: b', 'X-Other: no')
  const { edge, origin } = await start(t, response, { copy: ['X-User', 'X-Groups', 'X-Mail'] })
  const claims = ['X-User', 'x_user', 'X.USER', 'x-groups', 'X-Mail', 'x_mail'].map(
    name => `${name}: mallory`,
  )
  await edge.ask(request('GET /', ...claims))
  const second = await edge.ask(
    request('POST /', 'Transfer-Encoding: chunked') +
      chunks('a') +
      '0\r\nX-User: mallory\r\nx_mail: mallory\r\n\r\n',
  )
  assert.equal(second.status, 200)
  for (const sent of origin.requests) {
    assert.deepEqual(
      [sent.all('x-user'), sent.all('x-groups'), sent.all('x-mail')],
      [['alice'], ['a, b'], []],
    )
    assert.doesNotMatch([...sent.lines, ...sent.trailers].join(), /mallory|X-Other/i)
  }
  assert.equal(origin.requests.length, 2)
})

test('no client sets the fields of a gate that did not let it in, or of another route', async t => {
  const origin = await startResponder(t, ok('site'))
  const authorizer = await startResponder(t, ok('', 'X-User: alice'))
  const { key, gate } = await startIssuer(t)
  const jwt = { ...gate, fields: [{ name: 'X-Mail', claim: 'email' }] }
  const forward = gateOf(authorizer.url, { copy: ['X-User'] })
  const [route] = zoneTo([origin.url], { route: { protect: [jwt, forward] } }).routes
  const routes = [
    route!,
    { ...route!, path: '/mail', protect: [jwt] },
    { ...route!, path: '/open', protect: null },
  ]
  const edge = await startEdge(t, [origin.url], { zone: { routes } })
  const forged = ['X-User', 'x_user', 'X-Mail', 'x.mail'].map(name => `${name}: mallory`)
  const bearer = `Authorization: Bearer ${await sign(key, { email: 'a@b.example' })}`
  const trailing = `${chunks('a')}0\r\nX-User: mallory\r\nx_mail: mallory\r\n\r\n`
  const cases: readonly (readonly [string, ...string[]])[] = [
    ['/', bearer],
    ['/'],
    ['/mail', bearer],
    ['/open'],
  ]
  for (const [target, ...lines] of cases) {
    const sent = request(`POST ${target}`, 'Transfer-Encoding: chunked', ...lines, ...forged) + trailing
    assert.equal((await edge.ask(sent)).status, 200, target)
  }
  assert.deepEqual(
    origin.requests.map(sent => [sent.all('x-user'), sent.all('x-mail')]),
    [
      [[], ['a@b.example']],
      [['alice'], []],
      [[], ['a@b.example']],
      [[], []],
    ],
  )
  for (const sent of origin.requests) assert.doesNotMatch([...sent.lines, ...sent.trailers].join(), /mallory/)
})

test("nor through another zone to the same origin, but at other origins the fields are anybody's", async t => {
  const [origin, elsewhere] = [await startResponder(t, ok('site')), await startResponder(t, ok('else'))]
  const authorizer = await startResponder(t, ok('', 'X-User: alice'))
  const protect = [gateOf(authorizer.url, { copy: ['X-User'] })]
  const open = (name: string, ...members: string[]) =>
    zoneTo(members, { zone: { name, hosts: [`${name}.test`] } })
  const zones = [
    open('open', elsewhere.url, origin.url),
    open('other', elsewhere.url),
    open('named', origin.url.replace('127.0.0.1', 'localhost')),
  ]
  const edge = await startEdge(t, [origin.url], { route: { protect }, zones })
  const send = (host: string) =>
    edge.ask(`GET / HTTP/1.1\r\nHost: ${host}\r\nX-User: mallory\r\nx_user: mallory\r\n\r\n`)
  for (const host of ['site.test', 'open.test', 'open.test', 'other.test', 'named.test'])
    assert.equal((await send(host)).status, 200, host)
  assert.equal(origin.requests.length, 3)
  for (const { lines } of origin.requests) assert.doesNotMatch(lines.join(), /mallory/)
  assert.deepEqual(
    elsewhere.requests.map(sent => sent.all('x-user').length),
    [0, 1],
  )
})

test('a token that its gate has refused does not reach the origin through another gate', async t => {
  const origin = await startResponder(t, ok('site'))
  const authorizer = await startResponder(t, ok(''))
  const { key, gate } = await startIssuer(t)
  const protect = [{ ...gate, forwardToken: true }, gateOf(authorizer.url)]
  const edge = await startEdge(t, [origin.url], { route: { protect } })
  const good = `Bearer ${await sign(key)}`
  for (const authorization of [good, `${good}x`, 'Bearer forged', 'Basic YTpi'])
    assert.equal((await edge.ask(request('GET /', `Authorization: ${authorization}`))).status, 200)
  assert.deepEqual(
    origin.requests.map(sent => sent.field('authorization')),
    [good, null, null, null],
  )
})

test('any other response is that of the client', async t => {
  const body = 'sign in'
  const { edge, origin } = await start(
    t,
    `HTTP/1.1 302 Found\r\nLocation: https://auth.example/?rd=x\r\nSet-Cookie: csrf=1\r\nSet-Cookie: gatehouse=forged\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  const answer = await edge.ask(request('GET /'))
  assert.equal(answer.status, 302)
  assert.equal(answer.field('location'), 'https://auth.example/?rd=x')
  assert.deepEqual(answer.all('set-cookie'), ['csrf=1'])
  assert.equal(answer.text, body)
  assert.equal(answer.field('cache-control'), 'no-store')
  const head = await edge.ask(request('HEAD /'))
  assert.equal(head.status, 302)
  const client = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  assert.equal((await ask(client)).status, 302)
  const handshake = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ]
  assert.equal((await edge.ask(request('GET /', ...handshake))).status, 302)
  assert.equal(origin.requests.length, 0)
})

test('without a whole response in time, nobody passes', async t => {
  const whole = await startResponder(t, ok('site'))
  const silent = await startOrigin(t, () => {})
  const cut = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send('HTTP/1.1 403 X\r\nContent-Length: 100\r\n\r\nhalf')
    wire.leave()
  })
  const large = await startResponder(
    t,
    `HTTP/1.1 403 X\r\nContent-Length: 2000000\r\n\r\n${'x'.repeat(2_000_000)}`,
  )
  const gates = {
    silent: gateOf(silent.url, { timeout: 100 }),
    cut: gateOf(cut.url),
    large: gateOf(large.url),
    closed: gateOf('http://127.0.0.1:1'),
    'of a special address': gateOf(whole.url, { networks: [] }),
  }
  for (const [name, gate] of Object.entries(gates)) {
    const edge = await startEdge(t, [whole.url], { route: { protect: [gate] } })
    const answer = await edge.ask(request('GET /', json))
    assert.equal(answer.status, 503, name)
    assert.equal(codeOf(answer), 503, name)
  }
  assert.equal(whole.requests.length, 0)
})

test('the log names an authorizer that fails without the query of its address', async t => {
  const lines: string[] = []
  const log = createLogger('warn', { write: (line: string) => lines.push(line) } as never)
  const origin = await startResponder(t, ok('site'))
  const protect = [{ ...gateOf(''), url: 'http://127.0.0.1:1/verify?key=hidden' }]
  const config = edgeConfig([origin.url], { route: { protect } })
  const edge = await listenAt(t, new Edge(t, config, { log }))
  assert.equal((await edge.ask(request('GET /'))).status, 503)
  assert.match(lines.join(), /"url":"http:\/\/127\.0\.0\.1:1\/verify"/)
  assert.doesNotMatch(lines.join(), /hidden/)
})

test('an authorizer that hangs, in whichever way, lets nobody in, and holds nobody beyond its time', async t => {
  const origin = await startResponder(t, ok('site'))
  const head = 'HTTP/1.1 403 X\r\n'
  const slowly: (text: string) => Script = text => async wire => {
    await wire.request()
    for (const letter of text) {
      await wire.send(letter).catch(() => {})
      await Promise.race([wire.ending, new Promise(resolve => setTimeout(resolve, 50))])
    }
  }
  const after: (text: string) => Script = text => async wire => {
    await wire.request()
    await wire.send(text)
    await wire.ending
  }
  const repeating: (text: string) => Script = text => async wire => {
    await wire.request()
    let isOpen = true
    wire.ending.then(() => (isOpen = false))
    while (isOpen) {
      await wire.send(text).catch(() => (isOpen = false))
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }
  const scripts: Record<string, Script> = {
    'reads nothing': wire => wire.ending,
    'responds to nothing': after(''),
    'half a status line': after('HTTP/1.1 2'),
    'a status line': after('HTTP/1.1 200 OK\r\n'),
    'half a head': after('HTTP/1.1 200 OK\r\nX-User: mal'),
    'a head without its end': after('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n'),
    'a head, slowly': slowly(`HTTP/1.1 200 OK\r\n${'X-A: b\r\n'.repeat(20)}`),
    'fields without end': repeating('HTTP/1.1 200 OK\r\nX-A: '),
    'interim responses': repeating('HTTP/1.1 100 Continue\r\n\r\n'),
    'early hints': repeating('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
    'another protocol': after(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
    ),
    'a refusal without its body': after(`${head}Content-Length: 5\r\n\r\n`),
    'a refusal with half a body': after(`${head}Content-Length: 5\r\n\r\nno`),
    'a refusal, slowly': slowly(`${head}Content-Length: 100\r\n\r\n${'x'.repeat(100)}`),
    'a refusal in chunks without end': repeating(`${head}Transfer-Encoding: chunked\r\n\r\n`),
    'a refusal until the connection ends': after(`${head}\r\nno`),
    'a chunk without its end': after(`${head}Transfer-Encoding: chunked\r\n\r\n5\r\nno`),
    'no trailer after the last chunk': after(`${head}Transfer-Encoding: chunked\r\n\r\n0\r\nX-A: b`),
    'no HTTP': after('SSH-2.0-x\r\n'),
    'HTTP/2': after('\0\0\0\x04\0\0\0\0\0'),
    'a status of one digit': after('HTTP/1.1 2 OK\r\nContent-Length: 0\r\n\r\n'),
    'a status of four digits': after('HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n'),
    'a status below all': after('HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n'),
    'two lengths': after('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 1\r\n\r\n'),
    'a space before the status line': after(' HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
    'a field with a line break of its own': after(
      'HTTP/1.1 200 OK\r\nX-User: a\rX-User: b\r\nContent-Length: 0\r\n\r\n',
    ),
  }
  const names = Object.keys(scripts)
  const zones = await Promise.all(
    names.map(async (name, i) => {
      const protect = [gateOf((await startOrigin(t, scripts[name]!)).url, { timeout: 300, copy: ['X-User'] })]
      return zoneTo([origin.url], { route: { protect }, zone: { name: `${i}`, hosts: [`${i}.test`] } })
    }),
  )
  const edge = await startEdge(t, [origin.url], { zones })
  const started = performance.now()
  const statuses = await Promise.all(
    names.map(async (name, i) => {
      const answer = await edge.ask(request('GET /', json).replace('site.test', `${i}.test`))
      return [name, answer.status, answer.status === 200 ? '' : codeOf(answer)]
    }),
  )
  assert.deepEqual(
    statuses,
    names.map(name => [name, 503, 503]),
  )
  assert.equal(origin.requests.length, 0)
  assert.ok(performance.now() - started < 10_000)
})

test('a body that goes on after 2xx does not hold the request', async t => {
  const origin = await startResponder(t, ok('site'))
  const going = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-User: alice\r\n\r\n2\r\nno')
    await wire.ending
  })
  const gate = gateOf(going.url, { copy: ['X-User'], timeout: 500, concurrency: 1 })
  const edge = await startEdge(t, [origin.url], { route: { protect: [gate] } })
  assert.equal((await edge.ask(request('GET /', 'X-User: mallory'))).status, 200)
  assert.deepEqual(origin.requests[0]!.all('x-user'), ['alice'])
  await (await going.wire()).ending
  assert.equal((await edge.ask(request('GET /'))).status, 200, 'nor a later one')
})

test('more questions than allowed at a time are refused', async t => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const { promise: asked, resolve: arrived } = Promise.withResolvers<void>()
  const respond = () => {
    arrived()
    return opened.then(() => ok(''))
  }
  const { edge } = await start(t, respond, { concurrency: 1 })
  const first = edge.ask(request('GET /'))
  await asked
  const second = await edge.ask(request('GET /'))
  open()
  assert.deepEqual([second.status, (await first).status], [503, 200])
})

test('a question that comes back is a loop', async t => {
  const { edge, authorizer } = await start(t, ok(''))
  const answer = await edge.ask(request('GET /', json, 'CDN-Loop: gatehouse'))
  assert.equal(codeOf(answer), 1000)
  assert.equal(authorizer.requests.length, 0)
  await edge.ask(request('GET /'))
  assert.equal(authorizer.requests[0]!.field('cdn-loop'), 'gatehouse')
})

test('who has no token is referred to the authorizer, if that is the other gate', async t => {
  const origin = await startResponder(t, ok('site'))
  const { key: _, gate } = await startIssuer(t)
  const authorizer = await startResponder(
    t,
    'HTTP/1.1 401 X\r\nWWW-Authenticate: Basic realm="a"\r\nContent-Length: 0\r\n\r\n',
  )
  const edge = await startEdge(t, [origin.url], { route: { protect: [gate, gateOf(authorizer.url)] } })
  const answer = await edge.ask(request('GET /'))
  assert.equal(answer.status, 401)
  assert.deepEqual(answer.all('www-authenticate'), ['Basic realm="a"', 'Bearer'])
})
