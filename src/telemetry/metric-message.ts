// Metrics as messages of OTLP, in protobuf.

import { type MetricData, ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import type { Attributes } from './span.ts'

/** One number of a metric; a histogram has several names. */
interface Value {
  readonly value: number
  readonly labels: Readonly<Record<string, string | number | undefined>>
  readonly metricName?: string | undefined
}

/** A family of metrics, as a registry of Prometheus has it. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: unknown
  readonly values: readonly Value[]
}

/** Who sends, as every message says. */
export interface Sender {
  readonly attributes: Attributes
  readonly version: string
}

/** Writes an ExportMetricsServiceRequest: all that was counted since `since`, as of `now`, both in wall-clock ms. */
export function encodeMetrics(
  families: readonly MetricFamily[],
  sender: Sender,
  { since, now }: { readonly since: number; readonly now: number },
): Uint8Array {
  const span = { startTime: hrTime(since), endTime: hrTime(now) }
  const metrics = families.filter(({ values }) => values.length > 0).map(family => metricOf(family, span))
  const resource = { attributes: sender.attributes }
  return ProtobufMetricsSerializer.serializeRequest({
    resource,
    scopeMetrics: [{ scope: { name: 'gatehouse', version: sender.version }, metrics }],
  })!
}

type TimeSpan = Pick<MetricData['dataPoints'][number], 'startTime' | 'endTime'>

// As the SDK numbers them.
const histogramType = 0
const gaugeType = 2
const sumType = 3
const doubleValue = 1
const cumulative = 1

function metricOf(family: MetricFamily, span: TimeSpan): MetricData {
  const { name, help: description, type } = family
  const common = {
    descriptor: { name, description, unit: unitOf(name), valueType: doubleValue },
    aggregationTemporality: cumulative,
  }
  if (type === 'histogram')
    return { ...common, dataPointType: histogramType, dataPoints: histogramsOf(family, span) }
  const dataPoints = family.values.map(({ labels: attributes, value }) => ({ ...span, attributes, value }))
  return type === 'counter'
    ? { ...common, dataPointType: sumType, isMonotonic: true, dataPoints }
    : { ...common, dataPointType: gaugeType, dataPoints }
}

/** The units that names of Prometheus end with, in the code of UCUM. */
function unitOf(name: string): string {
  return /_seconds(_total)?$/.test(name) ? 's' : /_bytes(_total)?$/.test(name) ? 'By' : ''
}

interface Histogram {
  readonly attributes: Value['labels']
  readonly boundaries: number[]
  /** Cumulative, as Prometheus has them. */
  readonly counts: number[]
  sum: number
  count: number
}

/** Puts the lines of each histogram together. */
function histogramsOf({ name, values }: MetricFamily, span: TimeSpan): MetricData['dataPoints'] {
  const all = new Map<string, Histogram>()
  for (const { metricName, labels, value } of values) {
    const { le, ...attributes } = labels
    const key = JSON.stringify(Object.entries(attributes).sort())
    let one = all.get(key)
    if (one === undefined) all.set(key, (one = { attributes, boundaries: [], counts: [], sum: 0, count: 0 }))
    if (metricName === `${name}_sum`) one.sum = value
    else if (metricName === `${name}_count`) one.count = value
    else if (le !== undefined) {
      one.counts.push(value)
      if (le !== '+Inf') one.boundaries.push(Number(le))
    }
  }
  return [...all.values()].map(({ attributes, boundaries, counts, sum, count }) => ({
    ...span,
    attributes,
    value: {
      buckets: { boundaries, counts: counts.map((below, i) => below - (counts[i - 1] ?? 0)) },
      sum,
      count,
    },
  }))
}

function hrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}
