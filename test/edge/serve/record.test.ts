import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeMetrics } from '../../../src/metrics/counters/edge-metrics.ts'
import { startEdge } from '../../help/edge.ts'
import { ok, startResponder } from '../../help/origin.ts'
import { chunks, post, request } from '../../help/raw.ts'

/** Tells how often each status class was counted in a zone. */
function counts(metrics: EdgeMetrics, zone: string): Record<string, number> {
  const classes = Object.entries(metrics.zones.get(zone)!.classes).map(([name, { count }]) => [name, count])
  return Object.fromEntries(classes.filter(([, count]) => count !== 0))
}

test('requests are counted by zone and status class, those without a zone as none', async t => {
  const origin = await startResponder(t, ({ target }) => ok().replace('200', target.slice(1)))
  const edge = await startEdge(t, [origin.url])
  for (const status of [200, 201, 302, 404, 503]) await edge.ask(request(`GET /${status}`))
  await edge.ask(request('GET /').replace('site.test', 'unknown.test'))
  const client = await edge.connect()
  await client.send('nonsense\r\n\r\n')
  await client.rest()
  assert.deepEqual(counts(edge.metrics, 'site'), { '2xx': 2, '3xx': 1, '4xx': 1, '5xx': 1 })
  assert.deepEqual(counts(edge.metrics, 'none'), { '4xx': 2 })
  assert.deepEqual([...edge.metrics.zones.keys()].sort(), ['none', 'site'])
})

test('errors are counted by code, and the origin is measured by phase', async t => {
  const origin = await startResponder(t, ({ text }) => ok(text))
  const edge = await startEdge(t, [origin.url])
  await edge.ask(request('GET /'))
  await edge.ask(request('GET /'))
  await edge.ask(`${request('POST /', 'Transfer-Encoding: chunked')}${chunks('hello')}0\r\n\r\n`)
  await edge.ask(request('TRACE /'))
  const { phases, errors } = edge.metrics
  assert.deepEqual(
    [phases.connect.count, phases.wait.count, phases.receive.count, phases.handshake.count],
    [1, 3, 3, 0],
  )
  assert.equal(errors[405], 1)
})

test('the log line of a request says what happened, without secrets', async t => {
  const origin = await startResponder(t, ok('answer'))
  const edge = await startEdge(t, [origin.url])
  await edge.ask(
    post('/path?token=SECRET', 'SECRET body', 'Cookie: a=SECRET', 'Authorization: Bearer SECRET'),
  )
  const { time, pid, duration, phases, ray, ...rest } = edge.accesses[0]!
  assert.deepEqual(rest, {
    level: 'info',
    zone: 'site',
    client: '127.0.0.1',
    method: 'POST',
    host: 'site.test',
    path: '/path',
    version: '1.1',
    status: 200,
    error: null,
    cause: null,
    preview: false,
    bytes_in: 11,
    bytes_out: 6,
    compression: null,
    origin: origin.url,
    retries: 0,
    aborted: false,
    tls: null,
    msg: 'request',
  })
  assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 5_000)
  assert.ok(Number(duration) > 0)
  assert.deepEqual(Object.keys(phases as object).sort(), ['connect', 'receive', 'wait'])
  assert.doesNotMatch(JSON.stringify(edge.accesses), /SECRET/)
})

test('open connections are counted on both sides', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /'))
  await client.response()
  assert.equal(edge.metrics.clientConnections.value, 1)
  assert.equal(edge.metrics.originConnections.value, 1)
  edge.plane.destroy()
  await (await origin.wire()).ending
  await client.ending
  assert.equal(edge.metrics.originConnections.value, 0)
})
