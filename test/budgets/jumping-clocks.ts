// What processes whose clocks jump spend, and what they tell their parent.

import { bucketsOf } from '../../src/budgets/buckets.ts'
import type { Bucket } from '../../src/budgets/rule-buckets.ts'
import type { SpendRule } from '../../src/store/records/budget-rule.ts'
import type { Gateway } from '../../src/store/records/records.ts'

export type Order =
  | { readonly kind: 'start'; readonly limit: number }
  | { readonly kind: 'jump'; readonly ms: number }
  | { readonly kind: 'stop' }

/** Calls made and refused since the last order, and what was spent in all, by bucket. */
export interface Report {
  readonly calls: number
  readonly refusals: number
  readonly spent: Readonly<Record<string, number>>
}

const gateways = new Map<string, Gateway>()

/** Lists the buckets of a call: of a month, and of an hour that slides. */
export function bucketsAt(account: string, limit: number, now: number): readonly Bucket[] {
  let gateway = gateways.get(account)
  if (gateway === undefined) gateways.set(account, (gateway = gatewayOf(account, limit)))
  return bucketsOf(gateway, null, { provider: 'openai', model: 'gpt-4o', metadata: null }, now)
}

function gatewayOf(account: string, limit: number): Gateway {
  const usual = { isEnabled: true, technique: 'fixed', whenUnreachable: 'closed' } as const
  const rules: SpendRule[] = [
    { ...usual, id: 'month', unit: 'tokens', limit, window: 'month' },
    { ...usual, id: 'hour', unit: 'tokens', limit, window: 3_600, technique: 'sliding' },
  ]
  return {
    ...{ account, id: 'team', authentication: true, collectLogs: false, createdAt: 0, modifiedAt: 0 },
    ...{ logManagement: 0, logManagementStrategy: 'DELETE_OLDEST' },
    spendLimits: { isEnabled: true, rules },
  }
}
