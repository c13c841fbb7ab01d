// The proven configuration, which everything above is built from: what the file says, resolved and compared.

import type { AccessConfig, ListConfig } from './access-config.ts'
import type { CustomErrorsConfig } from './custom-errors-config.ts'
import type { QuotaConfig, RateLimitConfig } from './limit-config.ts'
import type {
  BalanceConfig,
  CheckConfig,
  EjectionConfig,
  RetryConfig,
  TransportConfig,
} from './pool-config.ts'
import type { RewriteConfig } from './rewrite-config.ts'

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
  readonly clientAddress: 'x-forwarded-for' | 'forwarded' // the field of theirs that is believed
  readonly limits: {
    readonly headerSection: number // bytes
    readonly headers: number // lines
    readonly url: number // bytes
    readonly requestsPerConnection: number
  }
  readonly client: {
    readonly headerTimeout: number // ms
    readonly bodyRate: number // bytes a second that a body must bring; 0: any
    readonly bodyTimeout: number // ms for a whole body; 0: any
    readonly responseRate: number // bytes a second that a client must take; 0: any
    readonly connections: number // of each process; 0: any number
    readonly connectionsPerAddress: number // of each process; 0: any number
    readonly keepAlive: number // ms
  }
  readonly log: {
    readonly level: LogLevel
    readonly access: boolean
    readonly sample: Readonly<Record<StatusClass, number>> // the share that is written, 0 to 1
  }
  readonly shutdown: {
    readonly grace: number // ms
    readonly webSocketClose: number // ms before the end of the grace, at most half of it; 0: WebSockets are not closed, but cut
  }
  readonly store: StoreConfig
  readonly secrets: SecretsConfig
  readonly domains: DomainsConfig
  readonly management: ManagementConfig
  readonly oauth: OAuthConfig
  readonly people: PeopleConfig
  readonly ai: AiConfig
  readonly zones: readonly ZoneConfig[]
}

type LogLevel = 'debug' | 'info' | 'warn' | 'error'
type StatusClass = '1xx' | '2xx' | '3xx' | '4xx' | '5xx'

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

export interface PoolConfig {
  readonly name: string
  readonly origins: readonly OriginConfig[]
  readonly weights: readonly number[] // of the origins, 1 to 1000
  readonly balance: BalanceConfig
  readonly retries: RetryConfig
  readonly retryOn: readonly number[] // statuses of responses in place of which another member is asked
  readonly ejection: EjectionConfig | null
  readonly ejectOn: readonly number[] // statuses of responses that count as failures of the member
  readonly check: CheckConfig | null
  readonly slowStart: number // ms in which an origin that comes back takes up its full share; 0 for at once
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
  readonly identity: TlsIdentity | null // what we show to an origin that asks who we are
}

/** A certificate with those that lead to its authority, and its key, as PEM; the key is secret. */
export interface TlsIdentity {
  readonly certificate: string
  readonly key: string
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

export interface Endpoint {
  readonly host: string // an IPv6 address stands without brackets
  readonly port: number
}

export interface ManagementConfig {
  readonly writes: { readonly limit: number; readonly period: number } // requests that change something, of each token, in ms
  readonly metrics: 'open' | 'direct' | 'token' // who sees them: all, all that come without a proxy, or who shows a token
  readonly audit: {
    readonly retention: number // ms
    readonly entriesPerToken: number
  }
}

/** The authorization server. */
export interface OAuthConfig {
  readonly issuer: string | null // as URL.origin gives it; null: the side port, where that is on loopback
  readonly lifetimes: {
    readonly code: number // ms, as all of these
    readonly accessToken: number
    readonly refreshToken: number // since its last use
    readonly refreshTokenMost: number // since the consent, however often it is used
  }
}

export interface PeopleConfig {
  readonly signUp: 'invited' | 'openid' | 'open' // who may become a user
  readonly openid: OpenIdConfig | null // where people sign in instead of here
}

interface OpenIdConfig {
  readonly issuer: string // as it was written
  readonly clientId: string
  readonly clientSecret: string // secret
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
  readonly keys: readonly string[] // taken in turn where the caller sent none, but for those that rest; secret
  readonly speaks: 'openai' | 'anthropic' // whose API it has
  readonly resources: readonly string[] // azure-openai: the resources that callers may name
  readonly tls: OriginTls
}

/** The price of a model in US dollars for a million tokens. */
export interface PriceConfig {
  readonly model: string // provider/model, as log entries name them; a * at the end stands for any rest
  readonly input: number
  readonly output: number
  readonly cacheRead: number | null // of input that came from a cache; null: as other input
  readonly cacheWrite: number | null // of input that went into a cache; null: as other input
  readonly cacheWriteLong: number | null // of that which stays there for an hour; null: as other input that went into one
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
  readonly ca: string | null // PEM of the authorities that rediss: trusts; null: those that Node trusts
  readonly sentinelUsername: string | null // what Sentinels are shown; secret
  readonly sentinelPassword: string | null // secret
  readonly commandTimeout: number // ms
  readonly grace: number // ms that a token which was verified lives on while the store is unreachable
}

export interface SecretsConfig {
  readonly key: string | null // makes digests of client secrets and seals answers; null: a file in the data folder; secret
  readonly oldKeys: readonly string[] // those that only check what they made; secret
}

interface DomainsConfig {
  readonly resolvers: readonly string[] // DNS servers, ADDRESS or ADDRESS:PORT; empty: those of the system
  readonly timeout: number // ms for one question, all tries included
}
