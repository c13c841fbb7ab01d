// Publishes the authorization server and the dashboard on their hosts; nothing else of the side port.

import type { RouteConfig, Timeouts, ZoneConfig, ZoneTls } from '../model/config.ts'
import type { Operator } from '../model/custom-errors-config.ts'
import type { Findings } from '../file/mistake.ts'
import type { Settings, ZoneSettings } from '../settings/schema.ts'
import { hasSignIn } from '../model/protect-config.ts'
import { isLoopback } from '../shape/host-rules.ts'
import { isWildcard } from './listeners.ts'
import type { Placed } from '../shape/shape.ts'

/** What is to be served on a host of the edge. */
interface Publication {
  readonly own: NonNullable<RouteConfig['own']>
  readonly host: string
  /** The setting that publishes it. */
  readonly setting: Placed<string>
  readonly settingName: string
  /** The owner of the paths, in words. */
  readonly owner: string
  readonly paths: readonly string[]
  /** A prefix that it takes only if it is free. */
  readonly spare?: string
}

/** The paths of the authorization server and of the sign-in pages, as prefixes. */
const issuerPaths = [
  '/.well-known/jwks.json',
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
  '/auth',
  '/oauth2',
] as const

/** The paths of the dashboard and of the sign-in pages. */
const dashboardPaths = ['/auth', '/dashboard'] as const

/** On the hosts of zones that people sign in for. */
const signInPaths = ['/cdn-cgi/sign-in', '/cdn-cgi/signed-in', '/cdn-cgi/sign-out'] as const

/** Body limit of requests to the authorization server, in bytes: more than any form or token request has. */
const issuerBodyLimit = 64 * 1024
/** Body limit of a form of the dashboard, which may contain an error page. */
const dashboardBodyLimit = 2 * 1024 * 1024

/** Adds routes to what is published, and records conflicting routes of the file. */
export function publish(
  zones: readonly ZoneConfig[],
  settings: Settings,
  findings: Findings,
  operator: Operator | null,
): readonly ZoneConfig[] {
  const published = publicationsOf(settings).reduce(
    (all, publication) => withPublished(all, publication, settings, findings, operator),
    zones,
  )
  return published.map((zone, i) =>
    zone.routes.some(hasSignIn) ? withSignIn(zone, settings.zones?.value[i], settings, findings) : zone,
  )
}

/** Adds the paths by which browsers come from our pages, and leave, to a zone whose gates people pass. */
function withSignIn(
  zone: ZoneConfig,
  written: Placed<ZoneSettings> | undefined,
  settings: Settings,
  findings: Findings,
): ZoneConfig {
  if (written !== undefined) {
    const owner = { paths: signInPaths, owner: 'sign_in', place: 'the hosts of its zone' }
    refuseTaken(written.value, owner, findings)
    if (!hasPages(settings)) findings.flaw(written, noPages)
  }
  const routes = signInPaths.map(path => routeOf(path, 'sign_in', settings.timeouts))
  return { ...zone, routes: [...zone.routes, ...routes] }
}

/** Whether people have pages to sign in at. */
function hasPages({ oauth, dashboard, admin }: Settings): boolean {
  const { host } = admin.value
  return oauth.issuer !== null || dashboard.host !== null || isLoopback(host) || isWildcard(host)
}

const noPages =
  'has a sign_in gate, and no pages where people can sign in: set oauth.issuer or dashboard.host'

function publicationsOf(settings: Settings): readonly Publication[] {
  const { oauth, dashboard } = settings
  const issuer = publishedIssuer(settings)
  const of = { setting: oauth.issuer!, settingName: 'oauth.issuer', owner: 'the authorization server' }
  const server = issuer === null ? [] : [{ own: 'issuer', host: issuer, ...of, paths: issuerPaths } as const]
  if (dashboard.host === null) return server
  const { host } = dashboard
  const named = { setting: host, settingName: 'dashboard.host', owner: 'the dashboard' }
  return [...server, { own: 'dashboard', host: host.value, ...named, paths: dashboardPaths, spare: '/' }]
}

function withPublished(
  zones: readonly ZoneConfig[],
  publication: Publication,
  settings: Settings,
  findings: Findings,
  operator: Operator | null,
): readonly ZoneConfig[] {
  const { zones: written, timeouts } = settings
  const { host } = publication
  const at = zones.findIndex(({ hosts }) => hosts.includes(host))
  const routes = routesOf(publication, zones[at]?.routes ?? [], timeouts)
  if (at < 0) {
    checkOwnZone(publication, zones, findings)
    return [...zones, zoneOf(host, routes, settings, operator)]
  }
  const site = written?.value[at]?.value
  if (site !== undefined) {
    const place = `the host of ${publication.settingName}`
    refuseTaken(site, { ...publication, place }, findings)
    warnOfSite(site, publication, findings)
  }
  return zones.map((zone, i) => (i === at ? { ...zone, routes: [...zone.routes, ...routes] } : zone))
}

/** Returns the routes of a publication; another publication on the same host leads to the same server. */
function routesOf(
  { own, paths, spare }: Publication,
  there: readonly RouteConfig[],
  timeouts: Timeouts,
): readonly RouteConfig[] {
  const isTaken = (path: string, byOwn: boolean) =>
    there.some(route => route.path === path && (route.own !== undefined || !byOwn))
  const added = paths.filter(path => !isTaken(path, true))
  const all = spare === undefined || isTaken(spare, false) ? added : [...added, spare]
  return all.map(path => routeOf(path, own, timeouts))
}

/** Returns the host on which clients of the edge reach the issuer; null if that is the side port itself. */
export function publishedIssuer({ oauth, listen }: Settings): string | null {
  if (oauth.issuer === null) return null
  const { protocol, hostname, port } = new URL(oauth.issuer.value)
  const host = hostname.replace(/^\[|\]$/g, '')
  const isOfTheEdge =
    protocol === 'https:' ||
    !isLoopback(host) ||
    listen.some(({ address }) => address?.value.port === Number(port || 80))
  return isOfTheEdge ? host : null
}

/** Records each route of the file that is, or lies below, a path of a publication. */
function refuseTaken(
  { routes }: ZoneSettings,
  { paths, owner, place }: { paths: readonly string[]; owner: string; place: string },
  findings: Findings,
): void {
  for (const { value: route } of routes) {
    const { path } = route
    const taken = path && paths.find(own => path.value === own || path.value.startsWith(`${own}/`))
    if (taken) findings.flaw(path, `belongs to ${owner}, which has ${taken} on ${place}`)
  }
}

/** Warns of a site on the host of a publication: for browsers, the two are one origin. */
function warnOfSite({ routes }: ZoneSettings, { setting }: Publication, findings: Findings): void {
  if (routes.length === 0) return
  const text = 'its host has routes to a site, whose pages can act as the people who sign in'
  findings.warn(setting, `${text}: give it a host of its own`)
}

/** Checks a publication whose host gets a zone of its own, without another zone's rules. */
function checkOwnZone(
  { setting, host }: Publication,
  zones: readonly ZoneConfig[],
  findings: Findings,
): void {
  if (zones.some(({ name }) => name === host))
    findings.flaw(setting, 'has a host that is the name of a zone, but not one of its hosts: add it to them')
  const covering = zones.find(
    ({ hosts, isDefault }) =>
      isDefault || hosts.some(name => name.startsWith('*.') && host.endsWith(name.slice(1))),
  )
  if (covering === undefined) return
  findings.warn(
    setting,
    `its host gets a zone of its own, without the rules of the zone ${covering.name}: give it a zone by its name to set rules`,
  )
}

function routeOf(path: string, own: Publication['own'], timeouts: Timeouts): RouteConfig {
  const plain = {
    pool: null,
    host: 'preserve',
    protect: null, // they authenticate people and programs themselves
    rewrite: null,
    redirects: 0,
    rateLimits: [],
    compression: null,
  } as const
  const bodyLimit = own === 'dashboard' ? dashboardBodyLimit : issuerBodyLimit
  return { ...plain, path, bodyLimit, timeouts, own }
}

const plainTls: ZoneTls = {
  redirect: false,
  hsts: null,
  minVersion: 'TLSv1.2',
  ciphers: [],
  fips: false,
  client: null,
}

function zoneOf(
  host: string,
  routes: readonly RouteConfig[],
  { proxy_status: proxyStatus, server_timing: serverTiming, tls }: Settings,
  operator: Operator | null,
): ZoneConfig {
  return {
    name: host,
    hosts: [host],
    isDefault: false,
    paused: false,
    proxyStatus,
    serverTiming,
    account: null,
    access: { rules: [], otherwise: 'allow', ban: null },
    rateLimits: [],
    quota: { day: null, month: null },
    tls: { ...plainTls, fips: tls.fips },
    identity: null,
    errors: { rules: [], pages: {}, operator },
    routes,
  }
}
