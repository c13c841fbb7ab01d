// From what the file says to the configuration: hands defaults down, follows names, and checks what no value can break by itself.
import { openAccess } from './access-config.ts'
import { noCustomErrors } from './custom-errors-config.ts'
import { noQuota } from './limit-config.ts'
import { didYouMean, type Findings, stepInto } from './mistake.ts'
import { usualEjection, usualRetries, usualTransport } from './pool-config.ts'
import { refuseRepeats } from './repeats.ts'
import { resolveAi } from './resolve-ai.ts'
import { resolveTls } from './resolve-tls.ts'
import { zoneName } from './rules.ts'
import type {
  Config,
  Endpoint,
  OriginConfig,
  OriginSettings,
  PoolConfig,
  RouteConfig,
  RouteSettings,
  SecretsConfig,
  Settings,
  StoreConfig,
  Timeouts,
  ZoneConfig,
  ZoneSettings,
} from './schema.ts'
import type { Placed } from './shape.ts'
import { warn } from './warn.ts'

/** Gives the configuration that settings amount to; it holds only if no mistake was noted, here or before. */
export function resolve(settings: Settings, findings: Findings): Config {
  const { limits, client, log, errors } = settings
  warn(settings, findings)
  return {
    name: settings.name,
    workers: settings.workers,
    listen: resolveListeners(settings, findings),
    admin: settings.admin.value,
    errors: { ...noCustomErrors, documentation: errors.documentation },
    access: openAccess,
    rateLimits: [],
    lists: [],
    geo: { databases: [] },
    trustedProxies: settings.trusted_proxies.map(({ value }) => value),
    limits: {
      headerSection: limits.header_section,
      url: resolveUrlLimit(limits, findings),
      requestsPerConnection: limits.requests_per_connection,
    },
    client: { headerTimeout: client.header_timeout, keepAlive: client.keep_alive },
    log: { level: log.level, access: log.access, sample: log.sample },
    shutdown: { grace: settings.shutdown.grace },
    store: resolveStore(settings, findings),
    secrets: resolveSecrets(settings.secrets),
    domains: settings.domains,
    ai: resolveAi(settings.ai, findings),
    zones: resolveZones(settings, resolvePools(settings.pools, findings), findings),
  }
}

/** Compares addresses as they are written: which of them are the same place, only the system knows. */
function resolveListeners({ listen, admin }: Settings, findings: Findings): Endpoint[] {
  const addresses = [...listen, admin].flatMap(({ value: { host, port }, ...place }) =>
    port === 0 || findings.concern(place.path) ? [] : { ...place, value: `${host}:${port}` },
  )
  refuseRepeats(addresses.toSorted(byLine), 'each listener needs an address of its own', findings)
  return listen.map(({ value }) => value)
}

function byLine(a: Placed<string>, b: Placed<string>): number {
  return a.line - b.line
}

function resolveUrlLimit({ url, header_section: most }: Settings['limits'], findings: Findings): number {
  const isWritten = url.line > 0
  if (isWritten && url.value > most) {
    findings.flaw(url, 'is larger than header_section, which counts the url too')
  }
  return Math.min(url.value, most)
}

function resolveStore({ store, workers }: Settings, findings: Findings): StoreConfig {
  if (store.url.value === 'sqlite::memory:' && workers !== 0) {
    findings.flaw(store.url, 'is in the memory of one process, which workers cannot share: set workers to 0')
  }
  return { url: store.url.value, commandTimeout: store.command_timeout, grace: store.grace }
}

function resolveSecrets({ key, old_keys }: Settings['secrets']): SecretsConfig {
  return { key, oldKeys: old_keys.flatMap(old => old ?? []) }
}

type Pools = ReadonlyMap<string, PoolConfig>

function resolvePools(pools: Settings['pools'], findings: Findings): Pools {
  const resolved = new Map<string, PoolConfig>()
  for (const [name, pool] of pools) {
    const origins = (pool?.origins ?? []).flatMap(origin => resolveOrigin(origin, findings))
    resolved.set(name, {
      name,
      origins,
      weights: origins.map(() => 1),
      balance: { by: 'round_robin' },
      retries: usualRetries,
      ejection: usualEjection,
      check: null,
      slowStart: 0,
    })
  }
  return resolved
}

function resolveOrigin(origin: Placed<OriginSettings>, findings: Findings): OriginConfig[] {
  const { url } = origin.value
  if (url === null) return []
  const isPlain = url.protocol === 'http'
  const tls = resolveTls(origin.value, { ...origin, isPlain }, findings)
  return [{ ...url, tls, transport: usualTransport }]
}

function resolveZones(settings: Settings, pools: Pools, findings: Findings): ZoneConfig[] {
  const members = settings.zones?.value ?? []
  const zones = members.map(({ value }) => value)
  const hosts = [...zones.flatMap(zone => zone.hosts), ...settings.ai.hosts]
  const names = zones.flatMap(zone => zone.name ?? zone.hosts[0] ?? [])
  const defaults = zones.flatMap(zone => (zone.default?.value ? { ...zone.default, value: 'default' } : []))
  refuseRepeats(hosts.toSorted(byLine), 'a host belongs to one zone, or to ai', findings)
  refuseRepeats(names, 'a name belongs to one zone', findings)
  refuseRepeats(defaults, 'one zone can be the default', findings)
  members.forEach(zone => {
    refuseUnreachable(zone, findings)
    refuseReservedName(zone.value, findings)
  })
  return zones.map(zone => resolveZone(zone, settings, pools, findings))
}

function refuseUnreachable({ value: zone, ...place }: Placed<ZoneSettings>, findings: Findings): void {
  const isReachable = zone.hosts.length > 0 || zone.default?.value
  const isUnclear = ['hosts', 'default'].some(key => findings.concern(stepInto(place.path, key)))
  if (!isReachable && !isUnclear)
    findings.flaw(place, 'must have hosts or default: true, or no request can reach it')
}

/** Looks at the name that a zone has of its first host. */
function refuseReservedName({ name, hosts: [first] }: ZoneSettings, findings: Findings): void {
  if (name !== null || first === undefined || 'value' in zoneName(first.value)) return
  findings.flaw(first, 'cannot name its zone, since metrics use it for other requests: give the zone a name')
}

function resolveZone(zone: ZoneSettings, settings: Settings, pools: Pools, findings: Findings): ZoneConfig {
  const hosts = zone.hosts.map(({ value }) => value)
  const paths = zone.routes.flatMap(({ value: { path } }) => path ?? [])
  refuseRepeats(paths, 'a path stands once in a zone', findings)
  return {
    name: zone.name?.value ?? hosts[0] ?? 'default',
    hosts,
    isDefault: zone.default?.value ?? false,
    paused: zone.paused,
    account: null,
    access: openAccess,
    rateLimits: [],
    quota: noQuota,
    errors: noCustomErrors,
    routes: zone.routes.flatMap(({ value: route }) => resolveRoute(route, settings, pools, findings)),
  }
}

function resolveRoute(
  route: RouteSettings,
  settings: Settings,
  pools: Pools,
  findings: Findings,
): RouteConfig[] {
  const { path, host } = route
  const pool = route.pool && findPool(route.pool, pools, findings)
  const bodyLimit = route.body ?? settings.limits.body
  const timeouts = inherit(route.timeouts, settings.timeouts)
  const policies = { rewrite: null, redirects: 0, rateLimits: [] }
  return path === null ? [] : [{ path: path.value, pool, host, bodyLimit, timeouts, ...policies }]
}

function findPool(name: Placed<string>, pools: Pools, findings: Findings): PoolConfig | null {
  const pool = pools.get(name.value)
  if (pool !== undefined) return pool
  const known = pools.size === 0 ? ', of which there is none' : ` (${[...pools.keys()].join(', ')})`
  const hint = didYouMean(name.value, pools.keys())
  findings.flaw(name, `must be the name of a pool${known}, but is ${name.shown}${hint}`)
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
