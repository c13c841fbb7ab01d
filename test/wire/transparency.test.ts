// What is end to end arrives as it was sent: methods, targets, fields and bodies of any framing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEdge } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'
import { chunks, post, request } from '../help/raw.ts'

const passed = (lines: readonly string[], names: RegExp) => lines.filter(line => names.test(line))

test('methods reach the origin as they are, even unregistered ones', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const methods = ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'get', 'M-SEARCH', 'X!#$%&']
  const client = await edge.connect()
  for (const method of methods) {
    await client.send(request(`${method} /`))
    assert.equal((await client.response()).status, 200)
  }
  assert.deepEqual(
    origin.requests.map(({ startLine }) => startLine),
    methods.map(method => `${method} / HTTP/1.1`),
  )
})

test('OPTIONS * reaches the origin', async t => {
  const origin = await startResponder(t, ok('', 'Allow: GET'))
  const edge = await startEdge(t, [origin.url])
  assert.equal((await edge.ask(request('OPTIONS *'))).field('allow'), 'GET')
  assert.equal(origin.requests[0]!.startLine, 'OPTIONS * HTTP/1.1')
})

test('path and query reach the origin byte for byte', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const targets = [
    '/',
    '//',
    '//a//b/',
    '/a/./b/../c',
    '/%2e%2E/%2F%5c%00%zz%',
    "/~user/(x);p=1,2!$&'*+=:@",
    '/caf\xe9/\xc3\xa9/\xff',
    '/a b'.replace(' ', '%20'),
    '/?',
    '/??a=1&&b&=c',
    '/p?q=http://x.test/?y[]=1|2{3}"4"<5>\\^`',
    '/p?%E2%82%AC=%e2%82%ac',
    `/${'x'.repeat(8_000)}`,
  ]
  const client = await edge.connect()
  for (const target of targets) {
    await client.send(request(`GET ${target}`))
    assert.equal((await client.response()).status, 200, target)
  }
  assert.deepEqual(
    origin.requests.map(({ target }) => target),
    targets,
  )
})

test('request fields keep their order, their case and their repetitions', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const fields = [
    'X-One: 1',
    'x-two:  a,  b',
    'X-ONE: 2',
    'Cookie: a=1',
    'Cookie: b=\xe9',
    'X-Empty:',
    'x-one: 3',
  ]
  await edge.ask(request('GET /', ...fields))
  assert.deepEqual(passed(origin.requests[0]!.lines, /^(x-(one|two|empty)|cookie):/i), [
    'X-One: 1',
    'x-two: a,  b',
    'X-ONE: 2',
    'Cookie: a=1',
    'Cookie: b=\xe9',
    'X-Empty: ',
    'x-one: 3',
  ])
})

test('response fields keep their order, their case and their repetitions, and the reason its words', async t => {
  const fields = [
    'Set-Cookie: a=1; Path=/',
    'X-A: 1',
    'set-cookie: b=2',
    'X-a: 2',
    'Vary: \xe9',
    'ETag: W/"1"',
  ]
  const origin = await startResponder(
    t,
    `HTTP/1.1 299 Fa\xe7on \r\n${fields.join('\r\n')}\r\nContent-Length: 1\r\n\r\n!`,
  )
  const edge = await startEdge(t, [origin.url])
  const answer = await edge.ask(request('GET /'))
  assert.match(answer.startLine, /^HTTP\/1\.1 299 Fa\xe7on ?$/)
  assert.deepEqual(passed(answer.lines, /^(set-cookie|x-a|vary|etag):/i), fields)
  assert.equal(answer.text, '!')
})

test('a missing reason phrase and a missing Date do not hurt', async t => {
  const origin = await startResponder(t, 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n')
  const edge = await startEdge(t, [origin.url])
  const answer = await edge.ask(request('GET /'))
  assert.equal(answer.startLine, 'HTTP/1.1 200 ')
  assert.ok(Math.abs(Date.parse(answer.field('date')!) - Date.now()) < 5_000)
})

test('the Date of the origin stays the only one', async t => {
  const origin = await startResponder(t, ok('', 'Date: Thu, 01 Jan 1970 00:00:00 GMT'))
  const edge = await startEdge(t, [origin.url])
  assert.equal((await edge.ask(request('GET /'))).field('date'), 'Thu, 01 Jan 1970 00:00:00 GMT')
})

test('errors of the origin pass byte for byte, and are not attributed to the gateway', async t => {
  for (const status of [400, 404, 429, 500, 502, 503, 520, 522, 599]) {
    const body = `{"oops":${status}}`
    const head = `HTTP/1.1 ${status} Own Words\r\nRetry-After: 7\r\nContent-Type: application/json\r\n`
    const origin = await startResponder(t, `${head}Content-Length: ${body.length}\r\n\r\n${body}`)
    const edge = await startEdge(t, [origin.url])
    const answer = await edge.ask(request('GET /', 'Accept: application/json'))
    assert.equal(answer.startLine, `HTTP/1.1 ${status} Own Words`)
    assert.equal(answer.text, body)
    assert.equal(answer.field('retry-after'), '7')
    assert.match(answer.field('svc-ray')!, /^[0-9a-f]{16}$/)
    assert.deepEqual([...edge.metrics.errors].findIndex(Boolean), -1)
  }
})

test('a body of any method is framed once and arrives', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']) {
    await client.send(`${request(`${method} /l`, 'Content-Length: 5')}hello`)
    await client.response(method)
    await client.send(
      `${request(`${method} /c`, 'Transfer-Encoding: chunked')}${chunks('hel', 'lo')}0\r\n\r\n`,
    )
    await client.response(method)
  }
  assert.deepEqual(
    origin.requests.map(({ startLine, text }) => `${startLine.slice(0, -9)} ${text}`),
    ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'].flatMap(method => [
      `${method} /l hello`,
      `${method} /c hello`,
    ]),
  )
  assert.equal(origin.wires[0]!.unread, '')
})

test('a request without a body gets no framing, and an empty body keeps its length', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  await edge.ask(request('GET /'))
  await edge.ask(post('/', ''))
  const [get, empty] = origin.requests
  assert.equal(get!.field('content-length') ?? get!.field('transfer-encoding'), null)
  assert.equal(empty!.field('content-length'), '0')
})

/** Ms in which a connection is trusted again whose answer announced a body that must not come. */
const quiet = 400

test('HEAD has the length and no body, and both connections stay open', async t => {
  const origin = await startResponder(t, ({ startLine }) =>
    startLine.startsWith('HEAD') ? 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n' : ok('hi'),
  )
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('HEAD /'))
  assert.equal((await client.response('HEAD')).field('content-length'), '1000')
  await edge.pass(quiet)
  await client.send(request('GET /'))
  assert.equal((await client.response()).text, 'hi')
  assert.equal(origin.wires.length, 1)
})

test('204 and 304 have no body, and the connection stays open', async t => {
  const origin = await startResponder(t, ({ target }) => {
    if (target === '/204') return 'HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n'
    if (target === '/304') return 'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\nContent-Length: 99\r\n\r\n'
    return ok('hi')
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /204'))
  const none = await client.response()
  assert.equal(none.status, 204)
  assert.equal(none.field('content-length') ?? none.field('transfer-encoding'), null)
  await client.send(request('GET /304'))
  assert.equal((await client.response()).field('content-length'), '99')
  await edge.pass(quiet)
  await client.send(request('GET /'))
  assert.equal((await client.response()).text, 'hi')
  assert.equal(origin.wires.length, 1)
})

test('a chunked response arrives chunked, without its extensions', async t => {
  const origin = await startResponder(
    t,
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
  )
  const edge = await startEdge(t, [origin.url])
  const answer = await edge.ask(request('GET /'))
  assert.equal(answer.field('transfer-encoding'), 'chunked')
  assert.equal(answer.text, 'abcde')
})

test('a response that ends with its connection becomes chunked, and the client keeps its own', async t => {
  const origin = await startResponder(t, async (_, wire) => {
    await wire.send('HTTP/1.1 200 OK\r\n\r\nto the ')
    await wire.send('end')
    wire.finish()
    return undefined
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  for (let i = 0; i < 2; i++) {
    await client.send(request('GET /'))
    const answer = await client.response()
    assert.equal(answer.text, 'to the end')
    assert.equal(answer.field('transfer-encoding'), 'chunked')
    assert.equal(answer.field('connection'), null)
  }
  assert.equal(origin.wires.length, 2)
})

test('an origin that speaks HTTP/1.0 is understood', async t => {
  const origin = await startResponder(t, 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi')
  const edge = await startEdge(t, [origin.url])
  for (let i = 0; i < 2; i++) {
    const answer = await edge.ask(request('GET /'))
    assert.equal(answer.startLine, 'HTTP/1.1 200 OK')
    assert.equal(answer.text, 'hi')
  }
  assert.equal(origin.wires.length, 2)
})

test('a repeated length of the origin is sent once', async t => {
  const origin = await startResponder(
    t,
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi',
  )
  const edge = await startEdge(t, [origin.url])
  assert.equal((await edge.ask(request('GET /'))).field('content-length'), '2')
})
