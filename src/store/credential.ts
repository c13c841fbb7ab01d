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
