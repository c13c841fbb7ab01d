// Step 2: which zone and route a request is for, or which AI route. Error previews are answered here, since every host has them.
import { isIP } from 'node:net'
import { type Refusal, refusalFor, refuse } from '../errors/refusal.ts'
import type { Exchange } from './exchange.ts'
import { locateAi } from './locate-ai.ts'

const PREVIEW = '/cdn-cgi/error/'

/** Finds zone and route, or refuses: a host that nobody serves (1001, 1003), a zone that can't serve (1004, 1023, 1049), a preview (the error asked for). */
export function locate(x: Exchange): Refusal | null {
  if (x.ai !== null) return null
  const { ai, zones } = x.snapshot
  if (ai?.hosts.has(x.host)) return isPreview(x) ? preview(x) : locateAi(x, ai)
  const zone = zones.find(x.host)
  if (zone === null)
    return refuse(x.host === '' || isIP(x.host) !== 0 ? 'direct_ip_access' : 'dns_resolution_failed')
  x.zone = zone
  const { target } = x.head
  if (isPreview(x)) return preview(x)
  if (zone.fault !== null) return refuse(zone.fault)
  if (zone.config.paused) return refuse('dns_resolution_error')
  // OPTIONS * asks about the origin as a whole (RFC 9110 section 9.3.7).
  x.route = zone.routes.find(target === '*' ? '/' : target)
  return x.route === null ? refuse('dns_resolution_error') : null
}

function isPreview(x: Exchange): boolean {
  return x.head.target.startsWith(PREVIEW)
}

function preview(x: Exchange): Refusal {
  x.isPreview = true
  const { target } = x.head
  const query = target.indexOf('?')
  return refusalFor(target.slice(PREVIEW.length, query === -1 ? target.length : query))
}
