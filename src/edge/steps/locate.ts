// Finds the zone and route of a request, or its AI route, or serves it here.

import { isIP } from 'node:net'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { RouteConfig } from '../../config/model/config.ts'
import type { McpConfig } from '../../config/model/mcp-config.ts'
import { allowPages } from '../ai/cors.ts'
import { isAmongAiRoutes, isShortRoute } from '../../ai/target.ts'
import { mcpClients } from '../../errors/audience/mcp-clients.ts'
import { McpExchange } from '../exchange/mcp-exchange.ts'
import { respondWithAbout } from './about.ts'
import { respondToChallenge } from './challenge.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { EdgeZone } from '../snapshot/snapshot.ts'
import { asksForMetadata } from '../ai/metadata.ts'
import { locateAi } from '../ai/locate-ai.ts'
import { asksForKeySet, resourceAskedFor } from './describe.ts'
import { asksForPreview } from './preview.ts'
import { refuseAmbiguousPath } from '../../errors/catalogue/ambiguous-path.ts'

/**
 * Refuses an unknown host (1001, 1003), a zone that cannot be served (1004, 1023, 1049), a path that origins
 * may read differently if that matters (400). A paused zone still shows previews, and gets certificates.
 */
export function locate(x: Exchange): Refusal | 'responded' | null {
  if (respondToChallenge(x)) return 'responded'
  const { ai, zones } = x.snapshot
  x.asksForPreview = asksForPreview(x)
  const zone = zones.find(x.host)
  if (x.asksForPreview && servesAbout(x, zone)) return 'responded'
  if (ai?.hosts.has(x.host)) {
    x.asksForMetadata = asksForMetadata(x, zone !== null, () => zone === null || !isOfSite(x, zone))
    if (x.asksForMetadata || isForAi(x, zone)) return locateAi(x, ai)
  }
  if (zone === null)
    return refuse(x.host === '' || isIP(x.host) !== 0 ? 'direct_ip_access' : 'dns_resolution_failed')
  x.zone = zone
  if (zone.fault !== null) return refuse(zone.fault)
  if (x.asksForPreview) return null
  if (zone.config.paused) return paused
  x.asksForKeySet = asksForKeySet(x, zone)
  if (x.asksForKeySet) return null
  x.resource = resourceAskedFor(x, zone)
  if (x.resource !== null) return null
  const { routes } = zone
  const route = routes.always ?? routes.find(x.paths)
  if (route === 'ambiguous') return refuseAmbiguousPath(x)
  if (route !== null && isBehindGate(x, zone, route.config)) return refuseAmbiguousPath(x)
  x.route = route
  if (route === null) return refuse('dns_resolution_error')
  if (route.config.mcp != null) beginMcp(x, route.config.mcp)
  return null
}

/** Clients of MCP servers get errors as their protocol has them, whatever they accept. */
function beginMcp(x: Exchange, { origins }: McpConfig): void {
  x.mcp = new McpExchange()
  x.audience = mcpClients
  if (origins.length > 0) allowPages(x, origins)
}

/** Whether an origin may take the path for one behind a gate that its route lacks. */
function isBehindGate({ paths }: Exchange, { gatedPaths }: EdgeZone, route: RouteConfig): boolean {
  return gatedPaths !== null && gatedPaths.behind(paths!, route) !== null
}

function servesAbout(x: Exchange, zone: EdgeZone | null): boolean {
  x.zone = zone
  if (respondWithAbout(x)) return true
  x.zone = null
  return false
}

const paused = refuse('dns_resolution_error', {
  wording: {
    heading: 'This site is paused',
    detail:
      'This site is known to the gateway, and its operator has paused it, so that it serves no traffic at the moment.',
    guidance:
      '**Wait and retry.** Come back after {retry_after} s or later. Only the operator of the site can resume it.',
  },
})

/**
 * A zone that only publishes the side port has no paths besides AI routes. The short ones belong to a site
 * that has a route for them.
 */
function isForAi(x: Exchange, zone: EdgeZone | null): boolean {
  const { target } = x.head
  if (zone === null || isAmongAiRoutes(target)) return true
  if (isShortRoute(target)) return !isOfSite(x, zone)
  if (zone.config.routes.some(({ own }) => own === undefined)) return false
  const route = zone.routes.find(x.paths)
  return route === null || route === 'ambiguous'
}

function isOfSite(x: Exchange, zone: EdgeZone): boolean {
  const route = zone.routes.find(x.paths)
  return route !== null && route !== 'ambiguous' && route.config.own === undefined
}
