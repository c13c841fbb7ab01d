// The keys that sign ID tokens. Times are ms since the epoch.

/** The owner of signing keys, which belong to no account. */
export const keyOwner = 'oauth'

export interface SigningKey {
  readonly account: typeof keyOwner
  /** The `kid`. */
  readonly id: string
  /** The public key as a JWK (RFC 7517). */
  readonly publicKey: Readonly<Record<string, string>>
  /** The private key as a JWK, sealed with a server key. */
  readonly sealed: string
  readonly createdAt: number
}
