// Spans and metrics on their way to a real collector.

import assert, { deepEqual, equal } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { systemClock } from '../../src/base/clock.ts'
import { createLogger } from '../../src/log/log.ts'
import { tallies } from '../../src/metrics/counters/distribution.ts'
import { Collector, partialSuccessOf } from '../../src/telemetry/collector.ts'
import { MetricExporter } from '../../src/telemetry/metric-exporter.ts'
import type { MetricFamily } from '../../src/telemetry/metric-message.ts'
import type { Span } from '../../src/telemetry/span.ts'
import { SpanExporter } from '../../src/telemetry/span-exporter.ts'
import { deadOrigin, ok, startOrigin, startResponder } from '../help/origin.ts'
import { startCollector } from '../help/otlp.ts'
import type { Wire } from '../help/raw.ts'

const sender = { version: '1.2.3', attributes: { 'service.name': 'gate', 'process.pid': 7 } }

const span: Span = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  parentId: null,
  isParentRemote: true,
  flags: 1,
  state: 'a=1',
  kind: 'server',
  name: 'GET /',
  start: 1_700_000_000_000.25,
  end: 1_700_000_000_002,
  isError: true,
  attributes: { text: 'ü', whole: 7, part: 0.5, is: true },
  events: [{ name: 'x', at: 1_700_000_000_001, attributes: { step: 'admit' } }],
}

function collectorAt(
  t: TestContext,
  url: string,
  parts: { timeout?: number; headers?: [string, string][] } = {},
) {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: (line: string) => lines.push(JSON.parse(line)) })
  const { timeout = 10_000, headers = [] } = parts
  const config = { url, headers, ca: null, timeout }
  const collector = new Collector({ config, version: '1.2.3', clock: systemClock, log, firstPause: 1 })
  t.after(() => collector.close())
  return { collector, lines, log }
}

function exporter(collector: Pick<Collector, 'send' | 'close'>, queue = 10) {
  const counts = tallies(['exported', 'queue_full', 'export_failed'])
  const spans = new SpanExporter({ collector, sender, counts, queue, delay: 1 })
  const figures = () => [counts.exported.value, counts.queue_full.value, counts.export_failed.value]
  return { spans, figures }
}

test('a span arrives as it is, with who sends it', async t => {
  const received = await startCollector(t)
  const { collector } = collectorAt(t, received.url, { headers: [['authorization', 'Bearer s3cret']] })
  const { spans, figures } = exporter(collector)
  spans.take([
    span,
    {
      ...span,
      spanId: '1'.repeat(16),
      parentId: span.spanId,
      isParentRemote: false,
      kind: 'client',
      isError: false,
    },
  ])
  await spans.close(10_000)
  const [server, client] = received.spans
  deepEqual(server, {
    resource: sender.attributes,
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: null,
    traceState: 'a=1',
    flags: 0x101,
    name: 'GET /',
    kind: 'server',
    start: span.start,
    end: span.end,
    isError: true,
    attributes: span.attributes,
    events: span.events,
  })
  deepEqual([client?.kind, client?.parentSpanId, client?.isError], ['client', span.spanId, false])
  equal(received.requests[0]?.headers.authorization, 'Bearer s3cret')
  deepEqual(figures(), [2, 0, 0])
})

test('more spans than may wait are dropped and counted, and the rest arrives', async t => {
  const received = await startCollector(t)
  const { spans, figures } = exporter(collectorAt(t, received.url).collector, 3)
  spans.take(Array.from({ length: 5 }, () => span))
  await received.until(() => received.spans.length === 3)
  await spans.close(10_000)
  deepEqual(figures(), [3, 2, 0])
})

test('spans that come while others are under way wait for their turn, and each arrives once', async t => {
  const received = await startCollector(t)
  const { spans, figures } = exporter(collectorAt(t, received.url).collector, 2_000)
  const numbered = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => ({
      ...span,
      spanId: (from + i + 1).toString(16).padStart(16, '0'),
    }))
  spans.take(numbered(0, 1_500))
  await received.until(() => received.spans.length >= 512)
  spans.take(numbered(1_500, 2_000))
  await spans.close(10_000)
  const ids = received.spans.map(({ spanId }) => Number.parseInt(spanId, 16))
  deepEqual(
    ids,
    Array.from({ length: 2_000 }, (_, i) => i + 1),
  )
  deepEqual(figures(), [2_000, 0, 0])
})

test('whatever comes behind the status of a response, a message is sent as often as the status says', async t => {
  const ends: Readonly<Record<string, (wire: Wire) => unknown>> = {
    'too long': wire => wire.send(`Content-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`),
    cut: wire => wire.send('Content-Length: 10\r\n\r\nx').then(() => wire.reset()),
    late: wire => wire.send('Content-Length: 10\r\n\r\nx'),
  }
  for (const [what, end] of Object.entries(ends))
    for (const status of [200, 400]) {
      let requests = 0
      const origin = await startOrigin(t, async wire => {
        await wire.request()
        requests++
        await wire.send(`HTTP/1.1 ${status} Said\r\n`)
        await end(wire)
      })
      const { collector } = collectorAt(t, origin.url, { timeout: 300 })
      const lost = await collector.send('traces', '{}')
      deepEqual([lost, requests], [status === 200 ? 0 : Number.POSITIVE_INFINITY, 1], `${status}, ${what}`)
    }
})

test('spans that a collector says it has rejected count as such, and the log has its words', async t => {
  const bodies: readonly (readonly [body: string, lost: number, reason?: string])[] = [
    ['{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}', 1, '1 rejected: too old'],
    ['{"partialSuccess":{"rejectedDataPoints":1}}', 1, '1 rejected: '],
    ['{"partialSuccess":{"rejectedSpans":"1000"}}', 2, '1000 rejected: '],
    ['{"partialSuccess":{"rejectedSpans":"0","errorMessage":"slow down"}}', 0],
    ['{"partialSuccess":{"rejectedSpans":"many"}}', 0],
    ['{"partialSuccess":{}}', 0],
    ['{}', 0],
    ['', 0],
    ['null', 0],
    ['OK', 0],
  ]
  for (const [body, lost, reason] of bodies) {
    const origin = await startResponder(t, () => ok(body))
    const { collector, lines } = collectorAt(t, origin.url)
    const { spans, figures } = exporter(collector)
    spans.take([span, span])
    await spans.close(10_000)
    deepEqual(figures(), [2 - lost, 0, lost], body)
    deepEqual(
      lines.map(line => line.reason),
      reason === undefined ? [] : [reason],
      body,
    )
  }
})

test('a response with any JSON is read, or says nothing', () => {
  const name = fc.constantFrom('partialSuccess', 'rejectedSpans', 'rejectedDataPoints', 'errorMessage', 'x')
  const { tree } = fc.letrec(tie => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, true, 3, -1, 1e300, '3', 'x'.repeat(300)),
      fc.array(tie('tree'), { maxLength: 2 }),
      fc.dictionary(name, tie('tree'), { noNullPrototype: true }),
    ),
  }))
  fc.assert(
    fc.property(tree, json => {
      const partial = partialSuccessOf(JSON.stringify(json))
      assert(partial === null || (partial.rejected > 0 && partial.reason.length <= 256))
    }),
  )
})

test('a response that switches protocols is a failure like others', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n')
  })
  const { collector, lines } = collectorAt(t, origin.url)
  equal(await collector.send('traces', '{}'), Number.POSITIVE_INFINITY)
  equal(lines[0]!.reason, 'the response switches protocols')
})

test('what the collector cannot take for now is sent again, and what it refuses is not', async t => {
  const received = await startCollector(t)
  const { collector, lines } = collectorAt(t, received.url)
  const statuses = [503, 429, 200, 400]
  received.verdict = () => ({ status: statuses.shift()! })
  const { spans, figures } = exporter(collector)
  spans.take([span])
  await received.until(() => received.spans.length === 1)
  equal(received.requests.length, 3)
  spans.take([span])
  await spans.close(10_000)
  equal(received.requests.length, 4)
  deepEqual(figures(), [1, 0, 1])
  deepEqual(
    lines.map(({ msg, signal, reason }) => [msg, signal, reason]),
    [['export to the OpenTelemetry collector failed', 'traces', 'status 400']],
  )
})

test('a collector that is down, or never responds, costs spans and one line a minute, and holds nothing up', async t => {
  const silent = await startCollector(t)
  silent.verdict = () => null
  for (const url of [deadOrigin().url, silent.url]) {
    const { collector, lines } = collectorAt(t, url, { timeout: 20 })
    for (let i = 0; i < 3; i++) equal(await collector.send('traces', '{}'), Number.POSITIVE_INFINITY)
    equal(lines.length, 1)
  }
})

test('an end does not wait for a collector that never responds', async t => {
  const silent = await startCollector(t)
  silent.verdict = () => null
  const { collector } = collectorAt(t, silent.url)
  const { spans, figures } = exporter(collector)
  spans.take([span])
  await spans.close(1)
  deepEqual(figures()[0], 0)
})

test('metrics arrive with kind, unit, labels and buckets, and once more at the end', async t => {
  const received = await startCollector(t)
  const { collector, log } = collectorAt(t, received.url)
  const bucket = (le: number | string, value: number) => ({
    metricName: 'h_seconds_bucket',
    labels: { zone: 'a', le },
    value,
  })
  const families: MetricFamily[] = [
    {
      name: 'c_total',
      help: 'C.',
      type: 'counter',
      values: [
        { labels: { a: 'x' }, value: 3 },
        { labels: {}, value: 1 },
      ],
    },
    { name: 'g_bytes', help: 'G.', type: 'gauge', values: [{ labels: {}, value: 0.5 }] },
    {
      name: 'h_seconds',
      help: 'H.',
      type: 'histogram',
      values: [
        bucket(0.1, 2),
        bucket(0.5, 2),
        bucket('+Inf', 5),
        { metricName: 'h_seconds_sum', labels: { zone: 'a' }, value: 7.5 },
        { metricName: 'h_seconds_count', labels: { zone: 'a' }, value: 5 },
      ],
    },
    { name: 'nothing', help: 'N.', type: 'gauge', values: [] },
  ]
  const read = async () => families
  const since = Date.UTC(2026, 0, 1)
  const parts = { collector, sender, clock: systemClock, since, log, interval: 5, read }
  const begun = Date.now()
  const exporter = new MetricExporter(parts)
  await received.until(() => received.metrics.length >= 2)
  await exporter.close(10_000)
  assert(received.metrics.length >= 3)
  const resource = sender.attributes
  const [first] = received.metrics
  const { time } = first![0]!.points[0]!
  assert(time >= begun && time <= Date.now())
  const span = { start: since, time }
  deepEqual(first, [
    {
      resource,
      name: 'c_total',
      unit: '',
      kind: 'sum',
      points: [
        { attributes: { a: 'x' }, value: 3, ...span },
        { attributes: {}, value: 1, ...span },
      ],
    },
    {
      resource,
      name: 'g_bytes',
      unit: 'By',
      kind: 'gauge',
      points: [{ attributes: {}, value: 0.5, ...span }],
    },
    {
      resource,
      name: 'h_seconds',
      unit: 's',
      kind: 'histogram',
      points: [
        {
          attributes: { zone: 'a' },
          value: { counts: [2, 0, 3], bounds: [0.1, 0.5], count: 5, sum: 7.5 },
          ...span,
        },
      ],
    },
  ])
})

test('what was counted begins when it is said to, and never behind its own time, where the clock is set back', async t => {
  const received = await startCollector(t)
  const { collector, log } = collectorAt(t, received.url)
  const families: MetricFamily[] = [
    { name: 'c_total', help: 'C.', type: 'counter', values: [{ labels: {}, value: 3 }] },
  ]
  const since = Date.UTC(2026, 0, 1)
  const times = [since + 5_000, since - 5_000]
  const clock = { ...systemClock, now: () => times.shift() ?? since + 1_000 }
  const read = async () => families
  const exporter = new MetricExporter({ collector, sender, clock, since, log, interval: 5, read })
  await received.until(() => received.metrics.length >= 2)
  await exporter.close(10_000)
  deepEqual(
    received.metrics
      .slice(0, 3)
      .map(([metric]) => metric!.points.map(({ start, time }) => [start - since, time - since])),
    [[[0, 5_000]], [[-5_000, -5_000]], [[-5_000, 1_000]]],
  )
})
