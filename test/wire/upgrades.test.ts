// Clients that offer to go on in another protocol than WebSocket, as many do by default: the offer is ignored, and ends here (RFC 9110 section 7.8).

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startEdge } from '../help/edge.ts'
import { ok, startOrigin, startResponder } from '../help/origin.ts'
import { request } from '../help/raw.ts'

const run = promisify(execFile)

const offers: Record<string, string> = {
  "Java's HttpClient": request(
    'GET /',
    'Connection: Upgrade, HTTP2-Settings',
    'HTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAABgAGAAA',
    'Upgrade: h2c',
  ),
  "Java's HttpClient with a body": `${request(
    'POST /',
    'Connection: Upgrade, HTTP2-Settings',
    'Content-Length: 2',
    'HTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAABgAGAAA',
    'Upgrade: h2c',
  )}hi`,
  'Apache HttpClient 5.4': request('GET /', 'Upgrade: TLS/1.2', 'Connection: Upgrade'),
  'a client that lists no HTTP2-Settings': request(
    'GET /',
    'Connection: Upgrade',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABkAAQAAP__',
  ),
  'a client that asks for a WebSocket by PUT': request('PUT /', 'Connection: Upgrade', 'Upgrade: websocket'),
  'a client that offers more protocols than anybody knows': request(
    'GET /',
    'Connection: Upgrade',
    `Upgrade: ${'a,'.repeat(512)}websocket`,
  ),
  'a client that asks for a WebSocket and sends a body': `${request(
    'GET /',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Content-Length: 2',
  )}hi`,
}

for (const [who, bytes] of Object.entries(offers)) {
  test(`${who} gets the plain response, and keeps its connection`, async t => {
    const origin = await startResponder(t, ok('plain'))
    const edge = await startEdge(t, [origin.url])
    const client = await edge.connect()
    for (let i = 0; i < 2; i++) {
      await client.send(bytes)
      const answer = await client.response()
      assert.deepEqual([answer.status, answer.text, answer.field('connection')], [200, 'plain', null])
      const received = origin.requests[i]!
      for (const name of ['connection', 'upgrade', 'http2-settings']) assert.equal(received.field(name), null)
      assert.equal(received.text, bytes.endsWith('hi') ? 'hi' : '')
    }
  })
}

for (const method of ['GET', 'POST']) {
  test(`curl --http2 gets the plain response to a ${method}`, async t => {
    const origin = await startResponder(t, ({ text }) => ok(`plain${text}`))
    const edge = await startEdge(t, [origin.url])
    const { stdout } = await run('curl', [
      ...['--silent', '--show-error', '--http2', '--max-time', '5', '--header', 'Host: site.test'],
      ...(method === 'POST' ? ['--data-binary', '!'] : []),
      ...['--write-out', ' %{http_code} %{http_version}', `http://127.0.0.1:${edge.port}/`],
    ])
    assert.equal(stdout, `plain${method === 'POST' ? '!' : ''} 200 1.1`)
    assert.equal(origin.requests[0]!.field('http2-settings'), null)
  })
}

test('WebSocket may be one of several offers', async t => {
  const origin = await startOrigin(t, async wire => {
    const { lines } = await wire.request()
    assert.ok(lines.includes('Upgrade: websocket'))
    await wire.send('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /', 'Connection: Upgrade', 'Upgrade: h2c, WebSocket'))
  assert.equal((await client.head()).status, 101)
})
