// Shows the guard of a gateway in the shape of the published client of gateways.

import type { Guard } from '../../store/records/records.ts'

export function viewGuard({ isEnabled, rules }: Guard) {
  return {
    enabled: isEnabled,
    policies: rules.map(({ id, isEnabled, action, checks, patterns }) => ({
      id,
      enabled: isEnabled,
      action: action.toUpperCase(),
      check: checks.map(check => check.toUpperCase()),
      profiles: patterns,
    })),
  }
}
