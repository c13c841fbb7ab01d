// How much is spent, in percent, of the budgets that alerts of a gateway are about.

import { memoizeOnce } from '../../base/memo.ts'
import { type CompiledRule, rulesOfGateway, rulesOfToken } from '../../budgets/buckets.ts'
import type { Bucket, BudgetRule } from '../../budgets/rule-buckets.ts'
import type { BudgetSum } from '../../store/records/budget.ts'
import type { Policy } from '../../store/records/policy.ts'
import type { Gateway, Token } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import { policiesInEffect } from '../facts/policies-in-effect.ts'
import { knownCalls } from '../gateways/known-callers.ts'
import { type PolicyBucket, policyBucketsOf } from '../gateways/policy-buckets.ts'
import { bucketsOfCalls, keyOf, noCalls, viewSum } from '../spend-limits/budgets.ts'
import type { Level } from './crossings.ts'

/** Ms; shorter windows start over before anybody reads an alert. */
const shortestWindow = 3_600_000
/** Ms after which a budget of a sliding window is told again, if it never fell below its threshold. */
const lasting = 31 * 86_400_000
/** How many buckets are read at once. */
const atOnce = 500

/** A budget, and what messages say about it besides what is spent. */
interface Budget {
  readonly bucket: Bucket
  readonly about: () => object
}

/** Lists the budgets of a gateway and of its policies, of partitions and identities those that are known. */
export async function levelsOfGateway(
  gateway: Gateway,
  store: Store,
  now: number,
): Promise<readonly Level[]> {
  const known = memoizeOnce(() => knownCalls(gateway, store))
  const rules = rulesOfGateway(gateway).filter(({ rule }) => isAlerted(rule))
  const { calls, names } = rules.some(isPartitioned) ? await known() : noCalls
  const owner = { owner: 'gateway', owner_id: gateway.id }
  const own = rules.flatMap(rule =>
    bucketsOfCalls(rule, calls, now).map(bucket => ({
      bucket,
      about: () => ({ ...owner, ...ofRule(bucket), key: keyOf(rule, bucket, names) }),
    })),
  )
  const policies = await policiesInEffect(gateway, store)
  const limits = budgetsOfPolicies(policies, await policyBucketsOf(policies, gateway, known, now))
  return levelsOf([...own, ...limits], gateway.account, store, now)
}

/** Lists the budgets of tokens of one account, each with its token. */
export async function levelsOfTokens(
  tokens: readonly Token[],
  account: string,
  store: Store,
  now: number,
): Promise<readonly (readonly [Token, Level])[]> {
  const budgets = tokens.flatMap(token => budgetsOfToken(token, now).map(budget => ({ token, budget })))
  const levels = await levelsOf(
    budgets.map(({ budget }) => budget),
    account,
    store,
    now,
  )
  return budgets.map(({ token }, i) => [token, levels[i]!])
}

/** Whether a token has a budget of its own that alerts may be about. */
export function hasAlertedBudgets(token: Token): boolean {
  return rulesOfToken(token).some(({ rule }) => isAlerted(rule))
}

function budgetsOfToken(token: Token, now: number): readonly Budget[] {
  const owner = { owner: 'token', owner_id: token.id, owner_name: token.name }
  return rulesOfToken(token)
    .filter(({ rule }) => isAlerted(rule))
    .map(rule => {
      const bucket = rule.bucketWith([], now)
      return { bucket, about: () => ({ ...owner, ...ofRule(bucket), key: [] }) }
    })
}

/** Months and such have no fixed period. */
function isAlerted({ unit, period }: BudgetRule): boolean {
  return unit !== 'concurrency' && (period === undefined || period >= shortestWindow)
}

function isPartitioned({ partitionedBy }: CompiledRule): boolean {
  return partitionedBy.length > 0
}

/** Of several limits for the same calls, the highest counts. */
function budgetsOfPolicies(
  policies: readonly Policy[],
  buckets: ReadonlyMap<string, readonly PolicyBucket[]>,
): Iterable<Budget> {
  const budgets = new Map<string, Budget>()
  for (const { id, name: owner_name, actor } of policies)
    for (const { bucket, identity, name } of buckets.get(id) ?? []) {
      if ((budgets.get(bucket.bucket)?.bucket.rule.limit ?? 0) >= bucket.rule.limit) continue
      const owner = { owner: 'policy', owner_id: id, owner_name }
      const key = identity === null ? [] : [{ by: actor, value: identity, ...(name !== null && { name }) }]
      budgets.set(bucket.bucket, { bucket, about: () => ({ ...owner, ...ofRule(bucket), key }) })
    }
  return budgets.values()
}

function ofRule({ rule: { id, words, unit }, bucket }: Bucket) {
  return { rule_id: id, rule: words, unit, id: bucket }
}

async function levelsOf(
  all: readonly Budget[],
  account: string,
  { budgets: sums }: Store,
  now: number,
): Promise<readonly Level[]> {
  const levels: Level[] = []
  for (let i = 0; i < all.length; i += atOnce) {
    const some = all.slice(i, i + atOnce)
    const read = await sums.read(
      account,
      some.map(({ bucket }) => bucket),
    )
    levels.push(...some.map((budget, i) => levelOf(budget, read[i]!, now)))
  }
  return levels
}

function levelOf({ bucket, about }: Budget, sum: BudgetSum, now: number): Level {
  return {
    bucket: bucket.bucket,
    percent: (100 * sum.spent) / bucket.rule.limit,
    until: bucket.window.kind === 'fixed' ? bucket.window.until : now + lasting,
    data: () => ({ ...about(), ...viewSum(bucket, sum) }),
  }
}
