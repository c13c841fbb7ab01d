// What a user has allowed an OAuth client to do for them in an account, at one resource. Times are ms since the epoch; ids are 32 hex digits.

/** One consent; there is one at most of a user for a client, an account and a set of resources. */
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
  /** The APIs that were asked for (RFC 8707), each once and in order; none for all. What was consented to says nothing about others. */
  readonly resource: readonly string[]
  /**
   * The hosts of the redirect URIs that the user has seen. Absent from grants made before this was stored, whose scopes
   * may have been meant for other resources: their tokens keep working, but they no longer count as a remembered consent.
   */
  readonly redirectHosts?: readonly string[]
  readonly createdAt: number
  readonly updatedAt: number
}
