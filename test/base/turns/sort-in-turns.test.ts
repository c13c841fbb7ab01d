import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sortInTurns } from '../../../src/base/turns/sort-in-turns.ts'

test('items come in the order of a sort at one go, equal ones in their own', async () => {
  const item = fc.record({ value: fc.nat(20), at: fc.nat() })
  const items = fc.oneof(
    fc.array(item, { maxLength: 20 }),
    fc.array(item, { minLength: 500, maxLength: 3_000, size: 'max' }),
  )
  await fc.assert(
    fc.asyncProperty(items, async items => {
      const compare = (a: { value: number }, b: { value: number }) => a.value - b.value
      assert.deepEqual(await sortInTurns(items, compare), items.toSorted(compare))
    }),
    { numRuns: 50 },
  )
})
