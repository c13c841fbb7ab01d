// Whether the gateway lives, and whether it takes traffic: for orchestrators, load balancers and the container's health check.

import type { Answer } from './envelope.ts'

/** `null` when traffic is welcome, else the reason why not. */
export type Unready = 'starting' | 'draining' | 'no worker is up' | null

export function alive(): Answer {
  return status(200, { status: 'alive' })
}

/** Tells whether traffic is welcome; a store that is away does not stop it, since most of it needs no more than what is remembered. */
export function ready(unready: Unready, isStoreAway: boolean): Answer {
  if (unready !== null) return status(503, { status: 'unready', reason: unready })
  return status(200, isStoreAway ? { status: 'degraded', reason: 'the store is away' } : { status: 'ready' })
}

function status(code: number, content: object): Answer {
  return {
    status: code,
    headers: { 'content-type': 'application/json' },
    body: `${JSON.stringify(content)}\n`,
  }
}
