// An AI edge whose gateway has spend limits, and what is spent of them.

import type { SpendRule } from '../../src/store/records/budget-rule.ts'
import { systemClock } from '../../src/base/clock.ts'
import { bucketsOf } from '../../src/budgets/buckets.ts'
import type { AiEdge } from './ai.ts'
import { until } from './until.ts'

/** Settings by which shares that nobody uses are returned in a tenth of a second. */
export const hasty = {
  clock: { ...systemClock, monotonic: () => systemClock.monotonic() * 20 },
  lookPeriod: 50,
}

/** US dollars for a million tokens: a nanodollar is a thousandth of a token of input. */
export const prices = [
  { model: 'openai/gpt-4o', input: 1, output: 10, cacheRead: 1, cacheWrite: 1, cacheWriteLong: 1 },
  { model: 'groq/llama', input: 1, output: 1, cacheRead: 1, cacheWrite: 1, cacheWriteLong: 1 },
]

/** What gpt-4o costs, in nanodollars. */
export function costOf(tokensIn: number, tokensOut: number): number {
  return tokensIn * 1000 + tokensOut * 10_000
}

/** A rule of a dollar a day for all calls, or another one. */
export function rule(changes: Partial<SpendRule> = {}): SpendRule {
  return {
    ...{ id: 'all', isEnabled: true, unit: 'cost', limit: 1, window: 'day', technique: 'fixed' },
    whenUnreachable: 'closed',
    ...changes,
  }
}

/** What is spent of the rule of a gateway that governs a call, the first one by default, once nothing is reserved. */
export async function spentOf(
  { store, account }: AiEdge,
  model = 'gpt-4o',
  provider = 'openai',
  id?: string,
): Promise<number> {
  const gateway = (await store.gateways.get(account, 'default'))!.record
  const buckets = bucketsOf(gateway, null, { provider, model, metadata: null }, Date.now())
  const bucket = buckets.find(({ rule }) => id === undefined || rule.id === id)!
  let spent = 0
  await until(async () => {
    const [sum] = await store.budgets.read(account, [bucket])
    spent = sum!.spent
    return sum!.leased === 0
  })
  return spent
}
