import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
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

const call = (args: string, id = 'c'): OpenAI.Chat.ChatCompletionMessageToolCall => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: args },
})

test('a chat completion becomes a message', () => deepEqual(answer(completion), message))

test('calls become uses of tools', () => {
  const { content, stop_reason } = answerTo(
    { content: 'Look:', tool_calls: [call('{"a":1}'), call('', 'd')] },
    'tool_calls',
  )
  const expected = [
    { type: 'text', text: 'Look:' },
    { type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } },
    { type: 'tool_use', id: 'd', name: 'f', input: {} },
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

test('calls without ids, or with one id for all, get ids of their own', () => {
  for (const id of ['c', '', undefined]) {
    const calls = [call('{}', id), call('{"a":1}', id)].map(call => ({ ...call, id }) as never)
    const [first, second] = answerTo({ content: null, tool_calls: calls }).content as Anthropic.ToolUseBlock[]
    match(first!.id, id ? /^c$/ : /^call_[0-9a-f]{24}$/)
    match(second!.id, /^call_[0-9a-f]{24}$/)
    notEqual(first!.id, second!.id)
  }
})

test('arguments that are given as an object are the input', () => {
  const given = { ...call(''), function: { name: 'f', arguments: { city: 'Oslo' } } }
  const { content } = answerTo({ content: null, tool_calls: [given as never] })
  deepEqual(content, [{ type: 'tool_use', id: 'c', name: 'f', input: { city: 'Oslo' } }])
})

test('the older form of a call is a use of a tool', () => {
  const said = { content: null, function_call: { name: 'f', arguments: '{"a":1}' } }
  const { content, stop_reason } = answerTo(said, 'function_call')
  deepEqual(
    content.map(block => block.type === 'tool_use' && [block.name, block.input]),
    [['f', { a: 1 }]],
  )
  match((content[0] as Anthropic.ToolUseBlock).id, /^call_/)
  equal(stop_reason, 'tool_use')
})

test('a call without a name is not understood', () => {
  equal(
    answer({ choices: [{ message: { tool_calls: [{ id: 'c', function: { arguments: '{}' } }] } }] }),
    null,
  )
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
        tool_calls: [
          { function: { name: 'f', arguments: wild } },
          wild,
          { function: { name: 'f', arguments: usage } },
        ],
      }
      const translated = answer({ choices: [{ message: said, finish_reason: wild }], usage })
      // `wild` may itself look like a call, which has no name.
      equal(translated?.type ?? 'message', 'message')
      ok(translated !== null || (typeof wild === 'object' && wild !== null))
      equal(answer({ choices: [{ message: wild }], usage: wild })?.type, 'message')
    }),
  )
})
