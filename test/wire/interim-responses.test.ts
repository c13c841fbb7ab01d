// 1xx answers: 100 is ours to give, 102 and 103 pass, 101 only where it was asked for.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf, startEdge } from '../help/edge.ts'
import { ok, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, request } from '../help/raw.ts'

test('a client that waits gets 100 Continue for its small body, and then its response', async t => {
  const origin = await startResponder(t, ({ text }) => ok(text))
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('POST /', 'Expect: 100-continue', 'Content-Length: 5'))
  assert.equal(await client.until('\r\n\r\n'), 'HTTP/1.1 100 Continue\r\n\r\n')
  await client.send('hello')
  assert.equal((await client.response()).text, 'hello')
  assert.equal(origin.requests[0]!.field('expect'), null)
})

test('a client that waits gets 100 Continue for its long body', async t => {
  const origin = await startResponder(t, ({ body }) => ok(String(body.length)))
  const edge = await startEdge(t, [origin.url])
  for (const framing of ['Content-Length: 100000', 'Transfer-Encoding: chunked']) {
    const client = await edge.connect()
    await client.send(request('POST /', 'Expect: 100-Continue', framing))
    assert.equal(await client.until('\r\n\r\n'), 'HTTP/1.1 100 Continue\r\n\r\n')
    const body = 'x'.repeat(100_000)
    await client.send(framing.startsWith('C') ? body : `${chunks(body)}0\r\n\r\n`)
    assert.equal((await client.response()).text, '100000')
  }
})

test('a client that waits with too long a body is refused instead', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { route: { bodyLimit: 4 } })
  const client = await edge.connect()
  await client.send(
    request('POST /', 'Expect: 100-continue', 'Content-Length: 5', 'Accept: application/json'),
  )
  assert.equal(codeOf(await client.response()), 413)
  assert.equal(await client.ending, 'FIN')
  assert.equal(origin.bytesReceived, 0)
})

test('a client that waits for an unknown host is refused instead', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'])
  const client = await edge.connect()
  await client.send('POST / HTTP/1.1\r\nHost: no.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n')
  assert.equal((await client.response()).status, 409)
})

test('an unrequested 100 of the origin is not passed on', async t => {
  const origin = await startResponder(
    t,
    `HTTP/1.1 100 Continue\r\nX-A: 1\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${ok('hi')}`,
  )
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  for (let i = 0; i < 2; i++) {
    await client.send(request('GET /'))
    const answer = await client.response()
    assert.deepEqual([answer.status, answer.text], [200, 'hi'])
  }
})

test('102 and 103 pass as they arrive, before the response', async t => {
  const { promise: seen, resolve } = Promise.withResolvers<void>()
  const origin = await startResponder(t, async (_, wire) => {
    await wire.send(
      'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n',
    )
    await wire.send('Connection: X-Hop\r\nX-Hop: 1\r\n\r\n')
    await seen
    return ok('hi')
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /'))
  assert.equal((await client.response()).status, 102)
  const hints = await client.response()
  assert.equal(hints.status, 103)
  assert.deepEqual(hints.lines, ['Link: </a.css>; rel=preload'])
  resolve()
  assert.equal((await client.response()).text, 'hi')
})

test('an origin that sends endless interim responses is held back when the client does not read', async t => {
  const hints = `HTTP/1.1 103 Early Hints\r\nLink: <${'x'.repeat(1_000)}>\r\n\r\n`
  const { promise: poured, resolve } = Promise.withResolvers<number>()
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    resolve(await wire.pour(Buffer.from(hints.repeat(200))))
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  client.socket.pause()
  await client.send(request('GET /'))
  assert.ok((await poured) < 64 * 1024 * 1024)
})

test('an unrequested switch of protocols is a bad gateway', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello',
    )
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /', 'Accept: application/json'))
  assert.equal(codeOf(await client.response()), 502)
  assert.equal(await (await origin.wire()).ending, 'FIN')
})

test('an unknown expectation is refused', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  for (const expect of ['200-ok', '100-continue, 200-ok']) {
    const answer = await edge.ask(request('GET /', `Expect: ${expect}`, 'Accept: application/json'))
    assert.equal(codeOf(answer), 417)
  }
  assert.equal(origin.bytesReceived, 0)
})
