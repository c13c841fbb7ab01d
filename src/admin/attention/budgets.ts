// Finds spend limits, and limits of policies, that are nearly used up or that refuse calls.

import { budgetHits } from '../../activity/tally-scopes.ts'
import type { CompiledRule } from '../../budgets/buckets.ts'
import { compilePolicies } from '../../budgets/policies/compile.ts'
import { policyBuckets } from '../../budgets/policies/decide.ts'
import type { Bucket, BudgetRule } from '../../budgets/rule-buckets.ts'
import type { BudgetSum } from '../../store/records/budget.ts'
import type { Policy } from '../../store/records/policy.ts'
import type { Gateway, Token } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'

/** The part of a limit that is worth a look. */
const threshold = 0.8
/** Ms; shorter windows start over before anybody comes to look. */
const shortest = 86_400_000
/** How many buckets are read at once. */
const atOnce = 500

export interface LimitState {
  readonly rule: BudgetRule
  /** What is spent of the limit, from 0.8 up; null if only refusals are worth a look. */
  readonly part: number | null
  /** In the last day. */
  readonly refused: number
  /** Ms since the epoch; null if it does not start over at a certain time. */
  readonly until: number | null
}

interface Limit {
  readonly rule: BudgetRule
  /** Null if each value has one of its own. */
  readonly bucket: Bucket | null
}

interface Source<Owner> {
  readonly store: Pick<Store, 'budgets'>
  readonly limitsOf: (owner: Owner) => readonly Limit[]
  /** By the names of `budgetHits`. */
  readonly refused: ReadonlyMap<string, number>
}

/** Lists the limits of these gateways or tokens of one account that need a look, with their owners. */
export async function limitStates<Owner extends Gateway | Token>(
  owners: readonly Owner[],
  { store, limitsOf, refused }: Source<Owner>,
): Promise<readonly (readonly [Owner, LimitState])[]> {
  const all = owners.flatMap(owner =>
    limitsOf(owner)
      .filter(isLong)
      .map(limit => ({ owner, ...limit })),
  )
  const buckets = all.flatMap(({ bucket }) => bucket ?? [])
  const sums = new Map<string, BudgetSum>()
  for (let i = 0; i < buckets.length; i += atOnce)
    for (const sum of await store.budgets.read(owners[0]!.account, buckets.slice(i, i + atOnce)))
      sums.set(sum.bucket, sum)
  return all.flatMap(({ owner, rule, bucket }): (readonly [Owner, LimitState])[] => {
    const { id, limit } = rule
    const part = bucket === null ? 0 : sums.get(bucket.bucket)!.spent / limit
    const count = refused.get(budgetHits(rule.owner, owner.id, id)) ?? 0
    if (part < threshold && count === 0) return []
    const until = bucket?.window.kind === 'fixed' ? bucket.window.until : null
    return [[owner, { rule, part: part < threshold ? null : part, refused: count, until }]]
  })
}

export function limitsOfRules(rules: readonly CompiledRule[], now: number): readonly Limit[] {
  return rules.map(compiled => {
    const isWhole = compiled.partitionedBy.length === 0
    return { rule: compiled.rule, bucket: isWhole ? compiled.bucketWith([], now) : null }
  })
}

/** Of several limits for the same calls, the highest counts. */
export function limitsOfPolicies(
  { account, id: gateway }: Gateway,
  policies: readonly Policy[],
  now: number,
): readonly Limit[] {
  const limits = compilePolicies(policies, { account, gateway }).policies.flatMap(({ policy, buckets }) =>
    buckets === null ? [] : [{ policy, buckets, value: null }],
  )
  const ofAll = policyBuckets(
    limits.filter(({ policy }) => policy.actor === '*'),
    now,
  )
  const each = limits.filter(({ policy }) => policy.actor !== '*')
  return [
    ...ofAll.map(bucket => ({ rule: bucket.rule, bucket })),
    ...each.map(({ buckets: { rule } }) => ({ rule, bucket: null })),
  ]
}

/** Months and such have no fixed period. */
function isLong({ rule: { unit, period } }: Limit): boolean {
  return unit !== 'concurrency' && (period === undefined || period >= shortest)
}
