// Previews of errors: on every zone, in every format, without asking the origin.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordOf, startEdge } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'
import { post, request } from '../help/raw.ts'

const formats = {
  'application/json': 'application/json; charset=utf-8',
  'application/problem+json': 'application/problem+json; charset=utf-8',
  'text/markdown': 'text/markdown; charset=utf-8',
  'text/html': 'text/html; charset=utf-8',
}

for (const [accept, type] of Object.entries(formats)) {
  test(`an error can be previewed as ${accept}`, async t => {
    const origin = await startResponder(t, ok())
    const edge = await startEdge(t, [origin.url])
    for (const [code, status, retryAfter] of [
      [522, 522, '120'],
      [526, 526, null],
      [500, 500, '30'],
      [1015, 429, '30'],
      [1020, 403, null],
    ] as const) {
      const answer = await edge.ask(request(`GET /cdn-cgi/error/${code}`, `Accept: ${accept}`))
      assert.equal(answer.status, status)
      assert.equal(answer.field('content-type'), type)
      assert.equal(answer.field('retry-after'), retryAfter)
      assert.match(answer.text, new RegExp(String(code)))
      if (type.includes('json')) assert.equal(recordOf(answer).error_code, code)
    }
    assert.equal(origin.bytesReceived, 0)
  })
}

test('a preview can be requested with HEAD, with a query and with a body as well', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'])
  const client = await edge.connect()
  await client.send(request('GET /cdn-cgi/error/522?why'))
  const whole = await client.response()
  await client.send(request('HEAD /cdn-cgi/error/522'))
  assert.equal((await client.response('HEAD')).field('content-length'), String(whole.body.length))
  await client.send(post('/cdn-cgi/error/522', 'hello'))
  assert.equal((await client.response()).status, 522)
})

test('an unknown code is 404, in the requested format and without Retry-After', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'])
  for (const code of ['999', '', '0522', '522/', '522x', 'constructor', '%35%32%32', '404']) {
    const answer = await edge.ask(request(`GET /cdn-cgi/error/${code}`, 'Accept: application/json'))
    assert.equal(answer.status, 404, code)
    assert.equal(recordOf(answer).retryable, false)
  }
})

test('a zone that cannot serve still shows its errors', async t => {
  const edge = await startEdge(t, [], { zone: { paused: true, routes: [] } })
  assert.equal((await edge.ask(request('GET /cdn-cgi/error/1020'))).status, 403)
  assert.equal((await edge.ask(request('GET /'))).status, 409)
})

test('without Accept the response is a page', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'])
  const answer = await edge.ask(request('GET /'))
  assert.equal(answer.status, 521)
  assert.match(answer.text, /^<!doctype html>/)
  assert.match(answer.field('content-security-policy')!, /default-src 'none'/)
})

test('a preview is counted as a request, and not as an error', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'])
  await edge.ask(request('GET /cdn-cgi/error/522'))
  assert.equal(edge.metrics.errors[522], 0)
  assert.equal(edge.metrics.zone('site').classes['5xx'].count, 1)
})
