import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import { ClientConnection } from '../../../src/edge/client/connection.ts'
import { Limiter } from '../../../src/limits/limiter.ts'
import { Edge, edgeConfig, listenAt, recordOf } from '../../help/edge.ts'
import { ok, startResponder } from '../../help/origin.ts'
import { post, request } from '../../help/raw.ts'
import { until } from '../../help/until.ts'
import { SteeredCounters } from '../../limits/steered-counters.ts'

const get = request('GET /', 'Accept: application/json')

/** Starts an edge whose requests wait for a store, of which the first two fit. */
async function startWaiting(t: TestContext) {
  const counters = new SteeredCounters()
  const origin = await startResponder(t, ok('hi'))
  const rateLimit = { name: 'few', limit: 2, period: 60_000, key: [], when: null, action: 'block' } as const
  const limiter = new Limiter({ clock: systemClock, counters })
  const edge = new Edge(t, edgeConfig([origin.url], { rateLimits: [rateLimit] }), { limiter })
  return { edge: await listenAt(t, edge), origin, counters }
}

for (const [others, status, requests] of [
  [0, 200, 1],
  [2, 429, 0],
] as const) {
  test(`a step that has to wait is waited for, and its verdict is final: ${status}`, async t => {
    const { edge, origin, counters } = await startWaiting(t)
    counters.others = others
    counters.mode = 'hold'
    const asked = edge.ask(get)
    await until(() => counters.asks.length > 0)
    assert.equal(edge.accesses.length, 0)
    counters.release()
    assert.equal((await asked).status, status)
    assert.deepEqual([counters.asks.length, origin.requests.length], [1, requests])
  })
}

test('a request whose client leaves while a step waits goes nowhere, and is recorded once', async t => {
  const { edge, origin, counters } = await startWaiting(t)
  counters.mode = 'hold'
  const client = await edge.connect()
  await client.send(get)
  await until(() => counters.asks.length > 0)
  client.reset()
  await until(() => edge.accesses.length > 0)
  counters.release()
  // What comes behind it is answered only after it could have been.
  assert.equal((await edge.ask(get)).text, 'hi')
  assert.equal(origin.requests.length, 1)
  assert.equal(edge.accesses.length, 2)
})

test('a client that half-closes behind its body while a step waits gets its response', async t => {
  const { edge, origin, counters } = await startWaiting(t)
  counters.mode = 'hold'
  const client = await edge.connect()
  client.socket.end(post('/', 'hello'))
  await until(() => counters.asks.length > 0)
  // What comes behind the end of one connection is served only after that was read.
  const other = await edge.connect()
  await other.send(request('GET /cdn-cgi/error/1000'))
  await until(() => counters.asks.length > 1)
  counters.release()
  assert.equal((await client.response()).text, 'hi')
  assert.deepEqual(
    origin.requests.map(({ text }) => text),
    ['hello'],
  )
})

test('a bug in a step that waited is an error of ours', async t => {
  const { edge } = await startWaiting(t)
  const broken = edge.plane.limiter as { spend: unknown }
  broken.spend = () => Promise.reject(new Error('a bug'))
  const answer = await edge.ask(get)
  assert.deepEqual([answer.status, recordOf(answer).error_code], [500, 500])
  assert.equal(answer.field('connection'), 'close')
})

test('a bug in the answer to a request that was refused after a wait costs only that request', async t => {
  const { edge, counters } = await startWaiting(t)
  counters.others = 2
  counters.mode = 'hold'
  const asked = edge.ask(get)
  await until(() => counters.asks.length > 0)
  const write = t.mock.method(ClientConnection.prototype, 'write', () => {
    write.mock.restore()
    throw new RangeError('a bug')
  })
  counters.release()
  assert.equal((await asked).status, 500)
  assert.equal(edge.accesses.length, 1)
})
