// The token that tells an origin who a request is from (RFC 7519), signed with a key of this gateway.

import type { CryptoKey, KeyObject } from 'jose'
import { memoizeOnce } from '../base/memo.ts'
import { minute } from '../base/units.ts'
import type { IdentityConfig } from '../config/model/protect-config.ts'
import type { Claims } from './claims.ts'

/** Ms for which it is valid, and after which it is signed anew: an origin has the difference to read it. */
const lifetime = 5 * minute
export const identityRenewal = minute

/** Of whom a gate let in. */
export interface Subject {
  /** Unique among all that gates of this gateway let in. */
  readonly id: string
  readonly claims: Claims
}

interface IdentityKey {
  readonly kid: string
  readonly key: CryptoKey | KeyObject
}

/** It takes a while to load, and few gateways need it. */
const jose = memoizeOnce(() => import('jose'))

/** Returns the subject of another issuer's token: two issuers may give one name to different people. */
export function subjectOf(issuer: string, { sub }: Claims): string | null {
  return typeof sub === 'string' && sub !== '' ? `${issuer}#${sub}` : null
}

/** Signs with ES256. `now` is in ms since the epoch. */
export async function signIdentity(
  { id, claims }: Subject,
  config: IdentityConfig,
  { kid, key }: IdentityKey,
  now: number,
): Promise<string> {
  const { SignJWT } = await jose()
  const listed = config.claims.flatMap(name => (Object.hasOwn(claims, name) ? [[name, claims[name]]] : []))
  return new SignJWT(Object.fromEntries(listed))
    .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid })
    .setIssuer(config.issuer)
    .setAudience(config.audience)
    .setSubject(id)
    .setIssuedAt(Math.floor(now / 1000))
    .setExpirationTime(Math.floor((now + lifetime) / 1000))
    .sign(key)
}
