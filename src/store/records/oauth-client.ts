// An OAuth client with its secrets and domain verification. Times are ms since the epoch; ids are 32 hex
// digits, or begin with `url-`.

/**
 * A client of the OAuth endpoints, in the terms of RFC 7591; its id is the `client_id`. Unset texts are null,
 * unset lists empty.
 */
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
  /** The scopes that a user may decline. */
  readonly optionalScopes: readonly string[]
  readonly logoUri: string | null
  readonly policyUri: string | null
  readonly tosUri: string | null
  readonly clientUri: string | null
  readonly visibility: 'private' | 'public'
  /** At most two, the newest first; empty if the method is `none`. */
  readonly secrets: readonly ClientSecret[]
  /**
   * The most recently deleted secret. It authenticates nothing, but explains why an app that still uses it
   * fails. Absent before the first deletion.
   */
  readonly deletedSecret?: DeletedSecret
  /**
   * Verifies the host of `clientUri`; without one, only kept if a host was verified: the client may name only
   * that.
   */
  readonly verification: DomainVerification | null
  /** Counts changes, except unsuccessful DNS checks and uses of secrets; the API derives its ETag from it. */
  readonly revision: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly promotedAt: number | null
  /**
   * Where its settings come from; absent for clients that were registered. A client with one is owned by
   * `everybody`, and is stored once somebody has allowed it something.
   */
  readonly document?: ClientDocument
}

/** The metadata document of a client, by the URL of which the client is known. */
interface ClientDocument {
  /** The `client_id`, letter by letter. */
  readonly url: string
  /** The scopes that it names; null if it names none, so that the client may ask for all. */
  readonly scope: readonly string[] | null
  /** With which the client authenticates itself; empty if its method is `none`. */
  readonly keys: readonly DocumentKey[]
  readonly fetchedAt: number
  /** When it must be fetched again. */
  readonly expiresAt: number
}

/** A public key for ES256 (RFC 7518 section 6.2). */
export interface DocumentKey {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly x: string
  readonly y: string
  readonly kid?: string
}

export interface ClientSearch {
  /** A part of the name, ignoring case; an empty one matches every name. */
  readonly name: string
  readonly visibility: OAuthClient['visibility'] | null
}

export type GrantType = 'authorization_code' | 'refresh_token'
/** Only clients that are known by a document have `private_key_jwt`. */
export type TokenEndpointAuthMethod =
  | 'client_secret_basic'
  | 'client_secret_post'
  | 'private_key_jwt'
  | 'none'

/** A secret of an OAuth client, without its value. */
export interface ClientSecret {
  /** HMAC-SHA-256 of the value, in hex, and the id of the server key that was used. */
  readonly digest: string
  readonly key: string
  readonly tail: string
  readonly createdAt: number
  /** To the hour, written with a delay; null if never used. */
  readonly lastUsedAt: number | null
}

/** A secret that is no longer valid. */
interface DeletedSecret extends Pick<ClientSecret, 'digest' | 'key'> {
  readonly deletedAt: number
}

/** The state of verifying that the owner of a client owns a host. */
export interface DomainVerification {
  /** In lower case, as punycode, without a trailing dot. */
  readonly host: string
  /** 32 hex digits, which follow the prefix in the TXT record. */
  readonly code: string
  readonly status: VerificationStatus
  /** Start of the two days that end at `deadline`. */
  readonly startedAt: number
  readonly deadline: number
  /** Null once the verification has succeeded or failed. */
  readonly nextCheckAt: number | null
  /** The number of DNS checks since `startedAt`, and the latest result, which may be older. */
  readonly checks: number
  readonly lastAnswer: DnsAnswer | null
  readonly verifiedAt: number | null
}

/**
 * `pending`: not checked yet. `in_progress`: checked, but not found yet. `failed`: not found before the
 * deadline.
 */
export type VerificationStatus = 'pending' | 'in_progress' | 'verified' | 'failed'

/** The DNS result for the TXT records of a host. */
export interface DnsAnswer {
  readonly at: number
  readonly outcome: DnsOutcome
  /** The TXT records, each joined from its chunks: the first few, and the beginning of each. */
  readonly records: readonly string[]
}

/**
 * `no_match`: there are TXT records, but not this one. `no_records`: the name exists but has none, or points
 * to a missing one.
 */
export type DnsOutcome =
  | 'found'
  | 'no_match'
  | 'no_records'
  | 'no_such_name'
  | 'server_failure'
  | 'refused'
  | 'timeout'
  | 'error'
