import assert from 'node:assert/strict'
import { test } from 'node:test'
import { budgetBar, leftOf } from '../../../src/dashboard/budgets/bars.ts'
import { nearestOf, refusedLately } from '../../../src/dashboard/budgets/rule-cards.ts'
import {
  type Bucket,
  filtersInWords,
  type Rule,
  ruleInWords,
  spanUntil,
} from '../../../src/dashboard/budgets/rule.ts'

const rule: Rule = {
  ...{ id: 'a', enabled: true, limit: 100, limitType: 'cost', window: 'month', time_zone: 'UTC' },
  ...{ technique: 'fixed', when_store_unreachable: 'closed' },
}
const each = { mode: 'partition' } as const
const only = (...values: string[]) => ({ mode: 'filter', values }) as const
const bucket: Bucket = {
  ...{ id: 'b', key: [], spent: 40, leased: 10, limit: 100, remaining: 50, resets_at: null },
}

test('a rule says what it allows, and which calls it is for', () => {
  const calls: Rule = {
    id: 'c',
    enabled: true,
    limit: 1,
    limitType: 'concurrency',
    when_store_unreachable: 'open',
  }
  for (const [words, shown] of [
    ['$100.00 a month', rule],
    ['$0.25 every hour, for each token', { ...rule, limit: 0.25, window: 3600, token: each }],
    ['$100.00 in any 7 days', { ...rule, window: 7 * 86_400, technique: 'sliding' }],
    ['50,000 tokens every 90 seconds', { ...rule, limitType: 'tokens', limit: 50_000, window: 90 }],
    ['1 token a day', { ...rule, limitType: 'tokens', limit: 1, window: 'day' }],
    ['1 call at a time', calls],
    [
      '4 calls at a time, for each app, model and metadata.team',
      { ...calls, limit: 4, app: each, model: each, metadata: { team: each } },
    ],
  ] as const)
    assert.equal(ruleInWords(shown), words)
  assert.equal(filtersInWords({ ...rule, token: each }), null)
  const filtered = { ...rule, model: only('a', 'b', 'c'), metadata: { team: only('x') } }
  assert.equal(filtersInWords(filtered), 'Only calls with the model a, b or c and metadata.team x')
})

test('how long it is until a budget starts over is said in two units', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  for (const [seconds, words] of [
    [0, '0 s'],
    [-5, '0 s'],
    [45, '45 s'],
    [60, '1 min'],
    [3_599, '59 min 59 s'],
    [3_605, '1 h'],
    [86_400 * 30 + 3_600 * 23 + 59, '30 d 23 h'],
  ] as const)
    assert.equal(spanUntil(new Date(now + seconds * 1000).toISOString(), now), words)
})

test('a bar has what is spent and reserved as a meter, in words, and within its length', () => {
  const { markup } = budgetBar(rule, bucket, 'All calls')
  assert.match(
    markup,
    /role="meter" aria-label="All calls" aria-valuemin="0" aria-valuemax="100" aria-valuenow="50" aria-valuetext="\$40.00 spent, \$10.00 reserved of \$100.00"/,
  )
  assert.match(markup, /d="M0 .5H400"\/><path class="reserved" d="M400 .5H500"/)
  const over = { ...bucket, spent: 150, leased: 50, remaining: 0 }
  assert.match(
    budgetBar(rule, over, 'x').markup,
    /aria-valuemax="200" aria-valuenow="200".*H750.*M750 .5H1000/,
  )
  const calls: Rule = { ...rule, limitType: 'concurrency', limit: 4 }
  const idle = { ...bucket, spent: 0, leased: 0, limit: 4, remaining: 4 }
  assert.match(budgetBar(calls, idle, 'x').markup, /aria-valuetext="0 reserved of 4 calls"/)
})

test('calls that a rule has refused are counted in words', () => {
  assert.equal(refusedLately(0), null)
  assert.match(refusedLately(1)!.markup, /refused<\/span> 1 call in the last day</)
  assert.match(refusedLately(1200)!.markup, /refused<\/span> 1,200 calls in the last day</)
})

test('a budget near its limit says so in words, and the nearest come first', () => {
  const at = (spent: number) => ({ ...bucket, leased: 0, spent, remaining: 100 - spent })
  assert.equal(leftOf(rule, at(79)).markup, '$21.00')
  assert.match(leftOf(rule, at(80), ' left').markup, /^\$20.00 left <.*>nearly used up</)
  assert.match(leftOf(rule, at(100)).markup, />used up</)
  const small: Rule = { ...rule, limit: 1 }
  const nearest = nearestOf(
    [
      { rule, refused_last_day: 0, budgets: [at(50), at(0), at(90)] },
      { rule: small, refused_last_day: 0, budgets: [{ ...at(0.7), limit: 1 }] },
    ],
    2,
  )
  assert.deepEqual(
    nearest.map(({ bucket }) => bucket.spent),
    [90, 0.7],
  )
})
