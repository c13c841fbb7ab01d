// Seals the secret that signs the questions of a guard: it opens only for its gateway.

import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { Gateway } from '../../store/records/records.ts'

type Place = Pick<Gateway, 'account' | 'id'>

export function sealWebhookSecret(secrets: SecretKeys, secret: string, gateway: Place): string {
  return secrets.seal(secret, contextOf(gateway))
}

/** Null if it was sealed for another gateway, or with a key of secrets that is unknown here. */
export function unsealWebhookSecret(secrets: SecretKeys, sealed: string, gateway: Place): string | null {
  return secrets.unseal(sealed, contextOf(gateway))
}

function contextOf({ account, id }: Place): string {
  return JSON.stringify(['guard webhook', account, id])
}
