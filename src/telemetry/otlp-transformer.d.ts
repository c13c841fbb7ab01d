// What is used of @opentelemetry/otlp-transformer: how spans and metrics become messages of OTLP.

declare module '@opentelemetry/otlp-transformer' {
  /** Seconds and nanoseconds. */
  type HrTime = readonly [number, number]
  type Attributes = Readonly<Record<string, unknown>>

  interface Resource {
    readonly attributes: Attributes
  }

  interface Scope {
    readonly name: string
    readonly version: string
  }

  interface SpanContext {
    readonly traceId: string
    readonly spanId: string
    readonly traceFlags: number
    readonly isRemote?: boolean
    readonly traceState?: { serialize(): string }
  }

  interface ReadableSpan {
    readonly name: string
    readonly kind: number
    readonly spanContext: () => SpanContext
    readonly parentSpanContext?: SpanContext
    readonly startTime: HrTime
    readonly endTime: HrTime
    readonly status: { readonly code: number }
    readonly attributes: Attributes
    readonly events: readonly {
      readonly name: string
      readonly time: HrTime
      readonly attributes: Attributes
    }[]
    readonly links: readonly never[]
    readonly droppedAttributesCount: number
    readonly droppedEventsCount: number
    readonly droppedLinksCount: number
    readonly resource: Resource
    readonly instrumentationScope: Scope
  }

  interface MetricData {
    readonly descriptor: {
      readonly name: string
      readonly description: string
      readonly unit: string
      readonly valueType: number
    }
    readonly dataPointType: number
    readonly aggregationTemporality: number
    readonly isMonotonic?: boolean
    readonly dataPoints: readonly {
      readonly attributes: Attributes
      readonly startTime: HrTime
      readonly endTime: HrTime
      readonly value: unknown
    }[]
  }

  interface ResourceMetrics {
    readonly resource: Resource
    readonly scopeMetrics: readonly { readonly scope: Scope; readonly metrics: readonly MetricData[] }[]
  }

  interface Serializer<T> {
    serializeRequest(request: T): Uint8Array | undefined
  }

  const ProtobufTraceSerializer: Serializer<readonly ReadableSpan[]>
  const ProtobufMetricsSerializer: Serializer<ResourceMetrics>
}
