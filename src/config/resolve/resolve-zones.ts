// The zones and their routes: which names must be unique, which defaults apply, and which pools they use.

import { resolveAccess } from '../settings/access-settings.ts'
import { resolveIdentity, resolveProtect } from '../settings/protect-settings.ts'
import type { CompressionConfig } from '../model/compression-config.ts'
import type { PoolConfig, RouteConfig, Timeouts, ZoneConfig } from '../model/config.ts'
import type { ProtectConfig } from '../model/protect-config.ts'
import type { Operator } from '../model/custom-errors-config.ts'
import { resolveCompression } from '../settings/compression-settings.ts'
import { resolveCustomErrors } from '../settings/custom-errors-settings.ts'
import { resolveMcp } from '../settings/mcp/mcp-settings.ts'
import { resolveQuota, resolveRateLimits } from '../settings/limit-settings.ts'
import { type Findings, stepInto } from '../file/mistake.ts'
import { byLine, refuseRepeats, refuseUnknown } from '../shape/name-checks.ts'
import type { Pools } from '../settings/pool-settings.ts'
import { resolveZoneTls } from './server-tls.ts'
import { resolveRewrite } from '../settings/rewrite-settings.ts'
import { limitWork, routeWork, type WorkSum } from '../shape/rule-cost.ts'
import type { RuleData } from '../settings/rule-data.ts'
import { zoneName } from '../shape/rules.ts'
import type { RouteSettings, Settings, ZoneSettings } from '../settings/schema.ts'
import type { Placed } from '../shape/shape.ts'

/** What zones may refer to. */
interface Named {
  readonly pools: Pools
  readonly data: RuleData
}

/** What applies to all zones: the work of rules per request, custom errors, and the operator. */
interface OfAll {
  readonly rules: WorkSum
  readonly errors: WorkSum
  readonly operator: Operator | null
}

/** Returns the zones, and records mistakes that involve several of them. */
export function resolveZones(
  settings: Settings,
  named: Named,
  findings: Findings,
  ofAll: OfAll,
): ZoneConfig[] {
  const members = settings.zones?.value ?? []
  const zones = members.map(({ value }) => value)
  const hosts = zones.flatMap(zone => zone.hosts)
  const names = zones.flatMap(zone => zone.name ?? zone.hosts[0] ?? [])
  const defaults = zones.flatMap(zone => (zone.default?.value ? { ...zone.default, value: 'default' } : []))
  refuseRepeats(hosts, 'a host belongs to one zone', findings)
  refuseRepeats(settings.ai.hosts, 'ai.hosts cannot list a host twice', findings)
  refuseRepeats(names, 'a name belongs to one zone', findings)
  refuseRepeats(defaults, 'only one zone can be the default', findings)
  refuseRepeats(limitNames(settings).toSorted(byLine), 'rate limit names must be unique', findings)
  members.forEach(zone => {
    refuseUnreachable(zone, findings)
    refuseReservedName(zone.value, findings)
  })
  return members.map(zone => resolveZone(zone, settings, named, findings, ofAll))
}

/** All names, since clients and metrics distinguish rate limits only by name. */
function limitNames({ rate_limits: ofAll, zones }: Settings): Placed<string>[] {
  const own = (zones?.value ?? []).flatMap(({ value: { rate_limits: ofZone, routes } }) => [
    ...ofZone,
    ...routes.flatMap(({ value: route }) => [...route.rate_limits, ...(route.mcp?.value?.rules ?? [])]),
  ])
  return [...ofAll, ...own].flatMap(({ value: { name } }) => name ?? [])
}

function refuseUnreachable({ value: zone, ...place }: Placed<ZoneSettings>, findings: Findings): void {
  const isReachable = zone.hosts.length > 0 || zone.default?.value
  const isUnclear = ['hosts', 'default'].some(key => findings.concern(stepInto(place.path, key)))
  if (!isReachable && !isUnclear)
    findings.flaw(place, 'must have hosts or default: true; otherwise no request can reach it')
}

/** Checks the name that a zone takes from its first host. */
function refuseReservedName({ name, hosts: [first] }: ZoneSettings, findings: Findings): void {
  if (name !== null || first === undefined || 'value' in zoneName(first.value)) return
  findings.flaw(
    first,
    'cannot serve as the zone name, since metrics use it for other requests: give the zone a name',
  )
}

function resolveZone(
  { value: zone, ...place }: Placed<ZoneSettings>,
  settings: Settings,
  named: Named,
  findings: Findings,
  ofAll: OfAll,
): ZoneConfig {
  const work = ofAll.rules.branch()
  work.add(routeWork * zone.routes.length, place)
  const quota = resolveQuota(zone.quota)
  for (const max of [quota.day, quota.month]) if (max !== null) work.add(limitWork, place)
  const hosts = zone.hosts.map(({ value }) => value)
  const paths = zone.routes.flatMap(({ value: { path } }) => path ?? [])
  refuseRepeats(paths, 'a zone cannot have two routes for one path', findings)
  const compression = resolveCompression(zone.compression, findings)
  const ofGates = { account: zone.account, scopes: [...settings.scopes.keys()] }
  const protect = resolveProtect(zone.protect, ofGates, findings)
  const name = zone.name?.value ?? hosts[0] ?? 'default'
  const routes = zone.routes.flatMap(route =>
    resolveRoute(route, settings, named, findings, {
      work: work.branch(),
      compression,
      protect,
      ofGates,
    }),
  )
  return {
    name,
    hosts,
    isDefault: zone.default?.value ?? false,
    paused: zone.paused,
    account: zone.account,
    access: resolveAccess(zone.access, named.data, findings, work),
    rateLimits: resolveRateLimits(zone.rate_limits, named.data, findings, work),
    quota,
    tls: resolveZoneTls(zone.tls, settings.tls.fips, findings),
    proxyStatus: zone.proxy_status ?? settings.proxy_status,
    serverTiming: zone.server_timing ?? settings.server_timing,
    errors: resolveCustomErrors(zone.errors, named.data, findings, ofAll.errors.branch(), ofAll.operator),
    identity: resolveIdentity(zone.identity, { name, hosts, routes }, findings),
    routes,
  }
}

/** What applies to all routes of a zone. */
interface OfZone {
  readonly work: WorkSum
  readonly compression: CompressionConfig | null
  readonly protect: ProtectConfig | null
  readonly ofGates: { readonly account: string | null; readonly scopes: readonly string[] }
}

function resolveRoute(
  { value: route, line }: Placed<RouteSettings>,
  settings: Settings,
  { pools, data }: Named,
  findings: Findings,
  ofZone: OfZone,
): RouteConfig[] {
  const { path, host, redirects } = route
  const { work } = ofZone
  const pool = route.pool && findPool(route.pool, pools, findings)
  const timeouts = inherit(route.timeouts, settings.timeouts)
  const rewrite = route.rewrite && resolveRewrite(route.rewrite, data, findings, work)
  const rateLimits = resolveRateLimits(route.rate_limits, data, findings, work)
  const own = route.compression
  const compression = own === undefined ? ofZone.compression : resolveCompression(own, findings)
  const protect =
    route.protect === undefined ? ofZone.protect : resolveProtect(route.protect, ofZone.ofGates, findings)
  const mcp = resolveMcp(route.mcp, { protect, scopes: ofZone.ofGates.scopes, work }, findings)
  const bodyLimit = Math.min(route.body ?? settings.limits.body, mcp?.bodyLimit ?? Number.POSITIVE_INFINITY)
  if (path === null) return []
  return [
    {
      ...{ path: path.value, pool, host, bodyLimit, timeouts, protect, rewrite, redirects },
      ...{ rateLimits, compression, mcp, line },
    },
  ]
}

function findPool(name: Placed<string>, pools: Pools, findings: Findings): PoolConfig | null {
  refuseUnknown(name, [...pools.keys()], 'a pool', findings)
  return pools.get(name.value) ?? null
}

function inherit(own: RouteSettings['timeouts'], all: Timeouts): Timeouts {
  const set = Object.entries(own).filter(([, timeout]) => timeout !== null)
  return { ...all, ...Object.fromEntries(set) }
}
