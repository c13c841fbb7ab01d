// Families: all that was given for one code, also by way of refresh tokens. They end together, and for good: by a credential that says so, which outlasts them.

import { hash } from 'node:crypto'
import type { Credential, CredentialKind } from '../store/credential.ts'

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

/** Returns for how long after its first use a code or token may be used again, in ms. */
export function graceOf(kind: CredentialKind): number {
  return kind === 'refresh_token' ? grace : 0
}

/** Returns a sentence about what a replay has done. */
export function replayReason(kind: CredentialKind, consumedAt: number, now: number): string {
  const ago = (Math.max(0, now - consumedAt) / 1000).toFixed(1)
  const what = kind === 'refresh_token' ? 'refresh token' : 'code'
  return `the ${what} was used before, ${ago} s ago, so the tokens that came of it are revoked`
}
