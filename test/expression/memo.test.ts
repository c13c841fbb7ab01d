import { equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
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

test('the same text is compiled once for each scope and type', () => {
  const expression = compileExpression('request.tls', 'request', 'bool')
  equal(compileExpression('request.tls', 'request', 'bool'), expression)
  notEqual(compileExpression('request.tls', 'error', 'bool'), expression)
  equal('line' in compileExpression('request.tls', 'request', 'string'), true)
})
