// Previews of errors: on every zone, in every format, without asking the origin.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnreachable } from '../../src/store/contract/store.ts'
import { mintToken } from '../../src/tokens/token.ts'
import { startAi } from '../help/ai.ts'
import { type Edge, recordOf, startEdge } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'
import { post, request } from '../help/raw.ts'

const formats = {
  'application/json': 'application/json; charset=utf-8',
  'application/problem+json': 'application/problem+json; charset=utf-8',
  'text/markdown': 'text/markdown; charset=utf-8',
  'text/plain': 'text/plain; charset=utf-8',
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

/** Tells how often each class was counted in a zone. */
function countsIn(edge: Edge): Record<string, number> {
  const classes = Object.entries(edge.metrics.zone('site').classes).map(([name, { count }]) => [name, count])
  return Object.fromEntries(classes.filter(([, count]) => count !== 0))
}

const wake = {
  expression: 'error.code == 522',
  content: 'ours',
  contentType: 'text/plain',
  description: null,
} as const

test('a preview is no error of the site in metrics, sums, rules and the access log, whatever its status', async t => {
  const errors = { rules: [{ ...wake, status: 503 }] }
  const edge = await startEdge(t, ['http://127.0.0.1:1'], { errors })
  for (const code of [500, 522, 1015]) await edge.ask(request(`GET /cdn-cgi/error/${code}`))
  assert.deepEqual(countsIn(edge), { preview: 3 })
  assert.ok(edge.metrics.errors.every(count => count === 0))
  assert.equal(edge.metrics.customErrors.account_rule.value, 0)
  assert.deepEqual(
    edge.accesses.map(({ status, error, preview }) => [status, error, preview]),
    [
      [500, null, true],
      [503, null, true],
      [429, null, true],
    ],
  )
  await edge.ask(request('GET /cdn-cgi/error/1999'))
  await edge.ask(request('GET /'))
  assert.deepEqual(countsIn(edge), { '4xx': 1, '5xx': 1, preview: 3 })
  assert.deepEqual(
    edge.accesses.slice(3).map(({ error, preview }) => [error, preview]),
    [
      ['not_found', false],
      ['origin_down', false],
    ],
  )
  assert.deepEqual(edge.tallies.map(({ name, count }) => [name, count]).sort(), [
    ['404', 1],
    ['521', 1],
  ])
})

test('errors.previews: off is 404, as for an unknown code', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'], { errors: { previews: 'off' } })
  const client = await edge.connect()
  const records: unknown[] = []
  for (const code of [522, 1999]) {
    await client.send(request(`GET /cdn-cgi/error/${code}`, 'Accept: application/json'))
    const answer = await client.response()
    assert.equal(answer.status, 404)
    const { instance: _, ray_id: __, timestamp: ___, ...record } = recordOf(answer)
    records.push(record)
  }
  assert.deepEqual(records[0], records[1])
  assert.deepEqual(countsIn(edge), { '4xx': 2 })
})

test('errors.previews: operators shows them for a token that may read custom errors of the account, and nothing else', async t => {
  const zone = { hosts: ['site.test'] }
  const ai = await startAi(t, {}, { errors: { previews: 'operators' }, zone })
  const permissions = ['Custom Errors Read']
  const token = await ai.mint({ permissions })
  const ask = async (...lines: string[]) =>
    (await ai.edge.ask(request('GET /cdn-cgi/error/522', ...lines))).status
  assert.equal(await ask(`Authorization: Bearer ${token}`), 522)
  assert.equal(
    await ask(`Authorization: bearer ${await ai.mint({ permissions: ['Custom Errors Write'] })}`),
    522,
  )
  const others = {
    missing: [],
    'X-Forwarded-For': ['X-Forwarded-For: 127.0.0.1'],
    'another scheme': [`Authorization: Basic ${token}`],
    twice: [`Authorization: Bearer ${token}`, `Authorization: Bearer ${token}`],
    'another field': [`svc-aig-authorization: Bearer ${token}`],
    unknown: [`Authorization: Bearer ${mintToken().value}`],
    'another permission': [`Authorization: Bearer ${ai.token}`],
    disabled: [`Authorization: Bearer ${await ai.mint({ permissions, status: 'disabled' })}`],
    'another address': [
      `Authorization: Bearer ${await ai.mint({ permissions, addressesNotIn: ['127.0.0.1'] })}`,
    ],
  }
  for (const [what, lines] of Object.entries(others)) assert.equal(await ask(...lines), 404, what)
  assert.deepEqual(countsIn(ai.edge), { preview: 2, '4xx': 9 })
})

test('a zone of another account shows a token no previews', async t => {
  const zone = { account: 'f'.repeat(32) }
  const ai = await startAi(t, {}, { errors: { previews: 'operators' }, zone })
  const token = await ai.mint({ permissions: ['Custom Errors Read'] })
  const lines = [`Authorization: Bearer ${token}`]
  assert.equal((await ai.edge.ask(request('GET /cdn-cgi/error/522', ...lines))).status, 404)
})

test('while the store is unreachable, only a known token is shown previews', async t => {
  const ai = await startAi(t, {}, { errors: { previews: 'operators' } })
  const [known, other] = [
    await ai.mint({ permissions: ['Custom Errors Read'] }),
    await ai.mint({ permissions: ['Custom Errors Read'] }),
  ]
  const ask = async (token: string) =>
    (await ai.edge.ask(request('GET /cdn-cgi/error/522', `Authorization: Bearer ${token}`))).status
  assert.equal(await ask(known), 522)
  t.mock.method(ai.store.tokens, 'findByDigest', () => Promise.reject(new StoreUnreachable('test')))
  assert.deepEqual([await ask(known), await ask(other)], [522, 404])
})
