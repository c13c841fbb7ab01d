// A collector that takes OTLP over HTTP, keeps what it gets, and takes nothing that is not as the protocol has it: each message is read by the names and types of
// opentelemetry-proto 1.x in their JSON mapping, and an unknown field is a fault.

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export interface ReceivedSpan {
  readonly resource: Readonly<Record<string, unknown>>
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | null
  readonly traceState: string
  readonly flags: number
  readonly name: string
  readonly kind: 'server' | 'client'
  /** Wall-clock ms. */
  readonly start: number
  readonly end: number
  readonly isError: boolean
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly { readonly name: string; readonly at: number; readonly attributes: object }[]
}

export interface ReceivedMetric {
  readonly resource: Readonly<Record<string, unknown>>
  readonly name: string
  readonly unit: string
  readonly kind: 'gauge' | 'sum' | 'histogram'
  readonly points: readonly {
    readonly attributes: Readonly<Record<string, unknown>>
    readonly value: unknown
    /** Wall-clock ms. */
    readonly start: number
    readonly time: number
  }[]
}

type Message = Readonly<Record<string, unknown>>

/** The fields of each message. A type in brackets may repeat. */
const schema: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Traces: { resourceSpans: '[ResourceSpans]' },
  ResourceSpans: { resource: 'Resource', scopeSpans: '[ScopeSpans]', schemaUrl: 'string' },
  Resource: { attributes: '[KeyValue]', droppedAttributesCount: 'uint32' },
  ScopeSpans: { scope: 'Scope', spans: '[Span]', schemaUrl: 'string' },
  Scope: {
    name: 'string',
    version: 'string',
    attributes: '[KeyValue]',
    droppedAttributesCount: 'uint32',
  },
  Span: {
    traceId: 'hex',
    spanId: 'hex',
    traceState: 'string',
    parentSpanId: 'hex',
    flags: 'uint32',
    name: 'string',
    kind: 'uint32',
    startTimeUnixNano: 'uint64',
    endTimeUnixNano: 'uint64',
    attributes: '[KeyValue]',
    droppedAttributesCount: 'uint32',
    events: '[Event]',
    droppedEventsCount: 'uint32',
    droppedLinksCount: 'uint32',
    status: 'Status',
  },
  Event: {
    timeUnixNano: 'uint64',
    name: 'string',
    attributes: '[KeyValue]',
    droppedAttributesCount: 'uint32',
  },
  Status: { message: 'string', code: 'uint32' },
  KeyValue: { key: 'string', value: 'AnyValue' },
  AnyValue: {
    stringValue: 'string',
    boolValue: 'boolean',
    intValue: 'int64',
    doubleValue: 'double',
    arrayValue: 'ArrayValue',
  },
  ArrayValue: { values: '[AnyValue]' },
  Metrics: { resourceMetrics: '[ResourceMetrics]' },
  ResourceMetrics: { resource: 'Resource', scopeMetrics: '[ScopeMetrics]', schemaUrl: 'string' },
  ScopeMetrics: { scope: 'Scope', metrics: '[Metric]', schemaUrl: 'string' },
  Metric: {
    name: 'string',
    description: 'string',
    unit: 'string',
    gauge: 'Gauge',
    sum: 'Sum',
    histogram: 'Histogram',
  },
  Gauge: { dataPoints: '[NumberPoint]' },
  Sum: { dataPoints: '[NumberPoint]', aggregationTemporality: 'uint32', isMonotonic: 'boolean' },
  Histogram: { dataPoints: '[HistogramPoint]', aggregationTemporality: 'uint32' },
  NumberPoint: {
    attributes: '[KeyValue]',
    startTimeUnixNano: 'uint64',
    timeUnixNano: 'uint64',
    asDouble: 'double',
  },
  HistogramPoint: {
    attributes: '[KeyValue]',
    startTimeUnixNano: 'uint64',
    timeUnixNano: 'uint64',
    count: 'uint64',
    sum: 'double',
    bucketCounts: '[uint64]',
    explicitBounds: '[double]',
  },
}

/** Reads a message in protobuf's JSON; throws for a field or a type that its schema does not have. */
function read(type: string, json: unknown): unknown {
  switch (type) {
    case 'uint64':
    case 'int64':
      assert.match(json as string, type === 'int64' ? /^-?\d{1,19}$/ : /^\d{1,20}$/)
      return BigInt(json as string)
    case 'uint32':
      assert.ok(Number.isSafeInteger(json) && (json as number) >= 0, `${json} is a uint32`)
      return json
    case 'double':
      return json === 'NaN' || json === 'Infinity' || json === '-Infinity'
        ? Number(json)
        : typed('number', json)
    case 'string':
      assert.ok((typed('string', json) as string).isWellFormed(), 'no text has half a pair')
      return json
    case 'hex':
      assert.match(json as string, /^([0-9a-f]{2})*$/)
      return json
    case 'boolean':
      return typed('boolean', json)
    default:
      return typed('object', json) && message(type, json as Message)
  }
}

function typed(type: string, json: unknown): unknown {
  assert.equal(typeof json, type)
  return json
}

function message(type: string, json: Message): Message {
  const fields = Object.entries(json).map(([name, value]) => {
    const field = schema[type]![name] ?? assert.fail(`${type} has no field ${name}`)
    if (!field.startsWith('[')) return [name, read(field, value)]
    assert.ok(Array.isArray(value), `${type}.${name} is a list`)
    return [name, value.map(one => read(field.slice(1, -1), one))]
  })
  return Object.fromEntries(fields)
}

/** Reads bytes, which must be UTF-8. */
function decode(type: string, bytes: Buffer): Message {
  return message(type, JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
}

function attributesOf(message: Message): Record<string, unknown> {
  const pairs = (message.attributes as Message[] | undefined) ?? []
  const read = pairs.map(({ key, value }) => [key as string, anyOf(value as Message)] as const)
  assert.equal(new Set(read.map(([key]) => key)).size, read.length, 'no attribute comes twice')
  return Object.fromEntries(read)
}

function anyOf(value: Message): unknown {
  const [[kind, content] = []] = Object.entries(value)
  assert.equal(Object.keys(value).length, 1, 'a value is one of its kinds')
  if (kind === 'arrayValue') return listOf(content as Message, 'values').map(anyOf)
  return kind === 'intValue' ? Number(content) : content
}

const msOf = (nanos: unknown): number => Number((nanos as bigint) / 1_000n) / 1_000

/** Reads an ExportTraceServiceRequest, and asserts what its comments demand of ids, kinds and times. */
export function spansIn(bytes: Buffer): ReceivedSpan[] {
  return listOf(decode('Traces', bytes), 'resourceSpans').flatMap(one => {
    const resource = attributesOf(one.resource as Message)
    return listOf(one, 'scopeSpans').flatMap(scoped =>
      listOf(scoped, 'spans').map(span => spanOf(span, resource)),
    )
  })
}

function spanOf(span: Message, resource: ReceivedSpan['resource']): ReceivedSpan {
  assert.match(span.traceId as string, /^(?!0{32})[0-9a-f]{32}$/)
  assert.match(span.spanId as string, /^(?!0{16})[0-9a-f]{16}$/)
  if (span.parentSpanId !== undefined) assert.match(span.parentSpanId as string, /^(?!0{16})[0-9a-f]{16}$/)
  const kind = ({ 2: 'server', 3: 'client' } as const)[span.kind as 2 | 3]
  assert.ok(kind, 'it is the span of a server or a client')
  assert.ok(
    (span.startTimeUnixNano as bigint) <= (span.endTimeUnixNano as bigint),
    'it ends behind its beginning',
  )
  assert.notEqual(span.name, '')
  return {
    resource,
    traceId: span.traceId as string,
    spanId: span.spanId as string,
    parentSpanId: (span.parentSpanId as string | undefined) ?? null,
    traceState: (span.traceState as string | undefined) ?? '',
    flags: span.flags as number,
    name: span.name as string,
    kind,
    start: msOf(span.startTimeUnixNano),
    end: msOf(span.endTimeUnixNano),
    isError: (span.status as Message | undefined)?.code === 2,
    attributes: attributesOf(span),
    events: listOf(span, 'events').map(event => ({
      name: event.name as string,
      at: msOf(event.timeUnixNano),
      attributes: attributesOf(event),
    })),
  }
}

/** Reads an ExportMetricsServiceRequest, and asserts what its comments demand of numbers and buckets. */
export function metricsIn(bytes: Buffer): ReceivedMetric[] {
  const metrics = listOf(decode('Metrics', bytes), 'resourceMetrics').flatMap(one => {
    const resource = attributesOf(one.resource as Message)
    return listOf(one, 'scopeMetrics').flatMap(scoped =>
      listOf(scoped, 'metrics').map(metric => metricOf(metric, resource)),
    )
  })
  const names = metrics.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length, 'no metric comes twice')
  return metrics
}

function metricOf(metric: Message, resource: ReceivedMetric['resource']): ReceivedMetric {
  const kinds = (['gauge', 'sum', 'histogram'] as const).filter(kind => kind in metric)
  assert.equal(kinds.length, 1, `${metric.name} is of one kind`)
  const kind = kinds[0]!
  const data = metric[kind] as Message
  if (kind !== 'gauge') assert.equal(data.aggregationTemporality, 2, `${metric.name} is cumulative`)
  if (kind === 'sum') assert.equal(data.isMonotonic, true, `${metric.name} only counts up`)
  const points = listOf(data, 'dataPoints').map(point => {
    assert.ok((point.startTimeUnixNano as bigint) <= (point.timeUnixNano as bigint))
    const value = kind === 'histogram' ? histogramOf(point) : point.asDouble
    return {
      attributes: attributesOf(point),
      value,
      start: msOf(point.startTimeUnixNano),
      time: msOf(point.timeUnixNano),
    }
  })
  assert.equal(new Set(points.map(({ attributes }) => JSON.stringify(attributes))).size, points.length)
  return {
    resource,
    name: metric.name as string,
    unit: (metric.unit as string | undefined) ?? '',
    kind,
    points,
  }
}

function histogramOf(point: Message) {
  const counts = (point.bucketCounts as bigint[]).map(Number)
  const bounds = point.explicitBounds as number[]
  const count = Number(point.count as bigint)
  assert.equal(counts.length, bounds.length + 1)
  assert.equal(
    counts.reduce((sum, one) => sum + one, 0),
    count,
  )
  assert.deepEqual(
    bounds,
    bounds.toSorted((a, b) => a - b),
  )
  return { counts, bounds, count, sum: point.sum as number }
}

/** Asserts of all exports that sums and histograms of one sender are one series each (OpenTelemetry's data model): they never go back, and begin when they began. */
export function assertUnbroken(exports: Collector['metrics']): void {
  const latest = new Map<
    string,
    { readonly start: number; readonly time: number; readonly counts: number[] }
  >()
  for (const { resource, name, kind, points } of exports.flat()) {
    if (kind === 'gauge') continue
    for (const { attributes, value, start, time } of points) {
      const series = `${name} ${JSON.stringify(Object.entries(attributes).toSorted())}`
      const key = `${resource['service.instance.id']} ${series}`
      const counts = countsOf(value)
      const before = latest.get(key)
      if (before !== undefined) {
        assert.equal(start, before.start, `${series} begins when it began`)
        assert.ok(time > before.time, `${series} goes on`)
        for (const [i, count] of counts.entries())
          assert.ok(count >= before.counts[i]!, `${series} went back from ${before.counts} to ${counts}`)
      }
      latest.set(key, { start, time, counts })
    }
  }
}

/** Lists all that may only go up in the value of a sum or a histogram. */
function countsOf(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  const { counts, count, sum } = value as ReturnType<typeof histogramOf>
  return [...counts, count, sum]
}

function listOf(message: Message, field: string): Message[] {
  return (message[field] as Message[] | undefined) ?? []
}

/** What a collector says to a request. */
export interface Verdict {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

export class Collector {
  readonly url: string
  readonly spans: ReceivedSpan[] = []
  /** By export, the last one at the end. */
  readonly metrics: (readonly ReceivedMetric[])[] = []
  /** The fields of all requests. */
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = []
  /** Decides what is taken; null never responds. */
  verdict: () => Verdict | null = () => ({ status: 200 })
  readonly news = new EventEmitter()

  constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`
  }

  /** Waits for a state, which any request may bring about. */
  async until<T>(look: () => T | null | undefined | false): Promise<T> {
    for (;;) {
      const found = look()
      if (found) return found
      await once(this.news, 'request')
    }
  }
}

/** Starts a collector on a port of its own. */
export async function startCollector(t: TestContext): Promise<Collector> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', part => parts.push(part))
    request.on('end', () => {
      const { url: path = '', headers, method } = request
      collector.requests.push({ path, headers })
      const verdict = collector.verdict()
      if (verdict?.status === 200) {
        assert.deepEqual([method, headers['content-type']], ['POST', 'application/json'])
        if (path === '/v1/traces') collector.spans.push(...spansIn(Buffer.concat(parts)))
        else if (path === '/v1/metrics') collector.metrics.push(metricsIn(Buffer.concat(parts)))
        else assert.fail(`a request for ${path}`)
      }
      if (verdict !== null) response.writeHead(verdict.status, verdict.headers).end()
      collector.news.emit('request')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const collector = new Collector((server.address() as AddressInfo).port)
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return collector
}
