import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { dimensions, LogSums, mostGroups } from '../../src/ai-logs/sums.ts'
import { logEntry } from '../store/contract-specimens.ts'

const entry = fc
  .record({
    tokenId: fc.constantFrom(null, 'a', 'b'),
    model: fc.constantFrom(null, 'x', 'null', 'y,"z'),
    provider: fc.constantFrom('openai', 'groq'),
    createdAt: fc.nat(3 * 86_400_000),
    tokensIn: fc.option(fc.nat(100)),
    tokensOut: fc.option(fc.nat(100)),
    cost: fc.option(fc.nat(100)),
  })
  .map(logEntry)

test('whatever they are grouped by, the groups together are all', () => {
  fc.assert(
    fc.property(fc.array(entry), fc.subarray([...dimensions], { minLength: 1 }), (entries, groupBy) => {
      const sums = new LogSums(groupBy)
      for (const entry of entries) assert.ok(sums.add(entry))
      const together = { count: 0, tokensIn: 0, tokensOut: 0, cost: 0, withoutCost: 0 }
      for (const group of sums.groups.values())
        for (const name of Object.keys(together) as (keyof typeof together)[]) together[name] += group[name]
      assert.deepEqual(sums.all, together)
      assert.equal(sums.all.count, entries.length)
      assert.equal(
        sums.all.cost,
        entries.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
      )
    }),
  )
})

test('there are no more groups than can be, and what is known goes on', () => {
  const sums = new LogSums(['model'])
  for (let i = 0; i < mostGroups; i++) assert.ok(sums.add(logEntry({ model: `m${i}` })))
  assert.equal(sums.add(logEntry({ model: 'one more' })), false)
  assert.ok(sums.add(logEntry({ model: 'm7' })))
})
