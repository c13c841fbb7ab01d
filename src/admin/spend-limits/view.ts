// The management API's view of spend limits, which may be sent back as it is.

import type { SpendLimits, SpendRule } from '../../store/records/budget-rule.ts'

export function viewSpendLimits({ isEnabled, rules }: SpendLimits) {
  return { enabled: isEnabled, rules: rules.map(viewRule) }
}

function viewRule(rule: SpendRule) {
  const { id, isEnabled, limit, unit, window, timeZone, technique, whenUnreachable } = rule
  const { model, provider, metadata, token, app, person } = rule
  return {
    id,
    enabled: isEnabled,
    limit,
    limitType: unit,
    ...(window !== null && { window }),
    ...(typeof window === 'string' && { time_zone: timeZone ?? 'UTC' }),
    ...(window !== null && { technique }),
    ...(model && { model }),
    ...(provider && { provider }),
    ...(metadata && { metadata }),
    ...(token && { token }),
    ...(app && { app }),
    ...(person && { person }),
    when_store_unreachable: whenUnreachable,
  }
}
