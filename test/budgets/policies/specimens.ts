import type { CallFacts, Caller } from '../../../src/budgets/buckets.ts'
import { compilePolicies } from '../../../src/budgets/policies/compile.ts'
import { decidePolicies, type PolicyTrace } from '../../../src/budgets/policies/decide.ts'
import type { Policy, PolicyAction } from '../../../src/store/records/policy.ts'

export const owner = { account: 'a1', gateway: 'default' }
export const ada: Caller = { token: 't1', app: null, user: 'u1', email: 'ada@corp.example' }
export const nobody: Caller = { token: null, app: null, user: null, email: null }
export const gpt: CallFacts = { provider: 'openai', model: 'gpt-4o', metadata: null }

export const block: PolicyAction = { type: 'block' }
export const free: PolicyAction = { type: 'no-limit' }

export function limit(amount: number, period: 'hourly' | 'daily' | 'weekly' | 'monthly' = 'daily') {
  return { type: 'limit', amount, period, technique: 'named-interval' } as const
}

export function policy(id: string, action: PolicyAction, more: Partial<Policy> = {}): Policy {
  return { id, name: `Policy ${id}`, actor: '*', resource: '*', action, ...more }
}

export function decide(
  policies: readonly Policy[],
  call: Partial<CallFacts> = {},
  caller: Caller = ada,
  trace: PolicyTrace[] | null = null,
) {
  return decidePolicies(compilePolicies(policies, owner), { ...gpt, ...call }, caller, trace)
}
