// The validated configuration: the settings of the file, with references resolved and defaults filled in.

import type { AccessConfig, ListConfig } from './access-config.ts'
import type { CloudIdentity } from './cloud-config.ts'
import type { CompressionConfig } from './compression-config.ts'
import type { CustomErrorsConfig, PreviewAudience } from './custom-errors-config.ts'
import type { QuotaConfig, RateLimitConfig } from './limit-config.ts'
import type {
  BalanceConfig,
  CheckConfig,
  EjectionConfig,
  ProxyConfig,
  ProxyException,
  RetryConfig,
  TransportConfig,
} from './pool-config.ts'
import type { LogExportConfig } from './log-export-config.ts'
import type { McpConfig } from './mcp-config.ts'
import type { PriceList } from './price-config.ts'
import type { IdentityConfig, ProtectConfig } from './protect-config.ts'
import type { RewriteConfig } from './rewrite-config.ts'
import type { ScopeConfig } from './scope-config.ts'
import type { TelemetryConfig } from './telemetry-config.ts'

export interface Config {
  readonly name: string // the pseudonym in Via and CDN-Loop
  readonly workers: number | 'auto' // 0: one process
  readonly listen: readonly Listener[]
  readonly tls: TlsConfig // of the listeners that speak it
  readonly publicPort: number | null // at which clients reach https; null: that of the first listener with TLS
  readonly acme: AcmeConfig | null // certificates that the gateway gets by itself
  readonly fips: boolean // OpenSSL must use its FIPS provider alone, and no zone takes TLS that is not approved
  readonly admin: Endpoint
  readonly errors: CustomErrorsConfig & {
    readonly documentation: string | null // base of the `type` URIs, without a trailing slash
    readonly previews: PreviewAudience
  }
  readonly proxyStatus: boolean // for requests outside of all zones, as in ZoneConfig
  readonly serverTiming: boolean
  readonly access: AccessConfig // of all zones and AI hosts, before those of the zone
  readonly rateLimits: readonly RateLimitConfig[] // of all zones and AI hosts
  readonly lists: readonly ListConfig[]
  readonly geo: { readonly databases: readonly string[] } // absolute paths of MaxMind DB files; empty: countries and networks are unknown
  readonly trustedProxies: readonly string[] // addresses and CIDR networks
  readonly clientAddress: 'x-forwarded-for' | 'forwarded' // the field set by them that is used
  readonly limits: {
    readonly headerSection: number // bytes
    readonly headers: number // lines
    readonly url: number // bytes
    readonly requestsPerConnection: number
    readonly compressionMemory: number // bytes of the encoders of each process
  }
  readonly client: {
    readonly handshakeTimeout: number // ms for TLS, from the connection on
    readonly headerTimeout: number // ms
    readonly bodyRate: number // the least bytes a second of a body; 0: no minimum
    readonly bodyTimeout: number // ms for a whole body; 0: no limit
    readonly responseRate: number // the least bytes a second that a client must read; 0: no minimum
    readonly connections: number // of each process; 0: no limit
    readonly connectionsPerAddress: number // of each process; 0: no limit
    readonly keepAlive: number // ms
  }
  readonly http2: {
    readonly enabled: boolean // whether listeners with TLS offer it
    readonly maxConcurrentStreams: number // of each connection
    readonly penalty: number // ms for which few connections are taken of a client that met a limit; 0: all are
  }
  readonly log: {
    readonly level: LogLevel
    readonly access: boolean
    readonly numeric: boolean // whether levels and times are numbers
    readonly sample: Readonly<Record<StatusClass, number>> // the share that is written, 0 to 1
  }
  readonly telemetry: TelemetryConfig
  readonly shutdown: {
    readonly grace: number // ms
    readonly webSocketClose: number // ms before the end of the grace, at most half of it; 0: WebSockets are not closed gracefully
  }
  readonly store: StoreConfig
  readonly secrets: SecretsConfig
  readonly domains: DomainsConfig
  readonly management: ManagementConfig
  readonly oauth: OAuthConfig
  readonly scopes: readonly ScopeConfig[]
  readonly dashboard: DashboardConfig
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
  readonly account: string | null // the account whose tokens may change the zone by the API; null: the oldest account
  readonly access: AccessConfig
  readonly rateLimits: readonly RateLimitConfig[]
  readonly quota: QuotaConfig
  readonly tls: ZoneTls
  readonly proxyStatus: boolean // whether responses of ours, and those that came after a retry, say so (RFC 9209)
  readonly serverTiming: boolean
  readonly errors: CustomErrorsConfig
  readonly identity: IdentityConfig | null // what origins learn of whom gates let in, signed; null: nothing
  readonly routes: readonly RouteConfig[]
}

export interface RouteConfig {
  readonly path: string // a prefix in normal form
  readonly pool: PoolConfig | null
  readonly host: 'preserve' | 'origin' | { readonly name: string }
  readonly bodyLimit: number // bytes
  readonly timeouts: Timeouts
  readonly protect: ProtectConfig | null // null: it is open
  readonly rewrite: RewriteConfig | null
  readonly redirects: number // how many redirects of the origin are followed; 0: none, the client gets them
  readonly rateLimits: readonly RateLimitConfig[]
  readonly compression: CompressionConfig | null // of its responses; null: none is compressed
  readonly mcp?: McpConfig | null // its origin is an MCP server; null or absent: anything else
  readonly line?: number // in the configuration file; absent for what was not read from one
  readonly own?: 'issuer' | 'dashboard' | 'sign_in' // what of this gateway serves it, in place of a pool
}

export interface PoolConfig {
  readonly name: string
  readonly origins: readonly OriginConfig[]
  readonly weights: readonly number[] // of the origins, 1 to 1000
  readonly balance: BalanceConfig
  readonly retries: RetryConfig
  readonly retryOn: readonly number[] // statuses of responses that cause a retry with another member
  readonly ejection: EjectionConfig | null
  readonly ejectOn: readonly number[] // statuses of responses that count as failures of the member
  readonly check: CheckConfig | null
  readonly slowStart: number // ms over which a recovered origin ramps up to its full share; 0: at once
}

export interface OriginConfig {
  readonly url: string // as returned by URL.origin
  readonly protocol: 'http' | 'https'
  readonly host: string // IPv6 addresses without brackets
  readonly port: number
  readonly tls: OriginTls
  readonly transport: TransportConfig
}

export interface OriginTls {
  readonly verify: boolean
  readonly serverName: string | null // null: the host of the URL
  readonly ca: string | null // PEM; null: the authorities that Node trusts
  readonly identity: TlsIdentity | null // the gateway's certificate for origins that require one
}

export interface TlsConfig {
  readonly certificates: readonly TlsIdentity[] // the first is for clients that name no host
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
}

/** The challenges that prove control of a host, in the order in which they are tried. */
export const acmeChallenges = ['http-01', 'tls-alpn-01'] as const
export type AcmeChallengeType = (typeof acmeChallenges)[number]

/** How certificates are obtained from an authority (RFC 8555). */
export interface AcmeConfig {
  readonly directory: string // the URL where the authority begins
  readonly email: string | null // where the authority may write to
  readonly termsAgreed: boolean // whether the operator accepts the terms of service of the authority
  readonly challenges: readonly AcmeChallengeType[] // those that the listeners allow
  readonly binding: { readonly id: string; readonly key: string } | null // of the account to one that the operator has there; secret
  readonly ca: string | null // PEM of the authorities that the connection trusts; null: those that Node trusts
  readonly hosts: readonly string[] // that no certificate of the file is good for
}

/** A zone's requirements for client connections with TLS, and for those without. */
export interface ZoneTls {
  readonly redirect: boolean // of plain HTTP, to https
  readonly hsts: number | null // s that browsers use https alone, 0 to have them forget it; null: not stated
  readonly minVersion: TlsConfig['minVersion']
  readonly ciphers: readonly CipherSuite[] // empty: all that the listeners speak
  readonly fips: boolean // only what NIST SP 800-52r2 approves
  readonly client: ClientCertificates | null // null: clients are not asked for one
}

/** The certificates that a zone requests from its clients. */
export interface ClientCertificates {
  readonly mode: 'required' | 'optional'
  readonly authorities: string // PEM; each is trusted, and with revocation lists those that signed themselves
  readonly revocationLists: string | null // PEM
  readonly forward: 'subject' | 'certificate' | 'chain' // what origins learn: each includes those before it
}

/** The cipher suites of the listeners, by their names in the IANA registry. */
export const cipherSuites = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
] as const
type CipherSuite = (typeof cipherSuites)[number]

/** A certificate with its chain, and its key, as PEM. */
export interface TlsIdentity {
  readonly certificate: string
  readonly key: string
}

/** Timeouts towards the origin, in ms; 0 is off. */
export interface Timeouts {
  readonly connect: number // TCP connect
  readonly handshake: number // TLS handshake
  readonly response: number // request sent to response head
  readonly write: number // a stalled write
  readonly idle: number // no byte either way in a body, a stream or a WebSocket
  readonly total: number // the whole request with all attempts, until the response head
}

export interface Endpoint {
  readonly host: string // IPv6 addresses without brackets
  readonly port: number
}

export interface Listener extends Endpoint {
  readonly tls: boolean
  readonly proxyProtocol?: boolean // whether each connection begins with a PROXY header; absent for no
  readonly h2c?: boolean // whether clients may speak HTTP/2 without TLS, if they know of it before (RFC 9113 section 3.3); absent for no
}

export interface ManagementConfig {
  readonly writes: { readonly limit: number; readonly period: number } // changes by each token, in ms
  readonly metrics: 'open' | 'direct' | 'token' // who may read them: everyone, everyone who connects without a proxy, or callers with a token
  readonly audit: {
    readonly retention: number // ms
    readonly entriesPerToken: number
  }
}

interface DashboardConfig {
  readonly host: string | null // on the edge; null: on the side port alone
}

export interface OAuthConfig {
  readonly issuer: string | null // as URL.origin gives it; null: the side port, where that is on loopback
  readonly lifetimes: {
    readonly code: number // ms, as all of these
    readonly accessToken: number
    readonly refreshToken: number // since its last use
    readonly refreshTokenMost: number // since the consent, however often it is used
  }
  readonly clientIdMetadataDocuments: {
    readonly hosts: readonly string[] // that may have documents of clients: NAME, *.NAME, NAME:PORT, or * for all names; empty: off
    readonly maxClients: number // that are stored
    readonly allowNetworks: readonly string[] // where those hosts may be, beside public addresses
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
  readonly tenants: readonly string[] | null // whose people may come; null: those of the issuer
  readonly groups: GroupsConfig | null // which give roles at each sign-in
}

export interface GroupsConfig {
  readonly claim: string
  readonly scope: string | null // which the provider requires for the claim
  readonly roles: readonly GroupRole[]
}

/** A role that everyone in a group has; not that of super administrators, who are made by people. */
export interface GroupRole {
  readonly group: string
  readonly role: (typeof rolesOfGroups)[number]
  readonly account: string | null // null: the oldest
}

export const rolesOfGroups = [
  'Administrator',
  'OAuth Client Write',
  'AI Gateway Admin',
  'Administrator Read Only',
] as const

/** The known providers; others are named custom-…. */
export const providerNames = [
  'openai',
  'anthropic',
  'google-ai-studio',
  'mistral',
  'groq',
  'deepseek',
  'openrouter',
  'azure-openai',
  'google-vertex-ai',
  'aws-bedrock',
  'ollama',
] as const
export type ProviderName = (typeof providerNames)[number]

/** The APIs of a provider, usable in REST calls. */
export const providerApis = ['chat', 'messages', 'responses', 'embeddings'] as const
export type ProviderApi = (typeof providerApis)[number]

/** Further ones, which are never translated. */
export const plainApis = ['completions', 'images', 'audio', 'moderations'] as const
export type PlainApi = (typeof plainApis)[number]

/** Calls that are passed to their provider without a translation; the bodies of some are forms. */
export const plainOperations = [
  'completions',
  'images/generations',
  'images/edits',
  'images/variations',
  'audio/speech',
  'audio/transcriptions',
  'audio/translations',
  'moderations',
] as const
export type PlainOperation = (typeof plainOperations)[number]

/** The source of a secret in the configuration; never its value. */
export type SecretSource =
  | { readonly kind: 'environment'; readonly variables: readonly string[] }
  | { readonly kind: 'file'; readonly path: string } // as it is written
  | { readonly kind: 'configuration' }

export interface ProviderConfig {
  readonly name: ProviderName | `custom-${string}`
  readonly url: string | null // the base, which may have a path, without a trailing slash; null: the provider's own
  readonly keys: readonly string[] // used in turn where the caller sent none, except those that rest; secret
  readonly keySources: readonly SecretSource[] // where each of them comes from
  readonly keyVariables: readonly string[] // the environment variables that the setting of the keys refers to
  readonly speaks: 'openai' | 'anthropic' // the API that it speaks
  readonly apis: readonly (ProviderApi | PlainApi)[] | null // custom providers: which it has; null: as `speaks` usually goes with
  readonly models: readonly string[] | null // globs of those that may be named without the provider; null: as is known of it
  readonly resources: readonly string[] // where callers may call it: resources of azure-openai, locations of google-vertex-ai, regions of aws-bedrock
  readonly project: string | null // google-vertex-ai: whose models are called
  readonly identity: CloudIdentity | null // from which keys are made; null: they are those of the file
  readonly streamUsage: boolean | null // whether it may be asked for the usage of a stream; null: as is known of it
  readonly tls: OriginTls
  readonly transport: TransportConfig
  readonly proxy: ProxyConfig | 'off' | null // null: as for all providers
}

/** The price of a model in US dollars for a million tokens. */
export interface PriceConfig {
  readonly model: string // provider/model, as in log entries; a * at the end matches any rest
  readonly input: number
  readonly output: number
  readonly cacheRead: number | null // of input read from a cache; null: as other input
  readonly cacheWrite: number | null // of input written to a cache; null: as other input
  readonly cacheWriteLong: number | null // of input that stays in the cache for an hour; null: as other input written to one
}

/** A name that callers may send in place of provider/model, and its models in the order of attempts. */
export interface AliasConfig {
  readonly name: string
  readonly steps: readonly AliasStep[]
}

export interface AliasStep {
  readonly model: string // provider/model, or the name of another alias
  readonly timeout: number | null // ms to the first content; null: timeouts.response
  readonly retries: number // further attempts at the same model
  readonly weight: number | null // percent of the calls that begin with it; null: those that are left, in order
}

/** When a call goes on to another attempt. */
export interface FailoverConfig {
  readonly statuses: readonly number[] // the statuses of a provider that count as failures
  readonly maxAttempts: number // of one call, over all models
  readonly deadline: number // ms for a call until its first content; 0: none
  readonly retryWithin: number // ms after which a failed attempt is the last; 0: none is
}

/** How much of responses to AI calls is stored, for calls that equal theirs or have their Idempotency-Key. */
export interface ReuseConfig {
  readonly response: number // bytes of one
  readonly gateway: number // bytes of all those of a gateway
  readonly total: number // bytes of all, and of those of an account
  readonly memory: number // bytes that a process has in its memory besides
}

export interface AiConfig {
  readonly hosts: readonly string[] // lower-case exact names and IP addresses; empty: no AI routes
  readonly customNetworks: readonly string[] // where providers that accounts add may be, beside public addresses
  readonly webhookNetworks: readonly string[] // where webhooks of budgets and guards may be, beside public addresses
  readonly defaultAccount: string | null // that of calls that name neither account nor token; null: the only one
  readonly corsOrigins: readonly string[] // the sites whose pages may call, as in Origin, or * alone; empty: none
  readonly bodyLimit: number // bytes of a body that is buffered
  readonly uploadLimit: number | null // bytes of one that is streamed to a provider; null: no limit
  readonly reuse: ReuseConfig
  readonly timeouts: Timeouts
  readonly proxy: ProxyConfig | null // for providers with an https URL; null: they are reached directly
  readonly noProxy: readonly ProxyException[] // the providers for which it is not
  readonly providers: readonly ProviderConfig[] // those in the file; the others have their defaults
  readonly models: readonly AliasConfig[]
  readonly failover: FailoverConfig
  readonly prices: readonly PriceConfig[]
  readonly priceList: PriceList | null // in place of the prices that come with Gatehouse
  readonly logExport: LogExportConfig | null // null: log entries are in the store alone
}

export interface StoreConfig {
  readonly url: string | null // sqlite:PATH, redis://…, rediss://…, redis+sentinel://…, redis+cluster://…; null: a file in the data folder; secret
  readonly ca: string | null // PEM of the authorities that rediss: trusts; null: those that Node trusts
  readonly sentinelUsername: string | null // the user for Sentinels; secret
  readonly sentinelPassword: string | null // secret
  readonly commandTimeout: number // ms
  readonly grace: number // ms that a verified token stays valid while the store is unreachable
}

export interface SecretsConfig {
  readonly key: string | null // digests client secrets and encrypts stored responses; null: a file in the data folder; secret
  readonly oldKeys: readonly string[] // only for verifying what they made; secret
}

interface DomainsConfig {
  readonly resolvers: readonly string[] // DNS servers, ADDRESS or ADDRESS:PORT; empty: those of the system
  readonly timeout: number // ms for one lookup, including retries
}
