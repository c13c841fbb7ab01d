// How requests to origins say of which trace they are a part.

import { crossingLines, type FieldId, type FieldLines } from '../../http1/fields.ts'
import { traceParentText } from '../../http1/trace-context.ts'
import type { TraceConfig } from '../../config/telemetry-config.ts'
import type { Exchange } from '../exchange.ts'
import { isOfTrace, Trace } from './trace.ts'

/** Returns the trace of a request, which is made when it is first asked for; the zone or gateway must trace. */
export function traceOf(x: Exchange, settings: TraceConfig): Trace {
  return (x.trace ??= new Trace(x.head, settings, settings.continues === 'all' || x.client.isTrusted))
}

/** Writes the fields of a request that go on to its origin, with its place in the trace in place of that of the client; what the operator sets takes precedence. */
export function tracedLines(x: Exchange, settings: TraceConfig): string {
  const { outgoing, requestChanges } = x
  if (requestChanges?.concerns('traceparent') || requestChanges?.concerns('tracestate'))
    return crossingLines(outgoing)
  return `${crossingLines(untraced(outgoing))}${traceLines(x, settings)}`
}

/** Writes the place of a request to an origin in its trace. */
export function traceLines(x: Exchange, settings: TraceConfig): string {
  const { traceId, spanId, flags, state, recording } = traceOf(x, settings)
  const stateLine = state === '' ? '' : `tracestate: ${state}\r\n`
  // Origins are children of the attempt, where that is a span.
  const parentId =
    recording === null ? spanId : recording.begin(x.origin!.config.url, x.plane.clock.monotonic())
  return `traceparent: ${traceParentText({ traceId, parentId, flags })}\r\n${stateLine}`
}

function untraced(head: FieldLines): FieldLines {
  const { kind, fields, ids, hopByHop } = head
  if (!ids.some(isOfTrace)) return head
  const kept: string[] = []
  const keptIds: FieldId[] = []
  for (let i = 0; i < ids.length; i++) {
    if (isOfTrace(ids[i]!)) continue
    kept.push(fields[2 * i]!, fields[2 * i + 1]!)
    keptIds.push(ids[i]!)
  }
  return { kind, fields: kept, ids: keptIds, hopByHop }
}
