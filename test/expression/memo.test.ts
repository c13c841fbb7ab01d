import { equal, notEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { queryObjects } from 'node:v8'
import { compileExpression } from '../../src/expression/expression.ts'
import { Memo } from '../../src/expression/memo.ts'

test('the oldest is forgotten', () => {
  const memo = new Memo<{ n: number }>(2)
  const values = [{ n: 0 }, { n: 1 }, { n: 2 }] as const
  memo.set('a', values[0])
  memo.set('b', values[1])
  memo.set('a', values[0])
  memo.set('c', values[2])
  equal(memo.get('a'), values[0])
  equal(memo.get('b'), undefined)
  equal(memo.get('c'), values[2])
})

test('a text is forgotten soon after its value', async () => {
  const weak = () => queryObjects(WeakRef, { format: 'count' })
  const before = weak()
  const memo = new Memo<{ n: number }>(10_000)
  const used = { n: -1 }
  memo.set('used', used)
  for (let n = 0; n < 200; n++) {
    memo.set(`unused ${n}`, { n })
    // Between two turns, so that nothing holds what is unused; the count collects it.
    await new Promise(setImmediate)
    if (n % 32 === 0) weak()
  }
  const left = weak() - before
  ok(left <= 100, `${left} are left of 201`)
  equal(memo.get('used'), used)
})

test('the same text is compiled once for each scope and type', () => {
  const expression = compileExpression('request.tls', 'request', 'bool')
  equal(compileExpression('request.tls', 'request', 'bool'), expression)
  notEqual(compileExpression('request.tls', 'error', 'bool'), expression)
  equal('line' in compileExpression('request.tls', 'request', 'string'), true)
})
