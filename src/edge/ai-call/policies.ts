// Holds a call to the policies of its gateway: each attempt of it, before its provider is asked.

import type { OtherModels } from '../../ai/worst-case/other-models.ts'
import type { Provider } from '../../ai/providers/providers.ts'
import { type CallFacts, callerOf, nobody } from '../../budgets/buckets.ts'
import { policiesOf } from '../../budgets/policies/compile.ts'
import { decidePolicies, type PolicyDecision } from '../../budgets/policies/decide.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { AiExchange, Allowance } from './ai-exchange.ts'

/**
 * Refuses a call (403) that a policy blocks or none allows; null if the gateway has no policies. `others` are
 * models that its provider may call instead: what blocks one of them blocks the call, and it counts in the
 * limits of all. A model is null if it cannot be known.
 */
export function decideCall(
  ai: AiExchange,
  provider: Provider,
  model: string | null,
  others: OtherModels,
): Allowance | null | Refusal {
  const decided = decide(ai, provider, model)
  if (decided === null || decided.type !== 'allow') return decided && refuse(ai, provider, model, decided)
  let allowance = decided
  for (const other of others) {
    const decision = decide(ai, provider, other)!
    if (decision.type !== 'allow') return refuse(ai, provider, other, decision)
    allowance = { ...allowance, limits: [...allowance.limits, ...decision.limits] }
  }
  return allowance
}

/** Whether the policies let a call pass that is not made. */
export function wouldAllow(ai: AiExchange, provider: Provider, model: string): boolean {
  const decision = decide(ai, provider, model)
  return decision === null || decision.type === 'allow'
}

/** Whether the gateway has policies in effect. */
export function isPoliced({ gateway }: AiExchange): boolean {
  return gateway!.policies !== undefined
}

function decide(
  { gateway, token, metadata }: AiExchange,
  { name }: Provider,
  model: string | null,
): PolicyDecision | null {
  if (gateway!.policies === undefined) return null
  const call: CallFacts = { provider: name, model, metadata }
  return decidePolicies(policiesOf(gateway!), call, token === null ? nobody : callerOf(token))
}

function refuse(
  ai: AiExchange,
  { name }: Provider,
  model: string | null,
  decision: Exclude<PolicyDecision, Allowance>,
): Refusal {
  ai.denial ??= decision
  const calls =
    model === null ? `calls of ${name} whose model cannot be known` : `calls of ${shown(name, model)}`
  const why =
    decision.type === 'block'
      ? `${JSON.stringify(decision.policy.name)} blocks ${calls}`
      : `none allows ${calls}`
  return refuseCall(ai.target.api === 'rest' ? 'call_denied_by_policy' : 'native_denied_by_policy', why)
}

function shown(provider: string, model: string): string {
  return JSON.stringify(`${provider}/${model}`.slice(0, 100))
}
