import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import type Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import type OpenAI from 'openai'
import { chatResponse } from '../../../src/ai/translate/messages-response-to-chat.ts'

const message: Anthropic.Message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [{ type: 'text', text: 'Hello', citations: null }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  stop_details: null,
  container: null,
  diagnostics: null,
  usage: {
    input_tokens: 10,
    output_tokens: 5,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 20,
    cache_creation: null,
    inference_geo: null,
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: 'standard',
    speed: null,
  },
}

const completion: OpenAI.Chat.ChatCompletion = {
  id: 'msg_1',
  object: 'chat.completion',
  created: 1700000000,
  model: 'claude-x',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: {
    prompt_tokens: 130,
    completion_tokens: 5,
    total_tokens: 135,
    prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 20 },
  },
  service_tier: 'default',
}

function answer(value: unknown): OpenAI.Chat.ChatCompletion | null {
  const json = chatResponse(JSON.stringify(value), 1700000000999)
  return json === null ? null : JSON.parse(json)
}

/** The one choice of an answer. */
const choiceOf = (changes: Partial<Anthropic.Message>) => answer({ ...message, ...changes })?.choices[0]

test('a message becomes a chat completion', () => deepEqual(answer(message), completion))

test('several texts are joined, and thinking is dropped', () => {
  const content: Anthropic.ContentBlock[] = [
    { type: 'thinking', thinking: 'hm', signature: 's' },
    { type: 'text', text: 'Hel', citations: null },
    { type: 'text', text: 'lo', citations: null },
  ]
  equal(choiceOf({ content })?.message.content, 'Hello')
})

test('uses of tools become calls, and a message without text has no content', () => {
  const content: Anthropic.ContentBlock[] = [
    { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Oslo' }, caller: { type: 'direct' } },
    { type: 'tool_use', id: 'c2', name: 'now', input: {}, caller: { type: 'direct' } },
  ]
  const expected: OpenAI.Chat.ChatCompletionMessage = {
    role: 'assistant',
    content: null,
    refusal: null,
    tool_calls: [
      { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
      { id: 'c2', type: 'function', function: { name: 'now', arguments: '{}' } },
    ],
  }
  deepEqual(choiceOf({ content, stop_reason: 'tool_use' }), {
    index: 0,
    message: expected,
    logprobs: null,
    finish_reason: 'tool_calls',
  })
})

test('uses without ids, or with one id for all, get ids of their own, and one without a name is not understood', () => {
  const use = (id: unknown, name = 'f') => ({ type: 'tool_use', id, name, input: {} })
  for (const id of ['c', '', undefined]) {
    const json = chatResponse(JSON.stringify({ type: 'message', content: [use(id), use(id)] }), 0)
    const ids = JSON.parse(json!).choices[0].message.tool_calls.map((call: { id: string }) => call.id)
    deepEqual([new Set(ids).size, ids.includes('')], [2, false])
  }
  equal(chatResponse(JSON.stringify({ type: 'message', content: [use('c', '')] }), 0), null)
})

test('digits of large numbers in the input of a tool survive', () => {
  const json = JSON.stringify({
    ...message,
    content: [{ type: 'tool_use', id: 'c', name: 'f', input: { id: 'HERE' } }],
  })
  const translated = JSON.parse(chatResponse(json.replace('"HERE"', '12345678901234567890'), 0)!)
  equal(translated.choices[0].message.tool_calls[0].function.arguments, '{"id":12345678901234567890}')
})

test('a refusal is passed on with its reason', () => {
  const stop_details = { type: 'refusal', category: null, explanation: 'Not that.' } as const
  const choice = choiceOf({ content: [], stop_reason: 'refusal', stop_details })
  deepEqual(
    [choice?.finish_reason, choice?.message.content, choice?.message.refusal],
    ['content_filter', null, 'Not that.'],
  )
})

test('thinking tokens are counted', () => {
  const usage = { ...message.usage, output_tokens_details: { thinking_tokens: 3 } }
  deepEqual(answer({ ...message, usage })?.usage?.completion_tokens_details, { reasoning_tokens: 3 })
})

test('a message with missing members is still understood', () => {
  deepEqual(answer({ type: 'message', content: [] }), {
    id: '',
    object: 'chat.completion',
    created: 1700000000,
    model: '',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
  })
})

test('only what the provider counted is written', () => {
  const usage = { input_tokens: 9, output_tokens: 3 }
  deepEqual(answer({ type: 'message', content: [], usage })?.usage, {
    prompt_tokens: 9,
    completion_tokens: 3,
    total_tokens: 12,
  })
})

describe('what is no message is not understood', () => {
  for (const json of [
    '',
    '{',
    '[]',
    'null',
    '"x"',
    '{}',
    '{"type":"error","error":{}}',
    '{"type":"message"}',
  ]) {
    test(json, () => equal(chatResponse(json, 0), null))
  }
})

test('no response makes the translator throw', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()), (content, usage) => {
      const wild = { type: 'message', content, usage, stop_reason: content[0], stop_details: usage }
      equal(answer(wild)?.object, 'chat.completion')
    }),
  )
})
