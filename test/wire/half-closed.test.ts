// A client may close its sending half and still wait for its answers.

import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'node:test'
import { startEdge } from '../help/edge.ts'
import { ok, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, post, request } from '../help/raw.ts'
import { until } from '../help/until.ts'

test('a half-closed client gets its response, then the end', async t => {
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
    assert.equal((await client.response()).text, 'hi', bytes.slice(0, 60))
    assert.equal(await client.ending, 'FIN')
    assert.equal(edge.metrics.clientAborts.value, 0)
  }
})

for (const version of ['1.1', '1.0']) {
  test(`a half-closed client of HTTP/${version} gets a slow response`, async t => {
    const origin = await startResponder(t, async () => {
      await wait(250)
      return `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${ok('late')}`
    })
    const edge = await startEdge(t, [origin.url])
    const client = await edge.connect()
    await client.send(`GET / HTTP/${version}\r\nHost: site.test\r\n\r\n`)
    client.finish()
    if (version === '1.1') assert.equal((await client.response()).status, 103)
    assert.equal((await client.response()).text, 'late')
    assert.equal(await client.ending, 'FIN')
    assert.equal(edge.metrics.clientAborts.value, 0)
  })
}

for (const [what, second] of [
  ['', request('GET /slow')],
  [' with a body', post('/slow', 'hello')],
]) {
  test(`a half-closed client is asked for a sign of life at its second request${what} too`, async t => {
    const { promise: go, resolve } = Promise.withResolvers<void>()
    const origin = await startResponder(t, async ({ target }) => {
      if (target === '/slow') await go
      return ok(target)
    })
    const edge = await startEdge(t, [origin.url])
    const client = await edge.connect()
    client.socket.end(request('GET /1') + second)
    assert.equal((await client.response()).text, '/1')
    await until(() => client.unread === 'H')
    resolve()
    assert.equal((await client.response()).text, '/slow')
  })
}

const halves: Record<string, readonly [string, string]> = {
  'with a length': ['HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst', 'later'],
  'in chunks': [
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks('first')}`,
    `${chunks('later')}0\r\n\r\n`,
  ],
  'in chunks, all of which have come': [
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks('first', 'later')}`,
    '0\r\n\r\n',
  ],
  'to the end of the connection': ['HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nfirst', 'later'],
}

for (const version of ['1.1', '1.0']) {
  for (const [how, [first, later]] of Object.entries(halves)) {
    test(`a client of HTTP/${version} that half-closes in mid-response gets all of it, ${how}`, async t => {
      const { promise: go, resolve } = Promise.withResolvers<void>()
      const origin = await startOrigin(t, async wire => {
        await wire.request()
        await wire.send(first)
        await go
        await wire.send(later)
      })
      const edge = await startEdge(t, [origin.url])
      const client = await edge.connect()
      await client.send(`GET / HTTP/${version}\r\nHost: site.test\r\n\r\n`)
      const answer = await client.head()
      client.socket.pause()
      client.finish()
      // Long enough for every sign of life to be asked for.
      await wait(300)
      resolve()
      client.socket.resume()
      await client.body(answer, true)
      assert.equal(answer.text, 'firstlater')
      assert.equal(await client.ending, 'FIN')
      assert.equal(edge.metrics.clientAborts.value, 0)
    })
  }
}

test('a half-closed client of HTTP/1.0 reads an event stream to its end', async t => {
  const { promise: go, resolve } = Promise.withResolvers<void>()
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(
      `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${chunks('data: 1\n')}`,
    )
    await go
    await wire.send(`${chunks('\ndata: 2\n\n')}0\r\n\r\n`)
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send('GET / HTTP/1.0\r\nHost: site.test\r\n\r\n')
  await client.until('data: 1\n')
  client.finish()
  await wait(300)
  resolve()
  assert.equal((await client.rest()).replaceAll(/^:\n/gm, ''), '\ndata: 2\n\n')
})

test('a half-closed client gets a long response to its end', async t => {
  const origin = await startResponder(t, async (_, wire) => {
    await wire.send('HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n')
    for (let i = 0; i < 128; i++) await wire.send(Buffer.alloc(65_536))
    return undefined
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /'))
  client.finish()
  assert.equal((await client.response()).body.length, 8_388_608)
})

test('a half-closed client gets the responses to all its requests', async t => {
  const origin = await startResponder(t, ({ target }) => ok(target))
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /1') + post('/2', 'hello') + request('GET /3'))
  client.finish()
  for (const target of ['/1', '/2', '/3']) assert.equal((await client.response()).text, target)
  assert.equal(await client.rest(), '')
})

test('a half-closed client that reads late gets the responses to all its requests', async t => {
  const origin = await startResponder(t, ok('x'.repeat(50_000)))
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  client.socket.pause()
  client.socket.end(request('GET /').repeat(300))
  for (let served = -1; served < origin.requests.length; await wait(150)) served = origin.requests.length
  assert.ok(origin.requests.length < 300)
  client.socket.resume()
  for (let i = 0; i < 300; i++) assert.equal((await client.response()).body.length, 50_000)
  assert.equal(await client.rest(), '')
})

test('a half-closed client gets its refusal', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'])
  const client = await edge.connect()
  await client.send(request('GET /'))
  client.finish()
  assert.equal((await client.response()).status, 521)
})

test('a client that half-closes in mid-request has abandoned it', async t => {
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

test('a half-closed client whose last request is cut still gets the responses to the complete ones', async t => {
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
    assert.equal((await client.response()).text, '/1')
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
  await client.until('H')
  resolve()
  await client.until('TTP/1.1 101 Switching Protocols')
  await (await origin.wire()).ending
})
