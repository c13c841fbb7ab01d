import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import type Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import type OpenAI from 'openai'
import { messagesResponse } from '../../../src/ai/translate/chat-response-to-messages.ts'

type Message = OpenAI.Chat.ChatCompletionMessage
type Finish = OpenAI.Chat.ChatCompletion.Choice['finish_reason']

const completion: OpenAI.Chat.ChatCompletion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1700000000,
  model: 'gpt-x',
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
    completion_tokens_details: { reasoning_tokens: 2 },
  },
  service_tier: 'default',
}

/** Without what the SDK's type has as null: readers with schemas of their own break at nulls that Messages itself leaves out. */
const message = {
  id: 'chatcmpl-1',
  type: 'message',
  role: 'assistant',
  model: 'gpt-x',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: {
    input_tokens: 10,
    output_tokens: 5,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 20,
    output_tokens_details: { thinking_tokens: 2 },
    service_tier: 'standard',
  },
}

function answer(value: unknown): Anthropic.Message | null {
  const json = messagesResponse(JSON.stringify(value))
  return json === null ? null : JSON.parse(json)
}

function answerTo(said: Partial<Message>, finish_reason: Finish = 'stop') {
  const choice = {
    ...completion.choices[0],
    message: { ...completion.choices[0]!.message, ...said },
    finish_reason,
  }
  return answer({ ...completion, choices: [choice] })!
}

const call = (args: string): OpenAI.Chat.ChatCompletionMessageToolCall => ({
  id: 'c',
  type: 'function',
  function: { name: 'f', arguments: args },
})

test('a chat completion becomes a message', () => deepEqual(answer(completion), message))

test('calls become uses of tools', () => {
  const { content, stop_reason } = answerTo(
    { content: 'Look:', tool_calls: [call('{"a":1}'), call('')] },
    'tool_calls',
  )
  const expected = [
    { type: 'text', text: 'Look:' },
    { type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } },
    { type: 'tool_use', id: 'c', name: 'f', input: {} },
  ]
  deepEqual([content, stop_reason], [expected, 'tool_use'])
})

test('a call that was forced ends with stop, and is a use of a tool all the same', () => {
  equal(answerTo({ content: null, tool_calls: [call('{}')] }, 'stop').stop_reason, 'tool_use')
})

test('arguments that are no object stay the text that they are, so that no tool runs without its input', () => {
  for (const json of ['{"city":"Os', '[1]', '"x"', 'null']) {
    const { content, stop_reason } = answerTo({ content: null, tool_calls: [call(json)] }, 'length')
    deepEqual(
      [content[0], stop_reason],
      [{ type: 'tool_use', id: 'c', name: 'f', input: json }, 'max_tokens'],
    )
  }
})

test('digits of large numbers in arguments survive', () => {
  const said = { role: 'assistant', content: null, tool_calls: [call('{"id":12345678901234567890}')] }
  const json = messagesResponse(JSON.stringify({ choices: [{ message: said }] }))
  equal(json?.includes('"input":{"id":12345678901234567890}'), true)
})

test('a refusal is a text and a reason to stop', () => {
  const { content, stop_reason, stop_details } = answerTo({ content: null, refusal: 'No.' })
  deepEqual(content, [{ type: 'text', text: 'No.' }])
  deepEqual([stop_reason, stop_details], ['refusal', { type: 'refusal', category: null, explanation: 'No.' }])
})

test('an empty response has no blocks', () => {
  deepEqual(answerTo({ content: null }, 'content_filter'), {
    ...message,
    content: [],
    stop_reason: 'refusal',
  })
  deepEqual(answerTo({ content: '' }).content, [])
})

test('of several choices the first by its index counts', () => {
  const [choice] = completion.choices
  const second = { ...choice!, index: 1, message: { ...choice!.message, content: 'Bye' } }
  deepEqual(answer({ ...completion, choices: [second, choice] }), message)
})

test('what the provider did not count is left out, but for the two counts that readers need', () => {
  const { usage: _, service_tier: __, ...bare } = completion
  deepEqual(answer(bare)!.usage, { input_tokens: 0, output_tokens: 0 })
  const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
  deepEqual(answer({ ...bare, usage })!.usage, { input_tokens: 9, output_tokens: 3 })
})

test('content in parts is joined', () => {
  const parts = [{ type: 'text', text: 'Hel' }, { type: 'thinking' }, { type: 'text', text: 'lo' }]
  deepEqual(answerTo({ content: parts as never }).content, message.content)
})

describe('what is no chat completion is not understood', () => {
  for (const json of ['', '{', '[]', '{}', '{"choices":[]}', '{"choices":{}}', '{"error":{"message":"x"}}']) {
    test(json, () => equal(messagesResponse(json), null))
  }
})

test('no response makes the translator throw', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (usage, wild) => {
      const said = {
        content: wild,
        refusal: wild,
        tool_calls: [{ function: wild }, wild, { function: usage }],
      }
      equal(answer({ choices: [{ message: said, finish_reason: wild }], usage })?.type, 'message')
      equal(answer({ choices: [{ message: wild }], usage: wild })?.type, 'message')
    }),
  )
})
