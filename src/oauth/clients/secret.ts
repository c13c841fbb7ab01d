// The secrets of a client: at most two, so that they can be rotated without a pause.

import { randomBytes } from 'node:crypto'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { ClientSecret, OAuthClient } from '../../store/records/oauth-client.ts'

const prefix = 'svcs_'
const tailLength = 4
const maxSecrets = 2

/** Makes a secret of 256 random bits; its value is not stored. */
export function mintSecret(keys: SecretKeys, now: number): { value: string; secret: ClientSecret } {
  const value = prefix + randomBytes(32).toString('base64url')
  const secret = { ...keys.digest(value), tail: value.slice(-tailLength), createdAt: now, lastUsedAt: null }
  return { value, secret }
}

/** Puts a secret before the existing one; refused as `no_secrets` if the client's method is `none`. */
export function withNewSecret(
  client: OAuthClient,
  secret: ClientSecret,
): OAuthClient | 'two_secrets' | 'no_secrets' {
  if (client.tokenEndpointAuthMethod === 'none') return 'no_secrets'
  if (client.secrets.length >= maxSecrets) return 'two_secrets'
  return { ...client, secrets: [secret, ...client.secrets] }
}

/** Removes the older of two secrets; refused as `one_secret` if there are not two. */
export function withoutOldSecret(client: OAuthClient): OAuthClient | 'one_secret' {
  if (client.secrets.length < maxSecrets) return 'one_secret'
  return { ...client, secrets: client.secrets.slice(0, 1) }
}

/**
 * Finds the secret with a value; it compares all of them, so that the time does not reveal which one it was.
 */
export function secretThatMatches(client: OAuthClient, value: string, keys: SecretKeys): ClientSecret | null {
  const matching = client.secrets.filter(secret => keys.matches(secret, value))
  return matching[0] ?? null
}
