// Every way in which a request can fail to get an answer, provoked for real, and the record that the client gets for it.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import { once } from 'node:events'
import type { RouteConfig } from '../../src/config/model/config.ts'
import { type Edge, type EdgeSettings, recordOf, startEdge, zoneTo } from '../help/edge.ts'
import { deadOrigin, type Origin, ok, startOrigin, startResponder } from '../help/origin.ts'
import { connectTo, request, type Wire } from '../help/raw.ts'

const ask = request('GET /', 'Accept: application/json')

/** What the interface promises of each code. */
const promises: Record<number, { name: string; category: string; retryAfter?: number }> = {
  500: { name: 'internal_server_error', category: 'cloudflare', retryAfter: 30 },
  502: { name: 'origin_bad_gateway', category: 'origin', retryAfter: 60 },
  504: { name: 'origin_gateway_timeout', category: 'origin', retryAfter: 120 },
  520: { name: 'origin_unknown_error', category: 'origin', retryAfter: 60 },
  521: { name: 'origin_down', category: 'origin', retryAfter: 120 },
  522: { name: 'connection_timeout', category: 'origin', retryAfter: 120 },
  523: { name: 'origin_unreachable', category: 'origin', retryAfter: 120 },
  524: { name: 'origin_response_timeout', category: 'origin', retryAfter: 120 },
  1001: { name: 'dns_resolution_failed', category: 'dns' },
  1003: { name: 'direct_ip_access', category: 'access_denied' },
  1004: { name: 'dns_resolution_error', category: 'config', retryAfter: 120 },
  1016: { name: 'origin_dns_error', category: 'dns' },
}

/** Asks the edge, and asserts that it answers with this error, counts it and logs it. */
async function assertFails(edge: Edge, code: number, bytes = ask): Promise<void> {
  const answer = await edge.ask(bytes)
  const record = recordOf(answer)
  const { name, category, retryAfter } = promises[code]!
  assert.deepEqual(
    [record.error_code, record.error_name, record.error_category, record.retry_after],
    [code, name, category, retryAfter],
  )
  assert.equal(record.type, `http://127.0.0.1/errors/${code}`)
  if (code < 1000) assert.equal(answer.status, code)
  if (code < 1000) assert.equal(record.zone, 'site.test')
  assert.doesNotMatch(answer.text, /127\.0\.0\.1:\d|ECONN|node:|\.ts\b/, 'nothing internal is told')
  assert.equal(edge.metrics.errors[code], 1)
  assert.equal(edge.accesses.at(-1)!.error, name)
}

/** Starts an origin that reads a request, sends these bytes and then does as told; by default it closes. */
function startSaying(
  t: TestContext,
  bytes: string,
  then: (wire: Wire) => unknown = () => {},
): Promise<Origin> {
  return startOrigin(t, async wire => {
    await wire.request()
    await wire.send(bytes)
    await then(wire)
  })
}

/** Listens on a port and never accepts: when its queue is full, connecting to it takes for ever. */
async function startFullListener(t: TestContext): Promise<number> {
  const program = `
    const { createServer } = require('node:net')
    const { parentPort } = require('node:worker_threads')
    const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port)
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
    })`
  const worker = new Worker(program, { eval: true })
  t.after(() => worker.terminate())
  const [port] = await once(worker, 'message')
  for (let i = 0; i < 2; i++) await connectTo(t, port)
  return port
}

const unknown: Record<string, (t: TestContext) => Promise<Origin>> = {
  'closes without a word': t => startSaying(t, ''),
  'resets without a word': t => startSaying(t, '', wire => wire.reset()),
  'closes within its head': t => startSaying(t, 'HTTP/1.1 200 OK\r\nContent-Le'),
  'closes within an interim answer': t => startSaying(t, 'HTTP/1.1 103 Early Hints\r\nLi'),
  'speaks another protocol': t => startSaying(t, 'SSH-2.0-OpenSSH_9.2\r\n', wire => wire.ending),
  'speaks HTTP/0.9': t => startSaying(t, '<html>hello</html>', wire => wire.ending),
  'speaks HTTP/2': t => startSaying(t, '\0\0\x12\x04\0\0\0\0\0', wire => wire.ending),
  'answers with another version': t => startSaying(t, 'HTTP/2.0 200 OK\r\n\r\n'),
  'answers with half a status': t => startSaying(t, 'HTTP/1.1 20 OK\r\n\r\n'),
  'answers with a status below 100': t => startSaying(t, 'HTTP/1.1 099 No\r\n\r\n'),
  'folds a field': t => startSaying(t, 'HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\nContent-Length: 0\r\n\r\n'),
  'writes a space before a colon': t => startSaying(t, 'HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n'),
  'writes a NUL': t => startSaying(t, 'HTTP/1.1 200 OK\r\nX-A: \0\r\nContent-Length: 0\r\n\r\n'),
  'ends its lines with LF': t => startSaying(t, 'HTTP/1.1 200 OK\nContent-Length: 0\n\n'),
  'sends a head of 100 KB': t =>
    startSaying(
      t,
      `HTTP/1.1 200 OK\r\n${`X-A: ${'x'.repeat(1_000)}\r\n`.repeat(100)}Content-Length: 0\r\n\r\n`,
      wire => wire.ending,
    ),
  'never ends its head': t =>
    startSaying(t, `HTTP/1.1 200 OK\r\n${'X-A: 1\r\n'.repeat(10_000)}`, wire => wire.ending),
}

for (const [what, start] of Object.entries(unknown)) {
  test(`an origin that ${what} is 520`, async t => {
    const origin = await start(t)
    const edge = await startEdge(t, [origin.url])
    await assertFails(edge, 520)
    await (await origin.wire()).ending
  })
}

const misframed: Record<string, string> = {
  'frames twice': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'gives two lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!',
  'gives a list of lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello!',
  'gives a length that is none': 'HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello!',
  'uses a coding that nobody asked for':
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'sends chunks in HTTP/1.0': 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'begins with a broken chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n',
  'breaks its second chunk at once': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n-1\r\n',
  'gives a 204 a body': 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello',
  'gives a 204 chunks':
    'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'gives a 304 a body': 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello',
  'switches protocols unasked':
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n',
}

for (const [what, bytes] of Object.entries(misframed)) {
  test(`an origin that ${what} is 502, and its connection is closed`, async t => {
    const origin = await startSaying(t, bytes, wire => wire.ending)
    const edge = await startEdge(t, [origin.url])
    await assertFails(edge, 502)
    await (await origin.wire()).ending
  })
}

test('an origin that refuses the connection is 521', async t => {
  await assertFails(await startEdge(t, [deadOrigin().url]), 521)
})

test('an origin that never accepts is 522', async t => {
  const port = await startFullListener(t)
  await assertFails(await startEdge(t, [`http://127.0.0.1:${port}`], { timeouts: { connect: 200 } }), 522)
})

// A TCP connection to a broadcast address fails before a packet leaves.
test('an origin without a network route is 523', async t => {
  await assertFails(await startEdge(t, ['http://127.255.255.255:80']), 523)
})

test('an origin whose name does not exist is 1016', async t => {
  await assertFails(await startEdge(t, ['http://origin.invalid']), 1016)
})

test('an origin that does not respond in time is 524, and its connection is closed', async t => {
  const origin = await startSaying(t, '', wire => wire.ending)
  await assertFails(await startEdge(t, [origin.url], { timeouts: { response: 200 } }), 524)
  await (await origin.wire()).ending
})

test('an origin that stops in its head is 524', async t => {
  const origin = await startSaying(t, 'HTTP/1.1 200 OK\r\nX-A: 1\r\n', wire => wire.ending)
  await assertFails(await startEdge(t, [origin.url], { timeouts: { response: 200 } }), 524)
})

test('an origin that sends only interim responses is 524', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    const timer = setInterval(() => wire.send('HTTP/1.1 102 Processing\r\n\r\n'), 20)
    await wire.ending
    clearInterval(timer)
  })
  const edge = await startEdge(t, [origin.url], { timeouts: { response: 200 } })
  const client = await edge.connect()
  await client.send(ask)
  let answer = await client.response()
  while (answer.status === 102) answer = await client.response()
  assert.equal(recordOf(answer).error_code, 524)
})

test('an origin that stops reading an upload is 524', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.head()
    wire.socket.pause()
    await new Promise(resolve => wire.socket.once('close', resolve))
  })
  const edge = await startEdge(t, [origin.url], { timeouts: { write: 200 } })
  const client = await edge.connect()
  const length = 64 * 1024 * 1024
  await client.send(request('POST /', `Content-Length: ${length}`, 'Accept: application/json'))
  void client.send(Buffer.alloc(length))
  assert.equal(recordOf(await client.response()).error_code, 524)
})

test('a request that exceeds the total timeout is 504, whatever it waits for', async t => {
  const silent = await startSaying(t, '', wire => wire.ending)
  const timeouts = { total: 200 }
  await assertFails(await startEdge(t, [silent.url], { timeouts }), 504)
  const full = `http://127.0.0.1:${await startFullListener(t)}`
  await assertFails(await startEdge(t, [full], { timeouts }), 504)
})

test('an unknown host is 1001, an address 1003', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'])
  await assertFails(edge, 1001, ask.replace('site.test', 'other.test:8080'))
  const hosts = ['127.0.0.1', '127.0.0.1:8080', '[::1]', '[::1]:80']
  for (const host of hosts) {
    const answer = await edge.ask(ask.replace('site.test', host))
    assert.equal(recordOf(answer).error_code, 1003, host)
  }
  assert.equal(
    recordOf(await edge.ask('GET / HTTP/1.0\r\nAccept: application/json\r\n\r\n')).error_code,
    1003,
  )
})

test('a zone that is paused, or has no route or no origin for a request, is 1004', async t => {
  const settings: EdgeSettings[] = [
    { zone: { paused: true } },
    { zone: { routes: [] } },
    { route: { path: '/elsewhere' } },
    { route: { pool: null } },
    { pool: { origins: [], weights: [] } },
  ]
  for (const setting of settings) await assertFails(await startEdge(t, ['http://127.0.0.1:1'], setting), 1004)
})

test('a paused zone says so on its page, and keeps the title of its code', async t => {
  const pages = { '1000_errors': '::SVC_ERROR_1000S_BOX::' }
  const paused = await startEdge(t, ['http://127.0.0.1:1'], { zone: { paused: true } })
  const boxed = await startEdge(t, ['http://127.0.0.1:1'], {
    zone: { paused: true, errors: { rules: [], pages } },
  })
  const unrouted = await startEdge(t, ['http://127.0.0.1:1'], { zone: { routes: [] } })
  const page = async (edge: Edge) => (await edge.ask(request('GET /', 'Accept: text/html'))).text
  for (const text of [await page(paused), await page(boxed)]) {
    assert.match(text, /<h[12][^>]*>This site is paused<\/h[12]>/)
    assert.match(text, /its operator has paused it/)
    assert.doesNotMatch(text, /DNS/)
  }
  assert.match(await page(unrouted), /<h1>DNS resolution error<\/h1>/)
  for (const [edge, isPaused] of [
    [paused, true],
    [unrouted, false],
  ] as const) {
    const { title, detail } = recordOf(await edge.ask(ask))
    assert.deepEqual(
      [title, /its operator has paused it/.test(String(detail))],
      ['Error 1004: DNS resolution error', isPaused],
    )
  }
})

/** Replaces a member by one that can not be read. */
function spoiled<T extends object>(whole: T, member: keyof T): T {
  return Object.defineProperty({ ...whole }, member, {
    get: () => {
      throw new Error('the secret of the gateway')
    },
  })
}

const bugs: Record<string, (route: RouteConfig) => RouteConfig> = {
  'before the origin is asked': route => spoiled(route, 'bodyLimit'),
  'when the connection stands': route => ({ ...route, timeouts: spoiled(route.timeouts, 'response') }),
  'when the answer comes': route => ({ ...route, timeouts: spoiled(route.timeouts, 'idle') }),
}

for (const [when, spoil] of Object.entries(bugs)) {
  test(`a bug ${when} is 500, appears only in the log, and affects no other request`, async t => {
    const origin = await startResponder(t, ok('hi'))
    const [route] = zoneTo([origin.url]).routes
    const edge = await startEdge(t, [], { zone: { routes: [spoil({ ...route!, path: '/bug' }), route!] } })
    await assertFails(edge, 500, request('GET /bug', 'Accept: application/json'))
    assert.match(JSON.stringify(edge.events), /the secret of the gateway/)
    for (const wire of origin.wires) await wire.ending
    assert.equal(edge.metrics.originConnections.value, 0)
    assert.equal((await edge.ask(ask)).text, 'hi')
  })
}

test('the reason phrase of 520 and above says what happened', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'])
  assert.match((await edge.ask(ask)).startLine, /^HTTP\/1\.1 521 [A-Z]\w+/)
})

test('a refusal to HEAD has the fields of one to GET and no body, and the connection stays open', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'])
  const client = await edge.connect()
  await client.send(ask)
  const whole = await client.response()
  await client.send(ask.replace('GET', 'HEAD'))
  const head = await client.response('HEAD')
  const names = (lines: readonly string[]) => lines.map(line => line.split(':')[0])
  assert.deepEqual(names(head.lines), names(whole.lines))
  assert.equal(head.field('content-length'), String(whole.body.length))
  await client.send(request('GET /cdn-cgi/error/522'))
  assert.equal((await client.response()).status, 522)
})

test('a refusal leaves the connection open where the request was complete', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'])
  const client = await edge.connect()
  for (let i = 0; i < 3; i++) {
    await client.send(ask)
    const answer = await client.response()
    assert.equal(answer.status, 521)
    assert.equal(answer.field('connection'), null)
  }
})

test('the log has the code of the failure, and how long it took', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'])
  await edge.ask(ask)
  const [entry] = edge.accesses
  assert.deepEqual([entry?.error, entry?.cause], ['origin_down', 'ECONNREFUSED'])
  assert.deepEqual(Object.keys(entry?.phases as object), ['connect'])
})
