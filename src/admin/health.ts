// Whether the gateway lives, and whether it takes traffic: for orchestrators, load balancers and the container's health check.

import type { Answer } from './envelope.ts'

/** `null` when traffic is welcome, else the reason why not. */
export type Unready = 'starting' | 'draining' | 'no worker is up' | null

export function alive(): Answer {
  return status(200, { status: 'alive' })
}

export function ready(unready: Unready): Answer {
  return unready === null
    ? status(200, { status: 'ready' })
    : status(503, { status: 'unready', reason: unready })
}

function status(code: number, content: object): Answer {
  return {
    status: code,
    headers: { 'content-type': 'application/json' },
    body: `${JSON.stringify(content)}\n`,
  }
}
