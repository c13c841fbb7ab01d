// Metrics as an OTLP message (ExportMetricsServiceRequest).

import { double, keyValues, nanoseconds, resourceOf, type Sender, scopeOf } from './otlp.ts'

/** A histogram has several names. */
interface Value {
  readonly value: number
  readonly labels: Readonly<Record<string, string | number | undefined>>
  readonly metricName?: string | undefined
}

export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: unknown
  readonly values: readonly Value[]
}

/** Returns a message with all counts since `since`, as of `now`, both in wall-clock ms. */
export function metricMessage(
  families: readonly MetricFamily[],
  sender: Sender,
  { since, now }: { readonly since: number; readonly now: number },
): string {
  const times = { startTimeUnixNano: nanoseconds(since), timeUnixNano: nanoseconds(now) }
  const metrics = families.filter(({ values }) => values.length > 0).map(family => metricOf(family, times))
  return JSON.stringify({
    resourceMetrics: [{ resource: resourceOf(sender), scopeMetrics: [{ scope: scopeOf(sender), metrics }] }],
  })
}

const cumulative = { aggregationTemporality: 2 } as const

function metricOf(family: MetricFamily, times: object): object {
  const { name, help: description, type } = family
  const common = { name, description, unit: unitOf(name) }
  if (type === 'histogram')
    return { ...common, histogram: { dataPoints: histogramsOf(family, times), ...cumulative } }
  const dataPoints = family.values.map(({ labels, value }) => ({
    attributes: keyValues(labels),
    ...times,
    asDouble: double(value),
  }))
  return type === 'counter'
    ? { ...common, sum: { dataPoints, ...cumulative, isMonotonic: true } }
    : { ...common, gauge: { dataPoints } }
}

/** The UCUM code for the end of a Prometheus name. */
function unitOf(name: string): string {
  return /_seconds(_total)?$/.test(name) ? 's' : /_bytes(_total)?$/.test(name) ? 'By' : ''
}

interface Histogram {
  readonly labels: Value['labels']
  readonly bounds: number[]
  /** Cumulative, as Prometheus has them. */
  readonly counts: number[]
  sum: number
  count: number
}

function histogramsOf({ name, values }: MetricFamily, times: object): object[] {
  const all = new Map<string, Histogram>()
  for (const {
    metricName,
    labels: { le, ...labels },
    value,
  } of values) {
    const key = JSON.stringify(Object.entries(labels).sort())
    let one = all.get(key)
    if (one === undefined) all.set(key, (one = { labels, bounds: [], counts: [], sum: 0, count: 0 }))
    if (metricName === `${name}_sum`) one.sum = value
    else if (metricName === `${name}_count`) one.count = value
    else if (le !== undefined) {
      one.counts.push(value)
      if (le !== '+Inf') one.bounds.push(Number(le))
    }
  }
  return [...all.values()].map(({ labels, bounds, counts, sum, count }) => ({
    attributes: keyValues(labels),
    ...times,
    count: String(count),
    sum: double(sum),
    bucketCounts: counts.map((below, i) => String(below - (counts[i - 1] ?? 0))),
    explicitBounds: bounds,
  }))
}
