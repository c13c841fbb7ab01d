// What is spent of the limits of policies, and how many calls each policy refused.

import { budgetHits } from '../../activity/tally-scopes.ts'
import type { Api, Call } from '../api/api-types.ts'
import { refusedCalls } from '../facts/refused-calls.ts'
import { findGateway, noGateway } from '../gateways/gateways.ts'
import { knownCalls } from '../gateways/known-callers.ts'
import { type PolicyBucket, policyBucketsOf } from '../gateways/policy-buckets.ts'
import { type ApiResponse, success } from '../http/envelope.ts'
import { maxListed } from '../spend-limits/budgets.ts'
import { findSet, policiesIn } from './policies.ts'
import { shortOf, viewBudget } from './view.ts'

/** Lists the policies in effect, and last what stands for calls that none of them allows. */
export async function listPolicyBudgets(call: Call, { store }: Api): Promise<ApiResponse> {
  const { account, params, now } = call
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const set = await findSet(call, store)
  if ('body' in set) return set
  const policies = policiesIn(set, 'committed')
  const buckets = await policyBucketsOf(policies, gateway, () => knownCalls(gateway, store), now)
  const refused = await refusedCalls(account, store, now)
  const refusedBy = (id: string) => refused.get(budgetHits('policy', gateway.id, id)) ?? 0
  const rows = await Promise.all(
    policies.map(async policy => ({
      policy: shortOf(policy),
      refused_last_day: refusedBy(policy.id),
      budgets: await viewBudgets(buckets.get(policy.id) ?? [], account, store),
    })),
  )
  const rest = { policy: null, refused_last_day: refusedBy(noPolicy), budgets: [] }
  return success([...rows, rest])
}

/** The name of the counter of calls that no policy allows. */
const noPolicy = 'none'

/** How many buckets are read at once. */
const atOnce = 500

/** Shows those with the most spent; of one for all calls, also if nothing is. */
async function viewBudgets(buckets: readonly PolicyBucket[], account: string, { budgets }: Api['store']) {
  const shown: (ReturnType<typeof viewBudget> & { readonly name: string | null })[] = []
  for (let i = 0; i < buckets.length; i += atOnce) {
    const some = buckets.slice(i, i + atOnce)
    const sums = await budgets.read(
      account,
      some.map(({ bucket }) => bucket),
    )
    for (const [j, { bucket, identity, name }] of some.entries())
      shown.push({ ...viewBudget(bucket, identity, sums[j]!), name })
  }
  return shown
    .filter(({ identity, spent, leased }) => identity === null || spent + leased > 0)
    .sort((a, b) => b.spent + b.leased - a.spent - a.leased)
    .slice(0, maxListed)
}
