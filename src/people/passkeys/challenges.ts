// Challenges that passkeys sign: sealed for one browser and purpose, so that the store keeps none of them.
// Each is accepted once, since the record of its user names the newest one that was signed.

import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import { digestOfValue } from '../records/secret-value.ts'

interface ChallengeUse {
  /** What is done with it; for a second step, with the digest of its ticket. */
  readonly purpose: string
  /** The secret that the forms of the browser are bound to. */
  readonly browser: string
}

/** Ms for which a challenge can be signed, as long as a sign-in may wait for a code. */
const challengeLife = 600_000

/** Returns a challenge in base64url. */
export function newChallenge(use: ChallengeUse, keys: SecretKeys, now: number): string {
  return keys.seal(String(now), contextOf(use))
}

/** When it was made (ms since the epoch); null if not here, for another use or browser, or too long ago. */
export function challengeTime(
  challenge: string,
  use: ChallengeUse,
  keys: SecretKeys,
  now: number,
): number | null {
  const madeAt = Number(keys.unseal(challenge, contextOf(use)) ?? Number.NaN)
  return now - madeAt < challengeLife ? madeAt : null
}

function contextOf({ purpose, browser }: ChallengeUse): string {
  return `passkey challenge to ${purpose} in ${digestOfValue(browser)}`
}
