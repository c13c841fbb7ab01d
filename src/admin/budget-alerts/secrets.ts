// The secrets that sign budget alerts. Webhooks need them in clear, so they are sealed at rest.

import { randomBytes } from 'node:crypto'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { AlertSecret, BudgetAlert } from '../../store/records/budget-alerts.ts'

/** Ms for which a rotated secret signs beside the new one. */
export const overlap = 86_400_000

interface NewSecret {
  /** Shown once. */
  readonly secret: string
  readonly stored: AlertSecret
}

/** `owner` is that of the record, `alert` the id: no sealed secret can stand in for another one. */
export function newSecret(keys: SecretKeys, owner: string, alert: string): NewSecret {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  return { secret, stored: { sealed: keys.seal(secret, contextOf(owner, alert)), endsAt: null } }
}

/** Returns those that sign now; empty if the server key that protects them is missing. */
export function secretsOf(
  keys: SecretKeys,
  owner: string,
  { id, secrets }: BudgetAlert,
  now: number,
): readonly string[] {
  return secrets
    .filter(({ endsAt }) => endsAt === null || endsAt > now)
    .flatMap(({ sealed }) => keys.unseal(sealed, contextOf(owner, id)) ?? [])
}

function contextOf(owner: string, alert: string): string {
  return `budget alert ${owner} ${alert}`
}
