// Trailer fields pass both ways, but for those that come too late to be obeyed (RFC 9110 section 6.5.1).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEdge } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'
import { chunks, request } from '../help/raw.ts'

const sent = [
  'X-Checksum: abc',
  'Server-Timing: a;dur=1',
  'Host: evil.test',
  'Authorization: Bearer x',
  'Cookie: a=1',
  'Set-Cookie: a=1',
  'Content-Type: text/html',
  'Content-Encoding: gzip',
  'Connection: close',
  'X-Forwarded-For: 1.2.3.4',
  'X_Forwarded_For: 1.2.3.4',
  'svc-ray: 0',
  'Via: 1.1 x',
  'TE: trailers',
  'x-checksum: again',
]
const kept = ['X-Checksum: abc', 'Server-Timing: a;dur=1', 'x-checksum: again']

test('harmless trailers of a request reach the origin, dangerous ones do not', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  await edge.ask(
    `${request('POST /', 'Transfer-Encoding: chunked')}${chunks('hi')}0\r\n${sent.join('\r\n')}\r\n\r\n`,
  )
  assert.equal(origin.requests[0]!.text, 'hi')
  assert.deepEqual(origin.requests[0]!.trailers, kept)
})

test('harmless trailers of a response reach the client, dangerous ones do not', async t => {
  const answer = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks('hi')}0\r\n${sent.join('\r\n')}\r\n\r\n`
  const origin = await startResponder(t, answer)
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  for (let i = 0; i < 2; i++) {
    await client.send(request('GET /', 'TE: trailers'))
    assert.deepEqual((await client.response()).trailers, kept)
  }
})

test('trailers cut into single bytes are the same trailers', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('POST /', 'Transfer-Encoding: chunked'))
  for (const byte of `${chunks('hi')}0\r\nX-A: 1\r\nX-B: 2\r\n\r\n`) await client.send(byte)
  await client.response()
  assert.deepEqual(origin.requests[0]!.trailers, ['X-A: 1', 'X-B: 2'])
})
