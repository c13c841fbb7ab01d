// What a user has allowed an OAuth client to do for them in an account. Times are ms since the epoch; ids are 32 hex digits.

/** One consent; there is one at most of a user for a client and an account. */
export interface OAuthGrant {
  /** The account that was consented to. */
  readonly account: string
  readonly id: string
  readonly user: string
  readonly client: string
  /** The account that owns the client. */
  readonly clientAccount: string
  readonly scopes: readonly string[]
  /** Optional scopes that the user has unticked, so that they are not asked for again. */
  readonly declined: readonly string[]
  /** The APIs that were asked for (RFC 8707); none for all. */
  readonly resource: readonly string[]
  readonly createdAt: number
  readonly updatedAt: number
}
