// The policies that decide the calls of a gateway.

import { routeOwner } from '../../store/records/model-route.ts'
import { commitInEffect, type Policy, policySetId } from '../../store/records/policy.ts'
import type { Gateway } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'

/** Empty before the first commit. */
export async function policiesInEffect(
  gateway: Gateway,
  { policySets }: Pick<Store, 'policySets'>,
): Promise<readonly Policy[]> {
  const set = await policySets.get(routeOwner(gateway), policySetId)
  return (set && commitInEffect(set.record)?.policies) ?? []
}
