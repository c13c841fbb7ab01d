// The trace of a request (W3C Trace Context). Nothing is stored for one that is not sampled.

import { randomHex } from '../../base/ids/random-hex.ts'
import { type FieldId, field } from '../../http1/fields/fields.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import {
  parseTraceParent,
  parseTraceState,
  traceFlag,
  traceFlagsOf,
} from '../../http1/fields/trace-context.ts'
import type { Recording } from './recording.ts'
import { isSampled, type Tracing } from './sampling.ts'

interface Traceable {
  readonly head: RequestHead
  readonly ray: string
  readonly client: { readonly isTrusted: boolean }
  trace: Trace | null
}

export class Trace {
  readonly traceId: string
  readonly parentId: string | null
  readonly spanId: string
  readonly flags: number
  readonly state: string
  recording: Recording | null = null

  /** `traceparent` is that of the client; null if the trace begins here. */
  constructor({ ray, head }: Traceable, traceparent: string | null) {
    const parent = traceparent === null ? null : parseTraceParent(traceparent)!
    this.traceId = parent?.traceId ?? `${traceIdPrefix}${ray}`
    this.parentId = parent?.parentId ?? null
    this.spanId = ray
    this.flags = parent?.flags ?? traceFlag.random | traceFlag.sampled
    this.state = parent === null ? '' : stateOf(head)
  }
}

/** The other half is the ray. */
export const traceIdPrefix = randomHex(16)

/** Created on first use; null if the request is not sampled. */
export function sampledTrace(x: Traceable, tracing: Tracing): Trace | null {
  if (x.trace !== null) return x.trace
  const traceparent = traceparentOf(x, tracing)
  const isToBeSampled =
    traceparent === null ? isSampled(x.ray, tracing) : (traceFlagsOf(traceparent) & traceFlag.sampled) !== 0
  return isToBeSampled ? (x.trace = new Trace(x, traceparent)) : null
}

/** Null if a trace begins here. */
export function traceparentOf({ head, client }: Traceable, { continues }: Tracing): string | null {
  const value = head.traceparent
  if (value === null || (continues !== 'all' && !client.isTrusted)) return null
  return traceFlagsOf(value) === -1 ? null : value
}

/** Empty for none or a malformed one. */
export function stateOf({ tracestate }: RequestHead): string {
  return tracestate === null ? '' : (parseTraceState(tracestate) ?? '')
}

export function isTraceField(id: FieldId): boolean {
  return id === field.traceparent || id === field.tracestate
}
