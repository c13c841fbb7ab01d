// The buckets of the limits of policies, by the identities that are known.

import { nobody } from '../../budgets/buckets.ts'
import { compilePolicies } from '../../budgets/policies/compile.ts'
import type { Bucket } from '../../budgets/rule-buckets.ts'
import type { Policy } from '../../store/records/policy.ts'
import type { Gateway } from '../../store/records/records.ts'
import { type KnownCalls, noCalls } from '../spend-limits/budgets.ts'

export interface PolicyBucket {
  readonly bucket: Bucket
  /** Null if all calls share the bucket. */
  readonly identity: string | null
  readonly name: string | null
}

/** Finds the buckets of known identities, by the id of the policy: their keys have only digests. */
export async function policyBucketsOf(
  policies: readonly Policy[],
  gateway: Gateway,
  known: () => Promise<KnownCalls>,
  now: number,
): Promise<ReadonlyMap<string, readonly PolicyBucket[]>> {
  const limits = policies.filter(({ action }) => action.type === 'limit')
  const { calls, names } = limits.every(({ actor }) => actor === '*') ? noCalls : await known()
  const compiled = compilePolicies(limits, { account: gateway.account, gateway: gateway.id })
  return new Map(
    compiled.policies.map(({ policy, actorOf, buckets }) => {
      const byIdentity = new Map<string | null, PolicyBucket>()
      for (const { call, caller } of policy.actor === '*' ? anyCall : calls) {
        const actor = actorOf(call, caller)
        if (buckets === null || typeof actor === 'string' || byIdentity.has(actor.value)) continue
        const name = actor.value === null ? null : (names.get(actor.value) ?? null)
        byIdentity.set(actor.value, { bucket: buckets.of(actor.value, now), identity: actor.value, name })
      }
      return [policy.id, [...byIdentity.values()]]
    }),
  )
}

const anyCall = [{ call: { provider: '', model: null, metadata: null }, caller: nobody }]
