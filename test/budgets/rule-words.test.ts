import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { allowanceInWords } from '../../src/budgets/rule-words.ts'

test('a rule is said with its amount and window', () => {
  const fixed = 'fixed' as const
  equal(allowanceInWords('cost', 5e9, { window: 'day', technique: fixed }), '$5.00 a day')
  equal(allowanceInWords('cost', 100_000_000, { window: 'month', technique: fixed }), '$0.10 a month')
  equal(
    allowanceInWords('cost', 1_234_500_000_001, { window: 86_400, technique: 'sliding' }),
    '$1,234.500000001 in any day',
  )
  equal(allowanceInWords('tokens', 10_000, { window: 60, technique: fixed }), '10,000 tokens every minute')
  equal(allowanceInWords('tokens', 1, { window: 5_400, technique: fixed }), '1 token every 90 minutes')
  equal(allowanceInWords('tokens', 2, { window: 90, technique: fixed }), '2 tokens every 90 seconds')
  equal(allowanceInWords('concurrency', 4, { window: null, technique: fixed }), '4 calls at a time')
  equal(allowanceInWords('concurrency', 1, { window: null, technique: fixed }), '1 call at a time')
})
