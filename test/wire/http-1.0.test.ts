// Clients that speak HTTP/1.0: they know no chunks and no interim answers, and keep connections only when they ask.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEdge } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'

test('an HTTP/1.0 client gets its response and its connection is closed', async t => {
  const origin = await startResponder(t, ok('hi'))
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send('GET / HTTP/1.0\r\nHost: site.test\r\n\r\n')
  const answer = await client.response()
  assert.equal(answer.text, 'hi')
  assert.equal(answer.field('connection'), 'close')
  assert.equal(await client.ending, 'FIN')
  assert.match(origin.requests[0]!.field('via')!, /^1\.0 /)
})

test('an HTTP/1.0 client that asks for it keeps its connection', async t => {
  const origin = await startResponder(t, ok('hi'))
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  for (let i = 0; i < 2; i++) {
    await client.send('GET / HTTP/1.0\r\nHost: site.test\r\nConnection: keep-alive\r\n\r\n')
    assert.equal((await client.response()).field('connection'), 'keep-alive')
  }
})

test('a chunked response reaches an HTTP/1.0 client unchunked, to the end of the connection', async t => {
  const origin = await startResponder(
    t,
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 1\r\n\r\n',
  )
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send('GET / HTTP/1.0\r\nHost: site.test\r\nConnection: keep-alive\r\n\r\n')
  const answer = await client.response()
  assert.equal(answer.field('transfer-encoding'), null)
  assert.equal(answer.field('connection'), 'close')
  assert.equal(answer.text, 'abcde')
})

test('interim responses never reach an HTTP/1.0 client', async t => {
  const origin = await startResponder(t, `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${ok('hi')}`)
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(
    'POST / HTTP/1.0\r\nHost: site.test\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n!',
  )
  assert.equal((await client.response()).status, 200)
})

test('an HTTP/1.0 client without Host reaches the default zone, and the origin sees its own name', async t => {
  const origin = await startResponder(t, ok('hi'))
  const edge = await startEdge(t, [origin.url], { zone: { isDefault: true } })
  const client = await edge.connect()
  await client.send('GET / HTTP/1.0\r\n\r\n')
  assert.equal((await client.response()).text, 'hi')
  const [request] = origin.requests
  assert.equal(request!.field('host'), `127.0.0.1:${origin.port}`)
  assert.equal(request!.field('forwarded'), 'for=127.0.0.1;proto=http')
  assert.equal(request!.field('x-forwarded-host'), null)
})
