// Families: all that was given for one code, also by way of refresh tokens. They end together, and for good: by a credential that says so, which outlasts them.

import { hash } from 'node:crypto'
import type { Credential, CredentialKind, Succession } from '../../store/records/credential.ts'

/** How long a refresh token that was used may be used again, since apps race and lose responses; in ms. */
const grace = 30_000
/** Longer than any token of a family lives, in ms. */
const endLife = 31 * 86_400_000

/** Whose a family is. */
type Owned = Pick<Credential, 'user' | 'client' | 'grant'>

/** Returns the name of the family that a code or token is of; null for none. */
export function familyOf({ data }: Credential): string | null {
  const { family } = (data ?? {}) as { readonly family?: unknown }
  return typeof family === 'string' ? family : null
}

/** Returns the digest of what ends a family. */
export function endDigestOf(family: string): string {
  return hash('sha256', `family ${family}`)
}

/** Makes what ends a family, now (ms since the epoch). */
export function endOf(family: string, { user, client, grant }: Owned, now: number): Credential {
  const owners = { user, client, grant }
  const times = { createdAt: now, expiresAt: now + endLife, consumedAt: null }
  return { kind: 'ended_family', digest: endDigestOf(family), ...owners, ...times, data: null }
}

/** Returns what is kept of a family beside the tokens that are issued for `spent`: which they are. Null where no refresh token is among them. */
export function successionOf(
  spent: Credential,
  issued: readonly Credential[],
  now: number,
): Credential | null {
  const family = familyOf(spent)
  const refresh = issued.find(({ kind }) => kind === 'refresh_token')
  const access = issued.find(({ kind }) => kind === 'access_token')
  if (family === null || refresh === undefined || access === undefined) return null
  const { user, client, grant } = spent
  const last: Succession = { spent: spent.digest, refresh: refresh.digest, access: access.digest }
  return {
    ...{ kind: 'token_family', digest: endDigestOf(family), user, client, grant, data: { ...last } },
    ...{ createdAt: now, expiresAt: refresh.expiresAt, consumedAt: null },
  }
}

/** Returns for how long after its first use a code or token may be used again, in ms. */
export function graceOf(kind: CredentialKind): number {
  return kind === 'refresh_token' ? grace : 0
}

/** Returns a sentence about what a replay has done. */
export function replayReason(kind: CredentialKind, consumedAt: number | null, now: number): string {
  const ended = 'so the tokens that came of it are revoked'
  if (consumedAt === null) return `another refresh token has taken the place of this one, ${ended}`
  const ago = (Math.max(0, now - consumedAt) / 1000).toFixed(1)
  const what = kind === 'refresh_token' ? 'refresh token was used, or replaced,' : 'code was used'
  return `the ${what} before, ${ago} s ago, ${ended}`
}
