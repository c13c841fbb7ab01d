// Liveness and readiness of the gateway: for orchestrators, load balancers and the container's health check.

import type { StoreHealth } from '../../metrics/counters/counts.ts'
import type { ApiResponse } from '../http/envelope.ts'

export type Unready = 'starting' | 'draining' | 'no worker is up' | 'store not trusted' | null

export function alive(): ApiResponse {
  return status(200, { status: 'alive' })
}

/** An unreachable store does not affect it, since most requests need only the cache. */
export function ready(unready: Unready, store: StoreHealth | null): ApiResponse {
  const [degraded] = store?.degradation.reasons ?? []
  const why = degraded && { reason: degraded.message, next: degraded.remedy }
  if (unready !== null)
    return status(503, {
      status: 'unready',
      ...(unready === 'store not trusted' && why ? why : { reason: unready }),
    })
  if (why) return status(200, { status: 'degraded', ...why })
  const reason = store && faultOf(store)
  return status(200, reason === null ? { status: 'ready' } : { status: 'degraded', reason })
}

function faultOf({ isUnreachable, refusal }: StoreHealth): string | null {
  if (isUnreachable) return refusal === null ? 'store unreachable' : `store unreachable: ${refusal}`
  return refusal === null ? null : `store does not confirm writes: ${refusal}`
}

function status(code: number, content: object): ApiResponse {
  return {
    status: code,
    headers: { 'content-type': 'application/json' },
    body: `${JSON.stringify(content)}\n`,
  }
}
