// What opens something for a while: sessions, invitations, codes and tokens of OAuth, each found by the digest of its value, which is kept nowhere.

export type CredentialKind =
  | 'session'
  | 'invitation'
  | 'interaction'
  | 'oidc_session'
  | 'authorization_code'
  | 'access_token'
  | 'refresh_token'
  | 'sign_in'
  | 'ended_family'
  | 'token_family'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** A credential without its value. Times are ms since the epoch. */
export interface Credential {
  readonly kind: CredentialKind
  /** SHA-256 of the value: 64 hex digits in lower case. */
  readonly digest: string
  /** Ids of whose it is, by which it is listed and removed; up to 64 letters, digits, hyphens and underscores each, null for none. */
  readonly user: string | null
  readonly client: string | null
  readonly grant: string | null
  /** What its kind needs beside; at most 64 K characters as JSON. */
  readonly data: Json
  readonly createdAt: number
  /** When it ends by itself; it is gone then, whatever its state. */
  readonly expiresAt: number
  /** When it was used up; null until then, and for what may be used often. It stays until it expires, so that a second use is noticed. */
  readonly consumedAt: number | null
}

/** Whose credentials are meant: all that is given must match, and something must be given. */
export interface CredentialOwner {
  readonly user?: string
  readonly client?: string
  readonly grant?: string
}

/** What was consumed, as it is kept now. */
export interface Consumption {
  readonly credential: Credential
  /** Whether this consumed it; else `consumedAt` is the time of who did. */
  readonly isFirst: boolean
}

/** A code or refresh token, and what is given for it. */
export interface Exchange {
  readonly kind: CredentialKind
  readonly digest: string
  /** When, in ms since the epoch. */
  readonly at: number
  /** For how many ms after its first use it may be used again, as long as the refresh token that was issued for it is unused; 0 for one use only. */
  readonly grace: number
  /** With a refresh token goes a credential of the kind `token_family`, with the digest of `end`, whose data is the `Succession`. */
  readonly issued: readonly Credential[]
  /** What stands for the end of all that ever came of it: where it is in the store nothing more is issued, and a use that comes too late puts it there. */
  readonly end: Credential
}

export interface Exchanged {
  /** `replayed`: it was used before, or another refresh token has taken its place, and its family has ended. `ended`: it is not there any more, or its family has ended otherwise. */
  readonly outcome: 'issued' | 'replayed' | 'ended'
  /** When it was first used, or another one took its place; null where it has ended, and where that is not known. */
  readonly consumedAt: number | null
}

/** The last tokens of a family, and what they were issued for, all by their digests: a family has one chain of refresh tokens, and any other is noticed by this. */
export interface Succession {
  readonly spent: string
  readonly refresh: string
  readonly access: string
}

/** Whether an exchange shows that somebody else has used the credential, or its family, too; `last` is the succession of the family. */
export function isReplay(
  { digest, consumedAt }: Credential,
  { at, grace }: Pick<Exchange, 'at' | 'grace'>,
  last: Succession | null,
): boolean {
  if (consumedAt === null) return last !== null && last.refresh !== digest
  if (grace === 0 || at - consumedAt > grace) return true
  // It was used before successions were kept: what it gave then is noticed once that is used.
  return last !== null && last.spent !== digest
}

const mostData = 64 * 1024
const digestForm = /^[0-9a-f]{64}$/
const ownerForm = /^[\w-]{1,64}$/

/** Whether a text can be the digest of a credential: that of any other finds nothing. */
export function isDigest(text: string): boolean {
  return digestForm.test(text)
}

/** Returns the data of a credential as JSON; throws where the credential is none that may be kept. */
export function jsonOf({ digest, user, client, grant, data, expiresAt }: Credential): string {
  // A value in its place would be kept, and could be stolen.
  if (!isDigest(digest)) throw new TypeError('the digest of a credential must be SHA-256 in hex')
  if ([user, client, grant].some(id => id !== null && !ownerForm.test(id)))
    throw new TypeError('the user, client and grant of a credential must be ids')
  if (!Number.isSafeInteger(expiresAt)) throw new TypeError('a credential must expire at a whole ms')
  const json = JSON.stringify(data)
  if (json.length > mostData)
    throw new TypeError(`the data of a credential must have ${mostData} characters at most`)
  return json
}

/** Returns what tells of a removal: the narrowest of whose it was, and the id of that; throws where nothing is given. */
export function narrowest({
  user,
  client,
  grant,
}: CredentialOwner): readonly [kind: keyof CredentialOwner, id: string] {
  if (grant !== undefined) return ['grant', grant]
  if (user !== undefined) return ['user', user]
  if (client !== undefined) return ['client', client]
  throw new TypeError('credentials can only be listed and removed by whose they are')
}
