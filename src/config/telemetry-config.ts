// What others get to know of requests, as it is configured.

/** How requests take part in traces (W3C Trace Context). */
export interface TraceConfig {
  readonly continues: 'all' | 'trusted_proxies' // whose traces are continued; others begin here
  readonly sample: number // the share of traces that begin here which is marked as sampled, 0 to 1
}

export interface TelemetryConfig {
  readonly trace: TraceConfig | null // null: traceparent and tracestate are passed on as they came
}
