// Configuration of the telemetry sent to other systems.

/** How requests take part in traces (W3C Trace Context). */
export interface TraceConfig {
  readonly continues: 'all' | 'trusted_proxies' // whose traces are continued; others begin here
  readonly sample: number // the share of traces that begin here which is marked as sampled, 0 to 1
}

/** A collector that receives traces and metrics by OTLP/HTTP. */
export interface OtlpConfig {
  readonly url: string // the base, without a trailing slash
  readonly headers: readonly (readonly [name: string, value: string])[] // values are secret
  readonly ca: string | null // PEM of the authorities that are trusted; null: those that Node trusts
  readonly traces: boolean
  readonly metrics: boolean
  readonly interval: number // ms between two exports of metrics
  readonly timeout: number // ms for one attempt
  readonly queue: number // the most spans of a process that wait
  readonly service: string
  readonly attributes: readonly (readonly [name: string, value: string])[] // of the resource
}

export interface TelemetryConfig {
  readonly trace: TraceConfig | null // null: traceparent and tracestate are passed on as they came
  readonly otlp: OtlpConfig | null // null: nothing is sent
}
