// What is spent of the budgets of a gateway or a token, and what lets them start over.

import { budgetHits } from '../../activity/tally-scopes.ts'
import type { CallFacts, Caller, CompiledRule } from '../../budgets/buckets.ts'
import type { Bucket } from '../../budgets/rule-buckets.ts'
import type { Logger } from '../../log/log.ts'
import type { BudgetSum } from '../../store/records/budget.ts'
import type { BudgetUnit, SpendLimits } from '../../store/records/budget-rule.ts'
import type { AuditEntry } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import { refusedCalls } from '../facts/refused-calls.ts'
import { isoTime, tellBefore } from '../records/record-handlers.ts'
import { viewSpendLimits } from './view.ts'

/** How many buckets of a rule are listed: those with the most spent. */
export const maxListed = 100

/** A gateway or a token. */
interface Owner {
  readonly account: string
  readonly id: string
  readonly spendLimits?: SpendLimits | null
}

/** What ids are called where people read them. */
type CallerNames = ReadonlyMap<string, string>

export interface KnownCall {
  readonly call: CallFacts
  readonly caller: Caller
}

/** By what the partitions of rules are found again: the keys of their buckets have only digests. */
export interface KnownCalls {
  readonly calls: readonly KnownCall[]
  readonly names: CallerNames
}

/** Enough for rules without partitions. */
export const noCalls: KnownCalls = { calls: [], names: new Map() }

/** Shows rules, each with its buckets that are known to have spent something. */
export async function viewBudgets(
  rules: readonly CompiledRule[],
  owner: Owner,
  calls: KnownCalls,
  store: Store,
  now: number,
) {
  const refused = await refusedCalls(owner.account, store, now)
  return Promise.all(rules.map(rule => viewRule(rule, owner, calls, refused, store, now)))
}

/** Finds a rule by its id or that of one of its buckets. */
export function ruleNamed(rules: readonly CompiledRule[], id: string, now: number): CompiledRule | undefined {
  return rules.find(({ rule }) => rule.id === id) ?? rules.find(rule => rule.bucketNamed(id, now) !== null)
}

/** Starts a bucket over, or with the id of the rule all of its known ones, and shows the rule. */
export async function resetBudgets(
  { rule, id, owner, audit }: Reset,
  calls: KnownCalls,
  { store, log }: { readonly store: Store; readonly log: Logger },
  now: number,
) {
  const bucket = rule.rule.id === id ? null : rule.bucketNamed(id, now)
  const buckets = bucket === null ? bucketsOfCalls(rule, calls.calls, now) : [bucket]
  await tellBefore(audit, { store, log }, async () => {
    for (const bucket of buckets) await store.budgets.reset(owner.account, bucket)
  })
  return viewRule(rule, owner, calls, await refusedCalls(owner.account, store, now), store, now)
}

interface Reset {
  readonly rule: CompiledRule
  readonly id: string
  readonly owner: Owner
  readonly audit: AuditEntry
}

/** Returns the values of the audit entry of a reset. */
export function resetValues(id: string) {
  return { before: { budget: id }, after: { budget: id } }
}

/** How many buckets are read at once. */
const atOnce = 500

interface KnownBucket extends Bucket {
  readonly values: readonly (string | null)[]
}

/** Lists the bucket of a rule, or those of the partitions in which known calls would be. */
export function bucketsOfCalls(
  rule: CompiledRule,
  calls: readonly KnownCall[],
  now: number,
): readonly KnownBucket[] {
  if (rule.partitionedBy.length === 0) return [{ ...rule.bucketWith([], now), values: [] }]
  const buckets = new Map<string, KnownBucket>()
  for (const { call, caller } of calls) {
    const values = rule.valuesOf(call, caller)
    const bucket = rule.bucketWith(values, now)
    buckets.set(bucket.bucket, { ...bucket, values })
  }
  return [...buckets.values()]
}

/** Lists the buckets of a rule that are known to have spent something, the most spent first. */
async function mostSpent(
  rule: CompiledRule,
  account: string,
  calls: readonly KnownCall[],
  { budgets }: Pick<Store, 'budgets'>,
  now: number,
) {
  const buckets = bucketsOfCalls(rule, calls, now)
  const sums = new Map<string, BudgetSum>()
  for (let i = 0; i < buckets.length; i += atOnce)
    for (const sum of await budgets.read(account, buckets.slice(i, i + atOnce))) sums.set(sum.bucket, sum)
  return buckets
    .map(bucket => ({ bucket, sum: sums.get(bucket.bucket)! }))
    .filter(({ sum }) => rule.partitionedBy.length === 0 || used(sum) > 0)
    .sort((a, b) => used(b.sum) - used(a.sum))
    .slice(0, maxListed)
}

async function viewRule(
  rule: CompiledRule,
  { account, id, spendLimits }: Owner,
  { calls, names }: KnownCalls,
  refused: ReadonlyMap<string, number>,
  store: Store,
  now: number,
) {
  const listed = await mostSpent(rule, account, calls, store, now)
  const [shown] = viewSpendLimits({
    isEnabled: true,
    rules: spendLimits!.rules.filter(({ id }) => id === rule.rule.id),
  }).rules
  return {
    rule: shown,
    refused_last_day: refused.get(budgetHits(rule.rule.owner, id, rule.rule.id)) ?? 0,
    budgets: listed.map(({ bucket, sum }) => viewBucket(rule, bucket, sum, names)),
  }
}

function used({ spent, leased }: BudgetSum): number {
  return spent + leased
}

/** Shows a bucket, with the names of callers where they are known. */
function viewBucket(rule: CompiledRule, bucket: KnownBucket, sum: BudgetSum, names: CallerNames) {
  return { id: bucket.bucket, key: keyOf(rule, bucket, names), ...viewSum(bucket, sum) }
}

/** Shows for which values a bucket is. */
export function keyOf({ partitionedBy }: CompiledRule, { values }: KnownBucket, names: CallerNames) {
  return values.map((value, i) => {
    const name = value === null ? undefined : names.get(value)
    return { by: partitionedBy[i], value, ...(name !== undefined && { name }) }
  })
}

/** Shows what is spent of a bucket, in the unit of its rule. */
export function viewSum({ rule: { unit, limit }, window }: Bucket, { spent, leased }: BudgetSum) {
  return {
    spent: shownIn(unit, spent),
    leased: shownIn(unit, leased),
    limit: shownIn(unit, limit),
    remaining: shownIn(unit, Math.max(0, limit - spent - leased)),
    resets_at: window.kind === 'fixed' ? isoTime(window.until) : null,
  }
}

/** Shows nanodollars as USD. */
function shownIn(unit: BudgetUnit, amount: number): number {
  return unit === 'cost' ? amount / 1e9 : amount
}
