// Shows the guard of a gateway in the shape of the published client of gateways.

import type { Guard, GuardWebhook } from '../../store/records/records.ts'

/** Without the secret of its webhook. */
export function viewGuard({
  isEnabled,
  rules,
  webhook,
}: Pick<Guard, 'isEnabled' | 'rules'> & { webhook?: ShownWebhook | null }) {
  return {
    enabled: isEnabled,
    policies: rules.map(({ id, isEnabled, action, checks, patterns }) => ({
      id,
      enabled: isEnabled,
      action: action.toUpperCase(),
      check: checks.map(check => check.toUpperCase()),
      profiles: patterns,
    })),
    webhook: webhook ? viewWebhook(webhook) : null,
  }
}

type ShownWebhook = Omit<GuardWebhook, 'sealed'>

function viewWebhook({ url, checks, timeout }: ShownWebhook) {
  return { url, check: checks.map(check => check.toUpperCase()), timeout }
}
