// What the operator may tell us: first the proven configuration that everything above is built from, then the schema of the file, as data.
import type { AccessConfig, ListConfig } from './access-config.ts'
import { access, zoneAccess } from './access-settings.ts'
import { azureResource, pricedModel, providerKey, providerName, providerUrl, usDollars } from './ai-rules.ts'
import type { CustomErrorsConfig } from './custom-errors-config.ts'
import { customErrors } from './custom-errors-settings.ts'
import { documentationUrl, endpoint, exactHost, hostHeader, hostPattern, resolver } from './host-rules.ts'
import type { QuotaConfig, RateLimitConfig } from './limit-config.ts'
import { quota, rateLimits } from './limit-settings.ts'
import type {
  BalanceConfig,
  CheckConfig,
  EjectionConfig,
  RetryConfig,
  TransportConfig,
} from './pool-config.ts'
import { pools } from './pool-settings.ts'
import type { RewriteConfig } from './rewrite-config.ts'
import { rewrite } from './rewrite-settings.ts'
import { ruleData } from './rule-data.ts'
import {
  accountId,
  duration,
  durationOrOff,
  fraction,
  network,
  oneOf,
  pseudonym,
  routePath,
  secretKey,
  shortName,
  size,
  truth,
  whole,
  wholeOrOff,
  workerCount,
  zoneName,
} from './rules.ts'
import {
  dictionary,
  group,
  list,
  mapping,
  oneOrMore,
  optional,
  placed,
  required,
  scalar,
  shorthand,
  unwritten,
  type Value,
} from './shape.ts'
import { storeUrl } from './store-url.ts'
import { tls } from './tls-settings.ts'

export interface Endpoint {
  readonly host: string // an IPv6 address stands without brackets
  readonly port: number
}

/** Limits of time towards the origin, in ms; 0 is off. */
export interface Timeouts {
  readonly connect: number // TCP connect
  readonly handshake: number // TLS handshake
  readonly response: number // request sent to response head
  readonly write: number // a stalled write
  readonly idle: number // no byte either way in a body, a stream or a WebSocket
  readonly total: number // the whole request over all attempts, until the response head
}

export interface OriginConfig {
  readonly url: string // as URL.origin gives it
  readonly protocol: 'http' | 'https'
  readonly host: string // an IPv6 address stands without brackets
  readonly port: number
  readonly tls: OriginTls
  readonly transport: TransportConfig
}

export interface OriginTls {
  readonly verify: boolean
  readonly serverName: string | null // null: the host of the URL
  readonly ca: string | null // PEM; null: the authorities that Node trusts
}

export interface PoolConfig {
  readonly name: string
  readonly origins: readonly OriginConfig[]
  readonly weights: readonly number[] // of the origins, 1 to 1000
  readonly balance: BalanceConfig
  readonly retries: RetryConfig
  readonly ejection: EjectionConfig | null
  readonly check: CheckConfig | null
  readonly slowStart: number // ms in which an origin that comes back takes up its full share; 0 for at once
}

export interface RouteConfig {
  readonly path: string // a prefix in normal form
  readonly pool: PoolConfig | null
  readonly host: 'preserve' | 'origin' | { readonly name: string }
  readonly bodyLimit: number // bytes
  readonly timeouts: Timeouts
  readonly rewrite: RewriteConfig | null
  readonly redirects: number // how many redirects of the origin are followed; 0 for none, they are the client's
  readonly rateLimits: readonly RateLimitConfig[]
}

export interface ZoneConfig {
  readonly name: string
  readonly hosts: readonly string[] // lower-case: exact names, '*.' names, IP addresses without brackets
  readonly isDefault: boolean
  readonly paused: boolean
  readonly account: string | null // whose tokens may change it by the API; null: the oldest account
  readonly access: AccessConfig
  readonly rateLimits: readonly RateLimitConfig[]
  readonly quota: QuotaConfig
  readonly errors: CustomErrorsConfig
  readonly routes: readonly RouteConfig[]
}

/** The providers that are known by name; others are named custom-…. */
export const providerNames = [
  'openai',
  'anthropic',
  'google-ai-studio',
  'mistral',
  'groq',
  'deepseek',
  'openrouter',
  'azure-openai',
  'ollama',
] as const
export type ProviderName = (typeof providerNames)[number]

export interface ProviderConfig {
  readonly name: ProviderName | `custom-${string}`
  readonly url: string | null // the base, which may have a path, without a slash at the end; null: the provider's own
  readonly keys: readonly string[] // taken in turn where the caller sent none; secret
  readonly speaks: 'openai' | 'anthropic' // whose API it has
  readonly resources: readonly string[] // azure-openai: the resources that callers may name
  readonly tls: OriginTls
}

/** The price of a model in US dollars for a million tokens. */
export interface PriceConfig {
  readonly model: string // provider/model, as log entries name them; a * at the end stands for any rest
  readonly input: number
  readonly output: number
}

export interface AiConfig {
  readonly hosts: readonly string[] // lower-case exact names and IP addresses; empty: no AI routes
  readonly bodyLimit: number // bytes
  readonly timeouts: Timeouts
  readonly providers: readonly ProviderConfig[] // those that the file names; the others are as they come
  readonly prices: readonly PriceConfig[]
}

export interface StoreConfig {
  readonly url: string | null // sqlite:PATH, redis://…, rediss://…, redis+sentinel://…, redis+cluster://…; null: a file in the data folder; secret
  readonly commandTimeout: number // ms
  readonly grace: number // ms that a token which was verified lives on while the store is away
}

export interface SecretsConfig {
  readonly key: string | null // makes digests of client secrets and seals answers; null: a file in the data folder; secret
  readonly oldKeys: readonly string[] // those that only check what they made; secret
}

export interface DomainsConfig {
  readonly resolvers: readonly string[] // DNS servers, ADDRESS or ADDRESS:PORT; empty: those of the system
  readonly timeout: number // ms for one question, all tries included
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type StatusClass = '1xx' | '2xx' | '3xx' | '4xx' | '5xx'

export interface Config {
  readonly name: string // the pseudonym in Via and CDN-Loop
  readonly workers: number | 'auto' // 0: one process
  readonly listen: readonly Endpoint[]
  readonly admin: Endpoint
  readonly errors: CustomErrorsConfig & {
    readonly documentation: string | null // base of the `type` URIs, without a slash at the end
  }
  readonly access: AccessConfig // of all zones and AI hosts, before that of the zone
  readonly rateLimits: readonly RateLimitConfig[] // of all zones and AI hosts
  readonly lists: readonly ListConfig[]
  readonly geo: { readonly databases: readonly string[] } // absolute paths of MaxMind DB files; empty: nothing is known of countries and networks
  readonly trustedProxies: readonly string[] // addresses and CIDR networks
  readonly limits: {
    readonly headerSection: number // bytes
    readonly url: number // bytes
    readonly requestsPerConnection: number
  }
  readonly client: {
    readonly headerTimeout: number // ms
    readonly keepAlive: number // ms
  }
  readonly log: {
    readonly level: LogLevel
    readonly access: boolean
    readonly sample: Readonly<Record<StatusClass, number>> // the share that is written, 0 to 1
  }
  readonly shutdown: { readonly grace: number } // ms
  readonly store: StoreConfig
  readonly secrets: SecretsConfig
  readonly domains: DomainsConfig
  readonly ai: AiConfig
  readonly zones: readonly ZoneConfig[]
}

const KiB = 2 ** 10
const MiB = 2 ** 20
const TiB = 2 ** 40
const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const limit = scalar(durationOrOff(1, day))
const share = scalar(fraction)

const route = mapping({
  path: required(placed(scalar(routePath))),
  pool: optional(placed(scalar(shortName)), null),
  host: optional(scalar(hostHeader), 'preserve' as const),
  body: optional(scalar(size(0, TiB)), null), // null: limits.body
  timeouts: group({
    connect: optional(limit, null), // null: the timeout of the same name for all routes
    handshake: optional(limit, null),
    response: optional(limit, null),
    write: optional(limit, null),
    idle: optional(limit, null),
    total: optional(limit, null),
  }),
  redirects: optional(scalar(wholeOrOff(1, 20)), 0),
  rate_limits: rateLimits,
  rewrite: optional(rewrite, null),
})

const zone = mapping({
  name: optional(placed(scalar(zoneName)), null), // null: its first host
  hosts: optional(list(placed(scalar(hostPattern))), []),
  default: optional(placed(scalar(truth)), null),
  paused: optional(scalar(truth), false),
  account: optional(scalar(accountId), null), // null: the oldest
  access: zoneAccess,
  rate_limits: rateLimits,
  quota,
  errors: group(customErrors),
  routes: optional(list(placed(route)), []),
})

const store = group({
  url: optional(placed(scalar(storeUrl, { unprinted: true })), unwritten('store.url', null)),
  command_timeout: optional(scalar(duration(10, minute)), 250),
  grace: optional(scalar(durationOrOff(1 * second, day)), 10 * minute),
})

// Unprinted, since a key may stand in place of the mapping.
const secrets = mapping(
  {
    key: optional(scalar(secretKey, { unprinted: true }), null),
    old_keys: optional(oneOrMore(scalar(secretKey, { unprinted: true })), []),
  },
  { unprinted: true },
)

// Unprinted, since a key may stand in place of a mapping, or in the query of a URL.
const provider = mapping(
  {
    url: optional(scalar(providerUrl, { unprinted: true }), null), // null: the provider's own
    keys: optional(oneOrMore(scalar(providerKey, { unprinted: true })), []),
    speaks: optional(placed(scalar(oneOf('openai', 'anthropic'))), null),
    resources: optional(placed(list(scalar(azureResource))), null),
    ...tls,
  },
  { unprinted: true },
)

const price = mapping({
  input: required(scalar(usDollars)),
  output: required(scalar(usDollars)),
})

/** Lists every setting of the file, with its form, its rule and its default. */
export const schema = mapping({
  name: optional(scalar(pseudonym), 'gatehouse'),
  workers: optional(scalar(workerCount), 0),
  listen: optional(list(placed(scalar(endpoint)), { least: 1 }), [
    unwritten('listen', { host: '0.0.0.0', port: 8080 }),
  ]),
  admin: optional(placed(scalar(endpoint)), unwritten('admin', { host: '127.0.0.1', port: 8081 })),
  trusted_proxies: optional(list(placed(scalar(network))), []),
  errors: group({
    documentation: optional(scalar(documentationUrl), null),
    ...customErrors,
  }),
  ...ruleData,
  access,
  rate_limits: rateLimits,
  limits: group({
    header_section: optional(scalar(size(1 * KiB, 1 * MiB)), 128 * KiB),
    url: optional(placed(scalar(size(256, 64 * KiB))), unwritten('limits.url', 16 * KiB)),
    body: optional(scalar(size(0, TiB)), 100 * MiB),
    requests_per_connection: optional(scalar(whole(1, 1e9)), 10_000),
  }),
  client: group({
    header_timeout: optional(scalar(duration(1, hour)), 10 * second),
    keep_alive: optional(scalar(duration(1, hour)), 75 * second),
  }),
  timeouts: group({
    connect: optional(limit, 19 * second),
    handshake: optional(limit, 10 * second),
    response: optional(limit, 120 * second),
    write: optional(limit, 30 * second),
    idle: optional(limit, 5 * minute),
    total: optional(limit, 0),
  }),
  log: group({
    level: optional(scalar(oneOf('debug', 'info', 'warn', 'error')), 'info' as const),
    access: optional(scalar(truth), true),
    sample: group({
      '1xx': optional(share, 1),
      '2xx': optional(share, 1),
      '3xx': optional(share, 1),
      '4xx': optional(share, 1),
      '5xx': optional(share, 1),
    }),
  }),
  shutdown: group({
    grace: optional(scalar(durationOrOff(1, hour)), 30 * second),
  }),
  store: optional(shorthand('url', store.shape), store.fallback),
  secrets: optional(secrets, { key: null, old_keys: [] }),
  domains: group({
    resolvers: optional(list(scalar(resolver)), []),
    timeout: optional(scalar(duration(100, 30 * second)), 5 * second),
  }),
  ai: group({
    hosts: optional(list(placed(scalar(exactHost))), []),
    body: optional(scalar(size(0, 256 * MiB)), 32 * MiB),
    timeouts: group({
      connect: optional(limit, 19 * second),
      handshake: optional(limit, 10 * second),
      response: optional(limit, 10 * minute),
      write: optional(limit, 30 * second),
      idle: optional(limit, 2 * minute),
      total: optional(limit, 0),
    }),
    providers: optional(dictionary(providerName(providerNames), placed(provider)), new Map<string, never>()),
    prices: optional(dictionary(pricedModel(providerNames), price), new Map<string, never>()),
  }),
  pools,
  zones: required(placed(list(placed(zone)))),
})

/** What the file says, each value by itself in order, before settings are compared. */
export type Settings = Value<typeof schema>
export type RouteSettings = Value<typeof route>
export type ZoneSettings = Value<typeof zone>
export type ProviderSettings = Value<typeof provider>
