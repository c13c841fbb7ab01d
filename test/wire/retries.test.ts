// Which failed requests are sent to another member of the pool: what was never sent, and what may be sent twice; never more than the budget allows.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { codeOf, edgeConfig, type EdgeSettings, startEdge } from '../help/edge.ts'
import { deadOrigin, ok, type Script, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, post, request } from '../help/raw.ts'

const json = 'Accept: application/json'

const readAndClose: Script = async wire => void (await wire.request())

/** Starts an edge before a member that fails by this script, whose turn is first, and one that answers. */
async function startPair(t: TestContext, script: Script, settings: EdgeSettings = {}) {
  const failing = await startOrigin(t, script)
  const alive = await startResponder(t, ({ text }) => ok(`alive ${text}`.trim()))
  const edge = await startEdge(t, [failing.url, alive.url], settings)
  return { edge, failing, alive }
}

for (const [what, bytes] of [
  ['a GET', request('GET /', json)],
  ['a PUT with a small body', post('/', 'small', json).replace('POST', 'PUT')],
  [
    'a PUT with a small body in chunks',
    `${request('PUT /', json, 'Transfer-Encoding: chunked')}${chunks('sm', 'all')}0\r\n\r\n`,
  ],
  ['a DELETE', request('DELETE /', json)],
] as const) {
  test(`${what} that an origin accepted without a response is sent to another`, async t => {
    const { edge, failing, alive } = await startPair(t, readAndClose)
    assert.match((await edge.ask(bytes)).text, /^alive/)
    assert.deepEqual([failing.wires.length, alive.requests.length], [1, 1])
    assert.equal(edge.accesses[0]!.retries, 1)
  })
}

for (const [what, bytes] of [
  ['a POST', post('/', 'x', json)],
  ['a PATCH', request('PATCH /', json)],
  [
    'a PUT whose body is streamed',
    `${request('PUT /', json, 'Transfer-Encoding: chunked')}${chunks('x'.repeat(100_000))}0\r\n\r\n`,
  ],
  ['a PUT with a large body', post('/', 'x'.repeat(100_000), json).replace('POST', 'PUT')],
] as const) {
  test(`${what} that an origin accepted is not sent again`, async t => {
    const { edge, failing, alive } = await startPair(t, readAndClose)
    assert.equal(codeOf(await edge.ask(bytes)), 520)
    assert.deepEqual([failing.wires.length, alive.requests.length], [1, 0])
    assert.equal(edge.metrics.retries.value, 0)
  })
}

test('a POST without a response in time is not sent again, a GET is', async t => {
  const silent: Script = async wire => {
    await wire.request()
    await wire.ending
  }
  const { edge, alive } = await startPair(t, silent, { timeouts: { response: 100 } })
  assert.equal(codeOf(await edge.ask(post('/', 'body', json))), 524)
  assert.equal(alive.requests.length, 0)
  const again = await startPair(t, silent, { timeouts: { response: 100 } })
  assert.equal((await again.edge.ask(request('GET /', json))).status, 200)
})

for (const [what, bytes] of [
  ['the first byte of an answer', 'H'],
  ['half a head', 'HTTP/1.1 200 OK\r\nContent-'],
  ['an interim answer', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ['a head without its body', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'],
  ['nonsense', 'SSH-2.0-x\r\n\r\n'],
] as const) {
  test(`a GET is not sent again after ${what}`, async t => {
    const { edge, alive } = await startPair(t, async wire => {
      await wire.request()
      await wire.send(bytes)
    })
    const client = await edge.connect()
    await client.send(request('GET /', 'Connection: close', json))
    await client.rest().catch(() => {})
    assert.equal(alive.requests.length, 0)
    assert.equal(edge.metrics.errors[520], 1)
  })
}

test('a GET without a response in time is sent to another member, and its response still counts as in time', async t => {
  const { edge, alive } = await startPair(t, wire => wire.ending, { timeouts: { response: 1_000 } })
  assert.equal((await edge.ask(request('GET /'))).text, 'alive')
  assert.equal(alive.requests.length, 1)
})

test('the time for all attempts together ends the last of them', async t => {
  const silent: Script = wire => wire.ending
  const members = [await startOrigin(t, silent), await startOrigin(t, silent), await startOrigin(t, silent)]
  const edge = await startEdge(
    t,
    members.map(({ url }) => url),
    { timeouts: { response: 800, total: 1_200 } },
  )
  assert.equal(codeOf(await edge.ask(request('GET /', json))), 504)
  assert.equal(members[2]!.wires.length, 0)
})

test('a request has two retries, each with another member', async t => {
  const dead = [deadOrigin(), deadOrigin(), deadOrigin()]
  const alive = await startResponder(t, ok('alive'))
  const urls = [...dead, alive].map(({ url }) => url)
  const edge = await startEdge(t, urls)
  assert.equal(codeOf(await edge.ask(request('GET /', json))), 521)
  assert.deepEqual([edge.accesses[0]!.retries, alive.requests.length], [2, 0])
  const eager = await startEdge(t, urls, { pool: { retries: { most: 3, budget: 1 } } })
  assert.equal((await eager.ask(request('GET /'))).text, 'alive')
})

test('a pool may have no retries', async t => {
  const alive = await startResponder(t, ok('alive'))
  const edge = await startEdge(t, [deadOrigin().url, alive.url], {
    pool: { retries: { most: 0, budget: 1 } },
  })
  assert.equal(codeOf(await edge.ask(post('/', 'x', json))), 521)
  assert.equal(edge.metrics.retries.value, 0)
})

test('retries end with their budget, and the failures show', async t => {
  const { edge } = await startPair(t, readAndClose, {
    pool: { retries: { most: 2, budget: 0.1 }, ejection: null },
  })
  const codes: unknown[] = []
  for (let i = 0; i < 60; i++) {
    const answer = await edge.ask(request('GET /', json))
    codes.push(answer.status === 200 ? 200 : codeOf(answer))
  }
  const failed = codes.filter(code => code === 520).length
  // 30 requests met the failing member; 10 retries are free, and 60 requests earn 6 more.
  assert.ok(failed >= 14 && failed <= 16, String(failed))
  assert.equal(edge.metrics.retries.value + failed, 30)
  assert.equal(edge.metrics.retryBudgetExhausted.value, failed)
  assert.ok(codes.slice(0, 20).every(code => code === 200))
})

test('a reload does not refill a budget, unless its share changes', async t => {
  const pool = { retries: { most: 2, budget: 0.1 }, ejection: null }
  const { edge, failing, alive } = await startPair(t, readAndClose, { pool })
  const urls = [failing.url, alive.url]
  for (let i = 0; i < 60; i++) await edge.ask(request('GET /'))
  const spent = edge.metrics.retries.value
  edge.plane.refresh()
  edge.reload(edgeConfig(urls, { pool: { ...pool, slowStart: 1_000 } }))
  for (let i = 0; i < 8; i++) await edge.ask(request('GET /'))
  assert.ok(edge.metrics.retries.value <= spent + 1)
  edge.reload(edgeConfig(urls, { pool: { ...pool, retries: { most: 2, budget: 0.2 } } }))
  const before = edge.metrics.retries.value
  for (let i = 0; i < 8; i++) await edge.ask(request('GET /'))
  assert.equal(edge.metrics.retries.value, before + 4)
})

test('a budget of zero does not even allow what was never sent', async t => {
  const alive = await startResponder(t, ok('alive'))
  const edge = await startEdge(t, [deadOrigin().url, alive.url], {
    pool: { retries: { most: 2, budget: 0 } },
  })
  assert.equal(codeOf(await edge.ask(request('GET /', json))), 521)
})

test('a kept connection that its origin closed is replaced regardless of the budget', async t => {
  const origin = await startOrigin(t, async (wire, nth) => {
    await wire.request()
    await wire.send(ok(`connection ${nth}`))
    if (nth === 0) await wire.request()
  })
  const edge = await startEdge(t, [origin.url], { pool: { retries: { most: 0, budget: 0 } } })
  assert.equal((await edge.ask(request('GET /'))).text, 'connection 0')
  assert.equal((await edge.ask(request('GET /'))).text, 'connection 1')
})

test('a member whose queue is full is passed over, and that does not count against it', async t => {
  const { edge, failing } = await startPair(t, wire => wire.ending, {
    transport: { connections: 1, queue: { size: 1, timeout: 0 } },
  })
  const clients = [await edge.connect(), await edge.connect()]
  for (const client of clients) {
    await client.send(request('GET /'))
    assert.equal((await edge.ask(request('GET /'))).text, 'alive')
  }
  assert.equal((await edge.ask(post('/', 'x'))).text, 'alive x')
  assert.equal(edge.accesses.at(-1)!.retries, 1)
  assert.equal(failing.wires.length, 1)
  const [pool] = edge.plane.snapshot.pools.named
  assert.deepEqual([pool!.members[0]!.outstanding, pool!.members[0]!.health.failures], [2, 0])
})

const handshake = request(
  'GET /',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  json,
)

test('a WebSocket handshake goes to another member where nothing was sent', async t => {
  const alive = await startResponder(t, ok('no WebSocket here'))
  const edge = await startEdge(t, [deadOrigin().url, alive.url])
  assert.equal((await edge.ask(handshake)).text, 'no WebSocket here')
})

test('a WebSocket handshake that an origin accepted is not sent again', async t => {
  const { edge, alive } = await startPair(t, readAndClose)
  assert.equal(codeOf(await edge.ask(handshake)), 520)
  assert.equal(alive.requests.length, 0)
})

const busy = 'HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nX-Who: it\r\nContent-Length: 4\r\n\r\nbusy'

/** Answers each request with this status, on connections that it keeps. */
const refusing =
  (status = 503): Script =>
  async wire => {
    for (;;) {
      await wire.request()
      await wire.send(busy.replace('503', String(status)))
    }
  }

for (const [what, bytes] of [
  ['a GET', request('GET /', json)],
  ['a PUT with a small body', post('/', 'small', json).replace('POST', 'PUT')],
] as const) {
  test(`${what} with a status of retry_on is sent to another`, async t => {
    const { edge, failing, alive } = await startPair(t, refusing(), { pool: { retryOn: [502, 503] } })
    const answer = await edge.ask(bytes)
    assert.deepEqual([answer.status, answer.text.slice(0, 5)], [200, 'alive'])
    assert.deepEqual([failing.wires.length, alive.requests.length], [1, 1])
    assert.equal(edge.accesses[0]!.retries, 1)
    assert.equal(edge.metrics.retries.value, 1)
  })
}

for (const [what, bytes, status, retryOn] of [
  ['a POST', post('/', 'x', json), 503, [503]],
  ['a PUT with a large body', post('/', 'x'.repeat(100_000), json).replace('POST', 'PUT'), 503, [503]],
  [
    'a GET that asks for a WebSocket',
    request(
      'GET /',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ),
    503,
    [503],
  ],
  ['a GET with a status that is not named', request('GET /', json), 500, [503]],
  ['a GET without the setting', request('GET /', json), 503, []],
] as const) {
  test(`the response to ${what} is passed on as it is`, async t => {
    const { edge, alive } = await startPair(t, refusing(status), { pool: { retryOn } })
    const client = await edge.connect()
    await client.send(bytes)
    const answer = await client.response()
    assert.deepEqual([answer.status, answer.text, answer.field('retry-after')], [status, 'busy', '7'])
    assert.deepEqual([alive.requests.length, edge.metrics.retries.value], [0, 0])
  })
}

test('the response of the last member that may be tried is passed on untouched', async t => {
  const members = [await startOrigin(t, refusing(502)), await startOrigin(t, refusing(503))]
  const urls = members.map(({ url }) => url)
  const settings = { pool: { retryOn: [502, 503] } }
  const edge = await startEdge(t, urls, settings)
  const answer = await edge.ask(request('GET /', json))
  assert.deepEqual([answer.status, answer.text], [503, 'busy'])
  assert.deepEqual([answer.field('retry-after'), answer.field('x-who')], ['7', 'it'])
  assert.equal(edge.metrics.retries.value, 1)
  const spent = { retries: { most: 2, budget: 0 }, retryOn: [502, 503] }
  const poor = await startEdge(t, urls, { pool: spent })
  assert.deepEqual((await poor.ask(request('GET /', json))).text, 'busy')
  assert.deepEqual([poor.metrics.retries.value, poor.metrics.retryBudgetExhausted.value], [0, 1])
})
