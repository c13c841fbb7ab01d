// Short-lived credentials: sessions, invitations, codes and tokens of OAuth, each found by the digest of its
// value, which is stored nowhere.

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
  | 'site_code'
  | 'site_session'
  | 'client_assertion'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** A credential without its value. Times are ms since the epoch. */
export interface Credential {
  readonly kind: CredentialKind
  /** SHA-256 of the value: 64 hex digits in lower case. */
  readonly digest: string
  /**
   * Ids of the owners, by which credentials are listed and removed; up to 64 letters, digits, hyphens and
   * underscores each, null for none.
   */
  readonly user: string | null
  readonly client: string | null
  readonly grant: string | null
  /** Further data of its kind; at most 64 K characters as JSON. */
  readonly data: Json
  readonly createdAt: number
  /** When it expires; it is gone then, whatever its state. */
  readonly expiresAt: number
  /**
   * When it was consumed; null until then, and always for reusable ones. It is kept until it expires, so that
   * a second use is detected.
   */
  readonly consumedAt: number | null
}

/** Selects credentials by owner: all given ids must match, and at least one is required. */
export interface CredentialOwner {
  readonly user?: string
  readonly client?: string
  readonly grant?: string
}

/** A consumed credential, as it is now stored. */
export interface Consumption {
  readonly credential: Credential
  /** Whether this call consumed it; otherwise `consumedAt` is the time of the one that did. */
  readonly isFirst: boolean
}

/** A code or refresh token, and what is issued in exchange. */
export interface Exchange {
  readonly kind: CredentialKind
  readonly digest: string
  readonly at: number
  /** Ms after its first use in which it works again while its refresh token is unused. */
  readonly grace: number
  /**
   * A refresh token comes with a credential of the kind `token_family`, with the digest of `end`, whose data
   * is the `Succession`.
   */
  readonly issued: readonly Credential[]
  /**
   * Marks the end of the whole family: once it is stored nothing more is issued. A replayed exchange stores
   * it.
   */
  readonly end: Credential
}

export interface Exchanged {
  /**
   * `replayed`: it was used before, or another refresh token has replaced it, and its family has ended.
   * `ended`: it no longer exists, or its family has ended for another reason.
   */
  readonly outcome: 'issued' | 'replayed' | 'ended'
  /** When it was first used or replaced; null if it has ended, or that is unknown. */
  readonly consumedAt: number | null
}

/**
 * The latest tokens of a family and what they were issued for, by digest: any other refresh token is a
 * replay.
 */
export interface Succession {
  readonly spent: string
  readonly refresh: string
  readonly access: string
}

/**
 * Whether an exchange shows that somebody else has used the credential or its family, too; `last` is the
 * succession of the family.
 */
export function isReplay(
  { digest, consumedAt }: Credential,
  { at, grace }: Pick<Exchange, 'at' | 'grace'>,
  last: Succession | null,
): boolean {
  if (consumedAt === null) return last !== null && last.refresh !== digest
  if (grace === 0 || at - consumedAt > grace) return true
  // It was used before successions were stored: a stolen copy is detected once the tokens issued then are
  // used.
  return last !== null && last.spent !== digest
}

const maxData = 64 * 1024
const digestForm = /^[0-9a-f]{64}$/
const ownerForm = /^[\w-]{1,64}$/

export function isDigest(text: string): boolean {
  return digestForm.test(text)
}

/** Returns the data of a credential as JSON; throws if the credential must not be stored. */
export function jsonOf({ digest, user, client, grant, data, expiresAt }: Credential): string {
  // A value instead of a digest would be stored, and could be stolen.
  if (!isDigest(digest)) throw new TypeError('the digest of a credential must be SHA-256 in hex')
  if ([user, client, grant].some(id => id !== null && !ownerForm.test(id)))
    throw new TypeError('the user, client and grant of a credential must be ids')
  if (!Number.isSafeInteger(expiresAt)) throw new TypeError('a credential must expire at a whole ms')
  const json = JSON.stringify(data)
  if (json.length > maxData)
    throw new TypeError(`the data of a credential must have ${maxData} characters at most`)
  return json
}

/** Returns the most specific owner of a removal, and its id; throws if none is given. */
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
