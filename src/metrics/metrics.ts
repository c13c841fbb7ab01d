// All metrics, and how they are exposed.

import { pause } from '../base/turns/turns.ts'
import { AggregatorRegistry, collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import { Counts } from './counters/counts.ts'
import { families } from './families/families.ts'
import type { Family } from './families/family.ts'

export type Snapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

export class Metrics extends Counts {
  readonly #registry = new Registry()

  constructor(version: string) {
    super(version)
    for (const family of families) this.#registry.registerMetric(readOut(family, this))
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: lagPeriod })
    for (const name of lags) this.#replace(name, withoutPeriod)
    for (const [name, aggregator] of Object.entries(ofTheWorst))
      this.#replace(name, metric => aggregatedBy(metric, aggregator))
  }

  #replace(name: string, dress: (metric: Metric) => Metric): void {
    const metric = this.#registry.getSingleMetric(name)
    // Some exist on Linux only.
    if (metric === undefined) return
    this.#registry.removeSingleMetric(name)
    this.#registry.registerMetric(dress(metric))
  }

  async snapshot(): Promise<Snapshot> {
    const snapshot: Snapshot = []
    for (const { name } of this.#registry.getMetricsAsArray()) {
      await pause()
      snapshot.push(exactly(await this.#registry.getSingleMetric(name)!.get()))
    }
    return snapshot
  }

  async collect(others: readonly Snapshot[] = []): Promise<Snapshot> {
    const own = await this.snapshot()
    return others.length === 0 ? own : AggregatorRegistry.aggregate([own, ...others]).getMetricsAsJSON()
  }

  /** Writes all numbers, added up, in the text format of Prometheus (version 0.0.4). */
  async expose(others: readonly Snapshot[] = []): Promise<string> {
    const registry =
      others.length === 0 ? this.#registry : AggregatorRegistry.aggregate([await this.snapshot(), ...others])
    const written: string[] = []
    for (const { name } of registry.getMetricsAsArray()) {
      await pause()
      written.push(await registry.getSingleMetricAsString(name))
    }
    return `${written.join('\n\n')}\n`
  }
}

export function sumOf(snapshots: readonly Snapshot[]): Promise<Snapshot> {
  return AggregatorRegistry.aggregate([...snapshots]).getMetricsAsJSON()
}

/** Sums of its multiples are exact, and thus the same in any order: another would go back by a bit. */
const finest = 2 ** -20

function exactly(metric: Snapshot[number]): Snapshot[number] {
  if (!isSum(metric)) return metric
  const values = metric.values.map(one => ({ ...one, value: Math.round(one.value / finest) * finest }))
  return { ...metric, values }
}

function isSum({ type }: Snapshot[number]): boolean {
  return (type as unknown) === 'counter' || (type as unknown) === 'histogram'
}

/** Adds up what outlives a process: counters and histograms never go backwards. */
export async function remains(ended: readonly Snapshot[]): Promise<Snapshot> {
  const sums = await sumOf(ended)
  return sums.filter(isSum)
}

export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE

/** Adapts a family to a metric of prom-client, whose registry only needs its `get`. */
function readOut({ type, name, help, read, together }: Family, counts: Counts): Metric {
  const aggregator = together ?? (name.endsWith('_info') ? 'first' : 'sum')
  const get = () => ({ name, help, type, aggregator, values: read(counts) })
  return { name, help, type, aggregator, get } as unknown as Metric
}

/** Each sample wakes the process: every 10 ms, as usual, is half of the cost of an idle one. */
const lagPeriod = 100
const lags = ['min', 'max', 'mean', 'p50', 'p90', 'p99'].map(of => `nodejs_eventloop_lag_${of}_seconds`)
/** Without a sample since the last read, the minimum is the largest number. In seconds. */
const maxLag = 1e6

/** Only the worst counts: a process that is stuck, or full, is in trouble. */
const ofTheWorst = {
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max',
  process_open_fds: 'max',
  process_max_fds: 'min',
} as const

function aggregatedBy(metric: Metric, aggregator: 'min' | 'max'): Metric {
  const { name, help, type } = metric as Metric & Readonly<Record<'name' | 'help' | 'type', string>>
  const get = async () => ({ ...(await metric.get()), aggregator })
  return { name, help, type, aggregator, get } as unknown as Metric
}

/** Subtracts the sampling period, which Node's measurements include. */
function withoutPeriod(metric: Metric): Metric {
  const late = (seconds: number) => (seconds < maxLag ? Math.max(0, seconds - lagPeriod / 1000) : 0)
  const get = async () => {
    const { values, ...read } = await metric.get()
    return { ...read, values: values.map(one => ({ ...one, value: late(one.value) })) }
  }
  const { name, help, type, aggregator } = metric as Metric &
    Readonly<Record<'name' | 'help' | 'type' | 'aggregator', string>>
  return { name, help, type, aggregator, get } as unknown as Metric
}
