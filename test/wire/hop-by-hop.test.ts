// Fields that belong to one connection end there (RFC 9110 section 7.6.1), in both directions; so do their twins with underscores.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEdge } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'
import { request } from '../help/raw.ts'

const names = (lines: readonly string[]) => lines.map(line => line.slice(0, line.indexOf(':')).toLowerCase())

test('hop-by-hop fields of a request never reach the origin', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  await edge.ask(
    request(
      'GET /',
      'Connection: keep-alive, X-Named,x-also-named , Te',
      'Connection: X-Third',
      'Keep-Alive: timeout=5',
      'Proxy-Connection: keep-alive',
      'Proxy-Authorization: Basic c2VjcmV0',
      'Proxy-Authenticate: Basic',
      'TE: trailers',
      'X-Named: 1',
      'X-ALSO-NAMED: 2',
      'x-third: 3',
      'X-Kept: 4',
    ),
  )
  const [received] = origin.requests
  assert.deepEqual(names(received!.lines).sort(), [
    'cdn-loop',
    'forwarded',
    'host',
    'svc-ray',
    'via',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-kept',
  ])
})

test('a Connection field cannot remove fields that the gateway sets', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  await edge.ask(
    `${request('POST /', 'Connection: Host, Content-Length, X-Forwarded-For, Via, svc-ray', 'Content-Length: 2')}hi`,
  )
  const [received] = origin.requests
  assert.equal(received!.text, 'hi')
  for (const name of ['host', 'x-forwarded-for', 'via', 'svc-ray']) assert.ok(received!.field(name), name)
})

test('an Upgrade that Connection does not name is ignored, and removed', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  assert.equal((await edge.ask(request('GET /', 'Upgrade: h2c'))).status, 200)
  assert.equal(origin.requests[0]!.field('upgrade'), null)
})

test('hop-by-hop fields of a response never reach the client', async t => {
  const origin = await startResponder(
    t,
    ok(
      'hi',
      'Connection: close, X-Named',
      'Connection: x-also',
      'Keep-Alive: timeout=5',
      'Proxy-Connection: close',
      'Proxy-Authenticate: Basic',
      'Upgrade: h2c',
      'X-Named: 1',
      'X-Also: 1',
      'X-Kept: 2',
    ),
  )
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  for (let i = 0; i < 2; i++) {
    await client.send(request('GET /'))
    assert.deepEqual(names((await client.response()).lines).sort(), [
      'content-length',
      'date',
      'svc-ray',
      'x-kept',
    ])
  }
})

test('Via and similar fields of an origin reach the client', async t => {
  const origin = await startResponder(t, ok('hi', 'Via: 1.1 cache', 'CDN-Loop: other', 'X_Forwarded_For: x'))
  const edge = await startEdge(t, [origin.url])
  const { lines } = await edge.ask(request('GET /'))
  for (const line of ['Via: 1.1 cache', 'CDN-Loop: other', 'X_Forwarded_For: x'])
    assert.ok(lines.includes(line), line)
})

test('after a response with close to a HEAD the client keeps its connection', async t => {
  const origin = await startResponder(t, 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\n')
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  for (let i = 0; i < 2; i++) {
    await client.send(request('HEAD /'))
    assert.equal((await client.response('HEAD')).field('connection'), null)
  }
})

test('underscore variants of fields that the gateway sets or reads never reach the origin', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const twins = [
    'X_Forwarded_For: 1.2.3.4',
    'X-Forwarded_For: 1.2.3.4',
    'x_forwarded_proto: https',
    'X_FORWARDED_HOST: evil.test',
    'svc_ray: 0123456789abcdef',
    'cdn_loop: x',
    'Content_Length: 100',
    'Transfer_Encoding: chunked',
    'proxy_authorization: Basic c2VjcmV0',
  ]
  await edge.ask(request('GET /', ...twins, 'X_Own: 1'))
  const [received] = origin.requests
  assert.deepEqual(
    received!.lines.filter(line => line.includes('_')),
    ['X_Own: 1'],
  )
})

test('a client that sends close gets its response and the end', async t => {
  const origin = await startResponder(t, ok('hi'))
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /', 'Connection: close') + request('GET /behind'))
  const answer = await client.response()
  assert.equal(answer.text, 'hi')
  assert.equal(answer.field('connection'), 'close')
  assert.equal(await client.rest(), '')
  assert.equal(origin.requests.length, 1)
})
