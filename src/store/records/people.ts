// People as every backend gives them back: who they are, and in which accounts they have a say. Times are ms since the epoch; ids are 32 hex digits.

/** The owner of users: they belong to no account. */
export const everybody = 'people'

/** A person, without the value of any password or code. */
export interface User {
  readonly account: typeof everybody
  readonly id: string
  /** In lower case; no two users have the same. */
  readonly email: string
  /** When the OpenID provider said that it has verified this address; null where it says no more, or never did. Absent in records of before it was kept. */
  readonly emailVerifiedAt?: number | null
  readonly firstName: string | null
  readonly lastName: string | null
  /** An argon2id digest in PHC form; null for who has none. */
  readonly password: string | null
  /** Who that is at an OpenID provider; no two users are the same one there. */
  readonly identity: Identity | null
  readonly totp: Totp | null
  readonly passwordChangedAt: number | null
  /** Ids of the accounts whose list of first steps they have hidden; absent where they never did. */
  readonly hiddenFirstSteps?: readonly string[]
  readonly createdAt: number
  readonly modifiedAt: number
}

/** A person as an OpenID provider knows them. */
export interface Identity {
  readonly issuer: string
  readonly subject: string
}

/** What a user's record says of who has proved the address; nobody where it says nothing. */
export type AddressProof = Partial<Pick<User, 'emailVerifiedAt' | 'identity'>>

/**
 * Whether the address is proven. Only an OpenID provider proves one: a link may be handed to anyone, and a typed address
 * is a claim. Records from before this was stored count as proven if they have an identity, which required a verified
 * address at the time.
 */
export function isEmailVerified({ emailVerifiedAt, identity = null }: AddressProof): boolean {
  return emailVerifiedAt === undefined ? identity !== null : emailVerifiedAt !== null
}

/** A second factor (RFC 6238). */
export interface Totp {
  /** The secret, sealed with a server key. */
  readonly sealed: string
  /** The time step of the code that was accepted last: none up to it is accepted again. 0 before the first. */
  readonly lastStep: number
  /** Digests of the codes that are left, each for one use. */
  readonly recoveryCodes: readonly string[]
  /** When the user proved that the secret arrived; null until then, and it protects nothing yet. */
  readonly confirmedAt: number | null
}

/** A user in an account; each user is in it once at most. */
export interface Member {
  readonly account: string
  readonly id: string
  /** The id of the user. */
  readonly user: string
  /** `pending`: invited, and not in yet. */
  readonly status: 'pending' | 'accepted'
  /** Ids of roles. */
  readonly roles: readonly string[]
  /** Whether one of the roles is that of a super administrator, as who writes it says. */
  readonly isSuper: boolean
  readonly createdAt: number
  readonly modifiedAt: number
}
