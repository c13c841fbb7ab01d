// Bytes that an origin sends behind the end of an answer are nobody's: no other client has them for its own.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Lease } from '../../src/edge/origin/lease.ts'
import { type Edge, startEdge } from '../help/edge.ts'
import { type Origin, ok, type Script, startOrigin } from '../help/origin.ts'
import { chunks, post, request } from '../help/raw.ts'
import { until } from '../help/until.ts'

const foreign = ok('of another')

/** Starts an edge before an origin that answers the first connection's first request by a script, and everything else with `own`. */
async function startBehind(
  t: TestContext,
  first: Script,
  connections = 0,
): Promise<{ readonly edge: Edge; readonly origin: Origin }> {
  const origin = await startOrigin(t, async (wire, nth) => {
    if (nth === 0) await first(wire, nth)
    for (;;) {
      await wire.request()
      await wire.send(ok('own'))
    }
  })
  const edge = await startEdge(t, [origin.url], { transport: { connections } })
  return { edge, origin }
}

const announced = 'Content-Length: 100'
const inChunks = 'Transfer-Encoding: chunked'

for (const connections of [0, 1]) {
  for (const ms of [0, 1, 10, 40]) {
    for (const [what, method, head] of [
      ['HEAD with a length', 'HEAD', `200 OK\r\n${announced}`],
      ['HEAD in chunks', 'HEAD', `200 OK\r\n${inChunks}`],
      ['304 with a length', 'GET', `304 Not Modified\r\n${announced}`],
      ['304 in chunks', 'GET', `304 Not Modified\r\n${inChunks}`],
    ] as const) {
      test(`the body of a ${what} that comes ${ms} ms late is nobody's, with ${connections || 'any number of'} connections`, async t => {
        const { edge } = await startBehind(
          t,
          async wire => {
            await wire.request()
            await wire.send(`HTTP/1.1 ${head}\r\n\r\n`)
            await wait(ms)
            await wire.send(foreign)
          },
          connections,
        )
        const client = await edge.connect()
        await client.send(request(`${method} /`))
        await client.response('HEAD')
        for (let i = 0; i < 3; i++) assert.equal((await edge.ask(request('GET /'))).text, 'own')
      })
    }
  }
}

test('a connection without late bytes after such a response is reused', async t => {
  const { edge, origin } = await startBehind(t, async wire => {
    await wire.request()
    await wire.send(`HTTP/1.1 200 OK\r\n${announced}\r\n\r\n`)
  })
  const client = await edge.connect()
  await client.send(request('HEAD /'))
  await client.response('HEAD')
  await edge.pass(400)
  assert.equal((await edge.ask(request('GET /'))).text, 'own')
  assert.equal(origin.wires.length, 1)
})

test('a flood of HEAD holds no more connections than it needs', async t => {
  const origin = await startOrigin(t, async wire => {
    for (;;) {
      await wire.request()
      await wire.send(`HTTP/1.1 200 OK\r\n${announced}\r\n\r\n`)
    }
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  let most = 0
  for (let i = 0; i < 100; i++) {
    await client.send(request('HEAD /'))
    assert.equal((await client.response('HEAD')).status, 200)
    most = Math.max(most, edge.metrics.originConnections.value)
  }
  assert.ok(most <= 33, String(most))
})

test('consecutive responses without a body, under a cap, keep their connection', async t => {
  const origin = await startOrigin(t, async wire => {
    for (;;) {
      await wire.request()
      await wire.send('HTTP/1.1 204 No Content\r\n\r\n')
    }
  })
  const edge = await startEdge(t, [origin.url], {
    transport: { connections: 1, queue: { size: 1, timeout: 5_000 } },
  })
  const client = await edge.connect()
  await client.send(request('DELETE /').repeat(50))
  for (let i = 0; i < 50; i++) assert.equal((await client.response()).status, 204)
  assert.equal(origin.wires.length, 1)
})

test('bytes already read after a response to a slow client are not the response to a queued request', async t => {
  const pause = t.mock.method(Lease.prototype, 'pause')
  const isPaused = () => pause.mock.callCount() > 0
  const { promise: queued, resolve: queue } = Promise.withResolvers<void>()
  const { edge } = await startBehind(
    t,
    async wire => {
      await wire.request()
      await wire.send(`HTTP/1.1 200 OK\r\n${inChunks}\r\n\r\n`)
      while (!isPaused()) await wire.send(chunks('x'.repeat(10_000)))
      await queued
      await wire.send('0\r\n\r\n')
      await wait(50)
      await wire.send(foreign)
      await wait(50)
      slow.socket.resume()
    },
    1,
  )
  const slow = await edge.connect()
  await slow.send(request('GET /'))
  slow.socket.pause()
  await until(isPaused)
  const waiting = edge.ask(request('GET /'))
  await until(() => edge.metrics.originQueue.value === 1)
  queue()
  assert.equal((await waiting).text, 'own')
})

test('a connection whose response came before its request was sent is not used again', async t => {
  const { edge, origin } = await startBehind(t, async wire => {
    await wire.head()
    await wire.send(ok('early'))
    await wire.ending
  })
  const client = await edge.connect()
  await client.send(request('POST /', 'Transfer-Encoding: chunked') + chunks('x'.repeat(100_000)))
  assert.equal((await client.response()).text, 'early')
  await client.send('0\r\n\r\n')
  assert.equal((await edge.ask(post('/', 'x'))).text, 'own')
  assert.equal(origin.wires.length, 2)
  assert.equal(edge.metrics.originConnections.value, 1)
})

test('a connection that sends something while idle is closed', async t => {
  const { edge, origin } = await startBehind(t, async wire => {
    await wire.request()
    await wire.send(ok('own'))
  })
  assert.equal((await edge.ask(request('GET /'))).text, 'own')
  const { socket } = await origin.wire()
  socket.write('HTTP/1.1 408 Request Timeout\r\n\r\n')
  await once(socket, 'close')
  assert.equal((await edge.ask(request('GET /'))).text, 'own')
  assert.equal(origin.wires.length, 2)
})
