// Simulates what the policies of a gateway would decide about a call, without making it.

import type { Caller } from '../../budgets/buckets.ts'
import { compilePolicies } from '../../budgets/policies/compile.ts'
import {
  decidePolicies,
  policyBuckets,
  type PolicyLimit,
  type PolicyTrace,
} from '../../budgets/policies/decide.ts'
import type { Api, Call } from '../api/api-types.ts'
import { type ApiResponse, failures, success } from '../http/envelope.ts'
import { readSimulation, type Simulation } from './body.ts'
import { findSet, policiesIn } from './policies.ts'
import { shortOf, viewBudget } from './view.ts'

/** Reads what is spent, and changes nothing. */
export async function simulatePolicies(call: Call, { store }: Api): Promise<ApiResponse> {
  const read = readSimulation(call.body)
  if (!('identity' in read)) return failures(read)
  const set = await findSet(call, store)
  if ('body' in set) return set
  const policies = policiesIn(set, read.state)
  const compiled = compilePolicies(policies, { account: call.account, gateway: call.params.gateway_id! })
  const trace: PolicyTrace[] = []
  const { provider, model, metadata } = read
  const decision = decidePolicies(compiled, { provider, model, metadata }, callerOf(read), trace)
  const limits = decision.type === 'allow' ? decision.limits : []
  return success({
    decision: policies.length === 0 ? 'allow' : decision.type,
    policy: 'policy' in decision ? shortOf(decision.policy) : null,
    limits: await viewLimits(limits, call, store),
    trace: trace.map(viewTrace),
  })
}

/** Whoever calls for a user or an app has a token, whichever it is. */
const someToken = 'simulated'

function callerOf({ identity: { user, email, app, token } }: Simulation): Caller {
  const isKnown = user !== null || email !== null || app !== null
  return { user, email: email?.toLowerCase() ?? null, app, token: token ?? (isKnown ? someToken : null) }
}

function viewTrace({ policy, applies, part, isUnknown }: PolicyTrace) {
  return { ...shortOf(policy), applies, decided_by: part, unknown: isUnknown }
}

async function viewLimits(limits: readonly PolicyLimit[], { account, now }: Call, store: Api['store']) {
  const buckets = policyBuckets(limits, now)
  const sums = buckets.length === 0 ? [] : await store.budgets.read(account, buckets)
  return buckets.map((bucket, i) => {
    const { policy, value } = limits.find(({ policy }) => policy.id === bucket.rule.id)!
    return { policy: shortOf(policy), ...viewBudget(bucket, value, sums[i]!) }
  })
}
