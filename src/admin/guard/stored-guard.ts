// A guard as it is stored: with the secret of its webhook sealed.

import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import { faultAt } from '../../errors/catalogue/api-faults.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import { sealWebhookSecret } from '../../guard/webhook/secret.ts'
import type { Gateway, Guard } from '../../store/records/records.ts'
import type { GuardDraft } from './body.ts'

/** Returns a fault if a webhook has no secret, neither a new one nor one before. */
export function storedGuard(
  secrets: SecretKeys,
  gateway: Pick<Gateway, 'account' | 'id' | 'guard'>,
  draft: GuardDraft | null,
): { readonly guard: Guard | null } | Fault {
  if (draft === null) return { guard: null }
  if (draft.webhook === null) return { guard: { ...draft, webhook: null } }
  const { secret, ...webhook } = draft.webhook
  const sealed =
    secret === null ? (gateway.guard?.webhook?.sealed ?? null) : sealWebhookSecret(secrets, secret, gateway)
  return sealed === null
    ? faultAt('/dlp/webhook/secret', 'missing', 'dlp.webhook.secret', 'is required')
    : { guard: { ...draft, webhook: { ...webhook, sealed } } }
}
