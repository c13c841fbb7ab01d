// From what the file says to the configuration: hands defaults down, follows names, and checks what no value can break by itself.
import { didYouMean, type Findings, fieldName } from './mistake.ts'
import type {
  Config,
  OriginConfig,
  OriginSettings,
  PoolConfig,
  RouteConfig,
  RouteSettings,
  Settings,
  Timeouts,
  ZoneConfig,
  ZoneSettings,
} from './schema.ts'
import type { Placed } from './shape.ts'

/** Gives the configuration that settings amount to; it holds only if no mistake was noted, here or before. */
export function resolve(settings: Settings, findings: Findings): Config {
  const { limits, client, log, errors } = settings
  warnOfOpenTrust(settings, findings)
  return {
    name: settings.name,
    workers: settings.workers,
    listen: settings.listen,
    admin: settings.admin,
    errors: { documentation: errors.documentation },
    trustedProxies: settings.trusted_proxies.map(({ value }) => value),
    limits: {
      headerSection: limits.header_section,
      url: limits.url,
      requestsPerConnection: limits.requests_per_connection,
    },
    client: { headerTimeout: client.header_timeout, keepAlive: client.keep_alive },
    log: { level: log.level, access: log.access, sample: log.sample },
    shutdown: { grace: settings.shutdown.grace },
    zones: resolveZones(settings, resolvePools(settings.pools, findings), findings),
  }
}

type Pools = ReadonlyMap<string, PoolConfig>

function resolvePools(pools: Settings['pools'], findings: Findings): Pools {
  const resolved = new Map<string, PoolConfig>()
  for (const [name, pool] of pools) {
    const origins = (pool?.origins ?? []).flatMap(origin => resolveOrigin(origin, findings))
    resolved.set(name, { name, origins })
  }
  return resolved
}

function resolveOrigin(origin: Placed<OriginSettings>, findings: Findings): OriginConfig[] {
  const { url, verify, server_name: serverName, ca } = origin.value
  if (url === null) return []
  if (url.protocol === 'http' && (!verify || serverName !== null || ca !== null)) {
    findings.mistake(
      origin,
      origin.path,
      `${fieldName(origin.path)} has verify: false, server_name or ca, which only an https url can have`,
    )
  } else if (!verify) {
    findings.warn(
      origin,
      origin.path,
      'verify is false, so any certificate passes: who sits between gateway and origin can read and change all',
    )
  }
  return [{ ...url, tls: { verify, serverName, ca } }]
}

function resolveZones(settings: Settings, pools: Pools, findings: Findings): ZoneConfig[] {
  const zones = settings.zones ?? []
  const names = zones.flatMap(({ value: { name, hosts } }) => name ?? hosts[0] ?? [])
  const defaults = zones.flatMap(({ value }) =>
    value.default?.value ? { ...value.default, value: 'default' } : [],
  )
  refuseRepeats(
    zones.flatMap(({ value }) => value.hosts),
    'a host belongs to one zone',
    findings,
  )
  refuseRepeats(names, 'a name belongs to one zone', findings)
  refuseRepeats(defaults, 'one zone can be the default', findings)
  return zones.map(zone => resolveZone(zone, settings, pools, findings))
}

function resolveZone(
  { value: zone, ...place }: Placed<ZoneSettings>,
  settings: Settings,
  pools: Pools,
  findings: Findings,
): ZoneConfig {
  const hosts = zone.hosts.map(({ value }) => value)
  const isDefault = zone.default?.value ?? false
  if (hosts.length === 0 && !isDefault && !findings.concern(`${place.path}.hosts`)) {
    findings.mistake(
      place,
      place.path,
      `${fieldName(place.path)} must have hosts or default: true, or no request can reach it`,
    )
  }
  refuseRepeats(
    zone.routes.flatMap(({ path }) => path ?? []),
    'a path stands once in a zone',
    findings,
  )
  return {
    name: zone.name?.value ?? hosts[0] ?? 'default',
    hosts,
    isDefault,
    paused: zone.paused,
    routes: zone.routes.flatMap(route => resolveRoute(route, settings, pools, findings)),
  }
}

function resolveRoute(
  route: RouteSettings,
  settings: Settings,
  pools: Pools,
  findings: Findings,
): RouteConfig[] {
  const pool = route.pool && findPool(route.pool, pools, findings)
  if (route.path === null) return []
  const bodyLimit = route.body ?? settings.limits.body
  return [
    {
      path: route.path.value,
      pool,
      host: route.host,
      bodyLimit,
      timeouts: inherit(route.timeouts, settings.timeouts),
    },
  ]
}

function findPool(
  { value, shown, ...place }: Placed<string>,
  pools: Pools,
  findings: Findings,
): PoolConfig | null {
  const pool = pools.get(value)
  if (pool !== undefined) return pool
  const known = pools.size === 0 ? ', of which there is none' : ` (${[...pools.keys()].join(', ')})`
  findings.mistake(
    place,
    place.path,
    `pool must be the name of a pool${known}, but is ${shown}${didYouMean(value, pools.keys())}`,
  )
  return null
}

function inherit(own: RouteSettings['timeouts'], all: Timeouts): Timeouts {
  return {
    connect: own.connect ?? all.connect,
    handshake: own.handshake ?? all.handshake,
    response: own.response ?? all.response,
    write: own.write ?? all.write,
    idle: own.idle ?? all.idle,
    total: own.total ?? all.total,
  }
}

function warnOfOpenTrust({ trusted_proxies: networks }: Settings, findings: Findings): void {
  for (const { value, path, ...place } of networks) {
    if (value.endsWith('/0'))
      findings.warn(
        place,
        path,
        'everybody is trusted, so any client can claim any address in X-Forwarded-For',
      )
  }
}

function refuseRepeats(items: Iterable<Placed<string>>, rule: string, findings: Findings): void {
  const seen = new Map<string, Placed<string>>()
  for (const item of items) {
    const first = seen.get(item.value)
    if (first === undefined) seen.set(item.value, item)
    else if (!findings.concern(item.path)) {
      findings.mistake(
        item,
        item.path,
        `${fieldName(item.path)} repeats ${first.path} of line ${first.line}; ${rule}`,
      )
    }
  }
}
