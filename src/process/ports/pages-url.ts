// The address of the sign-in pages and the dashboard.

import { isIPv6 } from 'node:net'
import type { Config, Endpoint } from '../../config/model/config.ts'
import { isWildcard } from '../../config/resolve/listeners.ts'
import { isLoopback } from '../../config/shape/host-rules.ts'
import { reachable, urlOf } from './urls.ts'

export function pagesUrl(
  config: Pick<Config, 'oauth' | 'dashboard' | 'listen' | 'publicPort'>,
  admin: Endpoint,
): string | null {
  const [published = null] = dashboardOrigins(config)
  const url = config.oauth.issuer ?? published
  if (url !== null) return url
  return isLoopback(reachable(admin.host)) ? urlOf(admin) : null
}

/** Returns the origins of a published dashboard: over https, or on loopback at any port of the edge. */
export function dashboardOrigins({
  dashboard: { host },
  listen,
  publicPort,
}: Pick<Config, 'dashboard' | 'listen' | 'publicPort'>): readonly string[] {
  if (host === null) return []
  const name = isIPv6(host) ? `[${host}]` : host
  const isLocal = isLoopback(host)
  const ports = listen.filter(({ tls }) => tls).map(({ port }) => port)
  if (publicPort !== null || !isLocal) ports.unshift(publicPort ?? 443)
  const secure = [...new Set(ports)].map(port => originAt('https', name, port))
  if (!isLocal) return secure
  return [...secure, ...listen.filter(({ tls }) => !tls).map(({ port }) => originAt('http', name, port))]
}

export function hasOAuth(config: Pick<Config, 'oauth' | 'admin'>): boolean {
  return config.oauth.issuer !== null || isReachable(config)
}

export function isReachable({ admin }: Pick<Config, 'admin'>): boolean {
  // A side port on a wildcard address has the URL of localhost.
  return isLoopback(admin.host) || isWildcard(admin.host)
}

function originAt(scheme: string, name: string, port: number): string {
  return new URL(`${scheme}://${name}:${port}`).origin
}

export function servesDashboard({ zones }: Pick<Config, 'zones'>, origin: string): boolean {
  const host = new URL(origin).hostname.replace(/^\[|\]$/g, '')
  const routes = zones.flatMap(zone => (zone.hosts.includes(host) ? zone.routes : []))
  return routes.every(({ own }) => own !== 'issuer') || routes.some(({ own }) => own === 'dashboard')
}
