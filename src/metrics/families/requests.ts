// What Prometheus sees of requests and connections: how many, how long, and what became of them.

import type { EdgeMetrics } from '../edge-metrics.ts'
import { byName, type Family, histogram, type Sample, sample } from './family.ts'

const requestDuration = 'gatehouse_request_duration_seconds'

export const requestFamilies: readonly Family[] = [
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
    name: 'gatehouse_expression_failures_total',
    help: 'Expressions of operators that failed at run time, by what they are for.',
    read: ({ edge }) => byName(edge.expressionFailures, place => ({ in: place })),
  },
  {
    type: 'counter',
    name: 'gatehouse_client_aborts_total',
    help: 'Requests whose client left before the end.',
    read: ({ edge }) => [sample(edge.clientAborts)],
  },
  {
    type: 'counter',
    name: 'gatehouse_slow_clients_total',
    help: 'Clients that were given up since they were too slow, by what they were slow at.',
    read: ({ edge }) => byName(edge.slowClients, at => ({ at })),
  },
  {
    type: 'counter',
    name: 'gatehouse_connections_refused_total',
    help: 'Connections of clients that were closed at once, by the limit that they met: a setting of client, or descriptors.',
    read: ({ edge }) => byName(edge.refusedConnections, reason => ({ reason })),
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
]

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

function errors(edge: EdgeMetrics): Sample[] {
  return [...edge.errors].flatMap((value, code) => (value === 0 ? [] : [{ labels: { code }, value }]))
}
