// What Prometheus sees of origins: their time and health, and what is asked of them again.

import type { EdgeMetrics } from '../edge-metrics.ts'
import { byName, type Family, histogram, type Sample, sample } from './family.ts'

const phaseDuration = 'gatehouse_origin_phase_duration_seconds'

export const originFamilies: readonly Family[] = [
  {
    type: 'histogram',
    name: phaseDuration,
    help: 'Seconds that origins took, by phase.',
    read: ({ edge }) => phaseDurations(edge),
  },
  {
    type: 'counter',
    name: 'gatehouse_origin_retries_total',
    help: 'Requests asked again: of another origin after one could not be reached or gave no answer, or of the same one after it closed a kept connection.',
    read: ({ edge }) => [sample(edge.retries)],
  },
  {
    type: 'counter',
    name: 'gatehouse_retry_budget_exhausted_total',
    help: 'Requests that were not sent again only because too many others of their pool had been.',
    read: ({ edge }) => [sample(edge.retryBudgetExhausted)],
  },
  {
    type: 'counter',
    name: 'gatehouse_origin_ejections_total',
    help: 'Times that an origin was taken out of its pool for its failures.',
    read: ({ edge }) => [sample(edge.ejections)],
  },
  {
    type: 'gauge',
    name: 'gatehouse_origin_healthy',
    help: 'Whether requests go to a member of a pool: 1, or 0 where a worker has ejected it, or its checks fail.',
    read: ({ edge }) => memberHealth(edge),
    together: 'min',
  },
  {
    type: 'counter',
    name: 'gatehouse_origin_checks_total',
    help: 'Active checks of origins, by result.',
    read: ({ edge }) => byName(edge.originChecks, result => ({ result })),
  },
  {
    type: 'counter',
    name: 'gatehouse_origin_lookups_total',
    help: 'Look-ups of the names of origins, by result; where one failed, the addresses of before are kept for a while.',
    read: ({ edge }) => byName(edge.originLookups, result => ({ result })),
  },
  {
    type: 'counter',
    name: 'gatehouse_origin_descriptor_shortages_total',
    help: 'Connections to origins that failed since the process had no file descriptor left.',
    read: ({ edge }) => [sample(edge.dialShortages)],
  },
  {
    type: 'gauge',
    name: 'gatehouse_origin_queue_length',
    help: 'Requests that wait for a connection to an origin which has as many as it may have.',
    read: ({ edge }) => [sample(edge.originQueue)],
  },
]

function phaseDurations({ phases }: EdgeMetrics): Sample[] {
  return Object.entries(phases).flatMap(([phase, times]) => histogram(phaseDuration, { phase }, times))
}

function memberHealth({ poolMembers }: EdgeMetrics): Sample[] {
  return (poolMembers?.() ?? []).map(({ pool, origin, isHealthy }) => ({
    labels: { pool, origin },
    value: isHealthy ? 1 : 0,
  }))
}
