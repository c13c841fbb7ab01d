// Spans as OTLP messages, as a collector reads them.

import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Attributes, Span } from '../../src/telemetry/span.ts'
import { encodeSpan, spanMessage } from '../../src/telemetry/span-message.ts'
import { anyCharacter } from '../help/any-text.ts'
import { type ReceivedSpan, spansIn } from '../help/otlp.ts'

const digits = (length: number) =>
  fc
    .string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })
    .filter(text => /[^0]/.test(text))
const text = fc.oneof(fc.string({ unit: anyCharacter }), fc.string({ minLength: 100, maxLength: 20_000 }))
const time = fc.double({ min: 1, max: 4e12, noNaN: true })
const value = fc.oneof(text, fc.boolean(), fc.maxSafeInteger(), fc.double(), fc.array(text, { maxLength: 3 }))
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

/** Times arrive in whole microseconds, and JSON has no -0. */
const asSent = {
  time: (ms: number) => Math.round(ms * 1000) / 1000,
  attributes: (all: Attributes) =>
    Object.fromEntries(Object.entries(all).map(([name, one]) => [name, Object.is(one, -0) ? 0 : one])),
}

function received(sent: Span, resource: Attributes): ReceivedSpan {
  const { parentId, isParentRemote, state, start, end, flags, events, ...same } = sent
  return {
    ...same,
    resource: asSent.attributes(resource),
    parentSpanId: parentId,
    traceState: state,
    flags: flags + 0x100 + (parentId !== null && isParentRemote ? 0x200 : 0),
    start: asSent.time(start),
    end: asSent.time(Math.max(start, end)),
    attributes: asSent.attributes(sent.attributes),
    events: events.map(event => ({
      ...event,
      at: asSent.time(event.at),
      attributes: asSent.attributes(event.attributes ?? {}),
    })),
  }
}

test('a collector reads every span as it was sent', () => {
  fc.assert(
    fc.property(fc.array(span, { maxLength: 5 }), attributes, text, (spans, resource, version) => {
      const message = spanMessage(spans.map(encodeSpan), { version, attributes: resource })
      deepEqual(
        spansIn(Buffer.from(message)),
        spans.map(one => received(one, resource)),
      )
    }),
  )
})

test('half a surrogate pair from a client does not spoil the message', () => {
  const [one] = fc.sample(span, 1)
  const { attributes, name } = spansIn(
    Buffer.from(
      spanMessage(
        [encodeSpan({ ...one!, name: 'chat \ud83d', attributes: { model: '\ude00', list: ['\ud83d'] } })],
        {
          version: '1',
          attributes: {},
        },
      ),
    ),
  )[0]!
  deepEqual([name, attributes], ['chat \ufffd', { model: '\ufffd', list: ['\ufffd'] }])
})
