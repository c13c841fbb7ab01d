// Requests that come before the answers to earlier ones: answered in order, one at a time.

import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'node:test'
import { startEdge } from '../help/edge.ts'
import { ok, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, post, request } from '../help/raw.ts'

test('pipelined requests get their responses in order, even when the first is slow', async t => {
  let running = 0
  const origin = await startResponder(t, async ({ target, text }) => {
    assert.equal(++running, 1)
    if (target === '/1') await wait(100)
    running--
    return ok(target + text)
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(
    request('GET /1') +
      post('/2', 'hello') +
      `${request('POST /3', 'Transfer-Encoding: chunked')}${chunks('a', 'b')}0\r\n\r\n` +
      request('GET /4'),
  )
  for (const expected of ['/1', '/2hello', '/3ab', '/4'])
    assert.equal((await client.response()).text, expected)
})

test('pipelined requests get their responses in order, even when some are refused', async t => {
  const origin = await startResponder(t, ({ target }) => ok(target))
  const edge = await startEdge(t, [origin.url], { route: { path: '/here' } })
  const client = await edge.connect()
  await client.send(
    ['/here/1', '/nowhere', '/here/2', '/cdn-cgi/error/522', '/here/3']
      .map(path => request(`GET ${path}`))
      .join(''),
  )
  const statuses: number[] = []
  for (let i = 0; i < 5; i++) statuses.push((await client.response()).status)
  assert.deepEqual(statuses, [200, 409, 200, 522, 200])
})

test('pipelined requests that are refused at once let others have a turn in between', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { route: { path: '/here' } })
  const client = await edge.connect()
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await client.send(request('GET /nowhere').repeat(300))
  for (let i = 0; i < 300; i++) assert.equal((await client.response()).status, 409)
  isOver = true
  assert.ok(turns >= 300, `${turns} turns`)
})

test('a client that sends refused requests and half-closes gets all responses', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { route: { path: '/here' } })
  const client = await edge.connect()
  client.socket.end(request('GET /nowhere').repeat(50))
  for (let i = 0; i < 50; i++) assert.equal((await client.response()).status, 409)
})

test('a thousand pipelined requests all get their responses', async t => {
  const origin = await startResponder(t, ({ target }) => ok(target))
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  void client.send(Array.from({ length: 1_000 }, (_, i) => request(`GET /${i}`)).join(''))
  for (let i = 0; i < 1_000; i++) assert.equal((await client.response()).text, `/${i}`)
})

test('bytes that a client sends before it got its response stay unread', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /'))
  await origin.wire()
  await client.pour()
  const piece = Buffer.alloc(256 * 1024)
  assert.equal(
    await client.pour(piece),
    piece.length,
    'nothing moves once the buffers of the kernel are full',
  )
})

test('a client that keeps sending requests and reads nothing is held back, and gets everything when it reads', async t => {
  const body = 'x'.repeat(50_000)
  const origin = await startResponder(t, ok(body))
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  client.socket.pause()
  void client.send(request('GET /').repeat(3_000))
  await origin.wire()
  for (let served = -1; served < origin.requests.length; await wait(200)) served = origin.requests.length
  assert.ok(origin.requests.length < 1_000, `${origin.requests.length} were served`)
  client.socket.resume()
  for (let i = 0; i < 3_000; i++) assert.equal((await client.response()).body.length, body.length)
})

test('bytes after a body are read as the next request, at whatever byte a packet ends', async t => {
  const origin = await startResponder(t, ({ target, text }) => ok(target + text))
  const edge = await startEdge(t, [origin.url])
  const bytes = `${post('/1', 'hello')}${request('POST /2', 'Transfer-Encoding: chunked')}${chunks('you')}0\r\n\r\n${request('GET /3')}`
  for (let cut = 1; cut < bytes.length; cut += 7) {
    const client = await edge.connect()
    await client.send(bytes.slice(0, cut))
    await client.send(bytes.slice(cut))
    for (const expected of ['/1hello', '/2you', '/3']) assert.equal((await client.response()).text, expected)
    client.leave()
  }
})
