import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readSpendLimits } from '../../../src/admin/spend-limits/body.ts'
import { viewSpendLimits } from '../../../src/admin/spend-limits/view.ts'
import { Field } from '../../../src/admin/http/field.ts'
import type { Rule } from '../../../src/dashboard/budgets/rule.ts'
import { newRule, ruleFields, ruleOf, valuesOfRule } from '../../../src/dashboard/budgets/rule-form.ts'
import { Draft } from '../../../src/dashboard/parts/draft.ts'
import { anyCharacter } from '../../help/any-text.ts'

/** Returns a rule as the API shows it after it was sent; null if it refuses it. */
function shownOf(rule: object): Rule | null {
  const faults: never[] = []
  const limits = readSpendLimits(new Field({ rules: [rule] }, faults), 'gateway')
  return faults.length > 0 || limits === null ? null : viewSpendLimits(limits).rules[0]!
}

const text = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 20 })
const plain = fc.stringMatching(/^[a-z][a-z0-9./=@ -]{0,12}$/)
const criterion = fc.oneof(
  fc.constant({ mode: 'partition' }),
  fc.record({
    mode: fc.constant('filter'),
    values: fc.uniqueArray(fc.oneof(plain, text), { minLength: 1, maxLength: 3 }),
  }),
)
const span = fc.oneof(
  fc.record({
    window: fc.integer({ min: 60, max: 366 * 86_400 }),
    technique: fc.constantFrom('fixed', 'sliding'),
  }),
  fc.record({
    window: fc.constantFrom('day', 'week', 'month'),
    time_zone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns'),
  }),
)
const amount = fc.oneof(
  fc.record({
    limitType: fc.constant('cost'),
    limit: fc.integer({ min: 1, max: 1e15 }).map(nano => nano / 1e9),
  }),
  fc.record({ limitType: fc.constant('tokens'), limit: fc.integer({ min: 1, max: 1e12 }) }),
)
const optional = (name: string) =>
  fc.option(
    criterion.map(one => ({ [name]: one })),
    { nil: {} },
  )
const anyRule = fc
  .tuple(
    fc.oneof(
      fc.tuple(amount, span).map(([amount, span]) => ({ ...amount, ...span })),
      fc.record({ limitType: fc.constant('concurrency'), limit: fc.integer({ min: 1, max: 100_000 }) }),
    ),
    fc.record({
      id: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
      enabled: fc.boolean(),
      when_store_unreachable: fc.constantFrom('closed', 'open'),
    }),
    ...['model', 'provider', 'token', 'app', 'person'].map(optional),
    fc.option(
      fc
        .dictionary(fc.oneof(plain, text), criterion, { minKeys: 1, maxKeys: 3 })
        .map(metadata => ({ metadata })),
      { nil: {} },
    ),
  )
  .map(parts => Object.assign({}, ...parts) as object)

test('a rule that is edited and saved unchanged stays as it is, whatever is in it', () => {
  let count = 0
  fc.assert(
    fc.property(anyRule, sent => {
      const rule = shownOf(sent)
      if (rule === null) return
      count++
      const draft = new Draft(valuesOfRule(rule))
      assert.deepEqual(shownOf(ruleOf(draft, 'gateway', rule)), rule)
      // As a browser sends it.
      const crlf = Object.fromEntries(
        Object.entries(draft.values).map(([name, value]) => [name, value.replaceAll('\n', '\r\n')]),
      )
      assert.deepEqual(shownOf(ruleOf(new Draft(crlf), 'gateway', rule)), rule)
      ruleFields(draft, 'gateway', rule)
    }),
  )
  assert.ok(count > 20, `${count} rules were valid`)
})

test('whatever is typed makes a body, and numbers only of what is one', () => {
  const names = ['limit', 'limitType', 'window', 'seconds', 'time_zone', 'only_model', 'only_metadata', 'id']
  const values = fc.record(
    Object.fromEntries(names.map(name => [name, fc.oneof(text, fc.constant('__proto__'))])),
  )
  fc.assert(
    fc.property(values, values => {
      const draft = new Draft({ ...newRule, ...values })
      JSON.stringify(ruleOf(draft, 'gateway', null))
      ruleFields(draft, 'gateway', null)
    }),
  )
  for (const [typed, limit] of [
    ['2.50', 2.5],
    [' $ 100 ', 100],
    ['0.000000001', 1e-9],
    ['1,50', '1,50'],
    ['1e3', '1e3'],
    ['-1', '-1'],
    ['', ''],
  ] as const)
    assert.equal(ruleOf(new Draft({ ...newRule, limit: typed }), 'token', null).limit, limit)
})

test('fields that do not apply send nothing', () => {
  const filled = { ...newRule, limit: '4', time_zone: 'Europe/Berlin', seconds: '60', technique: 'sliding' }
  const made = (values: object) => ruleOf(new Draft({ ...filled, ...values }), 'gateway', null)
  const rest = { enabled: true, limit: 4, when_store_unreachable: 'closed' }
  assert.deepEqual(made({ limitType: 'concurrency' }), { ...rest, limitType: 'concurrency' })
  const month = { limitType: 'cost', window: 'month', time_zone: 'Europe/Berlin' }
  assert.deepEqual(made({}), { ...rest, ...month })
  const minute = { limitType: 'cost', window: 60, technique: 'sliding' }
  assert.deepEqual(made({ window: 'seconds' }), { ...rest, ...minute })
  // Of a token, no form can ask for more than its calls have.
  const draft = new Draft({ ...filled, 'each.token': 'on', each_metadata: 'team', only_person: 'a' })
  assert.deepEqual(ruleOf(draft, 'token', null), { ...rest, ...month })
})
