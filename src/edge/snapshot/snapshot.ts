// A configuration compiled for requests, swapped in as one reference.

import type {
  AiConfig,
  Config,
  Endpoint,
  OriginConfig,
  RouteConfig,
  ZoneConfig,
} from '../../config/model/config.ts'
import { usualTransport } from '../../config/model/pool-config.ts'
import { type CustomErrorFailure, CustomErrors } from '../../errors/custom/custom-errors.ts'
import type { HeadLimits } from '../../http1/heads/request-head.ts'
import { AddressSet } from '../../net/address/address.ts'
import type { Clock } from '../../base/clock.ts'
import type { EdgeMetrics, ZoneMetrics } from '../../metrics/counters/edge-metrics.ts'
import { AccessPolicy, type AccessParts } from '../../access/policy.ts'
import { type AutomaticTls, Challenges } from '../../certificates/acme/automatic.ts'
import { Certificates } from '../../certificates/certificates.ts'
import { trustOf } from '../../certificates/client-trust.ts'
import { Aliases } from '../../ai/failover/aliases.ts'
import type { AccountProviders } from '../../ai/providers/custom-directory.ts'
import type { CustomProvider } from '../../store/records/custom-provider.ts'
import { configOf } from '../../ai/providers/custom-config.ts'
import { KeyRing } from '../../ai/providers/key-ring.ts'
import { UsageRefusals } from '../../ai/usage-refusals.ts'
import { ProviderCalls } from '../../ai/providers/provider-calls.ts'
import { originOf, usualTls } from '../../ai/providers/provider-origin.ts'
import { type Provider, Providers } from '../../ai/providers/providers.ts'
import { type RouteResource, resourcesIn } from '../../oauth/grants/route-resources.ts'
import { zoneScope } from '../../activity/tally-scopes.ts'
import type { TallyBook, TallyScope } from '../../activity/tally-book.ts'
import type { HostLookup } from '../../zones/lookup.ts'
import { GatedPaths } from '../../zones/gated-paths.ts'
import { compileZones, type Route, type Zone } from '../../zones/zone.ts'
import { compileQuota, compileRateLimits, type MeterRule } from './limit-rules.ts'
import { compileMcpRules, type McpRules } from './mcp-rules.ts'
import { FieldsSetByGates, strangerWithout } from '../gates/claim-fields.ts'
import type { Admission } from '../gates/gate.ts'
import type { Gate, Gates } from '../gates/gates.ts'
import type { ZoneIdentity } from '../gates/zone-identity.ts'
import type { CloudKeys } from '../cloud-keys/cloud-keys.ts'
import type { MadeKey } from '../cloud-keys/made-key.ts'
import type { Origin } from '../origin/origin.ts'
import type { Origins } from '../origin/origins.ts'
import { type EdgePool, Pools } from '../origin/pools.ts'
import { Compression } from '../encoding/compression.ts'
import { type HeaderChanges, remainingFields } from '../rewrite/headers.ts'
import { Rewrite } from '../rewrite/rewrite.ts'
import { type Tracing, tracingOf } from '../trace/sampling.ts'
import { type ZoneDirectory, type ZoneSettings, zoneSettings } from './zone-settings.ts'
import { gatherLimitOf } from './gather-limit.ts'

export interface EdgeRoute extends Route {
  /** Those of the file, of the zone and of the route. */
  readonly limits: readonly MeterRule[]
  readonly pool: EdgePool
  /** Of which one must let a request in; null for an open route. */
  readonly gates: readonly Gate[] | null
  /** For an open route beside those with gates: removes the fields that these set. */
  readonly stranger: Admission | null
  readonly rewrite: Rewrite | null
  /** Null if it leads to no MCP server, or to one without rules. */
  readonly mcpRules: McpRules | null
  readonly compression: Compression | null
}

export interface EdgeZone extends Zone<EdgeRoute>, ZoneSettings {
  readonly metrics: ZoneMetrics
  readonly tallies: TallyScope
  /** As in `trustOf`; empty for none. */
  readonly trust: string
  readonly identity: ZoneIdentity | null
  /** Null where no spelling of a path can lead past a gate. */
  readonly gatedPaths: GatedPaths | null
  /** The routes that access tokens open, by the paths of their URLs; null for none. */
  readonly resources: ReadonlyMap<string, RouteResource> | null
  /** Those of the file and of the zone, for requests without a route. */
  readonly limits: readonly MeterRule[]
}

interface AiRoute extends EdgeRoute {
  readonly keys: KeyRing
  /** The only key, if it is made from an identity at a cloud. */
  readonly made: MadeKey | null
  readonly calls: ProviderCalls
  /** Removes the fields that gates before the same origin set; null if there are none. */
  readonly withheld: HeaderChanges | null
}

export interface EdgeAi {
  readonly hosts: ReadonlySet<string>
  readonly defaultAccount: string | null
  readonly corsOrigins: AiConfig['corsOrigins']
  readonly providers: Providers
  readonly aliases: Aliases
  readonly failover: AiConfig['failover']
  /** Applies to every call until its provider is known. */
  readonly route: EdgeRoute
  readonly uploadLimit: number
  /** A new snapshot takes over those that remain. */
  readonly keyRings: ReadonlyMap<string, KeyRing>
  readonly calls: ReadonlyMap<string, ProviderCalls>
  /** A new snapshot takes them over. */
  readonly usageRefusals: UsageRefusals
  readonly routeTo: (provider: Provider) => AiRoute
  /** The providers with those of an account. */
  readonly withOwn: (own: AccountProviders) => Providers
  /** Leaves the origins of an account, or of all, to calls that have them; others get them anew. */
  readonly releaseOwn: (account: string | null) => void
}

type Copied = 'name' | 'client' | 'http2' | 'publicPort' | 'proxyStatus' | 'serverTiming' | 'clientAddress'

export interface Snapshot extends Pick<Config, Copied>, Pick<Config['errors'], 'previews'> {
  readonly operator: Config['errors']['operator']
  readonly zones: Pick<HostLookup<EdgeZone>, 'find'>
  /** A later snapshot reuses those that are unchanged. */
  readonly settings: ReadonlyMap<ZoneConfig, ZoneSettings>
  /** By zone, why its API-managed settings failed to compile. */
  readonly broken: ReadonlyMap<string, string>
  readonly ai: EdgeAi | null
  readonly limits: HeadLimits & Pick<Config['limits'], 'requestsPerConnection' | 'compressionMemory'>
  readonly gatherLimit: number
  readonly certificates: Certificates
  readonly challenges: Challenges
  readonly access: AccessPolicy
  /** For requests outside of all zones. */
  readonly errors: CustomErrors
  readonly tracing: Tracing | null
  readonly trusted: AddressSet
  /** Via and CDN-Loop of a request without previous hops. */
  readonly hops: string
  readonly origins: ReadonlySet<Origin>
  readonly pools: Pools
}

export interface SnapshotParts {
  readonly origins: Origins
  readonly metrics: EdgeMetrics
  readonly access: AccessParts
  readonly tallies: TallyBook
  readonly zones: ZoneDirectory | null
  readonly automatic: AutomaticTls
  readonly clock: Clock
  readonly cloudKeys: Pick<CloudKeys, 'of'>
  readonly gates: Pick<Gates, 'of' | 'identityOf'>
  readonly issuer: Endpoint | null
  readonly before: Snapshot | null
  /** It must not change any state in use. */
  readonly isRehearsal?: boolean
}

/** Compiles a configuration; throws if that fails, and then changes nothing. */
export function buildSnapshot(config: Config, parts: SnapshotParts): Snapshot {
  const { origins, metrics, access } = parts
  const { trace } = config.telemetry
  const pools = new Pools(origins, parts.clock, metrics, parts.isRehearsal)
  const globalLimits = compileRateLimits(config.rateLimits, metrics)
  const setByGates = new FieldsSetByGates(config.zones)
  const failed = (what: CustomErrorFailure) =>
    (what === 'expression' ? metrics.expressionFailures.errors : metrics.customErrorFailures).inc()
  return {
    name: config.name,
    ...buildZones(config, parts, { pools, globalLimits, setByGates, failed }),
    ai: config.ai.hosts.length === 0 ? null : buildAi(config.ai, { pools, globalLimits, setByGates }, parts),
    limits: config.limits,
    gatherLimit: gatherLimitOf(config),
    client: config.client,
    http2: config.http2,
    publicPort: config.publicPort,
    ...automaticParts(config, parts.automatic, parts.before),
    access: new AccessPolicy(config.access, null, access),
    errors: new CustomErrors([config.errors], { failed }),
    proxyStatus: config.proxyStatus,
    serverTiming: config.serverTiming,
    operator: config.errors.operator,
    previews: config.errors.previews,
    tracing: trace === null ? null : tracingOf(trace),
    trusted: new AddressSet(config.trustedProxies),
    clientAddress: config.clientAddress,
    hops: `Via: 1.1 ${config.name}\r\nCDN-Loop: ${config.name}\r\n`,
    origins: pools.origins,
    pools,
  }
}

/** Builds what depends on certificates from ACME; reuses what is unchanged in `before`. */
export function automaticParts(
  config: Pick<Config, 'tls'>,
  { identities, challenges }: AutomaticTls,
  before: Snapshot | null,
): Pick<Snapshot, 'certificates' | 'challenges'> {
  return {
    certificates: new Certificates(config.tls, before?.certificates, identities),
    challenges: new Challenges(challenges),
  }
}

interface Shared {
  readonly pools: Pools
  readonly globalLimits: readonly MeterRule[]
  readonly setByGates: FieldsSetByGates
  readonly failed: (what: CustomErrorFailure) => void
}

function buildZones(
  config: Config,
  parts: SnapshotParts,
  { pools, globalLimits, setByGates, failed }: Shared,
): Pick<Snapshot, 'zones' | 'settings' | 'broken'> {
  const { metrics, issuer, gates } = parts
  const limitsByZone = new Map(
    config.zones.map(zone => [
      zone,
      [...globalLimits, ...compileRateLimits(zone.rateLimits, metrics), ...compileQuota(zone, metrics)],
    ]),
  )
  const buildRoute = (route: RouteConfig, zone: ZoneConfig): EdgeRoute => ({
    config: route,
    limits: [...limitsByZone.get(zone)!, ...compileRateLimits(route.rateLimits, metrics)],
    pool: route.own !== undefined && issuer !== null ? pools.only(ownServer(issuer)) : pools.get(route.pool),
    gates: route.protect && gates.of(route.protect, setByGates.notFrom(route, zone)),
    stranger:
      route.protect === null && route.own === undefined
        ? strangerWithout(setByGates.notFrom(route, zone))
        : null,
    mcpRules: route.mcp == null ? null : compileMcpRules(route.mcp, metrics),
    rewrite: route.rewrite && new Rewrite(route.rewrite, metrics.expressionFailures.rewrite),
    compression: route.compression && Compression.of(route.compression),
  })
  const settingsParts = { account: config.errors, sources: parts.access, directory: parts.zones, failed }
  const broken = new Map<string, string>()
  const settings = new Map<ZoneConfig, ZoneSettings>()
  const zones = compileZones(config.zones, buildRoute, zone => {
    const own = zoneSettings(zone.config, settingsParts, parts.before?.settings.get(zone.config))
    settings.set(zone.config, own)
    const { name } = zone.config
    if (own.flaw !== null) broken.set(name, own.flaw)
    const counts = { metrics: metrics.zone(name), tallies: parts.tallies.scope(zoneScope(name)) }
    const trust = trustOf(zone.config.tls.client)
    const identity = zone.config.identity && gates.identityOf(zone.config.identity)
    const resources = resourcesIn(zone.config)
    return {
      ...zone,
      ...counts,
      trust,
      identity,
      gatedPaths: GatedPaths.of(zone.config.routes),
      resources: resources.size === 0 ? null : resources,
      limits: limitsByZone.get(zone.config)!,
      ...own,
    }
  })
  return { zones, settings, broken }
}

function buildAi(
  ai: AiConfig,
  { pools, globalLimits: limits, setByGates }: Omit<Shared, 'failed'>,
  { before: last, cloudKeys }: SnapshotParts,
): EdgeAi {
  const before = last?.ai ?? null
  const { bodyLimit, timeouts } = ai
  const policies = { protect: null, rewrite: null, redirects: 0, rateLimits: [], compression: null }
  const config: RouteConfig = { path: '/', pool: null, host: 'origin', bodyLimit, timeouts, ...policies }
  const providers = new Providers(ai)
  const keyRings = new Map<string, KeyRing>()
  const calls = new Map<string, ProviderCalls>()
  const routes = new WeakMap<Provider, AiRoute>()
  for (const provider of providers.all) {
    const origin = originOf(provider, ai)
    const pool = pools.only(origin)
    const withheld = setByGates.notTo(origin)
    const id = JSON.stringify([provider.name, provider.base.href])
    const made = cloudKeys.of(provider, ai)
    const keys =
      made !== null
        ? KeyRing.of(made)
        : (keyRings.get(id) ?? new KeyRing(provider.keys, before?.keyRings.get(id)))
    keyRings.set(id, keys)
    const latest = calls.get(id) ?? before?.calls.get(id) ?? new ProviderCalls()
    calls.set(id, latest)
    routes.set(provider, { config, limits, pool, ...passedUnchanged, keys, made, calls: latest, withheld })
  }
  // What an account adds to its calls is no more trusted than what its callers send.
  const permitted = (one: CustomProvider) => {
    const provider = configOf(one, ai)
    const withheld = setByGates.notTo(originOf({ base: new URL(one.url), config: provider }, ai))
    return { config: provider, headers: remainingFields(withheld, one.headers) ?? [] }
  }
  const compiled = new WeakMap<AccountProviders, Providers>()
  const owned = new Map<string, Set<Origin>>()
  const withOwn = (own: AccountProviders) => {
    let all = compiled.get(own)
    if (all !== undefined) return all
    all = providers.with(own.providers.map(permitted))
    compiled.set(own, all)
    const origins = owned.get(own.account) ?? new Set()
    owned.set(own.account, origins)
    for (const provider of all.all)
      if (provider.ownUrl !== null && !routes.has(provider)) {
        const origin = originOf(provider, ai)
        const pool = pools.only(origin)
        origins.add(pool.members[0]!.target)
        const route = { config, limits, pool, ...passedUnchanged, withheld: setByGates.notTo(origin) }
        routes.set(provider, { ...route, keys: new KeyRing([]), made: null, calls: new ProviderCalls() })
      }
    return all
  }
  const releaseOwn = (account: string | null) => {
    const released = account === null ? [...owned.values()] : [owned.get(account) ?? new Set<Origin>()]
    if (account === null) owned.clear()
    else owned.delete(account)
    // Accounts may share an address.
    const shared = new Set([...owned.values()].flatMap(origins => [...origins]))
    for (const origin of released.flatMap(origins => [...origins]))
      if (!shared.has(origin)) pools.origins.delete(origin)
  }
  return {
    hosts: new Set(ai.hosts),
    defaultAccount: ai.defaultAccount,
    corsOrigins: ai.corsOrigins,
    uploadLimit: ai.uploadLimit ?? Number.POSITIVE_INFINITY,
    providers,
    aliases: new Aliases(ai.models),
    failover: ai.failover,
    route: { config, limits, pool: pools.get(null), ...passedUnchanged },
    keyRings,
    calls,
    usageRefusals: before?.usageRefusals ?? new UsageRefusals(),
    routeTo: provider => routes.get(provider)!,
    withOwn,
    releaseOwn,
  }
}

/** Gateways authenticate their calls, and providers and their SDKs negotiate compression themselves. */
const passedUnchanged = { gates: null, stranger: null, rewrite: null, mcpRules: null, compression: null }

function ownServer({ host, port }: Endpoint): OriginConfig {
  const url = `http://${host}:${port}`
  return { url, protocol: 'http', host, port, tls: usualTls, transport: usualTransport }
}
