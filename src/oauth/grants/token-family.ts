// Families: all tokens that were issued for one code, by way of refresh tokens too. They end together, by a
// credential that records the end and outlasts them.

import { hash } from 'node:crypto'
import type { Credential, CredentialKind, Succession } from '../../store/records/credential.ts'

/** How long a refresh token can be used again after its first use, in ms: apps race, and lose responses. */
const grace = 30_000
/** Longer than the life of any token, in ms. */
const endLife = 31 * 86_400_000

type Owners = Pick<Credential, 'user' | 'client' | 'grant'>

/** Returns the name of the family of a code or token; null if it has none. */
export function familyOf({ data }: Credential): string | null {
  const { family } = (data ?? {}) as { readonly family?: unknown }
  return typeof family === 'string' ? family : null
}

export function endDigestOf(family: string): string {
  return hash('sha256', `family ${family}`)
}

/** Makes the credential that records the end of a family; `now` is in ms since the epoch. */
export function endOf(family: string, { user, client, grant }: Owners, now: number): Credential {
  const owners = { user, client, grant }
  const times = { createdAt: now, expiresAt: now + endLife, consumedAt: null }
  return { kind: 'ended_family', digest: endDigestOf(family), ...owners, ...times, data: null }
}

/** Records the last tokens of a family, issued for `spent`; null without a refresh token. */
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

/** Returns how long after its first use a code or refresh token can be used again, in ms. */
export function graceOf(kind: CredentialKind): number {
  return kind === 'refresh_token' ? grace : 0
}

/** Returns a clause that says what a replay has caused. */
export function replayReason(kind: CredentialKind, consumedAt: number | null, now: number): string {
  const ended = 'so the tokens that came of it are revoked'
  if (consumedAt === null) return `another refresh token has taken the place of this one, ${ended}`
  const ago = (Math.max(0, now - consumedAt) / 1000).toFixed(1)
  const what = kind === 'refresh_token' ? 'refresh token was used, or replaced,' : 'code was used'
  return `the ${what} before, ${ago} s ago, ${ended}`
}
