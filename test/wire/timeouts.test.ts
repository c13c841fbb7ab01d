// Clients that take too long, and streams in which nothing moves.

import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'node:test'
import { codeOf, startEdge } from '../help/edge.ts'
import { ok, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, request } from '../help/raw.ts'

const json = 'Accept: application/json'

test('a head that is incomplete at the timeout is 408, however steadily it drips', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { client: { headerTimeout: 250 } })
  const client = await edge.connect()
  await client.send(`GET / HTTP/1.1\r\n${json}\r\nHost: site.test\r\n`)
  const timer = setInterval(() => client.send('X-A: 1\r\n'), 30)
  t.after(() => clearInterval(timer))
  const answer = await client.response()
  assert.equal(codeOf(answer), 408)
  assert.equal(answer.field('connection'), 'close')
  clearInterval(timer)
  assert.equal(await client.rest(), '')
  assert.equal(origin.bytesReceived, 0)
})

test('a connection on which nothing arrives is closed without a response', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'], { client: { headerTimeout: 150 } })
  const client = await edge.connect()
  assert.equal(await client.rest(), '')
  assert.equal(await client.ending, 'FIN')
})

test('a kept connection is closed without a response when it was idle too long', async t => {
  const origin = await startResponder(t, ok('hi'))
  const edge = await startEdge(t, [origin.url], { client: { keepAlive: 150 } })
  const client = await edge.connect()
  await client.send(request('GET /'))
  await client.response()
  assert.equal(await client.rest(), '')
})

test('an empty line after a request does not begin the next one', async t => {
  const origin = await startResponder(t, ok('hi'))
  const edge = await startEdge(t, [origin.url], { client: { headerTimeout: 300, keepAlive: 2_000 } })
  const client = await edge.connect()
  await client.send(`${request('GET /')}\r\n`)
  await client.response()
  await wait(600)
  await client.send(request('GET /'))
  assert.equal((await client.response()).text, 'hi')
  await client.send('\r\n')
  assert.equal(await client.rest(), '')
})

test('a body that stops arriving is 408, and its origin connection is closed', async t => {
  const origin = await startOrigin(t, wire => wire.request())
  const edge = await startEdge(t, [origin.url], { timeouts: { idle: 200 } })
  for (const bytes of [
    `${request('POST /', 'Content-Length: 10', json)}hello`,
    `${request('POST /', 'Content-Length: 100000', json)}hello`,
    `${request('POST /', 'Transfer-Encoding: chunked', json)}${chunks('hello')}`,
  ]) {
    const client = await edge.connect()
    await client.send(bytes)
    assert.equal(codeOf(await client.response()), 408)
    assert.equal(await client.ending, 'FIN')
  }
  for (const wire of origin.wires) await wire.ending
})

test('a body that arrives slowly but steadily gets through', async t => {
  const origin = await startResponder(t, ({ text }) => ok(text))
  const edge = await startEdge(t, [origin.url], { timeouts: { idle: 1_000, write: 600, response: 600 } })
  const client = await edge.connect()
  await client.send(request('POST /', 'Transfer-Encoding: chunked'))
  for (let i = 0; i < 6; i++) {
    await wait(200)
    await client.send(chunks(String(i)))
  }
  await client.send('0\r\n\r\n')
  assert.equal((await client.response()).text, '012345')
})

test('the limit on the whole does not count the time that a client takes for a small body', async t => {
  const origin = await startResponder(t, ({ text }) => ok(text))
  const edge = await startEdge(t, [origin.url], { timeouts: { total: 1_000 } })
  const client = await edge.connect()
  await client.send(request('POST /', 'Content-Length: 4'))
  for (const letter of 'slow') {
    await wait(300)
    await client.send(letter)
  }
  assert.equal((await client.response()).text, 'slow')
})

test('a client that no longer reads is cut off, and its origin is not blamed', async t => {
  const { promise: left, resolve } = Promise.withResolvers<void>()
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n')
    void wire.ending.then(() => resolve())
    await wire.pour()
  })
  const edge = await startEdge(t, [origin.url], { timeouts: { idle: 200 } })
  const client = await edge.connect()
  client.socket.pause()
  await client.send(request('GET /'))
  await left
  const [entry] = edge.accesses
  assert.deepEqual([entry?.status, entry?.error, entry?.aborted], [200, null, true])
})

test('a client that reads late gets the whole response, whatever ends its connection then', async t => {
  const origin = await startResponder(t, ({ startLine }) =>
    ok('x'.repeat(Number(startLine.split(/[ /]/)[2]))),
  )
  const edge = await startEdge(t, [origin.url], { client: { keepAlive: 150 } })
  // What the gateway has written and the kernel not yet taken is the end of only some of these.
  const lengths = Array.from({ length: 20 }, (_, i) => 1_000_000 + i * 250_000)
  const heads = [
    'HTTP/1.1\r\nHost: site.test',
    'HTTP/1.0\r\nHost: site.test',
    'HTTP/1.1\r\nHost: site.test\r\nConnection: close',
  ]
  await Promise.all(
    lengths.map(async (length, i) => {
      const client = await edge.connect()
      client.socket.pause()
      await client.send(`GET /${length} ${heads[i % heads.length]}\r\n\r\n`)
      await wait(2_400)
      client.socket.resume()
      assert.equal((await client.response()).body.length, length)
    }),
  )
})

test('an upload after an early response keeps that response alive', async t => {
  const origin = await startOrigin(t, async wire => {
    const message = await wire.head()
    await wire.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    await wire.body(message, false)
    await wire.send(`${chunks(message.text)}0\r\n\r\n`)
  })
  const edge = await startEdge(t, [origin.url], { timeouts: { idle: 1_000 } })
  const client = await edge.connect()
  await client.send(request('POST /', 'Transfer-Encoding: chunked'))
  for (let i = 0; i < 6; i++) {
    await wait(200)
    await client.send(chunks(String(i)))
  }
  await client.send('0\r\n\r\n')
  assert.equal((await client.response()).text, '012345')
})

test('a timeout that is off never fires', async t => {
  const origin = await startResponder(t, async () => {
    await wait(400)
    return ok('hi')
  })
  const off = { connect: 0, handshake: 0, response: 0, write: 0, idle: 0, total: 0 }
  const edge = await startEdge(t, [origin.url], { timeouts: off })
  assert.equal((await edge.ask(request('GET /'))).text, 'hi')
})
