// What a published authorization server adds to the zones: its paths, on the host of its issuer. Nothing else of the side port is published by this.

import type { Endpoint, RouteConfig, Timeouts, ZoneConfig } from '../config.ts'
import type { Operator } from '../custom-errors-config.ts'
import type { Findings } from '../file/mistake.ts'
import type { Settings, ZoneSettings } from '../settings/schema.ts'
import { isLoopback } from '../settings/host-rules.ts'
import type { Placed } from '../settings/shape.ts'

/** The paths of the authorization server and of the pages on which people sign in, as prefixes. */
const issuerPaths = [
  '/.well-known/jwks.json',
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
  '/auth',
  '/oauth2',
] as const

/** Bytes of a request: more than any form or token request has. */
const bodyLimit = 64 * 1024

/** Returns the zones with the routes of the authorization server, if the edge is to serve it, and notes those of the file that stand in its way. */
export function publishIssuer(
  zones: readonly ZoneConfig[],
  settings: Settings,
  findings: Findings,
  operator: Operator | null,
): readonly ZoneConfig[] {
  const { oauth, zones: written, listen, timeouts } = settings
  const host = publishedHost(
    oauth.issuer?.value ?? null,
    listen.map(({ value }) => value),
  )
  if (host === null) return zones
  const routes = issuerPaths.map(path => routeOf(path, timeouts))
  const at = zones.findIndex(({ hosts }) => hosts.includes(host))
  if (at < 0) {
    checkOwnZone(oauth.issuer!, host, zones, findings)
    return [...zones, zoneOf(host, routes, operator)]
  }
  refuseTaken(written!.value[at]!.value, findings)
  warnOfSite(written!.value[at]!.value, oauth.issuer!, findings)
  return zones.map((zone, i) => (i === at ? { ...zone, routes: [...zone.routes, ...routes] } : zone))
}

/** Returns the host on which clients of the edge reach the issuer; null where that is the side port itself. */
function publishedHost(issuer: string | null, listen: readonly Endpoint[]): string | null {
  if (issuer === null) return null
  const { protocol, hostname, port } = new URL(issuer)
  const host = hostname.replace(/^\[|\]$/g, '')
  const isOfTheEdge =
    protocol === 'https:' ||
    !isLoopback(host) ||
    listen.some(endpoint => endpoint.port === Number(port || 80))
  return isOfTheEdge ? host : null
}

/** Notes each route of the file that is, or lies below, a path of the authorization server. */
function refuseTaken({ routes }: ZoneSettings, findings: Findings): void {
  for (const { value: route } of routes) {
    const { path } = route
    const taken = path && issuerPaths.find(own => path.value === own || path.value.startsWith(`${own}/`))
    if (taken)
      findings.flaw(
        path,
        `belongs to the authorization server, which has ${taken} on the host of oauth.issuer`,
      )
  }
}

/** Warns where a site is served on the host of the issuer: browsers take the two for one, with all that people may do there. */
function warnOfSite({ routes }: ZoneSettings, issuer: Placed<string>, findings: Findings): void {
  if (routes.length === 0) return
  const text =
    'its host has routes to a site, which gets the cookies of people who sign in and can act as them'
  findings.warn(issuer, `${text}: give it a host of its own`)
}

/** Looks at the issuer where its host gets a zone of its own, which has no rules of the zone that would have taken the host. */
function checkOwnZone(
  issuer: Placed<string>,
  host: string,
  zones: readonly ZoneConfig[],
  findings: Findings,
): void {
  if (zones.some(({ name }) => name === host))
    findings.flaw(issuer, 'has a host that is the name of a zone, but not one of its hosts: add it to them')
  const covering = zones.find(
    ({ hosts, isDefault }) =>
      isDefault || hosts.some(name => name.startsWith('*.') && host.endsWith(name.slice(1))),
  )
  if (covering === undefined) return
  findings.warn(
    issuer,
    `its host gets a zone of its own, without the rules of the zone ${covering.name}: give it a zone by its name to set rules`,
  )
}

function routeOf(path: string, timeouts: Timeouts): RouteConfig {
  const plain = { pool: null, host: 'preserve', rewrite: null, redirects: 0, rateLimits: [] } as const
  return { ...plain, path, bodyLimit, timeouts, isOfIssuer: true }
}

function zoneOf(host: string, routes: readonly RouteConfig[], operator: Operator | null): ZoneConfig {
  return {
    name: host,
    hosts: [host],
    isDefault: false,
    paused: false,
    account: null,
    access: { rules: [], otherwise: 'allow', ban: null },
    rateLimits: [],
    quota: { day: null, month: null },
    errors: { rules: [], pages: {}, operator },
    routes,
  }
}
