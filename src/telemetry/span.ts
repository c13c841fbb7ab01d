// A span as it is sent to a collector: one stretch of work in a trace.

export type AttributeValue = string | number | boolean | readonly string[]
export type Attributes = Readonly<Record<string, AttributeValue>>

interface SpanEvent {
  readonly name: string
  /** Wall-clock ms. */
  readonly at: number
  readonly attributes?: Attributes
}

export interface Span {
  readonly traceId: string
  readonly spanId: string
  /** Null for the root of the trace. */
  readonly parentId: string | null
  readonly isParentRemote: boolean
  /** The flags of `traceparent`. */
  readonly flags: number
  /** The members of `tracestate`, joined; empty for none. */
  readonly state: string
  readonly kind: 'server' | 'client'
  readonly name: string
  /** Wall-clock ms. */
  readonly start: number
  readonly end: number
  readonly isError: boolean
  readonly attributes: Attributes
  readonly events: readonly SpanEvent[]
}

export interface SpanSink {
  take(spans: readonly Span[]): void
}
