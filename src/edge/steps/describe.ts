// What clients and origins may read of a zone or AI route without a credential.

import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { withoutQuery } from '../../base/path/path.ts'
import { describeAi, respondWithJson } from '../ai/metadata.ts'
import type { Decided, Exchange } from '../exchange/exchange.ts'
import type { EdgeZone } from '../snapshot/snapshot.ts'

/** Serves metadata of AI routes, and the keys with which a zone signs svc-identity. */
export function describe(x: Exchange): Decided {
  return x.asksForKeySet ? describeKeys(x) : describeAi(x)
}

/** Origins fetch it where clients reach the zone. */
const keySetPath = '/cdn-cgi/identity/jwks.json'

export function asksForKeySet({ head }: Exchange, { identity }: EdgeZone): boolean {
  return identity !== null && withoutQuery(head.target) === keySetPath
}

/** They change a day after the next one is published. */
const freshness = 'Cache-Control: public, max-age=3600\r\n'

function describeKeys(x: Exchange): Refusal | Promise<Refusal | 'responded'> {
  const { method } = x.head
  if (method !== 'GET' && method !== 'HEAD') return { ...refuse('method_not_allowed'), allow: 'GET, HEAD' }
  return x.zone!.identity!.keySet().then(keySet => {
    if (keySet === null) return refuse('service_unavailable', { retryAfter: 5 })
    respondWithJson(x, keySet, freshness)
    return 'responded'
  })
}
