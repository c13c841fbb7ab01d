// The budgets of the rates by cost that a call has passed on its route.

import { memoizeEach } from '../../base/memo.ts'
import type { PassedRate, RateNode } from '../../ai/failover/model-route.ts'
import { type Bucket, RuleBuckets } from '../../budgets/rule-buckets.ts'
import { allowanceInWords } from '../../budgets/rule-words.ts'

/** Lists the rates, the last one first: where two are exceeded, the call leaves by that. */
export function passedRates(last: PassedRate | null): readonly PassedRate[] {
  if (last === null) return none
  const rates: PassedRate[] = []
  for (let passed: PassedRate | null = last; passed !== null; passed = passed.before) rates.push(passed)
  return rates
}

/** Returns the bucket of a rate at a time; a changed route keeps it as long as the element has its id. */
export function rateBucket({ rate, key }: PassedRate, now: number): Bucket {
  return bucketsOf(rate).of(key, now)
}

const none: readonly PassedRate[] = []

/** While the store cannot be asked, calls go beyond the rate. */
const bucketsOf = memoizeEach(({ name, element, limit, window }: RateNode) => {
  const windows = { window: window / 1000, technique: 'fixed' } as const
  const nanodollars = Math.round(limit * 1e9)
  const words = allowanceInWords('cost', nanodollars, windows)
  const rule = {
    ...({ id: 'rate', name: element, owner: 'route', unit: 'cost', limit: nanodollars, words } as const),
    ...({ period: window, whenUnreachable: 'closed' } as const),
  }
  return new RuleBuckets(rule, windows, { counted: ['route', name], isPartitioned: true })
})
