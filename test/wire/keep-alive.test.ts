// Connections that are kept: to origins, which may close them at any moment, and what may never leak from one request to the next.

import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'node:test'
import { ManualClock, patient } from '../help/clock.ts'
import { codeOf, startEdge } from '../help/edge.ts'
import { ok, startOrigin, startResponder } from '../help/origin.ts'
import { post, request, type Wire } from '../help/raw.ts'
import { turnsUntil } from '../help/until.ts'

/** An origin whose first connection answers once, reads a second request and closes without a word; later ones answer. */
const closesOnSecond = async (wire: Wire, nth: number): Promise<void> => {
  for (let served = 0; ; served++) {
    const message = await wire.request()
    if (nth === 0 && served === 1) return
    await wire.send(ok(`${nth} ${message.startLine} ${message.text}`))
  }
}

test('one connection to the origin serves many clients in turn', async t => {
  const origin = await startResponder(t, ok('hi'))
  const edge = await startEdge(t, [origin.url])
  for (let i = 0; i < 5; i++) await edge.ask(request('GET /'))
  assert.equal(origin.wires.length, 1)
  assert.equal(edge.metrics.originConnections.value, 1)
})

test('a connection that the origin closed while idle is not used again', async t => {
  const origin = await startOrigin(t, async wire => {
    const message = await wire.request()
    await wire.send(ok(message.target))
  })
  const edge = await startEdge(t, [origin.url])
  for (const target of ['/1', '/2']) {
    assert.equal((await edge.ask(request(`GET ${target}`))).text, target)
    await origin.wires.at(-1)!.ending
  }
  assert.equal(edge.metrics.retries.value, 0)
})

for (const bytes of [
  request('GET /2'),
  request('HEAD /2'),
  `${request('PUT /2', 'Content-Length: 5')}hello`,
  request('DELETE /2'),
]) {
  const method = bytes.slice(0, bytes.indexOf(' '))
  test(`a ${method} that meets the closing of an idle connection is sent again, on a new one`, async t => {
    const origin = await startOrigin(t, closesOnSecond)
    const edge = await startEdge(t, [origin.url])
    await edge.ask(request('GET /1'))
    assert.equal((await edge.ask(bytes)).status, 200)
    assert.equal(origin.wires.length, 2)
    assert.equal(edge.metrics.retries.value, 1)
    assert.equal(edge.accesses[1]!.retries, 1)
  })
}

test('a POST that meets the closing of an idle connection is not sent twice', async t => {
  const origin = await startOrigin(t, closesOnSecond)
  const edge = await startEdge(t, [origin.url])
  await edge.ask(request('GET /1'))
  assert.equal(codeOf(await edge.ask(post('/2', 'hello', 'Accept: application/json'))), 520)
  assert.equal(origin.wires.length, 1)
  assert.equal(edge.metrics.retries.value, 0)
})

test('a streamed upload is not sent twice, whatever its method', async t => {
  const origin = await startOrigin(t, closesOnSecond)
  const edge = await startEdge(t, [origin.url])
  await edge.ask(request('GET /1'))
  const body = 'x'.repeat(100_000)
  const put = `${request('PUT /2', 'Content-Length: 100000', 'Accept: application/json')}${body}`
  assert.equal(codeOf(await edge.ask(put)), 520)
  assert.equal(origin.wires.length, 1)
})

test('a GET is not sent again when a fresh connection closes, and never more than twice', async t => {
  const origin = await startOrigin(t, async (wire, nth) => {
    const message = await wire.request()
    if (nth > 0 || message.target !== '/1') return
    await wire.send(ok())
    await wire.request()
  })
  const edge = await startEdge(t, [origin.url])
  await edge.ask(request('GET /1'))
  for (const connections of [2, 3]) {
    assert.equal((await edge.ask(request('GET /2'))).status, 520)
    assert.equal(origin.wires.length, connections)
  }
})

test('a request whose response has begun is not retried', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(ok())
    await wire.request()
    await wire.send('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello')
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /'))
  await client.response()
  await client.send(request('GET /'))
  await client.until('hello')
  assert.equal(await client.ending, 'RST')
  assert.equal(origin.wires.length, 1)
})

test('bytes on an idle connection close it, and reach nobody', async t => {
  const origin = await startOrigin(t, async (wire, nth) => {
    await wire.request()
    await wire.send(ok(String(nth), 'Keep-Alive: timeout=3600'))
    await client.until('0')
    await wire.send(ok('stray'))
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  const start = Date.now()
  await client.send(request('GET /'))
  await (await origin.wire()).ending
  // Idle connections to it are kept for a minute.
  assert.ok(Date.now() - start < 30_000, 'at once, not when it was idle long enough')
  assert.equal((await edge.ask(request('GET /'))).text, '1')
})

test('a connection with a second response to one request is not used again', async t => {
  for (const method of ['GET', 'HEAD']) {
    const origin = await startResponder(t, ({ target, startLine }) => {
      const body = startLine.startsWith('HEAD') ? '' : 'own'
      return `HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n${body}${target === '/twice' ? ok('stray') : ''}`
    })
    const edge = await startEdge(t, [origin.url])
    const client = await edge.connect()
    await client.send(request(`${method} /twice`))
    await client.response(method)
    await client.send(request('GET /once'))
    assert.equal((await client.response()).text, 'own')
    assert.equal(client.unread, '')
    assert.equal(origin.wires.length, 2)
  }
})

test('a connection that the origin wants closed is closed, and the client keeps its own', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(ok('hi', 'Connection: close'))
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  for (let i = 0; i < 2; i++) {
    await client.send(request('GET /'))
    await client.response()
  }
  assert.equal(origin.wires.length, 2)
})

test('a connection is closed a second before the origin would close it', async t => {
  const origin = await startResponder(t, ok('hi', 'Keep-Alive: timeout=1, max=100'))
  const edge = await startEdge(t, [origin.url])
  const start = edge.plane.clock.monotonic()
  await edge.ask(request('GET /'))
  await (await origin.wire()).ending
  // Without that word it is kept for four seconds.
  assert.ok(edge.plane.clock.monotonic() - start < 3_000)
  assert.equal(edge.metrics.originConnections.value, 0)
})

test('an idle connection lives until a second before the origin would close it, and no longer', async t => {
  const origin = await startResponder(t, ok('hi', 'Keep-Alive: timeout=30'))
  const clock = new ManualClock()
  const edge = await startEdge(t, [origin.url], { clock, ...patient })
  await edge.ask(request('GET /'))
  const pass = async (ms: number) => {
    clock.advance(ms)
    await turnsUntil(() => edge.plane.coarseNow >= clock.monotonic())
  }
  await pass(28_999)
  assert.equal(edge.metrics.originConnections.value, 1)
  await pass(1)
  await (await origin.wire()).ending
  assert.equal(edge.metrics.originConnections.value, 0)
})

test('a response before the end of its request ends both connections', async t => {
  const origin = await startOrigin(t, async (wire, nth) => {
    await wire.head()
    await wire.send(nth === 0 ? 'HTTP/1.1 413 Too Much\r\nContent-Length: 2\r\n\r\nno' : ok('hi'))
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(`${request('POST /', 'Content-Length: 1000000')}${'x'.repeat(100_000)}`)
  const answer = await client.response()
  assert.deepEqual([answer.status, answer.text, answer.field('connection')], [413, 'no', 'close'])
  assert.equal(await client.ending, 'FIN')
  assert.equal((await edge.ask(request('GET /'))).text, 'hi')
  await (await origin.wire()).ending
})

test('the response of an origin that closes before it has read an upload still arrives', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.head()
    await wire.send('HTTP/1.1 403 Not You\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno')
    wire.finish()
    await wait(50)
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('POST /', 'Content-Length: 1000000'))
  void client.send(Buffer.alloc(1_000_000))
  assert.equal((await client.response()).status, 403)
})
