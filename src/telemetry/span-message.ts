// Spans as an OTLP message, each encoded when its request ends, so that a batch takes no long turn.

import { keyValues, nanoseconds, resourceOf, type Sender, scopeOf } from './otlp.ts'
import type { Span } from './span.ts'

export function spanMessage(spans: readonly string[], sender: Sender): string {
  const [resource, scope] = [resourceOf(sender), scopeOf(sender)].map(part => JSON.stringify(part))
  return `{"resourceSpans":[{"resource":${resource},"scopeSpans":[{"scope":${scope},"spans":[${spans.join()}]}]}]}`
}

export function encodeSpan(span: Span): string {
  const { traceId, spanId, parentId, isParentRemote, state, start, end } = span
  return JSON.stringify({
    traceId,
    spanId,
    traceState: state || undefined,
    parentSpanId: parentId ?? undefined,
    flags: span.flags | knowsRemote | (parentId !== null && isParentRemote ? isRemote : 0),
    name: span.name.toWellFormed(),
    kind: kinds[span.kind],
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(Math.max(start, end)),
    attributes: keyValues(span.attributes),
    events: span.events.map(({ name, at, attributes }) => ({
      timeUnixNano: nanoseconds(at),
      name,
      attributes: attributes && keyValues(attributes),
    })),
    status: span.isError ? { code: statusError } : undefined,
  })
}

const kinds = { server: 2, client: 3 } as const
const statusError = 2
const knowsRemote = 0x100
const isRemote = 0x200
