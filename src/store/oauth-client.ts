// An OAuth client as every backend gives it back, with its secrets and the proof of its domain. Times are ms since the epoch; ids are
// 32 hex digits.

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
