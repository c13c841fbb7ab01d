// What a user allows an OAuth client to do for them in an account, at certain resources. Times are ms since
// the epoch; ids are 32 hex digits.

/** A consent. There is at most one per user, client, account and set of resources. */
export interface OAuthGrant {
  readonly account: string
  readonly id: string
  readonly user: string
  readonly client: string
  readonly clientAccount: string
  readonly scopes: readonly string[]
  /** Optional scopes that the user unticked, so that they are not requested again. */
  readonly declined: readonly string[]
  /**
   * The requested APIs (RFC 8707), sorted and without duplicates; empty for all. A consent does not extend to
   * other resources.
   */
  readonly resource: readonly string[]
  /**
   * The hosts of the redirect URIs that the user has seen. Absent from grants made before this was stored,
   * whose scopes may have been meant for other resources: their tokens keep working, but they no longer count
   * as a remembered consent.
   */
  readonly redirectHosts?: readonly string[]
  readonly createdAt: number
  readonly updatedAt: number
}
