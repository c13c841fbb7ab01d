// Spans as messages of OTLP, beside those that the serializer of OpenTelemetry makes of the same spans.

import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { ProtobufTraceSerializer, type ReadableSpan } from '@opentelemetry/otlp-transformer'
import fc from 'fast-check'
import type { Sender } from '../../src/telemetry/metric-message.ts'
import { SpanBatch } from '../../src/telemetry/span-batch.ts'
import type { Attributes, Span } from '../../src/telemetry/span.ts'
import { anyCharacter } from '../help/any-text.ts'
import { spansIn } from '../help/otlp.ts'

function sent(batch: SpanBatch, spans: readonly Span[]): Buffer {
  for (const span of spans) batch.add(span)
  equal(batch.count, spans.length)
  return Buffer.from(batch.end())
}

function reference({ attributes, version }: Sender, spans: readonly Span[]): Buffer {
  const common = { resource: { attributes }, instrumentationScope: { name: 'gatehouse', version } }
  return Buffer.from(
    ProtobufTraceSerializer.serializeRequest(spans.map(span => ({ ...common, ...readable(span) })))!,
  )
}

function readable(span: Span): Omit<ReadableSpan, 'resource' | 'instrumentationScope'> {
  const { traceId, spanId, parentId, flags: traceFlags, state, isParentRemote: isRemote } = span
  return {
    name: span.name,
    kind: { server: 1, client: 2 }[span.kind],
    spanContext: () => ({ traceId, spanId, traceFlags, traceState: { serialize: () => state } }),
    ...(parentId !== null && { parentSpanContext: { traceId, spanId: parentId, traceFlags, isRemote } }),
    startTime: hrTime(span.start),
    endTime: hrTime(Math.max(span.start, span.end)),
    status: { code: span.isError ? 2 : 0 },
    attributes: span.attributes,
    events: span.events.map(({ name, at, attributes = {} }) => ({ name, time: hrTime(at), attributes })),
    links: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

function hrTime(ms: number): readonly [number, number] {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}

const digits = (length: number) =>
  fc
    .string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })
    .filter(text => /[^0]/.test(text))
const text = fc.oneof(fc.string({ unit: anyCharacter }), fc.string({ minLength: 100, maxLength: 20_000 }))
const time = fc.double({ min: 1, max: 4e12, noNaN: true })
const value = fc.oneof(
  text,
  fc.boolean(),
  fc.maxSafeNat(),
  fc.integer({ max: -1 }),
  fc.double().filter(one => !Number.isInteger(one)),
  fc.array(text, { maxLength: 3 }),
)
const attributes: fc.Arbitrary<Attributes> = fc.dictionary(text, value, { maxKeys: 8 })
const span: fc.Arbitrary<Span> = fc.record({
  traceId: digits(32),
  spanId: digits(16),
  parentId: fc.option(digits(16)),
  isParentRemote: fc.boolean(),
  flags: fc.nat(3),
  state: text,
  kind: fc.constantFrom('server', 'client'),
  name: text.filter(name => name !== ''),
  start: time,
  end: time,
  isError: fc.boolean(),
  attributes,
  events: fc.array(fc.record({ name: text, at: time, attributes }), { maxLength: 5 }),
})

test('what is sent says what the serializer of OpenTelemetry says of the same spans, in the memory of others too', () => {
  const sender = fc.record({ version: text.filter(version => version !== ''), attributes })
  const lists = fc.array(fc.array(span, { maxLength: 5 }), { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(sender, lists, (by, all) => {
      const batch = new SpanBatch(by)
      for (const spans of all) {
        deepEqual(spansIn(sent(batch, spans)), spansIn(reference(by, spans)))
        batch.clear()
      }
    }),
  )
})
