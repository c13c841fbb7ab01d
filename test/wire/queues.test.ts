// Origins that may have only so many connections, and those who wait for one.

import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { type TestContext, test } from 'node:test'
import type { TransportConfig } from '../../src/config/model/pool-config.ts'
import { ManualClock } from '../help/clock.ts'
import { codeOf, type Edge, edgeConfig, recordOf, startEdge } from '../help/edge.ts'
import { deadOrigin, type Origin, ok, startOrigin, startResponder } from '../help/origin.ts'
import { type Message, request } from '../help/raw.ts'
import { turnsUntil } from '../help/until.ts'

const ask = request('GET /', 'Accept: application/json')

interface Gate {
  readonly origin: Origin
  /** Answers the oldest request that waits, as soon as there is one. */
  answer(): Promise<void>
}

/** Starts an origin that answers when it is told to. */
async function startGated(t: TestContext, ...fields: string[]): Promise<Gate> {
  const held: (() => void)[] = []
  let arrived = Promise.withResolvers<void>()
  const origin = await startResponder(t, async ({ target }) => {
    await new Promise<void>(resolve => {
      held.push(resolve)
      arrived.resolve()
    })
    return ok(target, ...fields)
  })
  const answer = async () => {
    while (held.length === 0) {
      arrived = Promise.withResolvers()
      await arrived.promise
    }
    held.shift()!()
  }
  return { origin, answer }
}

function limited(
  connections: number,
  size: number,
  timeout = 5_000,
): { transport: Partial<TransportConfig> } {
  return { transport: { connections, queue: { size, timeout } } }
}

/** Sends requests one after the other, each once the one before is served or waits; gives what is to become of them. */
async function line(
  edge: Edge,
  { requests }: Origin,
  connections: number,
  targets: readonly string[],
): Promise<Promise<Message>[]> {
  const answers: Promise<Message>[] = []
  for (const target of targets) {
    answers.push(edge.ask(ask.replace('/', target)))
    const waiting = Math.max(0, answers.length - connections)
    await turnsUntil(
      () => requests.length === answers.length - waiting && edge.metrics.originQueue.value === waiting,
    )
  }
  return answers
}

test('no more connections are opened than an origin may have, and queued requests are served in order', async t => {
  const { origin, answer } = await startGated(t)
  const edge = await startEdge(t, [origin.url], limited(2, 10))
  const answers = await line(edge, origin, 2, ['/1', '/2', '/3', '/4', '/5'])
  for (let i = 0; i < 5; i++) await answer()
  const texts = (await Promise.all(answers)).map(({ text }) => text)
  assert.deepEqual(texts, ['/1', '/2', '/3', '/4', '/5'])
  assert.deepEqual(
    origin.requests.map(({ target }) => target),
    ['/1', '/2', '/3', '/4', '/5'],
  )
  assert.equal(origin.wires.length, 2)
})

test('a connection that closes makes room for a queued request', async t => {
  const { origin, answer } = await startGated(t, 'Connection: close')
  const edge = await startEdge(t, [origin.url], limited(1, 10))
  const answers = await line(edge, origin, 1, ['/1', '/2', '/3'])
  for (let i = 0; i < 3; i++) await answer()
  assert.deepEqual(
    (await Promise.all(answers)).map(({ text }) => text),
    ['/1', '/2', '/3'],
  )
  assert.equal(origin.wires.length, 3)
})

test('a request that finds the queue full is 1200 at once, and the queue is still served', async t => {
  const { origin, answer } = await startGated(t)
  const edge = await startEdge(t, [origin.url], limited(1, 2))
  const answers = await line(edge, origin, 1, ['/1', '/2', '/3'])
  const refused = await edge.ask(ask)
  const record = recordOf(refused)
  assert.deepEqual(
    [record.error_code, record.error_name, record.status, refused.field('retry-after')],
    [1200, 'cache_connection_limit', 503, '60'],
  )
  assert.equal(edge.accesses.at(-1)!.cause, 'GH_QUEUE_FULL')
  for (let i = 0; i < 3; i++) await answer()
  assert.deepEqual(
    (await Promise.all(answers)).map(({ text }) => text),
    ['/1', '/2', '/3'],
  )
  const last = edge.ask(ask)
  await answer()
  assert.equal((await last).text, '/')
})

test('without a queue a request that finds no connection is 1200', async t => {
  const { origin, answer } = await startGated(t)
  const edge = await startEdge(t, [origin.url], limited(1, 0))
  const [first] = await line(edge, origin, 1, ['/1'])
  assert.equal(codeOf(await edge.ask(ask)), 1200)
  await answer()
  assert.equal((await first!).text, '/1')
})

test('the queue shows in the metrics while there is one', async t => {
  const { origin, answer } = await startGated(t)
  const edge = await startEdge(t, [origin.url], limited(1, 5))
  const answers = await line(edge, origin, 1, ['/1', '/2', '/3'])
  await turnsUntil(() => edge.metrics.originQueue.value === 2)
  for (let i = 0; i < 3; i++) await answer()
  await Promise.all(answers)
  await turnsUntil(() => edge.metrics.originQueue.value === 0)
})

test('a request that waits too long in the queue is 504, and leaves the queue', async t => {
  const { origin, answer } = await startGated(t)
  const clock = new ManualClock()
  const edge = await startEdge(t, [origin.url], {
    ...limited(1, 1, 3_000),
    clock,
    timeouts: { response: 60_000 },
  })
  const [first, second] = await line(edge, origin, 1, ['/1', '/2'])
  clock.advance(2_900)
  assert.equal(codeOf(await edge.ask(ask)), 1200)
  clock.advance(100)
  const record = recordOf(await second!)
  assert.deepEqual([record.error_code, record.error_name], [504, 'origin_gateway_timeout'])
  assert.equal(edge.accesses.at(-1)!.cause, 'GH_QUEUE_TIMEOUT')
  const third = edge.ask(ask.replace('/', '/3'))
  await turnsUntil(() => edge.metrics.originQueue.value === 1)
  await answer()
  await answer()
  assert.deepEqual([(await first!).text, (await third).text], ['/1', '/3'])
})

test('a request that waited too long in the queue of one member does not wait in that of another', async t => {
  const gates = [await startGated(t), await startGated(t)]
  const clock = new ManualClock()
  const edge = await startEdge(
    t,
    gates.map(({ origin }) => origin.url),
    { ...limited(1, 5, 3_000), clock, timeouts: { response: 60_000 } },
  )
  const first = [edge.ask(ask), edge.ask(ask)]
  await turnsUntil(() => gates.every(({ origin }) => origin.requests.length === 1))
  const third = edge.ask(ask)
  await turnsUntil(() => edge.metrics.originQueue.value === 1)
  clock.advance(3_000)
  assert.equal(codeOf(await third), 504)
  assert.deepEqual([edge.accesses.at(-1)!.cause, edge.metrics.retries.value], ['GH_QUEUE_TIMEOUT', 0])
  for (const { answer } of gates) await answer()
  await Promise.all(first)
})

test('a client that leaves the queue is not served, and its place is free', async t => {
  const { origin, answer } = await startGated(t)
  const edge = await startEdge(t, [origin.url], limited(1, 1))
  const [first] = await line(edge, origin, 1, ['/1'])
  const client = await edge.connect()
  await client.send(ask.replace('/', '/gone'))
  await turnsUntil(() => edge.metrics.originQueue.value === 1)
  client.leave()
  await turnsUntil(() => edge.metrics.originQueue.value === 0)
  const third = edge.ask(ask.replace('/', '/3'))
  await turnsUntil(() => edge.metrics.originQueue.value === 1)
  await answer()
  await answer()
  assert.deepEqual([(await first!).text, (await third).text], ['/1', '/3'])
  assert.deepEqual(
    origin.requests.map(({ target }) => target),
    ['/1', '/3'],
  )
})

test('a client that leaves while it is served makes room for a queued request', async t => {
  const { origin, answer } = await startGated(t)
  const edge = await startEdge(t, [origin.url], limited(1, 1))
  const client = await edge.connect()
  await client.send(ask)
  await turnsUntil(() => origin.requests.length === 1)
  const second = edge.ask(ask.replace('/', '/2'))
  await turnsUntil(() => edge.metrics.originQueue.value === 1)
  client.leave()
  await turnsUntil(() => origin.requests.length === 2)
  await answer()
  await answer()
  assert.equal((await second).text, '/2')
})

test('a WebSocket holds its connection until it ends', async t => {
  const origin = await startOrigin(t, async wire => {
    const { target } = await wire.request()
    if (target === '/plain') return wire.send(ok('plain'))
    await wire.send('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url], limited(1, 1))
  const client = await edge.connect()
  await client.send(request('GET /', 'Connection: Upgrade', 'Upgrade: websocket'))
  assert.equal((await client.head()).status, 101)
  const plain = edge.ask(ask.replace('/', '/plain'))
  await turnsUntil(() => edge.metrics.originQueue.value === 1)
  client.leave()
  assert.equal((await plain).text, 'plain')
})

test('an origin that is down fails queued requests with 521, not with 1200', async t => {
  const edge = await startEdge(t, [deadOrigin().url], limited(2, 3))
  for (let i = 0; i < 2; i++) {
    const crowd = await Promise.all(Array.from({ length: 5 }, () => edge.ask(ask)))
    assert.deepEqual([...new Set(crowd.map(codeOf))], [521])
  }
})

test('a request that is retried on a fresh connection gets one even if all that are allowed are open', async t => {
  const origin = await startOrigin(t, async (wire, nth) => {
    for (;;) {
      const { target } = await wire.request()
      if (target === '/again' && nth < 2) return wire.reset()
      if (target === '/slow') await wait(100)
      await wire.send(ok(`${nth}`))
    }
  })
  const edge = await startEdge(t, [origin.url], limited(2, 5))
  const slow = edge.ask(ask.replace('/', '/slow'))
  await turnsUntil(() => origin.wires.length === 1)
  await Promise.all([slow, edge.ask(ask)])
  assert.equal(origin.wires.length, 2)
  assert.equal((await edge.ask(ask.replace('/', '/again'))).text, '2')
})

test('a reload that takes the limit away lets new requests pass those that wait', async t => {
  const { origin, answer } = await startGated(t)
  const settings = limited(1, 5)
  const edge = await startEdge(t, [origin.url], settings)
  const answers = await line(edge, origin, 1, ['/1', '/2'])
  edge.reload(edgeConfig([origin.url]))
  const third = edge.ask(ask.replace('/', '/3'))
  await turnsUntil(() => origin.requests.length === 2)
  await answer()
  await answer()
  await answer()
  assert.equal((await third).text, '/3')
  assert.deepEqual(
    (await Promise.all(answers)).map(({ text }) => text),
    ['/1', '/2'],
  )
})
