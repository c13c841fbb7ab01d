// Users and their memberships in accounts, as every backend returns them. Times are ms since the epoch; ids
// are 32 hex digits.

/** The owner of users, who belong to no account. */
export const everybody = 'people'

export interface User {
  readonly account: typeof everybody
  readonly id: string
  /** In lower case, and unique. */
  readonly email: string
  /**
   * When the OpenID provider said that it had verified this address; null if it no longer does, or never did.
   * Absent in records from before this was stored.
   */
  readonly emailVerifiedAt?: number | null
  readonly firstName: string | null
  readonly lastName: string | null
  /** An argon2id digest in PHC form, `guarded` beside passkeys; null for none. */
  readonly password: string | null
  /** Their identity at an OpenID provider, which is unique; null for none. */
  readonly identity: Identity | null
  readonly totp: Totp | null
  /** Absent before the first. */
  readonly passkeys?: Passkeys
  /** Digests of recovery codes, each for one use; absent in records that have them in `totp`. */
  readonly recoveryCodes?: readonly string[]
  /** When the second factor was set without which no session counts; absent if `totp` says it. */
  readonly factorSetAt?: number
  readonly passwordChangedAt: number | null
  /** Ids of the accounts whose list of first steps the user has hidden; absent for none. */
  readonly hiddenFirstSteps?: readonly string[]
  readonly createdAt: number
  readonly modifiedAt: number
}

export interface Identity {
  readonly issuer: string
  readonly subject: string
}

/** What a user's record says about a proof of the address; empty if it says nothing. */
export type AddressProof = Partial<Pick<User, 'emailVerifiedAt' | 'identity'>>

/**
 * Only an OpenID provider proves an address. Records from before `emailVerifiedAt` count as proven if they
 * have an identity, which required a verified address.
 */
export function isEmailVerified({ emailVerifiedAt, identity = null }: AddressProof): boolean {
  return emailVerifiedAt === undefined ? identity !== null : emailVerifiedAt !== null
}

export interface Totp {
  /** The secret, sealed with a server key. */
  readonly sealed: string
  /** The time step of the last accepted code: none up to it is accepted again. 0 before the first. */
  readonly lastStep: number
  /** Digests of the remaining recovery codes, each for one use. */
  readonly recoveryCodes: readonly string[]
  /** When the user proved possession of the secret; null until then, and it protects nothing yet. */
  readonly confirmedAt: number | null
}

export interface Passkeys {
  readonly keys: readonly Passkey[]
  /** When the newest challenge was made that a passkey has signed: none up to it is accepted again. */
  readonly challengedAt: number
}

/** A discoverable credential of WebAuthn. */
export interface Passkey {
  /** Chosen by the authenticator, in base64url. */
  readonly id: string
  /** A COSE key, in base64url. */
  readonly publicKey: string
  /** The latest signature counter; 0 from authenticators that have none. */
  readonly counter: number
  /** The host of the pages, for which alone it signs. */
  readonly host: string
  /** How browsers reach the authenticator. */
  readonly transports: readonly string[]
  /** Given by its owner. */
  readonly name: string
  readonly createdAt: number
  /** Null before the first use. */
  readonly usedAt: number | null
}

/** A user in an account, at most once each. */
export interface Member {
  readonly account: string
  readonly id: string
  readonly user: string
  /** `pending`: invited, but not accepted yet. */
  readonly status: 'pending' | 'accepted'
  readonly roles: readonly string[]
  /** Those of the roles that groups at the OpenID provider gave, not a person; absent for none. */
  readonly groupRoles?: readonly string[]
  /** Whether one of the roles is super administrator; set by the writer. */
  readonly isSuper: boolean
  readonly createdAt: number
  readonly modifiedAt: number
}
