// Limits: each is refused with its own error as soon as it is broken, and what is just below passes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { codeOf, recordOf, startEdge } from '../help/edge.ts'
import { ok, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, post, request } from '../help/raw.ts'

const json = 'Accept: application/json'

test('CONNECT and TRACE are refused with the methods that are not', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const connect = await edge.ask(`CONNECT site.test:443 HTTP/1.1\r\nHost: site.test:443\r\n${json}\r\n\r\n`)
  assert.deepEqual([connect.status, codeOf(connect)], [405, 1045])
  const trace = await edge.ask(request('TRACE /', json))
  assert.equal(codeOf(trace), 405)
  const preview = await edge.ask(request('GET /cdn-cgi/error/1045', json))
  assert.equal(preview.status, 405)
  for (const answer of [connect, trace, preview])
    assert.equal(answer.field('allow'), 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS')
  assert.equal(origin.bytesReceived, 0)
})

test('bytes after a CONNECT are never read as a request', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(`CONNECT site.test:443 HTTP/1.1\r\nHost: site.test:443\r\n\r\n${request('GET /')}`)
  await client.response()
  assert.equal(await client.rest(), '')
  assert.equal(origin.bytesReceived, 0)
})

test('a head over the limit is 1038, whole or still growing; one below passes', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { limits: { headerSection: 4096 } })
  const head = (length: number) => {
    const rest = request('GET /', json, 'X-Pad: ')
    return rest.replace('X-Pad: ', `X-Pad: ${'x'.repeat(length - rest.length)}`)
  }
  assert.equal((await edge.ask(head(4096))).status, 200)
  assert.equal(recordOf(await edge.ask(head(4097))).retry_after, 60)
  const client = await edge.connect()
  await client.send(head(8000).slice(0, 5000))
  assert.equal(codeOf(await client.response()), 1038)
  assert.equal(await client.ending, 'FIN')
  assert.equal(origin.requests.length, 1)
})

test('a head of many small fields counts like one of a large field', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { limits: { headerSection: 4096 } })
  const answer = await edge.ask(request('GET /', json, ...Array.from({ length: 1_500 }, () => 'a:')))
  assert.equal(codeOf(answer), 1038)
})

test('a head with more lines than the limit is 1038; one at the limit passes', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { limits: { headers: 20 } })
  const lines = (count: number) => request('GET /', json, ...Array.from({ length: count - 2 }, () => 'a:'))
  assert.equal((await edge.ask(lines(20))).status, 200)
  assert.equal(codeOf(await edge.ask(lines(21))), 1038)
})

test('an absurd number of Connection options is 1038', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  assert.equal(codeOf(await edge.ask(request('GET /', json, `Connection: ${'x,'.repeat(600)}`))), 1038)
  assert.equal(origin.bytesReceived, 0)
})

test('an absurd number of hops in CDN-Loop is a loop', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  assert.equal(codeOf(await edge.ask(request('GET /', json, `CDN-Loop: ${'x,'.repeat(3_000)}`))), 1000)
})

test('a target over the limit is 414; one below passes', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { limits: { url: 1024 } })
  assert.equal((await edge.ask(request(`GET /${'x'.repeat(1023)}`))).status, 200)
  assert.equal(codeOf(await edge.ask(request(`GET /${'x'.repeat(1024)}`, json))), 414)
  assert.equal(origin.requests.length, 1)
})

for (const [accept, type] of [
  ['application/json', 'application/json'],
  ['application/problem+json', 'application/problem+json'],
  ['text/markdown', 'text/markdown'],
  ['text/html', 'text/html'],
] as const)
  test(`a 414 is ${type} where that was asked for, in whatever packets the head comes`, async t => {
    const edge = await startEdge(t, ['http://127.0.0.1:1'], {
      limits: { url: 1024, headerSection: 16_384 },
    })
    const head = request(`GET /${'x'.repeat(4_000)}`, `Accept: ${accept}`)
    for (const cut of [2_000, head.indexOf(' HTTP/1.1'), head.indexOf('Accept'), head.length - 1]) {
      const client = await edge.connect()
      await client.send(head.slice(0, cut))
      // So that the packets are read one by one.
      for (let i = 0; i < 20; i++) await turn()
      await client.send(head.slice(cut))
      const answer = await client.response()
      assert.equal(answer.status, 414)
      assert.equal(answer.field('content-type')!.split(';')[0], type)
    }
  })

test('a target that does not end within limits.header_section is 414 at once', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'], { limits: { url: 1024, headerSection: 4096 } })
  const client = await edge.connect()
  await client.send(`GET /${'x'.repeat(4_092)}`)
  assert.equal((await client.response()).status, 414)
})

test('a body over the limit by its length is 413 before a byte of it was read', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { route: { bodyLimit: 1000 } })
  assert.equal((await edge.ask(post('/', 'x'.repeat(1000)))).status, 200)
  const client = await edge.connect()
  await client.send(request('POST /', 'Content-Length: 1001', json))
  const answer = await client.response()
  assert.equal(codeOf(answer), 413)
  assert.equal(answer.field('connection'), 'close')
  assert.equal(origin.requests.length, 1)
})

test('a chunked body is 413 as soon as it exceeds the limit, and the origin connection is closed', async t => {
  const origin = await startOrigin(t, wire => wire.request())
  const edge = await startEdge(t, [origin.url], { route: { bodyLimit: 100_000 } })
  const client = await edge.connect()
  const allowed = chunks('x'.repeat(100_000))
  await client.send(`${request('POST /', 'Transfer-Encoding: chunked', json)}${allowed}`)
  await (await origin.wire()).until('x'.repeat(60_000))
  await client.send(chunks('!'))
  assert.equal(codeOf(await client.response()), 413)
  await (await origin.wire()).ending
  assert.doesNotMatch((await origin.wire()).unread, /!|0\r\n\r\n$/)
})

test('a refused client that keeps sending can still read why', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'], { route: { bodyLimit: 1000 } })
  const client = await edge.connect()
  await client.send(request('POST /', `Content-Length: ${4 * 1024 * 1024}`, json))
  await client.send(Buffer.alloc(4 * 1024 * 1024))
  assert.equal(codeOf(await client.response()), 413)
})

test('the last response of a connection has close, and later requests are not served', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { limits: { requestsPerConnection: 3 } })
  const client = await edge.connect()
  await client.send(request('GET /').repeat(4))
  const fields = [await client.response(), await client.response(), await client.response()]
  assert.deepEqual(
    fields.map(answer => answer.field('connection')),
    [null, null, 'close'],
  )
  assert.equal(await client.rest(), '')
  assert.equal(origin.requests.length, 3)
})
