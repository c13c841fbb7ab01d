import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  chatUsage,
  countsOfChat,
  countsOfMessages,
  finishReason,
  messagesErrorType,
  messagesUsage,
  stopReason,
} from '../../../src/ai/translate/outcome.ts'

describe('the end of an answer keeps its meaning', () => {
  const pairs = [
    ['end_turn', 'stop'],
    ['max_tokens', 'length'],
    ['tool_use', 'tool_calls'],
    ['refusal', 'content_filter'],
  ] as const
  for (const [stop, finish] of pairs) {
    test(`${stop} is ${finish}`, () =>
      deepEqual([finishReason(stop), stopReason(finish, {})], [finish, stop]))
  }

  test('what only one API knows comes close', () => {
    deepEqual(
      ['stop_sequence', 'pause_turn', 'model_context_window_exceeded'].map(reason => finishReason(reason)),
      ['stop', 'stop', 'length'],
    )
    equal(stopReason('function_call', {}), 'tool_use')
  })

  test('an unknown reason is a plain stop', () => {
    deepEqual([finishReason('new'), finishReason(null)], ['stop', 'stop'])
    deepEqual([stopReason('new', {}), stopReason(undefined, {})], ['end_turn', 'end_turn'])
  })
})

test('token counts survive a round trip', () => {
  const count = fc.nat({ max: 1e9 })
  const counts = fc.record({
    fresh: count,
    completion: count,
    cacheRead: count,
    cacheWrite: count,
    reasoning: fc.option(count, { nil: undefined }),
  })
  fc.assert(
    fc.property(counts, ({ fresh, ...rest }) => {
      const all = { prompt: fresh + rest.cacheRead + rest.cacheWrite, ...rest }
      deepEqual(countsOfMessages(messagesUsage(countsOfChat(chatUsage(all)!))), all)
    }),
  )
})

test('a provider that counts wrongly makes no count negative', () => {
  const counts = countsOfChat({ prompt_tokens: 5, prompt_tokens_details: { cached_tokens: 9 } })
  equal(messagesUsage(counts).input_tokens, 0)
})

test('reasoning that a provider counts in the total alone is counted as output', () => {
  const usage = { prompt_tokens: 26, completion_tokens: 4, total_tokens: 330 }
  equal(messagesUsage(countsOfChat(usage)).output_tokens, 304)
  equal(
    messagesUsage(countsOfChat({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })).output_tokens,
    0,
  )
})

test('an error keeps its type where Messages knows it', () => {
  equal(messagesErrorType({ type: 'invalid_request_error', code: null }), 'invalid_request_error')
  equal(messagesErrorType({ type: 'tokens', code: 'rate_limit_exceeded' }), 'rate_limit_error')
  equal(messagesErrorType({ type: 'insufficient_quota' }), 'billing_error')
  equal(messagesErrorType({ type: 'server_error', code: 500 }), 'api_error')
  equal(messagesErrorType({}), 'api_error')
})
