import assert from 'node:assert/strict'
import { test } from 'node:test'
import { customCostOf, parseCustomCost } from '../../src/ai-logs/custom-cost.ts'

test('a cost is a total, or both prices of a token', () => {
  assert.deepEqual(parseCustomCost('{"total_cost":0.5}'), { value: { total: 0.5 } })
  assert.deepEqual(parseCustomCost('{"per_token_in":0,"per_token_out":1000000}'), {
    value: { perTokenIn: 0, perTokenOut: 1e6 },
  })
  for (const text of [
    ...['', '1', 'null', '[]', '{}', '{"total_cost":"1"}', '{"total_cost":-1}', '{"total_cost":1000001}'],
    ...['{"total_cost":1e999}', '{"total_cost":null}', '{"per_token_in":1}', '{"per_token_out":1}'],
    ...['{"total_cost":1,"per_token_in":1,"per_token_out":1}', '{"total_cost":1,"currency":2}'],
  ])
    assert.ok('flaw' in parseCustomCost(text), text)
})

test('a price needs the tokens, and a total does not', () => {
  assert.equal(customCostOf({ total: 0.5 }, null, null), 0.5)
  assert.equal(customCostOf({ perTokenIn: 0.1, perTokenOut: 0.2 }, 1, 1), 0.3)
  assert.equal(customCostOf({ perTokenIn: 0.1, perTokenOut: 0.2 }, 1, null), null)
})
