// How much of the budgets of a gateway is spent, in percent.

import { type CompiledRule, rulesOfGateway } from '../../budgets/buckets.ts'
import type { Gateway } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import { knownCalls } from '../gateways/known-callers.ts'
import { mostSpent, noCalls, viewBucket } from '../spend-limits/budgets.ts'
import type { Level } from './crossings.ts'

/** Ms; shorter windows start over before anybody reads an alert. */
const shortestWindow = 3_600_000
/** Ms after which a budget of a sliding window is told again, if it never fell below its threshold. */
const lasting = 31 * 86_400_000

/** Whether alerts can be about a rule: months and such have no fixed period. */
export function isAlerted({ rule: { unit, period } }: CompiledRule): boolean {
  return unit !== 'concurrency' && (period === undefined || period >= shortestWindow)
}

/** Lists the budgets of which something is spent, of partitions those that are known. */
export async function levelsOf(gateway: Gateway, store: Store, now: number): Promise<readonly Level[]> {
  const rules = rulesOfGateway(gateway).filter(isAlerted)
  const isPartitioned = rules.some(({ partitionedBy }) => partitionedBy.length > 0)
  const { calls, names } = isPartitioned ? await knownCalls(gateway, store) : noCalls
  const levels: Level[] = []
  for (const rule of rules)
    for (const { bucket, sum } of await mostSpent(rule, gateway.account, calls, store, now))
      levels.push({
        bucket: bucket.bucket,
        percent: (100 * sum.spent) / rule.rule.limit,
        until: bucket.window.kind === 'fixed' ? bucket.window.until : now + lasting,
        data: { rule_id: rule.rule.id, unit: rule.rule.unit, ...viewBucket(rule, bucket, sum, names) },
      })
  return levels
}
