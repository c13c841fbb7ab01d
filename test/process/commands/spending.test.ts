import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Field } from '../../../src/admin/http/field.ts'
import { readSpendLimits } from '../../../src/admin/spend-limits/body.ts'
import type { Fault } from '../../../src/errors/catalogue/refusal.ts'
import { inWords, rulesOf, type WireRule, withRules } from '../../../src/process/commands/spending.ts'

const month = { limit: 100, limitType: 'cost', window: 'month' }
const day = { limit: 0.1, limitType: 'cost', window: 'day' }

test('options are rules of the API', () => {
  assert.equal(rulesOf({}), null)
  assert.deepEqual(rulesOf({ spend: ['0.10/day', '100/month', '2/hour'] }), [
    day,
    month,
    { limit: 2, limitType: 'cost', window: 3600 },
  ])
  assert.deepEqual(rulesOf({ 'tokens-per-minute': '10000', 'concurrent-calls': '4' }), [
    { limit: 10_000, limitType: 'tokens', window: 60 },
    { limit: 4, limitType: 'concurrency' },
  ])
  const off = { spend: ['off'], 'tokens-per-minute': 'off', 'concurrent-calls': 'off' }
  assert.deepEqual(rulesOf(off), [])
})

test('what is wrong with an option is said by its name', () => {
  for (const wrong of [
    '',
    '1',
    '1/year',
    '0/day',
    '-1/day',
    '1e3/day',
    '1.0000000001/day',
    '1 / day',
    'day/1',
  ])
    assert.match(
      String(rulesOf({ spend: [wrong] })),
      /^--spend must be USD in a minute, hour, day, week or month/,
    )
  assert.match(String(rulesOf({ spend: ['1/day', '2/day'] })), /^--spend has two limits for a day$/)
  for (const option of ['tokens-per-minute', 'concurrent-calls'] as const)
    for (const wrong of ['0', '', '-1', '1.5', 'many', '1'.repeat(13)])
      assert.equal(rulesOf({ [option]: wrong }), `--${option} must be a whole number above 0`)
})

test('whatever a text is, what it makes is wrong by name, or a rule that the API takes', () => {
  const amount = fc.oneof(fc.float().map(String), fc.nat().map(String), fc.string())
  const spend = fc.tuple(amount, fc.constantFrom('/day', '/minute', '/', ' per day')).map(([a, b]) => a + b)
  fc.assert(
    fc.property(fc.oneof(spend, fc.string()), text => {
      const rules = rulesOf({ spend: [text] })
      if (rules === null || typeof rules === 'string') return
      const faults: Fault[] = []
      readSpendLimits(new Field({ rules }, faults), 'token')
      for (const { message } of faults)
        assert.match(message, /must be a number of USD above 0, up to 1000000/)
    }),
  )
})

test('rules replace those of their kind for all calls together, and no others', () => {
  const each: WireRule = { id: 'each', ...day, ...{ token: { mode: 'partition' } } }
  const tokens = { id: 't', limit: 5, limitType: 'tokens', window: 60 }
  const sliding = { id: 's', ...day, technique: 'sliding' }
  const old = {
    enabled: true,
    rules: [{ id: 'd', ...day, enabled: false, technique: 'fixed' }, each, tokens, sliding],
  }
  assert.deepEqual(withRules(old, [{ ...day, limit: 7 }, month], { spend: ['x'] }), {
    enabled: true,
    rules: [each, tokens, sliding, { id: 'd', ...day, limit: 7, enabled: true, technique: 'fixed' }, month],
  })
  assert.deepEqual(withRules(old, [], { spend: ['off'] })?.rules, [each, tokens, sliding])
  assert.equal(withRules({ rules: [tokens] }, [], { 'tokens-per-minute': 'off' }), null)
  assert.deepEqual(withRules({ enabled: false, rules: [tokens] }, [], { spend: ['off'] }), {
    enabled: false,
    rules: [tokens],
  })
  assert.deepEqual(withRules(null, [month], { spend: ['x'] }), { enabled: true, rules: [month] })
  assert.equal(withRules({ enabled: false, rules: [tokens] }, [month], { spend: ['x'] })?.enabled, true)
})

test('limits are described rule by rule', () => {
  const rules: readonly (WireRule & Record<string, unknown>)[] = [
    { ...month, time_zone: 'UTC', technique: 'fixed', when_store_unreachable: 'closed' },
    { limit: 5, limitType: 'tokens', window: 60, token: { mode: 'partition' } },
    { limit: 4, limitType: 'concurrency', enabled: false, model: { mode: 'filter', values: ['a', 'b'] } },
    { ...day, metadata: { team: { mode: 'partition' } } },
  ]
  assert.equal(
    inWords({ rules }),
    '100 USD a month; 5 tokens in 60 s for each token; 4 calls at a time for model a or b (off); 0.1 USD a day for each metadata.team',
  )
  assert.equal(inWords({ enabled: false, rules }), 'off')
  assert.equal(inWords({ rules: [] }), '-')
})
