// A guard as it is stored: with the secret of its webhook sealed.

import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import { faultAt } from '../../errors/catalogue/api-faults.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import { sealWebhookSecret, unsealWebhookSecret } from '../../guard/webhook/secret.ts'
import type { Gateway, Guard } from '../../store/records/records.ts'
import type { GuardDraft } from './body.ts'

/** `isSecretChanged`: its webhook had a secret, and has another one now. */
interface StoredGuard {
  readonly guard: Guard | null
  readonly isSecretChanged: boolean
}

/** Returns a fault if a webhook has no secret, neither a new one nor one before. */
export function storedGuard(
  secrets: SecretKeys,
  gateway: Pick<Gateway, 'account' | 'id' | 'guard'>,
  draft: GuardDraft | null,
): StoredGuard | Fault {
  if (draft === null) return { guard: null, isSecretChanged: false }
  if (draft.webhook === null) return { guard: { ...draft, webhook: null }, isSecretChanged: false }
  const { secret, ...webhook } = draft.webhook
  const before = gateway.guard?.webhook?.sealed ?? null
  const sealed = secret === null ? before : sealWebhookSecret(secrets, secret, gateway)
  if (sealed === null) return faultAt('/dlp/webhook/secret', 'missing', 'dlp.webhook.secret', 'is required')
  const isSecretChanged =
    secret !== null && before !== null && unsealWebhookSecret(secrets, before, gateway) !== secret
  return { guard: { ...draft, webhook: { ...webhook, sealed } }, isSecretChanged }
}
