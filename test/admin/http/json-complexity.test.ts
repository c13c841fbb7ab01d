import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasMoreParts } from '../../../src/admin/http/json-complexity.ts'
import { longestStall, slowness } from '../../help/stall.ts'

/** Counts the members and elements of a value, its brackets, and the colons of its members, as far as they have marks before them. */
function partsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value)
  const commas = Math.max(0, inner.length - 1)
  const colons = Array.isArray(value) ? 0 : inner.length
  return 1 + commas + colons + inner.reduce((sum: number, one) => sum + partsOf(one), 0)
}

test('in any serialized JSON exactly the parts outside of strings are counted', () =>
  fc.assert(
    fc.asyncProperty(fc.jsonValue(), async value => {
      const json = Buffer.from(JSON.stringify(value))
      const parts = partsOf(value)
      assert.equal(await hasMoreParts(json, parts), false)
      if (parts > 0) assert.equal(await hasMoreParts(json, parts - 1), true)
    }),
  ))

test('a text may be cut anywhere between two turns, after a backslash too', async () => {
  const step = 256 * 1024
  for (let before = step - 4; before < step + 4; before++) {
    const json = Buffer.from(JSON.stringify(['x'.repeat(before), '",[{:\\'.repeat(50_000)]))
    assert.equal(await hasMoreParts(json, 2), false)
    assert.equal(await hasMoreParts(json, 1), true)
  }
})

test('four mebibytes are counted with turns for others between', async () => {
  const json = Buffer.from(JSON.stringify('x'.repeat(4_000_000)))
  let least = Infinity
  for (let i = 0; i < 20 && least > 3; i++) {
    const { longest } = await longestStall(() => hasMoreParts(json, 1))
    least = Math.min(least, longest / slowness())
  }
  assert.ok(least <= 3, `held for ${least} ms`)
})
