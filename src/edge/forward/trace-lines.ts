// How requests to origins name their trace.

import { crossingLines } from '../../http1/fields/fields.ts'
import { traceFlag, traceParentText } from '../../http1/fields/trace-context.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Tracing } from '../trace/sampling.ts'
import { traceIdPrefix, traceparentOf, sampledTrace, stateOf, type Trace } from '../trace/trace.ts'

/** Writes the fields with the gateway's place in the trace, unless the operator sets it. */
export function tracedLines(x: Exchange, tracing: Tracing): string {
  const { outgoing, requestChanges, isToSidePort } = x
  if (requestChanges?.concerns('traceparent') || requestChanges?.concerns('tracestate'))
    return outgoing.crossing(isToSidePort)
  return `${crossingLines(outgoing, false, isToSidePort)}${traceLines(x, tracing)}`
}

/** An unsampled request has no span here, so the client's stays the parent (W3C Trace Context). */
export function traceLines(x: Exchange, tracing: Tracing): string {
  const trace = sampledTrace(x, tracing)
  if (trace !== null) return sampledLines(x, trace)
  const parent = traceparentOf(x, tracing)
  if (parent === null) return `${unsampled}${x.ray}-${x.ray}${unsampledFlags}`
  return `traceparent: ${parent}\r\n${stateLine(stateOf(x.head))}`
}

const unsampled = `traceparent: 00-${traceIdPrefix}`
const unsampledFlags = `-0${traceFlag.random}\r\n`

function sampledLines(
  { origin, plane }: Exchange,
  { traceId, spanId, flags, state, recording }: Trace,
): string {
  // Origins are children of the attempt, where that is a span.
  const parentId =
    recording === null ? spanId : recording.beginAttempt(origin!.config, plane.clock.monotonic())
  return `traceparent: ${traceParentText({ traceId, parentId, flags })}\r\n${stateLine(state)}`
}

function stateLine(state: string): string {
  return state === '' ? '' : `tracestate: ${state}\r\n`
}
