// The keys that sign ID tokens, and those that tell origins who a request is from. Times are ms since the
// epoch.

export const keyOwners = ['oauth', 'identity'] as const
export type KeyOwner = (typeof keyOwners)[number]

export interface SigningKey {
  readonly account: KeyOwner
  readonly id: string
  readonly publicKey: Readonly<Record<string, string>>
  /** The private key as a JWK, sealed with a server key. */
  readonly sealed: string
  readonly createdAt: number
}
