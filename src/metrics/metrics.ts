// All that is counted, and how it is shown. The edge moves the numbers, the admin listener exposes them, the supervisor adds up
// those of its workers.

import { AggregatorRegistry, collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import { Tally, tallies } from './distribution.ts'
import { EdgeMetrics } from './edge-metrics.ts'
import { families } from './families/families.ts'
import type { Family } from './families/family.ts'

/** What one process has counted, as data that crosses from process to process. */
export type Snapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** What DNS can say of a host whose owner is to be proven. */
export const checkOutcomes = [
  'found',
  'no_match',
  'no_records',
  'no_such_name',
  'server_failure',
  'refused',
  'timeout',
  'error',
] as const

/** Why the management API refused a request: a closed set, so that no caller can make labels grow. */
export const managementRefusals = [
  'missing',
  'malformed',
  'unknown',
  'disabled',
  'expired',
  'not_yet_valid',
  'address_denied',
  'address_unknown',
  'forbidden',
  'beyond_token',
  'too_many',
] as const
export type ManagementRefusal = (typeof managementRefusals)[number]

/** How the store is: out of reach, or why it refuses writes or can't be heard; null where all is well. */
export interface StoreSigns {
  readonly isAway: boolean
  readonly refusal: string | null
  readonly deafness: string | null
}

/** All that one process counts, and the registry that shows it. */
export class Metrics {
  readonly edge = new EdgeMetrics()
  readonly domainChecks = tallies(checkOutcomes)
  readonly managementRefusals = tallies(managementRefusals)
  readonly workerRestarts = new Tally()
  readonly droppedLogLines = new Tally()
  /** Returns how the store is; null in a process that is not asked for it. */
  storeSigns: (() => StoreSigns | null) | null = null
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

/** Dresses a family as a metric of prom-client, whose registry asks no more of one than its `get`. */
function readOut({ type, name, help, read, together }: Family, metrics: Metrics): Metric {
  const aggregator = together ?? (name.endsWith('_info') ? 'first' : 'sum')
  const get = () => ({ name, help, type, aggregator, values: read(metrics) })
  return { name, help, type, aggregator, get } as unknown as Metric
}
