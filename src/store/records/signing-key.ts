// The keys that sign ID tokens. Times are ms since the epoch.

export const keyOwner = 'oauth'

export interface SigningKey {
  readonly account: typeof keyOwner
  readonly id: string
  readonly publicKey: Readonly<Record<string, string>>
  /** The private key as a JWK, sealed with a server key. */
  readonly sealed: string
  readonly createdAt: number
}
