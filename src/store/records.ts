// The shapes that are kept, as every backend gives them back. Times are ms since the epoch; ids are 32 hex digits unless said otherwise.
import type { AccessRule } from '../config/access-config.ts'
import type { ErrorPageType, ErrorRule } from '../config/custom-errors-config.ts'

/** Who owns gateways and tokens. */
export interface Account {
  readonly id: string
  readonly name: string
  readonly createdAt: number
}

/** An AI gateway: what callers must prove, and what is kept of their calls. */
export interface Gateway {
  readonly account: string
  /** Chosen by its owner: 1 to 64 lower-case letters, digits, hyphens and underscores. */
  readonly id: string
  /** Whether a call needs a valid token. */
  readonly authentication: boolean
  /** Whether the bodies of calls are kept with their log entries. */
  readonly collectLogs: boolean
  /** The most log entries that are kept, and what happens at that number. */
  readonly logManagement: number
  readonly logManagementStrategy: LogStrategy
  /** How many calls it lets in; null where nothing is set, and absent in records that are older than the setting. */
  readonly rateLimit?: GatewayRateLimit | null
  readonly createdAt: number
  readonly modifiedAt: number
}

export interface GatewayRateLimit {
  /** 0 is off. */
  readonly limit: number
  readonly interval: number // seconds
  readonly technique: 'fixed' | 'sliding'
}

export type LogStrategy = 'STOP_INSERTING' | 'DELETE_OLDEST'

/** An API token, without its value. */
export interface Token {
  readonly account: string
  readonly id: string
  readonly name: string
  /** SHA-256 of the value, in hex. */
  readonly digest: string
  readonly status: 'active' | 'disabled'
  readonly policies: readonly Policy[]
  /** From when on, and until when, it is valid; null for no limit. */
  readonly notBefore: number | null
  readonly expiresOn: number | null
  /** Client addresses and networks that may use it (empty: all), and that may not. */
  readonly addressesIn: readonly string[]
  readonly addressesNotIn: readonly string[]
  readonly issuedOn: number
  readonly modifiedOn: number
}

/** What a token allows, or takes away again. */
export interface Policy {
  readonly id: string
  readonly effect: 'allow' | 'deny'
  /** Ids of permission groups. */
  readonly permissionGroups: readonly string[]
  /** Accounts, or `*` for all. */
  readonly accounts: readonly string[]
}

/** A client of the OAuth endpoints, in the terms of RFC 7591; its id is the `client_id`. Texts that are not set are null, lists empty. */
export interface OAuthClient {
  readonly account: string
  readonly id: string
  readonly name: string
  readonly grantTypes: readonly GrantType[]
  readonly responseTypes: readonly 'code'[]
  readonly tokenEndpointAuthMethod: TokenEndpointAuthMethod
  readonly redirectUris: readonly string[]
  readonly postLogoutRedirectUris: readonly string[]
  readonly allowedCorsOrigins: readonly string[]
  readonly scopes: readonly string[]
  /** Those of the scopes that a user may decline. */
  readonly optionalScopes: readonly string[]
  readonly logoUri: string | null
  readonly policyUri: string | null
  readonly tosUri: string | null
  readonly clientUri: string | null
  readonly visibility: 'private' | 'public'
  /** At most two, the newest first; none where the method is `none`. */
  readonly secrets: readonly ClientSecret[]
  /** Of the host of `clientUri`; null where that is. */
  readonly verification: DomainVerification | null
  /** Counts what was changed, without the looks at DNS that did not end a proof and the uses of secrets: the ETag of the API is made of it. */
  readonly revision: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly promotedAt: number | null
}

export type GrantType = 'authorization_code' | 'refresh_token'
export type TokenEndpointAuthMethod = 'client_secret_basic' | 'client_secret_post' | 'none'

/** A secret of an OAuth client, without its value. */
export interface ClientSecret {
  /** HMAC-SHA-256 of the value, in hex, and the id of the server key that made it. */
  readonly digest: string
  readonly key: string
  /** The last 4 characters of the value. */
  readonly tail: string
  readonly createdAt: number
  /** To the hour, written behind; null when it was never used. */
  readonly lastUsedAt: number | null
}

/** How far the proof is that the owner of a client owns a host. */
export interface DomainVerification {
  /** In lower case, as punycode, without a dot at the end. */
  readonly host: string
  /** 32 hex digits, which the TXT record has behind its prefix. */
  readonly code: string
  readonly status: VerificationStatus
  /** When the two days began that end at `deadline`. */
  readonly startedAt: number
  readonly deadline: number
  /** Null when it is over, verified or failed. */
  readonly nextCheckAt: number | null
  /** How often DNS was asked since `startedAt`, and what it said last, since then or before. */
  readonly checks: number
  readonly lastAnswer: DnsAnswer | null
  readonly verifiedAt: number | null
}

/** `pending`: not asked yet. `in_progress`: asked, and not found yet. `failed`: not found until the deadline. */
export type VerificationStatus = 'pending' | 'in_progress' | 'verified' | 'failed'

/** What DNS said of the TXT records of a host. */
export interface DnsAnswer {
  readonly at: number
  readonly outcome: DnsOutcome
  /** The TXT records that were there, each joined from its chunks: the first ones, and the beginning of each. */
  readonly records: readonly string[]
}

/** `no_match`: there are TXT records, but not the one. `no_records`: there is the name, or one that it leads to is missing. */
export type DnsOutcome =
  | 'found'
  | 'no_match'
  | 'no_records'
  | 'no_such_name'
  | 'server_failure'
  | 'refused'
  | 'timeout'
  | 'error'

/** The owner of what is kept of zones: they belong to the configuration, not to an account. */
export const zoneOwner = 'zones'

/** What the API has set for one zone, in order; its id is the name of the zone. */
export interface RuleList<R> {
  readonly account: string
  readonly id: string
  readonly rules: readonly R[]
  readonly createdAt: number
  readonly modifiedAt: number
}

/** The custom error rules of a zone. */
export type ErrorRuleList = RuleList<KeptErrorRule>

export interface KeptErrorRule extends ErrorRule {
  readonly id: string
}

/** The access rules of a zone. */
export type AccessRuleList = RuleList<KeptAccessRule>

export interface KeptAccessRule extends AccessRule {
  readonly id: string
}

/** An error page of a zone; its id is `zone/type`. */
export interface ErrorPage {
  readonly account: string
  readonly id: string
  readonly zone: string
  readonly type: ErrorPageType
  /** At most 1.5 MB. */
  readonly html: string
  readonly createdAt: number
  readonly modifiedAt: number
}

/** Who changed what by the management API or the command line, when and from where. */
export interface AuditEntry {
  readonly id: string
  readonly account: string
  readonly at: number
  /** The id of the token that asked; `command line` for a command that writes to the store itself. */
  readonly actor: string
  /** The client's address, empty for a command, and the ray id of the request. */
  readonly address: string
  readonly ray: string
  readonly action: AuditAction
  readonly resourceKind: ResourceKind
  readonly resource: string
  /** The names of the members that were set or changed, as the API has them; never a value. */
  readonly changed: readonly string[]
}

export type ResourceKind =
  | 'oauth_client'
  | 'gateway'
  | 'token'
  | 'error_rules'
  | 'error_page'
  | 'access_rules'

export type AuditAction =
  | 'create'
  | 'update'
  | 'delete'
  | 'reorder'
  | 'roll'
  | 'rotate_secret'
  | 'delete_rotated_secret'
  | 'delete_logs'

/** The answer to a request with an Idempotency-Key, kept to be given again. */
export interface KeptAnswer {
  readonly account: string
  /** Of caller, request and Idempotency-Key: SHA-256 in hex. */
  readonly key: string
  /** Of the body: SHA-256 in hex. */
  readonly fingerprint: string
  /** The answer, sealed: it has a secret. */
  readonly sealed: string
  readonly expiresAt: number
}

/** One AI call that was let in. No credential ever stands in it. */
export interface LogEntry {
  /** The ray id of the request: 16 hex digits. */
  readonly id: string
  readonly account: string
  readonly gateway: string
  readonly createdAt: number
  readonly provider: string
  /** Null where neither the request nor the answer named one. */
  readonly model: string | null
  /** The path at the provider, without query. */
  readonly path: string
  readonly status: number
  /** Whether the provider answered with 2xx and the client got all of it. */
  readonly success: boolean
  /** The name of the error record, where the gateway answered itself. */
  readonly error: string | null
  /** Ms. */
  readonly duration: number
  readonly timeToFirstByte: number | null
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  /** US dollars. */
  readonly cost: number | null
  readonly cached: boolean
  readonly authenticated: boolean
  readonly streamed: boolean
  readonly metadata: Metadata | null
  readonly requestContentType: string | null
  readonly responseContentType: string | null
  readonly request: Payload | null
  readonly response: Payload | null
}

/** A log entry as lists show it. */
export type LogSummary = Omit<LogEntry, 'request' | 'response'>

/** A body as it is kept: its beginning, where it was larger than what is kept. */
export interface Payload {
  readonly text: string
  readonly isCut: boolean
}

/** What a caller says of a call. */
export type Metadata = Readonly<Record<string, string | number | boolean | null>>
