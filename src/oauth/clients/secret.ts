// The secrets of a client: two at most, so that one can take the place of the other without a pause.

import { randomBytes } from 'node:crypto'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { ClientSecret, OAuthClient } from '../../store/records/oauth-client.ts'

const prefix = 'svcs_'
const tailLength = 4
const most = 2

/** Makes a secret of 256 random bits; its value stands nowhere else. */
export function mintSecret(keys: SecretKeys, now: number): { value: string; secret: ClientSecret } {
  const value = prefix + randomBytes(32).toString('base64url')
  const secret = { ...keys.digest(value), tail: value.slice(-tailLength), createdAt: now, lastUsedAt: null }
  return { value, secret }
}

/** Puts a secret before the one there is; refused as `no_secrets` where the method of the client is `none`. */
export function withNewSecret(
  client: OAuthClient,
  secret: ClientSecret,
): OAuthClient | 'two_secrets' | 'no_secrets' {
  if (client.tokenEndpointAuthMethod === 'none') return 'no_secrets'
  if (client.secrets.length >= most) return 'two_secrets'
  return { ...client, secrets: [secret, ...client.secrets] }
}

/** Takes the older of two secrets away; refused as `one_secret` where there are not two. */
export function withoutOldSecret(client: OAuthClient): OAuthClient | 'one_secret' {
  const [newest, ...older] = client.secrets
  if (newest === undefined || older.length === 0) return 'one_secret'
  return { ...client, secrets: [newest] }
}

/** Finds the secret that has this value; it compares all of them, so that time does not tell which one it was. */
export function secretThatMatches(client: OAuthClient, value: string, keys: SecretKeys): ClientSecret | null {
  const matching = client.secrets.filter(secret => keys.matches(secret, value))
  return matching[0] ?? null
}
