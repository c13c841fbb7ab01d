// The metrics of the gateway as Prometheus sees them: name, help, type, and how each is read out. metrics.ts registers them.

import { bucketBounds, type Distribution, type Tally } from './distribution.ts'
import type { AccessMetrics, EdgeMetrics, Metrics } from './metrics.ts'

/** One line of a family; a histogram has several names. */
export interface Sample {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

export interface Family {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly name: string
  readonly help: string
  readonly read: (metrics: Metrics) => readonly Sample[]
  /** What becomes of the numbers of several processes; the sum where nothing is said. */
  readonly together?: 'min'
}

const requestDuration = 'gatehouse_request_duration_seconds'
const phaseDuration = 'gatehouse_origin_phase_duration_seconds'

export const families: readonly Family[] = [
  {
    type: 'counter',
    name: 'gatehouse_requests_total',
    help: 'Requests by zone and status class.',
    read: ({ edge }) => requests(edge),
  },
  {
    type: 'histogram',
    name: requestDuration,
    help: 'Seconds from the head of a request, once it is read, to the end of its answer, by zone and status class.',
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
    name: 'gatehouse_custom_errors_total',
    help: 'Errors told in the words of the operator, by whose rule or page it was.',
    read: ({ edge }) => byName(edge.customErrors, source => ({ source })),
  },
  {
    type: 'counter',
    name: 'gatehouse_custom_error_failures_total',
    help: 'Custom error rules and pages that were left out since they are broken, or failed to be filled in.',
    read: ({ edge }) => [sample(edge.customErrorFailures)],
  },
  {
    type: 'counter',
    name: 'gatehouse_origin_retries_total',
    help: 'Requests asked again: of another origin after one could not be reached or gave no answer, or of the same one after it closed a kept connection.',
    read: ({ edge }) => [sample(edge.retries)],
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
    name: 'gatehouse_retry_budget_exhausted_total',
    help: 'Requests that were not sent again only because too many others of their pool had been.',
    read: ({ edge }) => [sample(edge.retryBudgetExhausted)],
  },
  {
    type: 'gauge',
    name: 'gatehouse_origin_queue_length',
    help: 'Requests that wait for a connection to an origin which has as many as it may have.',
    read: ({ edge }) => [sample(edge.originQueue)],
  },
  {
    type: 'counter',
    name: 'gatehouse_origin_lookups_total',
    help: 'Look-ups of the names of origins, by result; where one failed, the addresses of before are kept for a while.',
    read: ({ edge }) => byName(edge.originLookups, result => ({ result })),
  },
  {
    type: 'counter',
    name: 'gatehouse_origin_checks_total',
    help: 'Active checks of origins, by result.',
    read: ({ edge }) => byName(edge.originChecks, result => ({ result })),
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
    name: 'gatehouse_rate_limit_decisions_total',
    help: 'Requests that rate limits and quotas counted, by rule and result: allowed, limited, or logged where the rule only logs what is over it.',
    read: ({ edge }) =>
      [...edge.limits.rules].flatMap(([rule, { allowed, limited, logged }]) =>
        byName({ allowed, limited, logged }, result => ({ rule, result })),
      ),
  },
  {
    type: 'counter',
    name: 'gatehouse_rate_limit_store_calls_total',
    help: 'Questions and reports of rate limits to the store.',
    read: ({ edge }) => [sample(edge.limits.storeCalls)],
  },
  {
    type: 'counter',
    name: 'gatehouse_rate_limit_fallbacks_total',
    help: 'Decisions of rate limits by this process alone, since the store was slow or away.',
    read: ({ edge }) => [sample(edge.limits.fallbacks)],
  },
  {
    type: 'counter',
    name: 'gatehouse_ai_decisions_total',
    help: 'Calls that AI gateways let in or refused, by result and reason.',
    read: ({ edge: { ai } }) => [
      ...byName(ai.allowed, reason => ({ result: 'allowed', reason })),
      ...byName(ai.refused, reason => ({ result: 'refused', reason })),
    ],
  },
  {
    type: 'counter',
    name: 'gatehouse_token_lookups_total',
    help: 'Tokens looked up, by where the answer came from: remembered, or asked of the store.',
    read: ({ edge: { ai } }) => byName(ai.lookups, source => ({ source })),
  },
  {
    type: 'counter',
    name: 'gatehouse_ai_log_entries_total',
    help: 'Log entries of AI calls, by what became of them: written, dropped since the store was slow or away, or over the limit of the gateway.',
    read: ({ edge: { ai } }) => byName(ai.logEntries, result => ({ result })),
  },
  {
    type: 'counter',
    name: 'gatehouse_access_decisions_total',
    help: 'Requests that access rules decided on, by result and by what the rule looks at.',
    read: ({ edge: { access } }) => accessDecisions(access),
  },
  {
    type: 'gauge',
    name: 'gatehouse_access_bans',
    help: 'Addresses that are banned for a while after repeated refusals.',
    read: ({ edge: { access } }) => (access.activeBans ? [{ labels: {}, value: access.activeBans() }] : []),
  },
  {
    type: 'counter',
    name: 'gatehouse_address_list_reloads_total',
    help: 'Address list files that changed and were read anew, by result.',
    read: ({ edge: { access } }) => byName(access.listReloads, result => ({ result })),
  },
  {
    type: 'counter',
    name: 'gatehouse_geo_database_reloads_total',
    help: 'Databases of countries and networks that changed and were read anew, by result.',
    read: ({ edge: { access } }) => byName(access.geoReloads, result => ({ result })),
  },
  {
    type: 'counter',
    name: 'gatehouse_expression_failures_total',
    help: 'Expressions that failed at run time and so did not match, by where they stand.',
    read: ({ edge }) => byName(edge.expressionFailures, place => ({ in: place })),
  },
  {
    type: 'counter',
    name: 'gatehouse_domain_checks_total',
    help: 'Looks at DNS for the proof that the owner of an OAuth client owns its domain, by outcome.',
    read: ({ domainChecks }) => byName(domainChecks, outcome => ({ outcome })),
  },
  {
    type: 'gauge',
    name: 'gatehouse_store_up',
    help: 'Whether the store can be reached: 1 or 0.',
    read: ({ isStoreAway }) => (isStoreAway ? [{ labels: {}, value: isStoreAway() ? 0 : 1 }] : []),
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

function sample({ value }: Tally, labels: Sample['labels'] = {}): Sample {
  return { labels, value }
}

function byName(
  tallies: Readonly<Record<string, Tally>>,
  labels: (name: string) => Sample['labels'],
): Sample[] {
  return Object.entries(tallies).map(([name, tally]) => sample(tally, labels(name)))
}

function accessDecisions({ allowed, denied, legal, failed, banned }: AccessMetrics): Sample[] {
  return [
    ...byName(allowed, kind => ({ result: 'allowed', kind })),
    ...byName(denied, kind => ({ result: 'denied', kind })),
    ...byName(legal, kind => ({ result: 'legal', kind })),
    ...byName(failed, kind => ({ result: 'failed', kind })),
    sample(banned, { result: 'banned', kind: 'ban' }),
  ]
}

function requests({ zones }: EdgeMetrics): Sample[] {
  return [...zones].flatMap(([zone, { classes }]) =>
    Object.entries(classes).map(([status_class, { count }]) => ({
      labels: { zone, status_class },
      value: count,
    })),
  )
}

function durations({ zones }: EdgeMetrics): Sample[] {
  return [...zones].flatMap(([zone, { classes }]) =>
    Object.entries(classes).flatMap(([status_class, times]) =>
      histogram(requestDuration, { zone, status_class }, times),
    ),
  )
}

function phaseDurations({ phases }: EdgeMetrics): Sample[] {
  return Object.entries(phases).flatMap(([phase, times]) => histogram(phaseDuration, { phase }, times))
}

function memberHealth({ poolMembers }: EdgeMetrics): Sample[] {
  return (poolMembers?.() ?? []).map(({ pool, origin, isHealthy }) => ({
    labels: { pool, origin },
    value: isHealthy ? 1 : 0,
  }))
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
