import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { orderFaults } from '../../../../src/admin/zones/rules/rule-order.ts'
import { placeAmong } from '../../../../src/admin/zones/rules/rule-members.ts'

const idOf = (i: number) => i.toString(16).padStart(32, '0')
const rulesOf = (count: number) => Array.from({ length: count }, (_, i) => ({ id: idOf(i) }))

test('a position is next to an existing rule, at an index, or the end', () => {
  const rules = rulesOf(3)
  assert.equal(placeAmong(rules, null), 3)
  assert.equal(placeAmong(rules, { index: 1 }), 0)
  assert.equal(placeAmong(rules, { index: 4 }), 3)
  assert.equal(placeAmong(rules, { before: idOf(1) }), 1)
  assert.equal(placeAmong(rules, { after: idOf(1) }), 2)
  assert.equal(placeAmong([], { index: 1 }), 0)
})

test('an invalid position is reported with its member', () => {
  for (const [position, pointer] of [
    [{ index: 5 }, '/position/index'],
    [{ before: idOf(3) }, '/position/before'],
    [{ after: 'x' }, '/position/after'],
  ] as const) {
    const fault = placeAmong(rulesOf(3), position)
    assert.equal(typeof fault === 'object' && fault.pointer, pointer)
  }
})

test('every permutation of all ids is valid, and no other list of ids', () => {
  const ids = fc.array(fc.nat({ max: 6 }).map(idOf), { maxLength: 7 })
  fc.assert(
    fc.property(fc.nat({ max: 4 }), ids, (count, ids) => {
      const rules = rulesOf(count)
      const isOrder = ids.toSorted().join() === rules.map(({ id }) => id).join()
      assert.equal(orderFaults(ids, rules).length === 0, isOrder)
      assert.deepEqual(orderFaults(rules.map(({ id }) => id).reverse(), rules), [])
    }),
    { numRuns: 2_000 },
  )
})
