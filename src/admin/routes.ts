// The table of the admin listener: method, path, handler. server.ts answers by it.

import { metricsContentType } from '../base/metrics.ts'
import type { Answer } from './envelope.ts'
import { documentation, documentationIndex } from './errors.ts'
import { alive, ready, type Unready } from './health.ts'
import type { Route } from './router.ts'

/** What the handlers know of the gateway. */
export interface Facts {
  readonly unready: () => Unready
  /** Writes all metrics in the text format of Prometheus. */
  readonly metrics: () => Promise<string>
}

export const routes: readonly Route<Facts>[] = [
  { method: 'GET', path: '/healthz', handle: alive },
  { method: 'GET', path: '/readyz', handle: (_, { unready }) => ready(unready()) },
  { method: 'GET', path: '/metrics', handle: (_, { metrics }) => exposition(metrics) },
  { method: 'GET', path: '/errors', handle: ({ accept }) => documentationIndex(accept) },
  {
    method: 'GET',
    path: '/errors/{code}',
    handle: ({ params, accept }) => documentation(params.code!, accept),
  },
]

async function exposition(metrics: Facts['metrics']): Promise<Answer> {
  return { status: 200, headers: { 'content-type': metricsContentType }, body: await metrics() }
}
