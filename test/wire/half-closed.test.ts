// A client may close its sending half and still wait for its answers.

import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'node:test'
import { startEdge } from '../help/edge.ts'
import { ok, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, type Message, post, request, type Wire } from '../help/raw.ts'

/** Reads the final answer behind interim ones, by which a half-closed client is asked whether it is still there. */
async function finalResponse(client: Wire): Promise<Message> {
  for (;;) {
    const answer = await client.response()
    if (answer.status >= 200) return answer
  }
}

test('a half-closed client gets its answer, then the end', async t => {
  const origin = await startResponder(t, ok('hi'))
  for (const bytes of [
    request('GET /'),
    post('/', 'hello'),
    post('/', 'x'.repeat(100_000)),
    `${request('POST /', 'Transfer-Encoding: chunked')}${chunks('hello')}0\r\n\r\n`,
    'GET / HTTP/1.0\r\nHost: site.test\r\n\r\n',
  ]) {
    const edge = await startEdge(t, [origin.url])
    const client = await edge.connect()
    client.socket.end(bytes)
    assert.equal((await finalResponse(client)).text, 'hi', bytes.slice(0, 60))
    assert.equal(await client.ending, 'FIN')
    assert.equal(edge.metrics.clientAborts.value, 0)
  }
})

test('a half-closed client gets an answer that takes its time, and is asked meanwhile whether it is there', async t => {
  const origin = await startResponder(t, async () => {
    await wait(250)
    return ok('late')
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /'))
  client.finish()
  assert.equal((await client.response()).status, 102)
  assert.equal((await finalResponse(client)).text, 'late')
})

test('a half-closed client gets a long answer to its end', async t => {
  const origin = await startResponder(t, async (_, wire) => {
    await wire.send('HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n')
    for (let i = 0; i < 128; i++) await wire.send(Buffer.alloc(65_536))
    return undefined
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /'))
  client.finish()
  assert.equal((await finalResponse(client)).body.length, 8_388_608)
})

test('a half-closed client gets all the answers it asked for', async t => {
  const origin = await startResponder(t, ({ target }) => ok(target))
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /1') + post('/2', 'hello') + request('GET /3'))
  client.finish()
  for (const target of ['/1', '/2', '/3']) assert.equal((await finalResponse(client)).text, target)
  assert.equal(await client.rest(), '')
})

test('a half-closed client that reads late gets all the answers it asked for', async t => {
  const origin = await startResponder(t, ok('x'.repeat(50_000)))
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  client.socket.pause()
  client.socket.end(request('GET /').repeat(300))
  for (let served = -1; served < origin.requests.length; await wait(150)) served = origin.requests.length
  assert.ok(origin.requests.length < 300)
  client.socket.resume()
  for (let i = 0; i < 300; i++) assert.equal((await finalResponse(client)).body.length, 50_000)
  assert.equal(await client.rest(), '')
})

test('a half-closed client gets its refusal', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'])
  const client = await edge.connect()
  await client.send(request('GET /'))
  client.finish()
  assert.equal((await finalResponse(client)).status, 521)
})

test('a client that half-closes in mid-request has given it up', async t => {
  const origin = await startOrigin(t, wire => wire.request())
  const edge = await startEdge(t, [origin.url])
  for (const bytes of [
    'GET / HTTP/1.1\r\nHost: si',
    `${request('POST /', 'Content-Length: 10')}hello`,
    `${request('POST /', 'Transfer-Encoding: chunked')}${chunks('hello')}`,
    `${request('POST /', 'Content-Length: 100000')}hello`,
    'GET / HT',
  ]) {
    const client = await edge.connect()
    await client.send(bytes)
    client.finish()
    assert.equal(await client.rest(), '', bytes)
  }
  for (const wire of origin.wires) await wire.ending
})

test('a half-closed client whose last request is cut still gets the answers to the whole ones', async t => {
  const origin = await startResponder(t, ({ target }) => ok(target))
  const edge = await startEdge(t, [origin.url])
  for (const cut of [
    'GET /2 HTTP/1.1\r\nHost: si',
    `${request('POST /2', 'Content-Length: 10')}hello`,
    `${request('POST /2', 'Content-Length: 100000')}hello`,
    `${request('POST /2', 'Transfer-Encoding: chunked')}${chunks('hello')}`,
  ]) {
    const client = await edge.connect()
    client.socket.end(request('GET /1') + cut)
    assert.equal((await finalResponse(client)).text, '/1')
    assert.equal(await client.rest(), '', cut)
  }
})

test('a client that half-closed before its WebSocket opened is at its end there too', async t => {
  const { promise: go, resolve } = Promise.withResolvers<void>()
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await go
    await wire.send('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url], { timeouts: { idle: 0 } })
  const client = await edge.connect()
  await client.send(request('GET /', 'Connection: Upgrade', 'Upgrade: websocket'))
  client.finish()
  await client.until('102 Processing')
  resolve()
  await client.until('101 Switching Protocols')
  await (await origin.wire()).ending
})
