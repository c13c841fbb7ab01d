// Origins of HTTP/2: what clients of HTTP/1.1 get from them, and they from those.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { recordOf, startEdge } from '../help/edge.ts'
import { post, request } from '../help/raw.ts'

type Serve = (stream: ServerHttp2Stream, fields: readonly string[]) => void

async function startHttp2(
  t: TestContext,
  serve: Serve,
): Promise<{ url: string; server: Http2Server; sessions: number }> {
  const server = createServer()
  const origin = { url: '', server, sessions: 0 }
  server.on('session', session => {
    origin.sessions++
    t.after(() => session.destroy())
  })
  server.on('stream', (stream, _headers, _flags, raw) => {
    stream.on('error', () => {})
    serve(stream as ServerHttp2Stream, raw as unknown as string[])
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  origin.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return origin
}

const h2c = { transport: { http: 'h2c' } } as const

test('a GET goes by HTTP/2, and its response comes back as it was', async t => {
  let asked: readonly string[] = []
  const origin = await startHttp2(t, (stream, fields) => {
    asked = fields
    stream.respond([':status', '200', 'x-a', '1', 'x-a', '2', 'content-length', '2'])
    stream.end('hi')
  })
  const edge = await startEdge(t, [origin.url], h2c)
  const answer = await edge.ask(request('GET /a?b', 'X-One: 1', 'TE: trailers'))
  assert.equal(answer.startLine, 'HTTP/1.1 200 OK')
  assert.deepEqual(answer.all('x-a'), ['1', '2'])
  assert.equal(answer.text, 'hi')
  assert.deepEqual(asked.slice(0, 8), [
    ':method',
    'GET',
    ':scheme',
    'http',
    ':authority',
    'site.test',
    ':path',
    '/a?b',
  ])
  assert.equal(asked[asked.indexOf('x-one') + 1], '1')
  assert.equal(asked[asked.indexOf('te') + 1], 'trailers')
  assert.equal(asked.includes('host'), false)
})

test('bodies of any size go both ways', async t => {
  const origin = await startHttp2(t, stream => {
    stream.respond([':status', '200'])
    stream.pipe(stream)
  })
  const edge = await startEdge(t, [origin.url], h2c)
  for (const size of [0, 1, 20_000, 70_000, 3_000_000]) {
    const body = Buffer.alloc(size, 'abcdefg').toString('latin1')
    const answer = await edge.ask(post('/', body))
    assert.equal(answer.text.length, size)
    assert.equal(answer.text, body)
  }
  assert.equal(origin.sessions, 1)
})

test('an origin that is down is 521', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:9'], h2c)
  assert.equal(recordOf(await edge.ask(request('GET /', 'Accept: application/json'))).error_code, 521)
})
