// A collector that takes OTLP over HTTP, keeps what it gets, and takes nothing that is not as the protocol has it: each message is read by the numbers and types of
// opentelemetry-proto 1.x, and a field that is not there is a fault.

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

type Field = readonly [name: string, type: string]
type Message = Readonly<Record<string, unknown>>

/** A type in brackets may repeat. */
const schema: Readonly<Record<string, Readonly<Record<number, Field>>>> = {
  Traces: { 1: ['resourceSpans', '[ResourceSpans]'] },
  ResourceSpans: {
    1: ['resource', 'Resource'],
    2: ['scopeSpans', '[ScopeSpans]'],
    3: ['schemaUrl', 'string'],
  },
  Resource: { 1: ['attributes', '[KeyValue]'], 2: ['dropped', 'varint'] },
  ScopeSpans: { 1: ['scope', 'Scope'], 2: ['spans', '[Span]'], 3: ['schemaUrl', 'string'] },
  Scope: {
    1: ['name', 'string'],
    2: ['version', 'string'],
    3: ['attributes', '[KeyValue]'],
    4: ['dropped', 'varint'],
  },
  Span: {
    1: ['traceId', 'bytes'],
    2: ['spanId', 'bytes'],
    3: ['traceState', 'string'],
    4: ['parentSpanId', 'bytes'],
    5: ['name', 'string'],
    6: ['kind', 'varint'],
    7: ['start', 'fixed64'],
    8: ['end', 'fixed64'],
    9: ['attributes', '[KeyValue]'],
    10: ['dropped', 'varint'],
    11: ['events', '[Event]'],
    12: ['droppedEvents', 'varint'],
    14: ['droppedLinks', 'varint'],
    15: ['status', 'Status'],
    16: ['flags', 'fixed32'],
  },
  Event: {
    1: ['at', 'fixed64'],
    2: ['name', 'string'],
    3: ['attributes', '[KeyValue]'],
    4: ['dropped', 'varint'],
  },
  Status: { 2: ['message', 'string'], 3: ['code', 'varint'] },
  KeyValue: { 1: ['key', 'string'], 2: ['value', 'AnyValue'] },
  AnyValue: {
    1: ['string', 'string'],
    2: ['bool', 'varint'],
    3: ['int', 'varint'],
    4: ['double', 'double'],
    5: ['array', 'ArrayValue'],
  },
  ArrayValue: { 1: ['values', '[AnyValue]'] },
  Metrics: { 1: ['resourceMetrics', '[ResourceMetrics]'] },
  ResourceMetrics: {
    1: ['resource', 'Resource'],
    2: ['scopeMetrics', '[ScopeMetrics]'],
    3: ['schemaUrl', 'string'],
  },
  ScopeMetrics: { 1: ['scope', 'Scope'], 2: ['metrics', '[Metric]'], 3: ['schemaUrl', 'string'] },
  Metric: {
    1: ['name', 'string'],
    2: ['description', 'string'],
    3: ['unit', 'string'],
    5: ['gauge', 'Gauge'],
    7: ['sum', 'Sum'],
    9: ['histogram', 'Histogram'],
  },
  Gauge: { 1: ['points', '[NumberPoint]'] },
  Sum: { 1: ['points', '[NumberPoint]'], 2: ['temporality', 'varint'], 3: ['isMonotonic', 'varint'] },
  Histogram: { 1: ['points', '[HistogramPoint]'], 2: ['temporality', 'varint'] },
  NumberPoint: {
    7: ['attributes', '[KeyValue]'],
    2: ['start', 'fixed64'],
    3: ['time', 'fixed64'],
    4: ['value', 'double'],
  },
  HistogramPoint: {
    9: ['attributes', '[KeyValue]'],
    2: ['start', 'fixed64'],
    3: ['time', 'fixed64'],
    4: ['count', 'fixed64'],
    5: ['sum', 'double'],
    6: ['counts', 'packed64'],
    7: ['bounds', 'packedDoubles'],
  },
}

/** Reads a message of protobuf strictly; throws for a field, a type or an end that its schema does not have. */
export function decode(name: string, bytes: Buffer): Message {
  const fields = schema[name]!
  const read: Record<string, unknown> = {}
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      assert.ok(at < bytes.length && shift < 70n, `${name} ends in a number`)
      const byte = bytes[at++]!
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asIntN(64, value)
    }
  }
  const take = (length: number): Buffer => {
    assert.ok(length >= 0 && at + length <= bytes.length, `${name} ends in a field`)
    return bytes.subarray(at, (at += length))
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const [field, type] = fields[tag >> 3] ?? assert.fail(`${name} has a field ${tag >> 3}`)
    const inner = type.replace(/[[\]]/g, '')
    const wire = { varint: 0, fixed64: 1, double: 1, fixed32: 5 }[inner] ?? 2
    assert.equal(tag & 7, wire, `${name}.${field} is of wire type ${wire}`)
    const value = fieldOf(inner, wire === 0 ? varint() : take({ 1: 8, 5: 4 }[wire] ?? Number(varint())))
    if (type.startsWith('[')) read[field] = [...((read[field] as unknown[] | undefined) ?? []), value]
    else if (field in read) assert.fail(`${name}.${field} comes twice`)
    else read[field] = value
  }
  return read
}

function fieldOf(type: string, raw: bigint | Buffer): unknown {
  if (typeof raw === 'bigint') return Number(raw)
  switch (type) {
    case 'fixed64':
      return raw.readBigUInt64LE()
    case 'fixed32':
      return raw.readUInt32LE()
    case 'double':
      return raw.readDoubleLE()
    case 'string':
      return new TextDecoder('utf-8', { fatal: true }).decode(raw)
    case 'bytes':
      return raw.toString('hex')
    case 'packed64':
      return Array.from({ length: raw.length / 8 }, (_, i) => Number(raw.readBigUInt64LE(8 * i)))
    case 'packedDoubles':
      return Array.from({ length: raw.length / 8 }, (_, i) => raw.readDoubleLE(8 * i))
    default:
      return decode(type, raw)
  }
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
  return kind === 'bool' ? content === 1 : content
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
  assert.ok((span.start as bigint) <= (span.end as bigint), 'it ends behind its beginning')
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
    start: msOf(span.start),
    end: msOf(span.end),
    isError: (span.status as Message | undefined)?.code === 2,
    attributes: attributesOf(span),
    events: listOf(span, 'events').map(event => ({
      name: event.name as string,
      at: msOf(event.at),
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
  if (kind !== 'gauge') assert.equal(data.temporality, 2, `${metric.name} is cumulative`)
  if (kind === 'sum') assert.equal(data.isMonotonic, 1, `${metric.name} only counts up`)
  const points = listOf(data, 'points').map(point => {
    assert.ok((point.start as bigint) <= (point.time as bigint))
    const value = kind === 'histogram' ? histogramOf(point) : point.value
    return { attributes: attributesOf(point), value, start: msOf(point.start), time: msOf(point.time) }
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
  const counts = point.counts as number[]
  const bounds = point.bounds as number[]
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
        assert.deepEqual([method, headers['content-type']], ['POST', 'application/x-protobuf'])
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
