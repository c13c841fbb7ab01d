import { deepEqual, equal, ok } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import type Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import type OpenAI from 'openai'
import { messagesToChat } from '../../../src/ai/translate/messages-call-to-chat.ts'

/** The published types are of the newest version, which knows no sampling. */
type Messages = Anthropic.MessageCreateParams & { temperature?: number; top_p?: number }
type Chat = OpenAI.Chat.ChatCompletionCreateParams
type Pair = readonly [name: string, messages: Partial<Messages>, chat: Partial<Chat>]

const hi: Messages['messages'] = [{ role: 'user', content: 'Hi' }]

/** Translates a request that is expected to pass. */
function translate(messages: Partial<Messages>, model = 'llama'): Chat {
  const translation = messagesToChat(
    { model: 'author/model', max_tokens: 9, messages: hi, ...messages },
    model,
  )
  if ('error' in translation) throw new Error(JSON.stringify(translation.faults))
  return JSON.parse(translation.body.toString())
}

/** Names what is left out of a request. */
function droppedFrom(request: Record<string, unknown>, model = 'm'): readonly string[] {
  const translation = messagesToChat({ model: 'm', max_tokens: 9, messages: hi, ...request }, model)
  ok('body' in translation, JSON.stringify(translation))
  return translation.dropped
}

/** Translates a request that is expected to be refused; gives each fault as its pointer and message. */
function faultsOf(request: Record<string, unknown>) {
  const refusal = messagesToChat({ model: 'm', max_tokens: 9, messages: hi, ...request }, 'm')
  ok('error' in refusal, 'it was translated')
  equal(refusal.error, 'bad_request')
  return refusal.faults.map(({ code, message, pointer }) => {
    equal(code, 10001)
    return [pointer, message]
  })
}

const weatherTool: Anthropic.Tool = {
  name: 'weather',
  description: 'Tells the weather.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
}

const weather: OpenAI.Chat.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'Tells the weather.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
}

const base: Chat = { model: 'llama', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }

describe('a member of a Messages request becomes its equal in chat', () => {
  const pairs: readonly Pair[] = [
    ['sampling', { temperature: 0, top_p: 0.5 }, { temperature: 0, top_p: 0.5 }],
    ['stops', { stop_sequences: ['A', 'B'] }, { stop: ['A', 'B'] }],
    ['no stops', { stop_sequences: [] }, {}],
    ['no stream', { stream: false }, { stream: false }],
    [
      'a stream, which always tells usage',
      { stream: true },
      { stream: true, stream_options: { include_usage: true } },
    ],
    ['the user', { metadata: { user_id: 'u1' } }, { user: 'u1' }],
    ['nobody', { metadata: { user_id: null } }, {}],
    ['the standard tier', { service_tier: 'standard_only' }, { service_tier: 'default' }],
    [
      'a schema for the answer',
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'answer', strict: true, schema: { type: 'object' } },
        },
      },
    ],
    ['tools', { tools: [{ ...weatherTool, type: 'custom' }] }, { tools: [weather] }],
    [
      'a free choice, one tool at a time',
      { tools: [weatherTool], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      { tools: [weather], tool_choice: 'auto', parallel_tool_calls: false },
    ],
    [
      'any tool',
      { tools: [weatherTool], tool_choice: { type: 'any' } },
      { tools: [weather], tool_choice: 'required' },
    ],
    [
      'no tool',
      { tools: [weatherTool], tool_choice: { type: 'none' } },
      { tools: [weather], tool_choice: 'none' },
    ],
    [
      'a named tool',
      { tools: [weatherTool], tool_choice: { type: 'tool', name: 'weather' } },
      { tools: [weather], tool_choice: { type: 'function', function: { name: 'weather' } } },
    ],
  ]
  for (const [name, messages, chat] of pairs) {
    test(name, () => deepEqual(translate(messages), { ...base, ...chat }))
  }

  test('effort, where the model is known to have levels of it', () => {
    const effort = (model: string) => {
      const { reasoning_effort = null } = translate({ output_config: { effort: 'low', format: null } }, model)
      return [reasoning_effort, droppedFrom({ output_config: { effort: 'low' } }, model)]
    }
    for (const model of ['o3', 'gpt-5-mini', 'openai/gpt-oss-120b', 'google/gemini-3-pro'])
      deepEqual(effort(model), ['low', []], model)
    for (const model of ['gpt-4o', 'gpt-5-chat-latest', 'llama', 'mistral-large'])
      deepEqual(effort(model), [null, ['output_config.effort']], model)
  })

  test('a user whose name is longer than chat accepts, by its digest', () => {
    equal(translate({ metadata: { user_id: 'u'.repeat(64) } }).user, 'u'.repeat(64))
    const { user } = translate({ metadata: { user_id: 'u'.repeat(150) } })
    equal(user, createHash('sha256').update('u'.repeat(150)).digest('hex'))
    equal(user?.length, 64)
  })

  test('the limit of tokens, as models of OpenAI call it', () => {
    for (const model of ['gpt-5', 'gpt-4o', 'o3', 'o4-mini', 'chatgpt-4o-latest']) {
      const { max_tokens, max_completion_tokens } = translate({}, model)
      deepEqual([max_tokens, max_completion_tokens], [undefined, 9], model)
    }
    for (const model of ['gpt-oss:20b', 'mistral-large-latest', 'openai/gpt-oss-120b', 'deepseek-chat']) {
      equal(translate({}, model).max_tokens, 9, model)
    }
  })
})

describe('turns of Messages become a conversation of chat', () => {
  const pairs: readonly Pair[] = [
    [
      'the system prompt comes first',
      { system: 'Be brief.' },
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hi' },
        ],
      },
    ],
    [
      'blocks of it stay apart, and one by itself is a plain text',
      {
        system: [
          { type: 'text', text: 'A' },
          { type: 'text', text: 'B', citations: null },
        ],
        messages: [...hi, { role: 'system', content: [{ type: 'text', text: 'C' }] }],
      },
      {
        messages: [
          {
            role: 'system',
            content: [
              { type: 'text', text: 'A' },
              { type: 'text', text: 'B' },
            ],
          },
          { role: 'user', content: 'Hi' },
          { role: 'system', content: 'C' },
        ],
      },
    ],
    ['no system prompt', { system: [] }, {}],
    [
      'images of both kinds',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is it?' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } },
              { type: 'image', source: { type: 'url', url: 'https://a.example/b.jpg' } },
            ],
          },
        ],
      },
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is it?' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } },
              { type: 'image_url', image_url: { url: 'https://a.example/b.jpg' } },
            ],
          },
        ],
      },
    ],
    [
      'uses of tools, and their results as messages of their own',
      {
        messages: [
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'Let me look.' },
              {
                type: 'tool_use',
                id: 'c1',
                name: 'weather',
                input: { city: 'Oslo' },
                caller: { type: 'direct' },
              },
              { type: 'tool_use', id: 'c2', name: 'now', input: {} },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'c1', content: 'Rain', is_error: false },
              { type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: '12:00' }] },
              { type: 'text', text: 'And?' },
            ],
          },
        ],
      },
      {
        messages: [
          {
            role: 'assistant',
            content: 'Let me look.',
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
              { id: 'c2', type: 'function', function: { name: 'now', arguments: '{}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'c1', content: 'Rain' },
          { role: 'tool', tool_call_id: 'c2', content: '12:00' },
          { role: 'user', content: 'And?' },
        ],
      },
    ],
    [
      'a tool that failed says so in its text',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'c1', is_error: true, content: 'no such city' },
              { type: 'tool_result', tool_use_id: 'c2', is_error: true },
              {
                type: 'tool_result',
                tool_use_id: 'c3',
                is_error: true,
                content: [{ type: 'text', text: 'gone' }],
              },
              { type: 'tool_result', tool_use_id: 'c4' },
            ],
          },
        ],
      },
      {
        messages: [
          { role: 'tool', tool_call_id: 'c1', content: 'Error: no such city' },
          { role: 'tool', tool_call_id: 'c2', content: 'Error: ' },
          {
            role: 'tool',
            tool_call_id: 'c3',
            content: [
              { type: 'text', text: 'Error:' },
              { type: 'text', text: 'gone' },
            ],
          },
          { role: 'tool', tool_call_id: 'c4', content: '' },
        ],
      },
    ],
    [
      'images of results follow in the message of the user, since chat has no place for them there',
      {
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'c1',
                content: [
                  { type: 'text', text: 'a map' },
                  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
                ],
              },
              {
                type: 'tool_result',
                tool_use_id: 'c2',
                is_error: true,
                content: [{ type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } }],
              },
              { type: 'tool_result', tool_use_id: 'c3', content: 'plain' },
              { type: 'text', text: 'Go on.' },
            ],
          },
        ],
      },
      {
        messages: [
          { role: 'tool', tool_call_id: 'c1', content: 'a map' },
          {
            role: 'tool',
            tool_call_id: 'c2',
            content: 'Error: The result is in the next message of the user.',
          },
          { role: 'tool', tool_call_id: 'c3', content: 'plain' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Result of tool call c1:' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
              { type: 'text', text: 'Result of tool call c2:' },
              { type: 'image_url', image_url: { url: 'https://a.example/b.png' } },
              { type: 'text', text: 'Go on.' },
            ],
          },
        ],
      },
    ],
    [
      'a use without a word has no content',
      {
        messages: [
          { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: '{"cut' }] },
        ],
      },
      {
        messages: [
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"cut' } }],
          },
        ],
      },
    ],
  ]
  for (const [name, messages, chat] of pairs) {
    test(name, () => deepEqual(translate(messages), { ...base, ...chat }))
  }
})

test('members that have no effect pass', () => {
  const silent = {
    thinking: { type: 'disabled' },
    top_k: null,
    cache_control: null,
    container: null,
    context_management: { edits: [] },
    diagnostics: null,
    newer_than_this_gateway: null,
    inference_geo: null,
    mcp_servers: [],
    speed: 'standard',
    tools: [],
    tool_choice: { type: 'auto' },
    output_config: {},
    metadata: {},
    system: '',
  }
  deepEqual(translate(silent as unknown as Messages), base)
  const plain = {
    ...weatherTool,
    type: null,
    strict: false,
    allowed_callers: ['direct'],
    defer_loading: true,
    eager_input_streaming: true,
    cache_control: null,
    input_examples: [],
    newer_than_this_gateway: null,
  }
  deepEqual(droppedFrom(silent), [])
  deepEqual(translate({ tools: [plain] as unknown as Anthropic.Tool[] }).tools, [weather])
})

const ephemeral = { type: 'ephemeral' }

describe('what chat has no equal for is left out and named where it is a hint', () => {
  const requests: readonly (readonly [dropped: string, request: Record<string, unknown>])[] = [
    ['cache_control', { cache_control: ephemeral }],
    ['thinking', { thinking: { type: 'enabled', budget_tokens: 1024 } }],
    ['thinking', { thinking: { type: 'adaptive' } }],
    [
      'context_management.edits[]',
      { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } },
    ],
    ['diagnostics', { diagnostics: { previous_message_id: 'm' } }],
  ]
  for (const [dropped, request] of requests) {
    test(JSON.stringify(request), () => {
      deepEqual(droppedFrom(request), [dropped])
      deepEqual(translate(request as Partial<Messages>), base)
    })
  }

  test('cache points wherever they are, each place once', () => {
    const marked = (text: string) => ({ type: 'text' as const, text, cache_control: ephemeral })
    const request = {
      system: [marked('a')],
      tools: [{ ...weatherTool, cache_control: ephemeral }],
      messages: [
        { role: 'user', content: [marked('b'), marked('c')] },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'c', name: 'f', input: {}, cache_control: ephemeral }],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c', content: [marked('d')], cache_control: ephemeral },
          ],
        },
      ],
    }
    deepEqual(droppedFrom(request).toSorted(), [
      'messages[].content[].cache_control',
      'messages[].content[].content[].cache_control',
      'system[].cache_control',
      'tools[].cache_control',
    ])
    deepEqual(translate(request as Partial<Messages>).messages[0], { role: 'system', content: 'a' })
  })

  test('thoughts in the history, and a turn of nothing else', () => {
    const thinking = { type: 'thinking' as const, thinking: 'hm', signature: 's' }
    const redacted = { type: 'redacted_thinking' as const, data: 'x' }
    const messages: Messages['messages'] = [
      ...hi,
      { role: 'assistant', content: [thinking, { type: 'text', text: 'Well.' }] },
      ...hi,
      { role: 'assistant', content: [redacted] },
    ]
    deepEqual(droppedFrom({ messages }), [
      'messages[].content[].thinking',
      'messages[].content[].redacted_thinking',
    ])
    deepEqual(translate({ messages }).messages, [...hi, { role: 'assistant', content: 'Well.' }, ...hi])
  })
})

describe('what chat has no equal for is refused by name', () => {
  const user = (...content: readonly unknown[]) => ({ messages: [{ role: 'user', content }] })
  const assistant = (...content: readonly unknown[]) => ({ messages: [{ role: 'assistant', content }] })
  const result = { type: 'tool_result', tool_use_id: 'c' }
  const refused: readonly (readonly [pointer: string, request: Record<string, unknown>])[] = [
    ['/max_tokens', { max_tokens: null }],
    ['/max_tokens', { max_tokens: 0 }],
    ['/top_k', { top_k: 40 }],
    ['/thinking/type', { thinking: { type: 'odd' } }],
    ['/container', { container: 'c' }],
    ['/context_management/edits/0/type', { context_management: { edits: [{ type: 'compact_20260112' }] } }],
    [
      '/context_management/edits/1/type',
      {
        context_management: {
          edits: [{ type: 'clear_thinking_20251015' }, { type: 'clear_tool_uses_20250919' }],
        },
      },
    ],
    ['/inference_geo', { inference_geo: 'us' }],
    ['/mcp_servers', { mcp_servers: [{ name: 'a' }] }],
    ['/speed', { speed: 'fast' }],
    ['/thread', { thread: { type: 'create' } }],
    ['/betas', { betas: ['x'] }],
    ['/service_tier', { service_tier: 'priority' }],
    ['/metadata/team', { metadata: { team: 'a' } }],
    ['/output_config/effort', { output_config: { effort: 'huge' } }],
    ['/system/0/type', { system: [{ type: 'image' }] }],
    ['/tools/0/type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['/tools/0/input_schema', { tools: [{ name: 'f' }] }],
    ['/tool_choice/name', { tools: [weatherTool], tool_choice: { type: 'tool' } }],
    ['/tool_choice', { tool_choice: { type: 'any' } }],
    ['/messages/0/role', { messages: [{ role: 'developer', content: 'x' }] }],
    ['/messages/0/content/0/type', user({ type: 'document', source: {} })],
    ['/messages/0/content/0/type', user({ type: 'search_result' })],
    ['/messages/0/content/0/source/type', user({ type: 'image', source: { type: 'file', file_id: 'f' } })],
    [
      '/messages/0/content/0/source/media_type',
      user({ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: '' } }),
    ],
    ...['file:///etc/passwd', 'FILE:///etc/passwd', 'data:image/png;base64,AA', '/etc/passwd', ''].map(
      url =>
        ['/messages/0/content/0/source/url', user({ type: 'image', source: { type: 'url', url } })] as const,
    ),
    ['/messages/0/content/0/content/0/source', user({ ...result, content: [{ type: 'image' }] })],
    [
      '/messages/0/content/0/content/0/source/url',
      user({ ...result, content: [{ type: 'image', source: { type: 'url', url: 'file:///etc/passwd' } }] }),
    ],
    ['/messages/0/content/0/content/0/type', user({ ...result, content: [{ type: 'document' }] })],
    ['/messages/0/content/0/content/0/type', user({ ...result, content: [{ type: 'search_result' }] })],
    ['/messages/0/content/1', user({ type: 'text', text: 'a' }, result)],
    ['/messages/0/content/0/type', assistant({ type: 'server_tool_use', id: 's' })],
    ['/messages/0/content/0/citations', assistant({ type: 'text', text: 'a', citations: [{}] })],
    ['/messages/0/content/0/input', assistant({ type: 'tool_use', id: 'c', name: 'f', input: 1 })],
    ['/messages/0/content/0/input', assistant({ type: 'tool_use', id: 'c', name: 'f', input: [] })],
    [
      '/messages/0/content/0/caller/type',
      assistant({
        type: 'tool_use',
        id: 'c',
        name: 'f',
        input: {},
        caller: { type: 'code_execution_20250825' },
      }),
    ],
  ]
  for (const [pointer, request] of refused) {
    test(`${pointer} of ${JSON.stringify(request)}`, () => {
      deepEqual(
        faultsOf(request).map(([pointer]) => pointer),
        [pointer],
      )
    })
  }
})

test('no request makes the translator throw', () => {
  const member = fc.constantFrom(
    ...[
      'model',
      'max_tokens',
      'messages',
      'system',
      'tools',
      'tool_choice',
      'output_config',
      'thinking',
      'odd',
    ],
  )
  const key = fc.constantFrom(
    'role',
    'content',
    'type',
    'text',
    'source',
    'input',
    'id',
    'name',
    'tool_use_id',
  )
  const value = fc.letrec(tie => ({
    any: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      fc.constantFrom(
        'user',
        'assistant',
        'text',
        'image',
        'tool_use',
        'tool_result',
        'auto',
        '',
        null,
        1,
        true,
      ),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(key, tie('any'), { maxKeys: 4 }),
    ),
  })).any
  fc.assert(
    fc.property(fc.dictionary(member, value), request => {
      const translation = messagesToChat(request, 'm')
      ok('error' in translation ? translation.faults.length > 0 : JSON.parse(translation.body.toString()))
    }),
  )
})
