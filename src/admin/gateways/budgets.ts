// The handlers of the budgets of an AI gateway: what was spent of each, and one that starts over.

import { type CompiledRule, rulesOfGateway } from '../../budgets/buckets.ts'
import type { Bucket } from '../../budgets/rule-buckets.ts'
import type { BudgetSum } from '../../store/records/budget.ts'
import type { BudgetUnit } from '../../store/records/budget-rule.ts'
import { auditOf } from '../../store/records/audit-entry.ts'
import type { Gateway } from '../../store/records/records.ts'
import { type Store, StoreUnreachable } from '../../store/contract/store.ts'
import type { Api, Call } from '../api/api-types.ts'
import { type ApiResponse, failure, success } from '../http/envelope.ts'
import { tellAudit } from '../records/audit.ts'
import { isoTime } from '../records/record-handlers.ts'
import { viewSpendLimits } from '../spend-limits/view.ts'
import { findGateway, noGateway } from './gateways.ts'
import { type CallerNames, type KnownCall, knownCalls } from './known-callers.ts'

/** How many buckets of a rule are listed: those with the most spent. */
export const maxListed = 100

/** Lists the rules in effect, each with its buckets that are known to have spent something. */
export async function listGatewayBudgets(
  { account, params, now }: Call,
  { store }: Api,
): Promise<ApiResponse> {
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const rules = rulesOfGateway(gateway)
  const known = await knownFor(rules, gateway, store)
  return success(await Promise.all(rules.map(rule => viewRule(rule, gateway, known, store, now))))
}

/** Starts the budgets of a rule over, or one of them: by the id of the rule, or of the budget. */
export async function resetGatewayBudget(call: Call, { store, log }: Api): Promise<ApiResponse> {
  const { account, params, now } = call
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const id = params.budget_id!
  const rules = rulesOfGateway(gateway)
  const whole = rules.find(({ rule }) => rule.id === id)
  const rule = whole ?? rules.find(rule => rule.bucketNamed(id, now) !== null)
  if (rule === undefined) return noBudget
  const known = await knownFor([rule], gateway, store)
  const buckets = whole === undefined ? [rule.bucketNamed(id, now)!] : bucketsOf(rule, known.calls, now)
  const audit = auditOf(call, 'reset', { resourceKind: 'gateway', resource: gateway.id }, [], {
    before: { budget: id },
    after: { budget: id },
  })
  try {
    // First, since a reset without an entry could not be reported any more.
    await store.audit.append(audit)
    for (const bucket of buckets) await store.budgets.reset(account, bucket)
    tellAudit(log, audit)
  } catch (failure) {
    if (failure instanceof StoreUnreachable) tellAudit(log, audit, 'audit: write not confirmed')
    throw failure
  }
  return success(await viewRule(rule, gateway, known, store, now))
}

/** How many buckets are read at once. */
const atOnce = 500

const noBudget = failure('no_such', 'Budget')

interface Known {
  readonly calls: readonly KnownCall[]
  readonly names: CallerNames
}

const nothing: Known = { calls: [], names: new Map() }

async function knownFor(rules: readonly CompiledRule[], gateway: Gateway, store: Store): Promise<Known> {
  return rules.some(({ partitionedBy }) => partitionedBy.length > 0) ? knownCalls(gateway, store) : nothing
}

interface KnownBucket extends Bucket {
  readonly values: readonly (string | null)[]
}

/** Lists the bucket of a rule, or those of the partitions in which known calls would be. */
function bucketsOf(rule: CompiledRule, calls: readonly KnownCall[], now: number): readonly KnownBucket[] {
  if (rule.partitionedBy.length === 0) return [{ ...rule.bucketWith([], now), values: [] }]
  const buckets = new Map<string, KnownBucket>()
  for (const { call, caller } of calls) {
    const values = rule.valuesOf(call, caller)
    const bucket = rule.bucketWith(values, now)
    buckets.set(bucket.bucket, { ...bucket, values })
  }
  return [...buckets.values()]
}

async function viewRule(
  rule: CompiledRule,
  { account, spendLimits }: Gateway,
  { calls, names }: Known,
  store: Store,
  now: number,
) {
  const buckets = bucketsOf(rule, calls, now)
  const sums = new Map<string, BudgetSum>()
  for (let i = 0; i < buckets.length; i += atOnce)
    for (const sum of await store.budgets.read(account, buckets.slice(i, i + atOnce)))
      sums.set(sum.bucket, sum)
  const listed = buckets
    .map(bucket => ({ bucket, sum: sums.get(bucket.bucket)! }))
    .filter(({ sum }) => rule.partitionedBy.length === 0 || used(sum) > 0)
    .sort((a, b) => used(b.sum) - used(a.sum))
    .slice(0, maxListed)
  const [shown] = viewSpendLimits({
    isEnabled: true,
    rules: spendLimits!.rules.filter(({ id }) => id === rule.rule.id),
  }).rules
  return {
    rule: shown,
    budgets: listed.map(({ bucket, sum }) => viewBucket(rule, bucket, sum, names)),
  }
}

function used({ spent, leased }: BudgetSum): number {
  return spent + leased
}

function viewBucket(
  { rule: { unit, limit }, partitionedBy }: CompiledRule,
  { bucket, window, values }: KnownBucket,
  { spent, leased }: BudgetSum,
  names: CallerNames,
) {
  return {
    id: bucket,
    key: values.map((value, i) => {
      const name = value === null ? undefined : names.get(value)
      return { by: partitionedBy[i], value, ...(name !== undefined && { name }) }
    }),
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
