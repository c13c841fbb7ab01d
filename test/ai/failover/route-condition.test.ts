import { equal, match, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { conditionFlaw, holds } from '../../../src/ai/failover/route-condition.ts'
import type { RouteCondition, Scalar } from '../../../src/store/records/model-route.ts'

const call: Readonly<Record<string, readonly Scalar[]>> = {
  'metadata.plan': ['pro'],
  'metadata.seats': [12],
  'metadata.beta': [null],
  person: ['9f', 'ada@example.com'],
}
const facts = (fact: string) => call[fact] ?? []

const conditions: readonly [condition: RouteCondition, isMet: boolean][] = [
  [{ 'metadata.plan': 'pro' }, true],
  [{ 'metadata.plan': { $eq: 'free' } }, false],
  [{ 'metadata.plan': { $ne: 'free' } }, true],
  [{ 'metadata.absent': { $ne: 'free' } }, true],
  [{ 'metadata.plan': { $in: ['team', 'pro'] } }, true],
  [{ 'metadata.plan': { $nin: ['team', 'pro'] } }, false],
  [{ 'metadata.absent': { $nin: ['team'] } }, true],
  [{ 'metadata.seats': { $gt: 10, $lte: 12 } }, true],
  [{ 'metadata.seats': { $gte: 12, $lt: 12 } }, false],
  [{ 'metadata.seats': { $gt: '1' } }, false],
  [{ 'metadata.absent': { $gt: 0 } }, false],
  [{ 'metadata.beta': { $gte: 0 } }, false],
  [{ 'metadata.beta': { $exists: true } }, true],
  [{ 'metadata.beta': null }, true],
  [{ 'metadata.absent': null }, false],
  [{ 'metadata.absent': { $exists: false } }, true],
  [{ 'metadata.seats': { $not: { $gt: 10 } } }, false],
  [{ 'metadata.absent': { $not: { $gt: 10 } } }, true],
  [{ person: 'ada@example.com' }, true],
  [{ person: { $in: ['9f'] } }, true],
  [{ person: { $ne: '9f' } }, false],
  [{ app: { $exists: true } }, false],
  [{ 'metadata.plan': 'pro', 'metadata.seats': 11 }, false],
  [{ $or: [{ 'metadata.plan': 'free' }, { 'metadata.seats': 12 }] }, true],
  [{ $and: [{ 'metadata.plan': 'pro' }, { $not: { 'metadata.seats': 12 } }] }, false],
]

describe('a condition', () => {
  for (const [condition, isMet] of conditions)
    test(`${JSON.stringify(condition)} is ${isMet ? 'met' : 'not met'}`, () => {
      equal(conditionFlaw(condition), null)
      equal(holds(condition, facts), isMet)
    })

  const flaws: readonly [condition: unknown, flaw: RegExp][] = [
    ['metadata.plan == "pro"', /must be an object/],
    [{}, /empty condition/],
    [{ plan: 'pro' }, /unknown fact, "plan": use metadata\.NAME/],
    [{ 'metadata.': 'pro' }, /unknown fact/],
    [{ $nor: [] }, /unknown operator, "\$nor"/],
    [{ $and: [] }, /needs a list of conditions for \$and/],
    [{ $or: [{}] }, /empty condition/],
    [{ 'metadata.plan': {} }, /empty test/],
    [{ 'metadata.plan': { eq: 'pro' } }, /unknown operator, "eq": use \$eq/],
    [{ 'metadata.plan': { toString: 1 } }, /unknown operator/],
    [{ 'metadata.plan': { $eq: ['pro'] } }, /needs a string, number, boolean or null for \$eq/],
    [{ 'metadata.plan': ['pro'] }, /needs a string, number, boolean or null for metadata.plan/],
    [{ 'metadata.plan': { $in: 'pro' } }, /needs a list/],
    [{ 'metadata.plan': { $in: [] } }, /needs a list/],
    [{ 'metadata.plan': { $gt: true } }, /needs a number or a string for \$gt/],
    [{ 'metadata.plan': { $exists: 1 } }, /needs true or false for \$exists/],
    [{ 'metadata.plan': { $not: 3 } }, /needs an object of operators for \$not/],
    [{ 'metadata.plan': 'x'.repeat(257) }, /at most 256 characters/],
  ]
  for (const [condition, flaw] of flaws)
    test(`${JSON.stringify(condition).slice(0, 60)} is refused`, () =>
      match(String(conditionFlaw(condition)), flaw))

  test('is bounded in depth and in the number of its tests', () => {
    let deep: unknown = { app: 'x' }
    for (let i = 0; i < 12; i++) deep = { $not: deep }
    match(String(conditionFlaw(deep)), /at most 10 levels/)
    let within: unknown = { app: 'x' }
    for (let i = 0; i < 9; i++) within = { $not: within }
    equal(conditionFlaw(within), null)
    const wide = { $or: Array.from({ length: 101 }, () => ({ app: 'x' })) }
    match(String(conditionFlaw(wide)), /at most 100 tests/)
  })

  test('of any JSON is refused with a sentence, or decides', () => {
    const operand = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.string()),
    )
    const name = fc.constantFrom(
      'app',
      'person',
      'metadata.plan',
      'metadata.seats',
      '$and',
      '$or',
      '$not',
      'x',
    )
    const operator = fc.constantFrom('$eq', '$ne', '$gt', '$lte', '$in', '$nin', '$not', '$exists', '$x')
    const { condition } = fc.letrec(tie => ({
      test: fc.oneof(operand, fc.dictionary(operator, fc.oneof(operand, tie('test')), { maxKeys: 2 })),
      condition: fc.dictionary(
        name,
        fc.oneof(tie('test'), tie('condition'), fc.array(tie('condition'), { maxLength: 3 })),
        { maxKeys: 3 },
      ),
    }))
    fc.assert(
      fc.property(fc.oneof(condition, fc.jsonValue()), value => {
        const flaw = conditionFlaw(value)
        if (flaw === null) equal(typeof holds(value as RouteCondition, facts), 'boolean')
        else ok(flaw.length > 10 && flaw.length < 300)
      }),
    )
  })
})
