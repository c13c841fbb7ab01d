import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mayCall, mayUseGateway } from '../../src/tokens/may-call.ts'

test('a token without limits may call everything, and so may a call without a token', () => {
  assert.ok(mayCall(null, 'default', 'openai/gpt-4o'))
  assert.ok(mayCall({}, 'default', 'openai/gpt-4o'))
  assert.ok(mayUseGateway(null, 'default') && mayUseGateway({}, 'default'))
})

test('a pattern must match the whole name, and a star stands for any text', () => {
  const token = { gateways: ['team-*', 'default'], models: ['openai/gpt-4o*', 'fast', 'dynamic/*'] }
  for (const model of ['openai/gpt-4o', 'openai/gpt-4o-mini', 'fast', 'dynamic/route', 'dynamic/'])
    assert.ok(mayCall(token, 'team-a', model), model)
  for (const model of ['openai/gpt-4', 'xopenai/gpt-4o', 'faster', 'fas', 'dynamic', '', '*'])
    assert.ok(!mayCall(token, 'team-a', model), model)
  for (const gateway of ['teams', 'team', 'defaults', '', 'my-team-a'])
    assert.ok(!mayUseGateway(token, gateway) && !mayCall(token, gateway, 'fast'), gateway)
})

test('patterns are case-sensitive, as names of models are', () => {
  assert.ok(!mayCall({ models: ['openai/gpt-4o'] }, 'default', 'openai/GPT-4o'))
  assert.ok(mayCall({ models: ['custom-lab/Qwen*'] }, 'default', 'custom-lab/Qwen3'))
})

test('an empty list and an empty pattern permit nothing', () => {
  for (const models of [[], ['']]) assert.ok(!mayCall({ models }, 'default', 'openai/gpt-4o'))
  assert.ok(!mayUseGateway({ gateways: [] }, 'default'))
})

test('a name matches itself, and characters with a meaning elsewhere have none here', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (name, other) => {
      const pattern = name.replaceAll('*', '')
      assert.ok(mayCall({ models: [pattern] }, 'default', pattern))
      assert.equal(mayCall({ models: [pattern] }, 'default', other), other === pattern)
      assert.ok(mayCall({ models: [`${pattern}*`] }, 'default', pattern + other))
    }),
  )
})
