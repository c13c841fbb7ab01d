// What both APIs can say keeps its meaning on the way there and back.

import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Refusal } from '../../../src/errors/catalogue/refusal.ts'
import { MessageEvents } from '../../../src/ai/translate/chat-events-to-messages.ts'
import { chatToMessages } from '../../../src/ai/translate/chat-call-to-messages.ts'
import { ChatEvents } from '../../../src/ai/translate/messages-events-to-chat.ts'
import { messagesToChat } from '../../../src/ai/translate/messages-call-to-chat.ts'
import type { Translation } from '../../../src/ai/translate/translation.ts'

type Json = Record<string, unknown>

function bodyOf(translation: Translation | Refusal): Json {
  ok('body' in translation, JSON.stringify('faults' in translation && translation.faults))
  return JSON.parse(translation.body.toString())
}

const some = fc.string({ minLength: 1, unit: 'grapheme' })
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const input = fc.dictionary(
  some,
  fc.jsonValue().map(value => JSON.parse(JSON.stringify(value))),
)
const image = fc.constantFrom('https://a.example/b.png', 'data:image/webp;base64,UklGRg==')

/** Requests of chat, written the one way that the translators write them. */
const chatTurn = fc.oneof(
  fc.record({ role: fc.constant('user'), content: some }),
  fc.record({
    role: fc.constant('user'),
    content: fc.tuple(some, image).map(([text, url]) => [
      { type: 'text', text },
      { type: 'image_url', image_url: { url } },
    ]),
  }),
  fc.record({ role: fc.constant('assistant'), content: some }),
  fc.tuple(fc.option(some), some, some, input, some).map(([content, id, name, input, result]) => [
    {
      role: 'assistant',
      content,
      tool_calls: [{ type: 'function', id, function: { name, arguments: JSON.stringify(input) } }],
    },
    { role: 'tool', tool_call_id: id, content: result },
  ]),
)

const chatTool = fc.record({ name: some, description: some }).map(({ name, description }) => ({
  type: 'function',
  function: { name, description, parameters: { type: 'object', properties: {} } },
}))

const chatRequest = fc
  .record({
    system: fc.array(fc.record({ role: fc.constant('system'), content: some }), { maxLength: 1 }),
    turns: fc.array(chatTurn, { minLength: 1, maxLength: 6 }),
    max_tokens: fc.integer({ min: 1, max: 1e6 }),
    temperature: optional(fc.constantFrom(0, 0.5, 0.9)),
    stop: optional(fc.array(some, { minLength: 1, maxLength: 4 })),
    tools: fc.array(chatTool, { minLength: 1, maxLength: 3 }),
    tool_choice: optional(
      fc.constantFrom('auto', 'none', 'required', { type: 'function', function: { name: 'f' } }),
    ),
    user: optional(some),
    service_tier: optional(fc.constantFrom('auto', 'default')),
    reasoning_effort: optional(fc.constantFrom('low', 'high')),
    stream: fc.boolean(),
  })
  .map(
    ({ system, turns, ...rest }): Json => ({
      model,
      ...rest,
      messages: [...system, ...turns.flat()],
      ...(rest.stream ? { stream_options: { include_usage: true } } : {}),
    }),
  )
  .map(request => JSON.parse(JSON.stringify(request)) as Json)

/** One with levels of effort, whose limit has the older name. */
const model = 'gpt-oss'

test('a request of chat keeps its meaning through Messages', () => {
  fc.assert(
    fc.property(chatRequest, request => {
      deepEqual(bodyOf(messagesToChat(bodyOf(chatToMessages(request, model)), model)), request)
    }),
  )
})

test('a request for Messages passes its own rules', () => {
  fc.assert(
    fc.property(chatRequest, request => {
      const once = bodyOf(chatToMessages(request, model))
      deepEqual(bodyOf(chatToMessages(bodyOf(messagesToChat(once, model)), model)), once)
    }),
  )
})

/** Answers of chat, written the one way that the translators write them. */
const answer = fc
  .record({
    content: fc.option(some),
    inputs: fc.array(input, { maxLength: 2 }),
    finish_reason: fc.constantFrom('stop', 'length'),
    counts: fc.tuple(fc.nat(1000), fc.nat(1000), fc.nat(1000)),
  })
  .map(({ content, inputs, finish_reason, counts: [prompt_tokens, completion_tokens, cached] }) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1700000000,
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content,
          refusal: null,
          ...(inputs.length > 0 ? { tool_calls: inputs.map(callOf) } : {}),
        },
        logprobs: null,
        finish_reason: inputs.length > 0 && finish_reason === 'stop' ? 'tool_calls' : finish_reason,
      },
    ],
    usage: {
      prompt_tokens: prompt_tokens + cached,
      completion_tokens,
      total_tokens: prompt_tokens + cached + completion_tokens,
      prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
    },
    service_tier: 'default',
  }))

function callOf(input: Json, index: number) {
  return { id: `c${index}`, type: 'function', function: { name: 'f', arguments: JSON.stringify(input) } }
}

const messages = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
const toChat = messagesToChat(messages, 'm') as Translation
const chat = { ...messages, stream: true, stream_options: { include_usage: true } }
const toMessages = chatToMessages(chat, 'm', () => 1700000000000) as Translation

test('a response of chat keeps its meaning through Messages', () => {
  fc.assert(
    fc.property(answer, completion => {
      const message = toChat.response(JSON.stringify(completion))
      deepEqual(JSON.parse(toMessages.response(message!)!), completion)
    }),
  )
})

test('a stream of chat keeps its meaning through Messages', () => {
  const word = fc.oneof(
    some.map(content => ({ content })),
    some.map(text => ({ tool_calls: [{ function: { name: 'f', arguments: JSON.stringify({ text }) } }] })),
  )
  fc.assert(
    fc.property(fc.array(word), words => {
      const chunks = [...inOrder(words), { delta: {}, finish_reason: 'stop' }].map(choice =>
        JSON.stringify({ id: 'chatcmpl-1', model: 'm', choices: [{ index: 0, ...choice }] }),
      )
      const text = [...chunks, '[DONE]'].map(data => `data: ${data}\n\n`).join('')
      const there = new MessageEvents()
      const back = new ChatEvents({ withUsage: false, now: 0 })
      const events = there.push(Buffer.from(text)) + there.end()
      deepEqual(saidIn(back.push(Buffer.from(events)) + back.end()), saidIn(text))
      ok(there.isComplete && back.isComplete)
    }),
  )
})

/** Numbers the calls as they come, as chat does. */
function inOrder(deltas: readonly Json[]) {
  let calls = 0
  return deltas.map(delta => {
    if (!Array.isArray(delta.tool_calls)) return { delta }
    const [call] = delta.tool_calls
    return { delta: { tool_calls: [{ ...call, index: calls, id: `c${calls++}` }] } }
  })
}

/** Gathers what a stream of chat says in the end: its text, and the name and arguments of each call. */
function saidIn(stream: string) {
  let content = ''
  const calls: { name: string; args: string }[] = []
  for (const line of stream.split('\n').filter(line => line.startsWith('data: {'))) {
    const { delta } = JSON.parse(line.slice(6)).choices[0]
    content += delta.content ?? ''
    for (const { index, function: piece } of delta.tool_calls ?? []) {
      calls[index] ??= { name: '', args: '' }
      calls[index].name += piece.name ?? ''
      calls[index].args += piece.arguments ?? ''
    }
  }
  return { content, calls }
}
