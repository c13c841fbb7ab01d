// A gateway with a collector: a trace of one request from client to origin, and the metrics of all its processes.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { createLogger } from '../../src/log/log.ts'
import { tallies } from '../../src/metrics/counters/distribution.ts'
import { Collector } from '../../src/telemetry/collector.ts'
import { SpanExporter } from '../../src/telemetry/span-exporter.ts'
import { startGateway } from '../help/gateway.ts'
import { lineToEach } from '../help/workers.ts'
import { ok, startResponder } from '../help/origin.ts'
import { assertUnbroken, type Collector as Received, startCollector } from '../help/otlp.ts'

/** Starts an origin that takes part in traces: it sends a span of its own to the collector. */
async function startTracing(t: TestContext, url: string): Promise<string> {
  const log = createLogger('error', { write: () => {} })
  const config = { url, headers: [], ca: null, timeout: 10_000 }
  const collector = new Collector({ config, version: '1', clock: systemClock, log })
  const sender = { version: '1', attributes: { 'service.name': 'shop' } }
  const counts = tallies(['exported', 'queue_full', 'export_failed'])
  const spans = new SpanExporter({ collector, sender, counts, queue: 10, delay: 1 })
  const server = createServer((request, response) => {
    const [, traceId = '', parentId = '', flags = ''] = String(request.headers.traceparent).split('-')
    const now = Date.now()
    const own = {
      traceId,
      spanId: 'c'.repeat(16),
      parentId,
      isParentRemote: true,
      flags: Number(flags),
      state: '',
    }
    const rest = {
      kind: 'server' as const,
      name: 'shop',
      start: now,
      end: now,
      isError: false,
      attributes: {},
      events: [],
    }
    spans.take([{ ...own, ...rest }])
    response.end('hello')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    server.close()
    await spans.close(0)
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a trace is seen whole, from the client over the gateway to the origin, and so are the metrics of all processes', async t => {
  const collector = await startCollector(t)
  const origin = await startTracing(t, collector.url)
  const gateway = await startGateway(
    t,
    `workers: 1
telemetry:
  otlp: { url: '${collector.url}', headers: { authorization: 'Bearer \${OTLP_TOKEN}' }, interval: 1s, service: front, attributes: { deployment.environment.name: test } }
pools: { shop: { origins: ['${origin}'] } }
zones: [{ hosts: [127.0.0.1], routes: [{ path: /, pool: shop }] }]
`,
    { env: { OTLP_TOKEN: 's3cret' } },
  )
  const traceId = 'a'.repeat(32)
  const response = await fetch(gateway.edge, {
    headers: { traceparent: `00-${traceId}-${'b'.repeat(16)}-01` },
  })
  assert.equal(await response.text(), 'hello')
  const spans = await collector.until(() => collector.spans.length === 3 && collector.spans)
  const childOf = (spanId: string | undefined) => spans.find(({ parentSpanId }) => parentSpanId === spanId)
  const server = childOf('b'.repeat(16))
  const client = childOf(server?.spanId)
  const shop = childOf(client?.spanId)
  assert.deepEqual([server?.kind, client?.kind, shop?.name], ['server', 'client', 'shop'])
  assert.equal(new Set(spans.map(span => span.traceId)).size, 1)
  assert.equal(server?.attributes['gatehouse.ray'], response.headers.get('svc-ray'))
  const { 'service.name': service, 'deployment.environment.name': environment } = server!.resource
  assert.deepEqual([service, environment, shop?.resource['service.name']], ['front', 'test', 'shop'])
  const ofGateway = collector.requests.filter(({ headers }) =>
    headers['user-agent']?.startsWith('gatehouse/0'),
  )
  for (const { headers } of ofGateway) assert.equal(headers.authorization, 'Bearer s3cret')

  const counted = await collector.until(() =>
    collector.metrics.find(metrics =>
      metrics.some(
        ({ name, points }) =>
          name === 'gatehouse_telemetry_spans_total' &&
          points.some(({ attributes, value }) => attributes.result === 'exported' && value === 2),
      ),
    ),
  )
  const exposed = [...(await gateway.metrics()).matchAll(/^# TYPE (\w+) (\w+)\n(?!\n|$|#)/gm)]
  const kinds: Readonly<Record<string, string>> = { counter: 'sum', gauge: 'gauge', histogram: 'histogram' }
  const sent = new Map(counted.map(({ name, kind }) => [name, kind]))
  const missing = exposed.filter(([, name, type]) => sent.get(name!) !== kinds[type!]).map(([, name]) => name)
  assert.deepEqual(missing, [])
  gateway.signal('SIGTERM')
  assert.equal((await gateway.exited).code, 0)
  assert.doesNotMatch(JSON.stringify(gateway.lines), /s3cret/)
  assertUnbroken(collector.metrics)
})

test('what is counted begins with the process that sends it, outlives its workers, and begins again with the next', async t => {
  const collector = await startCollector(t)
  const origin = await startResponder(t, () => ok('hello'))
  const yaml = (workers: number) => `workers: ${workers}
telemetry: { sample: 1, otlp: { url: '${collector.url}', interval: 1s } }
pools: { shop: { origins: ['${origin.url}'] } }
zones: [{ name: shop, hosts: [127.0.0.1], routes: [{ path: /, pool: shop }] }]
`
  const begun = Date.now()
  const gateway = await startGateway(t, yaml(2))
  const [line, other] = await lineToEach(t, gateway)
  const asked = gateway.lines.filter(({ msg }) => msg === 'request').length
  await collector.until(() => requestsIn(collector) === asked)
  process.kill(line!.pid, 'SIGKILL')
  await gateway.logged('worker ended, starting another')
  await other!.send('/')
  await collector.until(() => requestsIn(collector) === asked + 1)
  gateway.signal('SIGTERM')
  assert.equal((await gateway.exited).code, 0)
  assertUnbroken(collector.metrics)
  const starts = collector.metrics.flat().flatMap(({ points }) => points.map(({ start }) => start))
  assert.ok(Math.min(...starts) >= begun - clockPrecision, 'none begins before the process')
  assert.ok(
    Math.max(...starts) <= Date.parse(String(gateway.lines[0]!.time)),
    'all begin before it logs anything',
  )

  const ended = Date.now()
  const { length } = collector.metrics
  const next = await startGateway(t, yaml(0))
  await fetch(next.edge)
  await collector.until(() => collector.metrics.length > length)
  next.signal('SIGTERM')
  await next.exited
  assertUnbroken(collector.metrics)
  for (const { points } of collector.metrics.slice(length).flat())
    for (const { start } of points) assert.ok(start >= ended - clockPrecision)
  assert.deepEqual(
    collector.spans.at(-1)?.resource,
    collector.metrics.at(-1)?.[0]?.resource,
    'one process, one name',
  )
})

/** Ms by which the time of a process may be off. */
const clockPrecision = 5

/** Tells how many requests of the zone the last export has. */
function requestsIn({ metrics }: Received): number {
  const found = metrics.at(-1)?.find(({ name }) => name === 'gatehouse_requests_total')
  const ofZone = found?.points.filter(({ attributes }) => attributes.zone === 'shop') ?? []
  return ofZone.reduce((sum, { value }) => sum + (value as number), 0)
}
