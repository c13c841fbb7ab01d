// The translators between the APIs of models, for fuzzing: each way, with what a response of its provider looks like.

import assert from 'node:assert/strict'
import { chatToMessages } from '../../src/ai/translate/chat-call-to-messages.ts'
import { chatToResponses } from '../../src/ai/translate/chat-responses/chat-call-to-responses.ts'
import { responsesToChat } from '../../src/ai/translate/chat-responses/responses-call-to-chat.ts'
import { messagesToChat } from '../../src/ai/translate/messages-call-to-chat.ts'
import { messagesToResponses } from '../../src/ai/translate/messages-responses/messages-call-to-responses.ts'
import { responsesToMessages } from '../../src/ai/translate/messages-responses/responses-call-to-messages.ts'
import type { Translation } from '../../src/ai/translate/translation.ts'
import type { Refusal } from '../../src/errors/catalogue/refusal.ts'

type Json = Record<string, unknown>
type Api = 'chat' | 'messages' | 'responses'

interface Way {
  readonly from: Api
  readonly to: Api
  translate(request: Json, model: string): Translation | Refusal
}

const now = () => 1_700_000_000_000
const tag = 'svc.a.'

export const ways: readonly Way[] = [
  { from: 'chat', to: 'messages', translate: (request, model) => chatToMessages(request, model, now) },
  { from: 'chat', to: 'responses', translate: (request, model) => chatToResponses(request, model, now) },
  { from: 'messages', to: 'chat', translate: (request, model) => messagesToChat(request, model) },
  {
    from: 'messages',
    to: 'responses',
    translate: (request, model) => messagesToResponses(request, model, tag),
  },
  { from: 'responses', to: 'chat', translate: (request, model) => responsesToChat(request, model, { now }) },
  {
    from: 'responses',
    to: 'messages',
    translate: (request, model) => responsesToMessages(request, model, tag, now),
  },
]

const functionTool = { name: 'f', description: 'd', parameters: { type: 'object', properties: {} } }

/** A call of each API, with tools. */
export const callOf: Readonly<Record<Api, Json>> = {
  chat: {
    ...{ model: 'gpt-5', stream: true, max_tokens: 9, stream_options: { include_usage: true } },
    messages: [
      { role: 'system', content: 's' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 't' },
          { type: 'image_url', image_url: { url: 'https://a/b' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ type: 'function', id: 'c', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'r' },
    ],
    tools: [{ type: 'function', function: functionTool }],
  },
  messages: {
    ...{ model: 'claude-x', max_tokens: 9, system: 's', thinking: { type: 'enabled', budget_tokens: 1024 } },
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 't' },
          { type: 'image', source: { type: 'url', url: 'https://a/b' } },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'r' }] },
    ],
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
  },
  responses: {
    ...{
      model: 'gpt-5',
      stream: true,
      instructions: 's',
      max_output_tokens: 9,
      reasoning: { effort: 'low', summary: 'auto' },
    },
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 't' },
          { type: 'input_image', image_url: 'https://a/b' },
        ],
      },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'r' },
    ],
    tools: [
      { type: 'function', ...functionTool },
      { type: 'custom', name: 'g' },
    ],
  },
}

/** A whole response of each API. */
export const responseOf: Readonly<Record<Api, Json>> = {
  chat: {
    ...{ id: 'i', object: 'chat.completion', created: 1, model: 'm' },
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: 'a',
          refusal: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
      },
    ],
    usage: { prompt_tokens: 5, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 1 } },
  },
  messages: {
    ...{ id: 'i', type: 'message', role: 'assistant', model: 'm', stop_reason: 'tool_use' },
    content: [
      { type: 'thinking', thinking: 'h', signature: 's' },
      { type: 'text', text: 'a' },
      { type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } },
    ],
    usage: { input_tokens: 5, output_tokens: 3, cache_read_input_tokens: 1 },
  },
  responses: {
    ...{ id: 'i', object: 'response', status: 'completed', model: 'm' },
    output: [
      { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'h' }], encrypted_content: 'e' },
      {
        type: 'message',
        id: 'm',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'a', annotations: [] }],
      },
      { type: 'function_call', id: 'f', call_id: 'c', name: 'f', arguments: '{}' },
    ],
    usage: { input_tokens: 5, output_tokens: 3, input_tokens_details: { cached_tokens: 1 } },
  },
}

const events: Readonly<Record<Api, readonly Json[]>> = {
  chat: [
    { id: 'i', model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] },
    { choices: [{ index: 0, delta: { content: 'a' } }] },
    { choices: [{ index: 0, delta: { reasoning_content: 'h' } }] },
    {
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{"a":' } }] },
        },
      ],
    },
    { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: '1}' } }] } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    { choices: [], usage: { prompt_tokens: 5, completion_tokens: 3 } },
  ],
  messages: [
    { type: 'message_start', message: { id: 'i', model: 'm', usage: { input_tokens: 5 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'h' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'a' } },
    { type: 'content_block_stop', index: 1 },
    {
      type: 'content_block_start',
      index: 2,
      content_block: { type: 'tool_use', id: 'c', name: 'f', input: {} },
    },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
    { type: 'content_block_stop', index: 2 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ],
  responses: [
    { type: 'response.created', response: { id: 'i', model: 'm' } },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'reasoning', id: 'r', summary: [] },
    },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'h' },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'reasoning', id: 'r', summary: [], encrypted_content: 'e' },
    },
    { type: 'response.output_item.added', output_index: 1, item: { type: 'message', id: 'm', content: [] } },
    { type: 'response.output_text.delta', output_index: 1, content_index: 0, item_id: 'm', delta: 'a' },
    {
      type: 'response.output_item.done',
      output_index: 1,
      item: { type: 'message', id: 'm', content: [{ type: 'output_text', text: 'a' }] },
    },
    {
      type: 'response.output_item.added',
      output_index: 2,
      item: { type: 'function_call', id: 'f', call_id: 'c', name: 'f', arguments: '' },
    },
    { type: 'response.function_call_arguments.delta', output_index: 2, item_id: 'f', delta: '{"a":1}' },
    {
      type: 'response.output_item.done',
      output_index: 2,
      item: { type: 'function_call', id: 'f', call_id: 'c', name: 'f', arguments: '{"a":1}' },
    },
    { type: 'response.completed', response: responseOf.responses },
  ],
}

/** An event stream of each API. */
export const streamOf: Readonly<Record<Api, string>> = {
  chat: `${streamText(events.chat)}data: [DONE]\n\n`,
  messages: streamText(events.messages),
  responses: streamText(events.responses),
}

/** Each event as text, and names of members, kinds and values. */
export const eventTokens: readonly string[] = [
  ...Object.values(events).flatMap(list => list.map(event => streamText([event]))),
  ...[
    'data: [DONE]\n\n',
    'data: {"type":"ping"}\n\n',
    'data: {"error":{"message":"x"}}\n\n',
    'data: ',
    '\n\n',
    'event: error\n',
  ],
  ...[
    '"type":"error"',
    'response.failed',
    'response.incomplete',
    'response.refusal.delta',
    'response.custom_tool_call_input.delta',
    'redacted_thinking',
  ],
  ...[
    'citations_delta',
    '"finish_reason":"length"',
    '"content_filter"',
    '"max_tokens"',
    '"refusal"',
    '"stop_sequence"',
    '"index":1',
    '"output_index":1',
  ],
]

export const jsonTokens: readonly string[] = [
  ...new Set([callOf, responseOf, events].flatMap(value => wordsOf(value))),
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    'null',
    'true',
    'false',
    '0',
    '-1',
    '1.5',
    '""',
    '"a"',
    '[]',
    '{}',
    '"\\ud800"',
    '\\u0000',
    '"__proto__":',
    '"data:image/png;base64,aaaa"',
  ],
  ...[
    '"type":"web_search"',
    '"type":"file"',
    '"type":"input_audio"',
    '"type":"document"',
    '"cache_control":{"type":"ephemeral"}',
    '"role":"developer"',
  ],
  ...[
    '"response_format":{"type":"json_object"}',
    '"json_schema"',
    '"strict":true',
    '"tool_choice":"required"',
    '"parallel_tool_calls":false',
    '"n":2',
  ],
  ...[
    '"stop":["a"]',
    '"logprobs":true',
    '"reasoning_effort":"high"',
    '"functions":[{"name":"f"}]',
    '"function_call":"auto"',
    '"metadata":{"user_id":"u"}',
  ],
  ...[
    '"top_k":5',
    '"temperature":0.5',
    '"service_tier":"flex"',
    '"type":"redacted_thinking","data":"x"',
    '"type":"custom_tool_call"',
    '"previous_response_id":"r"',
  ],
]

function streamText(list: readonly Json[]): string {
  return list
    .map(event => `${'type' in event ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('')
}

function wordsOf(value: unknown): string[] {
  if (Array.isArray(value)) return [...value.flatMap(wordsOf), ...value.map(one => `${JSON.stringify(one)},`)]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => [
    `"${name}":`,
    `"${name}":${JSON.stringify(one)},`,
    ...wordsOf(one),
  ])
}

/** Ids that a translator makes up are random: all of them as one. */
export function withoutRandomIds(text: string): string {
  return text.replaceAll(/[0-9a-f]{24}/g, 'x'.repeat(24))
}

/** Asserts that a text is an event stream whose data is JSON, or the end of Chat Completions. */
export function assertEvents(text: string): void {
  assert.ok(text === '' || text.endsWith('\n\n'))
  for (const block of text.split('\n\n').slice(0, -1)) {
    if (block.startsWith(':')) continue
    const [, data] = /^(?:event: [\w.]+\n)?data: (.*)$/.exec(block) ?? []
    assert.ok(data !== undefined, block)
    if (data !== '[DONE]') JSON.parse(data)
  }
}
