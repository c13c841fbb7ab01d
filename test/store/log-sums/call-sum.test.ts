import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallSum } from '../../../src/store/log-sums/call-sum.ts'
import { entryWith } from '../../admin/ai-logs/log-entries.ts'

test('a stored sum has what reused responses saved, and one of before has none', () => {
  const sum = new CallSum()
  sum.add(entryWith(1, { cost: 0.5 }))
  const before = sum.toRecord()
  assert.equal(before.length, 7)
  assert.equal(CallSum.from(JSON.parse(JSON.stringify(before))).savings.reused, 0)
  sum.add(entryWith(2, { cached: true, saved: { tokensIn: 10, tokensOut: null, cost: 0.25 } }))
  const restored = CallSum.from(JSON.parse(JSON.stringify(sum.toRecord())))
  const total = new CallSum()
  for (const part of [restored, restored, CallSum.from(before)]) total.merge(part)
  assert.equal(total.count, 5)
  assert.deepEqual(total.savings, { reused: 2, tokensIn: 20, tokensOut: 0, cost: 0.5 })
})
