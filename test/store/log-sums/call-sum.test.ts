import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallSum } from '../../../src/store/log-sums/call-sum.ts'
import { entryWith } from '../../admin/ai-logs/log-entries.ts'

test('a stored sum has what reused responses saved, and one of before has none', () => {
  const sum = new CallSum()
  sum.add(entryWith(1, { cost: 0.5 }))
  const before = sum.toRecord()
  assert.equal(before.length, 7)
  assert.equal(CallSum.from(JSON.parse(JSON.stringify(before))).reused, 0)
  sum.add(entryWith(2, { cached: true, saved: { tokensIn: 10, tokensOut: null, cost: 0.25 } }))
  const restored = CallSum.from(JSON.parse(JSON.stringify(sum.toRecord())))
  const total = new CallSum()
  for (const part of [restored, restored, CallSum.from(before)]) total.merge(part)
  const { count, reused, savedTokensIn, savedTokensOut, savedCost } = total
  assert.deepEqual([count, reused, savedTokensIn, savedTokensOut, savedCost], [5, 2, 20, 0, 0.5])
})
