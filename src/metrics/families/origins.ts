// Prometheus metrics of origins: their time, their health and retries.

import { type EdgeMetrics, healthStates } from '../counters/edge-metrics.ts'
import { byName, type Families, histogram, type Sample, sample } from './family.ts'

const phaseDuration = 'gatehouse_origin_phase_duration_seconds'

export const originFamilies: Families = {
  [phaseDuration]: {
    type: 'histogram',
    help: 'Seconds spent on origins, by phase.',
    read: ({ edge }) => phaseDurations(edge),
  },
  gatehouse_origin_retries_total: {
    help: 'Retried requests: to another origin after a failure, or to the same one after it closed an idle connection or refused the request.',
    read: ({ edge }) => [sample(edge.retries)],
  },
  gatehouse_retry_budget_exhausted_total: {
    help: 'Requests not retried because the retry budget of their pool was used up.',
    read: ({ edge }) => [sample(edge.retryBudgetExhausted)],
  },
  gatehouse_origin_ejections_total: {
    help: 'Ejections of origins from their pools after failures.',
    read: ({ edge }) => [sample(edge.ejections)],
  },
  gatehouse_origin_healthy: {
    help: 'Whether a pool member works: 1, or 0 if its checks fail or a worker saw requests to it fail in a row. Also 1 until either has told (state unchecked in gatehouse_origin_state).',
    read: ({ edge }) => memberHealth(edge),
    together: 'min',
  },
  gatehouse_origin_state: {
    help: 'Workers that see a pool member in this state.',
    read: ({ edge }) => memberStates(edge),
  },
  gatehouse_origin_checks_total: {
    help: 'Active checks of origins, by result.',
    read: ({ edge }) => byName(edge.originChecks, result => ({ result })),
  },
  gatehouse_origin_lookups_total: {
    help: 'DNS lookups of origin names, by result; after a failure, the last addresses are kept for a while.',
    read: ({ edge }) => byName(edge.originLookups, result => ({ result })),
  },
  gatehouse_origin_descriptor_shortages_total: {
    help: 'Connections to origins that failed because no file descriptors were left.',
    read: ({ edge }) => [sample(edge.dialShortages)],
  },
  gatehouse_origin_queue_length: {
    help: 'Requests queued for a connection to an origin.',
    read: ({ edge }) => [sample(edge.originQueue)],
  },
  gatehouse_origin_connections_pinned: {
    help: 'Open connections to origins that belong to one client connection, since NTLM, Negotiate or the like authenticates them.',
    read: ({ edge }) => [sample(edge.pinnedConnections)],
  },
  gatehouse_origin_http2_closed_connections_total: {
    help: 'HTTP/2 connections to origins that were closed for what the origin sent, or because it no longer reacted, by reason.',
    read: ({ edge }) => byName(edge.originHttp2Faults, reason => ({ reason })),
  },
}

function phaseDurations({ phases }: EdgeMetrics): Sample[] {
  return Object.entries(phases).flatMap(([phase, times]) => histogram(phaseDuration, { phase }, times))
}

function memberHealth({ poolMembers }: EdgeMetrics): Sample[] {
  return (poolMembers?.() ?? []).map(({ pool, origin, state }) => {
    // Requests go to it, and the series must exist before the first one.
    const isHealthy = state === 'healthy' || state === 'unchecked'
    return { labels: { pool, origin }, value: isHealthy ? 1 : 0 }
  })
}

function memberStates({ poolMembers }: EdgeMetrics): Sample[] {
  return (poolMembers?.() ?? []).flatMap(({ pool, origin, state }) =>
    healthStates.map(one => ({ labels: { pool, origin, state: one }, value: one === state ? 1 : 0 })),
  )
}
