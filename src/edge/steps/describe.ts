// What clients and origins may read of a zone or AI route without a credential.

import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { withoutQuery } from '../../base/path/path.ts'
import { describeAi, respondWithJson } from '../ai/metadata.ts'
import { metadataPath, resourceAt, resourceMetadata } from '../../oauth/grants/protected-resource.ts'
import type { RouteResource } from '../../oauth/grants/route-resources.ts'
import { publicOriginInZone } from '../exchange/public-origin.ts'
import type { Decided, Exchange } from '../exchange/exchange.ts'
import type { EdgeZone } from '../snapshot/snapshot.ts'

/** Serves metadata of AI routes and of those with a gate, and the keys that sign svc-identity. */
export function describe(x: Exchange): Decided {
  if (x.resource !== null) return describeResource(x, x.resource)
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

/** In the one spelling that challenges name: any other path is that of a route. */
export function resourceAskedFor(
  { head: { target } }: Exchange,
  { resources }: EdgeZone,
): RouteResource | null {
  if (resources === null || !target.startsWith(metadataPath)) return null
  return resources.get(withoutQuery(target.slice(metadataPath.length)) || '/') ?? null
}

function describeResource(x: Exchange, route: RouteResource): Refusal | 'responded' {
  const issuers = issuersOf(x, route)
  const origin = publicOriginInZone(x)
  const path = withoutQuery(x.head.target.slice(metadataPath.length))
  const resource = issuers.length === 0 || origin === null ? null : resourceAt(origin, path)
  if (resource === null) return refuse('not_found')
  const { method } = x.head
  if (method !== 'GET' && method !== 'HEAD') return { ...refuse('method_not_allowed'), allow: 'GET, HEAD' }
  const { scopes } = route
  respondWithJson(x, resourceMetadata(resource, issuers, { scopes, name: x.zone!.config.name }))
  return 'responded'
}

/** Lists the authorization servers that issue tokens for a route. */
function issuersOf({ plane }: Exchange, { isOurs, issuers }: RouteResource): readonly string[] {
  const own = isOurs ? (plane.ai?.issuer ?? null) : null
  return own === null ? issuers : [own, ...issuers]
}
