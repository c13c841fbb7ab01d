import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Bucket, BudgetRule } from '../../../src/budgets/rule-buckets.ts'
import { budgetLines, refusedLines } from '../../../src/edge/meter/budget-fields.ts'

const now = 1_000_000
const hour = 3_600_000

function bucket(changes: Partial<BudgetRule> = {}, window?: Bucket['window']): Bucket {
  const rule: BudgetRule = {
    ...{ id: 'day', owner: 'gateway', unit: 'cost', limit: 2_500_000_000, words: '$2.50 a day' },
    ...{ period: 24 * hour, whenUnreachable: 'closed' },
    ...changes,
  }
  const { id, limit, whenUnreachable } = rule
  return {
    ...{ rule, bucket: id, limit, whenUnreachable },
    window: window ?? { kind: 'fixed', until: now + hour },
  }
}

const left = (...amounts: readonly number[]) => ({ remaining: (i: number) => amounts[i]! })

test('a budget says what is left of it, and when it starts over', () => {
  assert.equal(
    budgetLines([bucket()], left(1_234_567_890), now),
    [
      'svc-aig-budget: "day";owner=gateway;unit=cost;limit=2.500;remaining=1.234;reset=3600\r\n',
      'RateLimit: "gateway/day";r=1234567;t=3600\r\n',
      'RateLimit-Policy: "gateway/day";q=2500000;qu="microdollars";w=86400\r\n',
    ].join(''),
  )
})

test('the budget with the smallest part left comes first', () => {
  const tokens = bucket({ id: 'all', owner: 'token', unit: 'tokens', limit: 1000, period: 60_000 })
  const calls = bucket({ id: 'few', unit: 'concurrency', limit: 4 }, { kind: 'none' })
  const { period: _, ...unbounded } = calls.rule
  const lines = budgetLines([bucket(), tokens, { ...calls, rule: unbounded }], left(2e9, 100, 3), now)
  assert.deepEqual(lines.trimEnd().split('\r\n'), [
    'svc-aig-budget: "all";owner=token;unit=tokens;limit=1000;remaining=100;reset=3600, "day";owner=gateway;unit=cost;limit=2.500;remaining=2;reset=3600, "few";owner=gateway;unit=concurrency;limit=4;remaining=3',
    'RateLimit: "token/all";r=100;t=3600',
    'RateLimit-Policy: "token/all";q=1000;qu="tokens";w=60, "gateway/day";q=2500000;qu="microdollars";w=86400, "gateway/few";q=4;qu="concurrent-requests"',
  ])
})

test('a refusal says when such a call fits, and if that is unknown when the budget starts over', () => {
  const refusal = { reason: 'over', charge: 0, limit: 2_500_000_000, spent: 2_499_000_000 } as const
  const sliding = bucket({}, { kind: 'sliding', period: 24 * hour })
  const resets = (at: Bucket, wait: number) =>
    /remaining=0\.001(?:;reset=(\d+))?\r\nRateLimit: "gateway\/day";r=1000(?:;t=(\d+))?\r\n/
      .exec(refusedLines(at, { ...refusal, wait }, now))
      ?.slice(1)
  assert.deepEqual(resets(sliding, 1500), ['2', '2'])
  assert.deepEqual(resets(sliding, Number.POSITIVE_INFINITY), [undefined, undefined])
  assert.deepEqual(resets(bucket(), Number.POSITIVE_INFINITY), ['3600', '3600'])
})

test('every amount is a number of a structured field, and none is more than there is', () => {
  const amount = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
  const unit = fc.constantFrom('cost', 'tokens', 'concurrency')
  fc.assert(
    fc.property(unit, amount, amount, (unit, limit, remaining) => {
      const lines = budgetLines([bucket({ unit, limit: Math.max(1, limit) })], left(remaining), now)
      const said =
        /remaining=(\d{1,12}\.\d{3}|\d{1,15});reset=3600\r\nRateLimit: "gateway\/day";r=(\d{1,15});/
      const [own = '', quota = ''] = said.exec(lines)?.slice(1) ?? assert.fail(lines)
      const [ofOwn, ofQuota] = unit === 'cost' ? [1e9, 1e3] : [1, 1]
      assert.ok(Math.round(Number(own) * 1000) * (ofOwn / 1000) <= remaining || unit !== 'cost', own)
      assert.ok(Number(quota) * ofQuota <= remaining, quota)
    }),
  )
})
