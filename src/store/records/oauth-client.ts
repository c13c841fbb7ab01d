// An OAuth client as every backend returns it, with its secrets and the verification of its domain. Times are ms since the epoch; ids are
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
  /** The secret that was deleted last: it opens nothing, and explains why an app that still shows it fails. Absent before the first. */
  readonly deletedSecret?: DeletedSecret
  /** The verification of the host of `clientUri`. Without `clientUri` it is null, unless a host was verified: that host stays the only one that the client may name. */
  readonly verification: DomainVerification | null
  /** Counts changes, except DNS checks that did not end a verification and uses of secrets: the ETag of the API is made of it. */
  readonly revision: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly promotedAt: number | null
}

export interface ClientSearch {
  /** A part of the name, in any case; an empty one is in every name. */
  readonly name: string
  /** Null for both. */
  readonly visibility: OAuthClient['visibility'] | null
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
  /** To the hour, written with a delay; null when it was never used. */
  readonly lastUsedAt: number | null
}

/** A secret that is no longer good. */
interface DeletedSecret extends Pick<ClientSecret, 'digest' | 'key'> {
  readonly deletedAt: number
}

/** The state of a verification that the owner of a client owns a host. */
export interface DomainVerification {
  /** In lower case, as punycode, without a dot at the end. */
  readonly host: string
  /** 32 hex digits, which follow the prefix in the TXT record. */
  readonly code: string
  readonly status: VerificationStatus
  /** When the two days began that end at `deadline`. */
  readonly startedAt: number
  readonly deadline: number
  /** Null when it is over, verified or failed. */
  readonly nextCheckAt: number | null
  /** The number of DNS checks since `startedAt`, and the last result, since then or before. */
  readonly checks: number
  readonly lastAnswer: DnsAnswer | null
  readonly verifiedAt: number | null
}

/** `pending`: not checked yet. `in_progress`: checked, and not found yet. `failed`: not found until the deadline. */
export type VerificationStatus = 'pending' | 'in_progress' | 'verified' | 'failed'

/** The DNS result for the TXT records of a host. */
export interface DnsAnswer {
  readonly at: number
  readonly outcome: DnsOutcome
  /** The TXT records that were found, each joined from its chunks: the first ones, and the beginning of each. */
  readonly records: readonly string[]
}

/** `no_match`: there are TXT records, but not this one. `no_records`: the name exists, but has none, or leads to a missing one. */
export type DnsOutcome =
  | 'found'
  | 'no_match'
  | 'no_records'
  | 'no_such_name'
  | 'server_failure'
  | 'refused'
  | 'timeout'
  | 'error'
