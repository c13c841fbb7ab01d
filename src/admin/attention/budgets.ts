// Finds spend limits that are nearly used up, or that refuse calls.

import { budgetHits } from '../../activity/tally-scopes.ts'
import type { CompiledRule } from '../../budgets/buckets.ts'
import type { BudgetSum } from '../../store/records/budget.ts'
import type { Gateway, Token } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'

/** The part of a limit that is worth a look. */
const threshold = 0.8
/** Ms; shorter windows start over before anybody comes to look. */
const shortest = 86_400_000
/** How many buckets are read at once. */
const atOnce = 500

export interface LimitState {
  readonly id: string
  /** What is spent of the limit, from 0.8 up; null if only refusals are worth a look. */
  readonly part: number | null
  /** In the last day. */
  readonly refused: number
  /** Ms since the epoch; null if it does not start over at a certain time. */
  readonly until: number | null
}

interface Source<Owner> {
  readonly store: Pick<Store, 'budgets'>
  readonly rulesOf: (owner: Owner) => readonly CompiledRule[]
  /** By the names of `budgetHits`. */
  readonly refused: ReadonlyMap<string, number>
  readonly now: number
}

/** Lists the limits of these gateways or tokens of one account that need a look, with their owners. */
export async function limitStates<Owner extends Gateway | Token>(
  owners: readonly Owner[],
  { store, rulesOf, refused, now }: Source<Owner>,
): Promise<readonly (readonly [Owner, LimitState])[]> {
  const all = owners.flatMap(owner =>
    rulesOf(owner)
      .filter(isLong)
      .map(compiled => {
        const isWhole = compiled.partitionedBy.length === 0
        return { owner, compiled, bucket: isWhole ? compiled.bucketWith([], now) : null }
      }),
  )
  const buckets = all.flatMap(({ bucket }) => bucket ?? [])
  const sums = new Map<string, BudgetSum>()
  for (let i = 0; i < buckets.length; i += atOnce)
    for (const sum of await store.budgets.read(owners[0]!.account, buckets.slice(i, i + atOnce)))
      sums.set(sum.bucket, sum)
  return all.flatMap(({ owner, compiled: { rule }, bucket }): (readonly [Owner, LimitState])[] => {
    const { id, limit } = rule
    const part = bucket === null ? 0 : sums.get(bucket.bucket)!.spent / limit
    const count = refused.get(budgetHits(rule.owner, owner.id, id)) ?? 0
    if (part < threshold && count === 0) return []
    const until = bucket?.window.kind === 'fixed' ? bucket.window.until : null
    return [[owner, { id, part: part < threshold ? null : part, refused: count, until }]]
  })
}

/** Months and such have no fixed period. */
function isLong({ rule: { unit, period } }: CompiledRule): boolean {
  return unit !== 'concurrency' && (period === undefined || period >= shortest)
}
