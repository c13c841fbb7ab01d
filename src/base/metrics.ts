// Every counter, gauge and histogram by name, declared once. The edge moves the numbers, the admin listener shows them,
// the supervisor adds up those of its workers.

import { AggregatorRegistry, collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import { bucketBounds, Distribution, Tally } from './distribution.ts'

export const phases = ['resolve', 'connect', 'handshake', 'send', 'wait', 'receive'] as const
export type Phase = (typeof phases)[number]

/** What one process has counted, as data that crosses from process to process. */
export type Snapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

const statusClasses = ['other', '1xx', '2xx', '3xx', '4xx', '5xx'] as const
const errorCodes = 2048

interface Sample {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

/** The requests of one zone by status class; a status outside of 100 to 599, such as 0 for none, counts as `other`. */
export class ZoneMetrics {
  readonly classes = statusClasses.map(() => new Distribution())

  request(status: number, ms: number): void {
    this.classes[status >= 100 && status < 600 ? (status / 100) | 0 : 0]!.observe(ms)
  }
}

/** The numbers of one data plane; moving one allocates nothing. */
export class EdgeMetrics {
  readonly zones = new Map<string, ZoneMetrics>()
  readonly phases = Object.fromEntries(phases.map(name => [name, new Distribution()])) as Record<
    Phase,
    Distribution
  >
  readonly errors = new Float64Array(errorCodes)
  readonly retries = new Tally()
  readonly ejections = new Tally()
  readonly clientAborts = new Tally()
  readonly clientConnections = new Tally()
  readonly originConnections = new Tally()
  readonly eventStreams = new Tally()
  readonly webSockets = new Tally()

  /** Returns the numbers of the zone, which exist from the first call on; names come from the configuration, or are `none`. */
  zone(name: string): ZoneMetrics {
    const known = this.zones.get(name)
    if (known) return known
    const zone = new ZoneMetrics()
    this.zones.set(name, zone)
    return zone
  }

  error(code: number): void {
    this.errors[code]!++
  }

  phase(phase: Phase, ms: number): void {
    this.phases[phase].observe(ms)
  }

  retry(): void {
    this.retries.inc()
  }

  ejection(): void {
    this.ejections.inc()
  }

  clientAbort(): void {
    this.clientAborts.inc()
  }
}

/** All that one process counts, and the registry that shows it. */
export class Metrics {
  readonly edge = new EdgeMetrics()
  readonly workerRestarts = new Tally()
  readonly droppedLogLines = new Tally()
  readonly reloads = { success: new Tally(), failure: new Tally() }
  readonly version: string
  readonly #registry = new Registry()

  constructor(version: string) {
    this.version = version
    for (const family of families) this.#registry.registerMetric(readOut(family, this))
    collectDefaultMetrics({ register: this.#registry })
  }

  snapshot(): Promise<Snapshot> {
    return this.#registry.getMetricsAsJSON()
  }

  /** Writes the numbers of this process and of the others, added up, in the text format of Prometheus (version 0.0.4). */
  async expose(others: readonly Snapshot[] = []): Promise<string> {
    if (others.length === 0) return this.#registry.metrics()
    return AggregatorRegistry.aggregate([await this.snapshot(), ...others]).metrics()
  }
}

/** Adds up what outlives processes that ended: counters and histograms must never go backwards, gauges die with their process. */
export async function remains(ended: readonly Snapshot[]): Promise<Snapshot> {
  const sums = await AggregatorRegistry.aggregate([...ended]).getMetricsAsJSON()
  return sums.filter(({ type }) => (type as unknown) === 'counter' || (type as unknown) === 'histogram')
}

export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE

interface Family {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly name: string
  readonly help: string
  readonly read: (metrics: Metrics) => readonly Sample[]
}

const requestDuration = 'gatehouse_request_duration_seconds'
const phaseDuration = 'gatehouse_origin_phase_duration_seconds'

const families: readonly Family[] = [
  {
    type: 'counter',
    name: 'gatehouse_requests_total',
    help: 'Requests by zone and status class.',
    read: ({ edge }) => requests(edge),
  },
  {
    type: 'histogram',
    name: requestDuration,
    help: 'Seconds from the first byte of a request to its end, by zone and status class.',
    read: ({ edge }) => durations(edge),
  },
  {
    type: 'histogram',
    name: phaseDuration,
    help: 'Seconds that origins took, by phase.',
    read: ({ edge }) => phaseDurations(edge),
  },
  {
    type: 'counter',
    name: 'gatehouse_errors_total',
    help: 'Errors that the gateway answered itself, by code.',
    read: ({ edge }) => errors(edge),
  },
  {
    type: 'counter',
    name: 'gatehouse_origin_retries_total',
    help: 'Attempts at another origin after one refused.',
    read: ({ edge }) => [sample(edge.retries)],
  },
  {
    type: 'counter',
    name: 'gatehouse_origin_ejections_total',
    help: 'Origins taken out of their pool for a while.',
    read: ({ edge }) => [sample(edge.ejections)],
  },
  {
    type: 'gauge',
    name: 'gatehouse_connections_open',
    help: 'Open connections, with clients and with origins.',
    read: ({ edge }) => [
      sample(edge.clientConnections, { side: 'client' }),
      sample(edge.originConnections, { side: 'origin' }),
    ],
  },
  {
    type: 'gauge',
    name: 'gatehouse_streams_open',
    help: 'Open streams, by kind.',
    read: ({ edge }) => [
      sample(edge.eventStreams, { kind: 'event_stream' }),
      sample(edge.webSockets, { kind: 'websocket' }),
    ],
  },
  {
    type: 'counter',
    name: 'gatehouse_client_aborts_total',
    help: 'Requests whose client left before the end.',
    read: ({ edge }) => [sample(edge.clientAborts)],
  },
  {
    type: 'counter',
    name: 'gatehouse_worker_restarts_total',
    help: 'Workers replaced after a crash.',
    read: ({ workerRestarts }) => [sample(workerRestarts)],
  },
  {
    type: 'counter',
    name: 'gatehouse_config_reloads_total',
    help: 'Reloads of the configuration, by result.',
    read: ({ reloads }) => [
      sample(reloads.success, { result: 'success' }),
      sample(reloads.failure, { result: 'failure' }),
    ],
  },
  {
    type: 'counter',
    name: 'gatehouse_log_lines_dropped_total',
    help: 'Lines of the log that nobody took in time.',
    read: ({ droppedLogLines }) => [sample(droppedLogLines)],
  },
  {
    type: 'gauge',
    name: 'gatehouse_build_info',
    help: 'Always 1; the labels tell what runs.',
    read: ({ version }) => [{ labels: { version, node: process.versions.node }, value: 1 }],
  },
]

/** Dresses a family as a metric of prom-client, whose registry asks no more of one than its `get`. */
function readOut({ type, name, help, read }: Family, metrics: Metrics): Metric {
  const aggregator = name.endsWith('_info') ? 'first' : 'sum'
  const get = () => ({ name, help, type, aggregator, values: read(metrics) })
  return { name, help, type, aggregator, get } as unknown as Metric
}

function sample({ value }: Tally, labels: Sample['labels'] = {}): Sample {
  return { labels, value }
}

function requests({ zones }: EdgeMetrics): Sample[] {
  return [...zones].flatMap(([zone, { classes }]) =>
    classes.map(({ count }, i) => ({ labels: { zone, status_class: statusClasses[i]! }, value: count })),
  )
}

function durations({ zones }: EdgeMetrics): Sample[] {
  return [...zones].flatMap(([zone, { classes }]) =>
    classes.flatMap((times, i) =>
      histogram(requestDuration, { zone, status_class: statusClasses[i]! }, times),
    ),
  )
}

function phaseDurations(edge: EdgeMetrics): Sample[] {
  return phases.flatMap(phase => histogram(phaseDuration, { phase }, edge.phases[phase]))
}

function errors(edge: EdgeMetrics): Sample[] {
  return [...edge.errors].flatMap((value, code) => (value === 0 ? [] : [{ labels: { code }, value }]))
}

function histogram(name: string, labels: Record<string, string>, times: Distribution): Sample[] {
  if (times.count === 0) return []
  let below = 0
  const buckets = [...bucketBounds, Number.POSITIVE_INFINITY].map((bound, i) => ({
    metricName: `${name}_bucket`,
    labels: { ...labels, le: bound === Number.POSITIVE_INFINITY ? '+Inf' : bound / 1000 },
    value: (below += times.counts[i]!),
  }))
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: times.sum / 1000 },
    { metricName: `${name}_count`, labels, value: below },
  ]
}
