// A family of metrics, and helpers for the lists of families.

import { bucketBounds, type Distribution, type Tally } from '../counters/distribution.ts'
import type { Counts } from '../counters/counts.ts'

export interface Sample {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

export interface Family {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly name: string
  readonly help: string
  readonly read: (counts: Counts) => readonly Sample[]
  /** How the numbers of several processes are combined; by default, added up. */
  readonly together?: 'min' | 'max'
}

/** Families by their names; without a type, a `_total` is a counter, and any other a gauge. */
export type Families = Readonly<Record<string, Omit<Family, 'name' | 'type'> & Partial<Pick<Family, 'type'>>>>

export function sample({ value }: Tally, labels: Sample['labels'] = {}): Sample {
  return { labels, value }
}

/** Reads out a single value; no line if there is none. */
export function gauge(value: number | null | undefined): Sample[] {
  return value === null || value === undefined ? [] : [{ labels: {}, value }]
}

export function byName(
  tallies: Readonly<Record<string, Tally>>,
  labels: (name: string) => Sample['labels'],
): Sample[] {
  return Object.entries(tallies).map(([name, tally]) => sample(tally, labels(name)))
}

/** Reads out cumulative buckets, sum and count, in seconds; no line before the first observation. */
export function histogram(name: string, labels: Record<string, string>, times: Distribution): Sample[] {
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
