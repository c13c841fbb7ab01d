import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import type Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import type OpenAI from 'openai'
import { chatToMessages } from '../../../src/ai/translate/chat-call-to-messages.ts'

type Chat = OpenAI.Chat.ChatCompletionCreateParams
/** The published types are of the newest version, which knows no sampling. */
type Messages = Anthropic.MessageCreateParams & { temperature?: number; top_p?: number }
type Pair = readonly [name: string, chat: Partial<Chat>, messages: Partial<Messages>]

const hi: Chat['messages'] = [{ role: 'user', content: 'Hi' }]

/** Translates a request that is expected to pass. */
function translate(chat: Partial<Chat>): Messages {
  const translation = chatToMessages({ model: 'author/model', messages: hi, ...chat }, 'model')
  if ('error' in translation) throw new Error(JSON.stringify(translation.faults))
  return JSON.parse(translation.body.toString())
}

/** Names what is left out of a request. */
function droppedFrom(request: Record<string, unknown>): readonly string[] {
  const translation = chatToMessages({ model: 'm', messages: hi, ...request }, 'm')
  ok('body' in translation, JSON.stringify(translation))
  return translation.dropped
}

/** Translates a request that is expected to be refused; gives each fault as its pointer and message. */
function faultsOf(request: Record<string, unknown>) {
  const refusal = chatToMessages({ model: 'm', messages: hi, ...request }, 'm')
  ok('error' in refusal, 'it was translated')
  equal(refusal.error, 'bad_request')
  return refusal.faults.map(({ code, message, pointer }) => {
    equal(code, 10001)
    return [pointer, message]
  })
}

const weather: OpenAI.Chat.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'Tells the weather.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}

const weatherTool: Anthropic.Tool = {
  name: 'weather',
  description: 'Tells the weather.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

const base: Messages = { model: 'model', max_tokens: 4096, messages: [{ role: 'user', content: 'Hi' }] }

describe('a member of a chat request becomes its equal in Messages', () => {
  const pairs: readonly Pair[] = [
    ['the limit of tokens', { max_completion_tokens: 7 }, { max_tokens: 7 }],
    ['the older limit of tokens', { max_tokens: 7 }, { max_tokens: 7 }],
    ['both limits, if they are the same', { max_tokens: 7, max_completion_tokens: 7 }, { max_tokens: 7 }],
    ['sampling', { temperature: 0, top_p: 0.5 }, { temperature: 0, top_p: 0.5 }],
    ['sampling as it is anyway', { temperature: 1, top_p: 1 }, {}],
    ['one stop', { stop: 'END' }, { stop_sequences: ['END'] }],
    ['several stops', { stop: ['A', 'B'] }, { stop_sequences: ['A', 'B'] }],
    ['a stream', { stream: true, stream_options: { include_usage: true } }, { stream: true }],
    ['the user', { user: 'u1' }, { metadata: { user_id: 'u1' } }],
    ['the safety identifier', { safety_identifier: 'u1' }, { metadata: { user_id: 'u1' } }],
    ['the standard tier', { service_tier: 'default' }, { service_tier: 'standard_only' }],
    ['any tier', { service_tier: 'auto' }, { service_tier: 'auto' }],
    ['effort', { reasoning_effort: 'high' }, { output_config: { effort: 'high' } }],
    ['no effort', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
    [
      'a schema for the answer',
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', strict: true, schema: { type: 'object' } },
        },
      },
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    ],
    ['tools', { tools: [weather] }, { tools: [weatherTool] }],
    [
      'a tool without parameters',
      { tools: [{ type: 'function', function: { name: 'now', strict: true } }] },
      { tools: [{ name: 'now', strict: true, input_schema: { type: 'object', properties: {} } }] },
    ],
    [
      'a free choice of tools',
      { tools: [weather], tool_choice: 'auto' },
      { tools: [weatherTool], tool_choice: { type: 'auto' } },
    ],
    [
      'a choice of no tools',
      { tools: [weather], tool_choice: 'none', parallel_tool_calls: false },
      { tools: [weatherTool], tool_choice: { type: 'none' } },
    ],
    [
      'any tool, but one at a time',
      { tools: [weather], tool_choice: 'required', parallel_tool_calls: false },
      { tools: [weatherTool], tool_choice: { type: 'any', disable_parallel_tool_use: true } },
    ],
    [
      'a named tool',
      { tools: [weather], tool_choice: { type: 'function', function: { name: 'weather' } } },
      { tools: [weatherTool], tool_choice: { type: 'tool', name: 'weather' } },
    ],
    [
      'one tool at a time',
      { tools: [weather], parallel_tool_calls: false },
      { tools: [weatherTool], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    ],
  ]
  for (const [name, chat, messages] of pairs) {
    test(name, () => deepEqual(translate(chat), { ...base, ...messages }))
  }
})

describe('a conversation of chat becomes turns of Messages', () => {
  const pairs: readonly (readonly [name: string, Chat['messages'], Partial<Messages>])[] = [
    [
      'what the system says first is the system prompt',
      [{ role: 'system', content: 'Be brief.' }, ...hi],
      { system: 'Be brief.', messages: [{ role: 'user', content: 'Hi' }] },
    ],
    [
      'several messages of the system and the developer are blocks of it',
      [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
        ...hi,
      ],
      {
        system: [
          { type: 'text', text: 'Be brief.' },
          { type: 'text', text: 'Be kind.' },
        ],
        messages: [{ role: 'user', content: 'Hi' }],
      },
    ],
    [
      'what the system says later stays where it was said',
      [...hi, { role: 'developer', content: 'Now in French.' }],
      {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'system', content: 'Now in French.' },
        ],
      },
    ],
    [
      'images of both kinds',
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO', detail: 'auto' } },
            { type: 'image_url', image_url: { url: 'https://a.example/b.jpg' } },
          ],
        },
      ],
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
    ],
    [
      'calls of tools, and their results in one turn',
      [
        ...hi,
        {
          role: 'assistant',
          content: 'Let me look.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
            { id: 'c2', type: 'function', function: { name: 'now', arguments: '' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'Rain' },
        { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: '12:00' }] },
        { role: 'user', content: 'And?' },
      ],
      {
        messages: [
          { role: 'user', content: 'Hi' },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'Let me look.' },
              { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Oslo' } },
              { type: 'tool_use', id: 'c2', name: 'now', input: {} },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'c1', content: 'Rain' },
              { type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: '12:00' }] },
            ],
          },
          { role: 'user', content: 'And?' },
        ],
      },
    ],
    [
      'a call without a word leaves no empty block',
      [
        {
          role: 'assistant',
          content: '',
          refusal: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
      ],
      { messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] }] },
    ],
    [
      'a refusal is what the assistant said',
      [
        { role: 'assistant', content: null, refusal: 'No.' },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'No!' }] },
        { role: 'assistant', content: 'Well:', refusal: 'no.' },
      ],
      {
        messages: [
          { role: 'assistant', content: 'No.' },
          { role: 'assistant', content: [{ type: 'text', text: 'No!' }] },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'Well:' },
              { type: 'text', text: 'no.' },
            ],
          },
        ],
      },
    ],
  ]
  for (const [name, messages, expected] of pairs) {
    test(name, () => deepEqual(translate({ messages }), { model: 'model', max_tokens: 4096, ...expected }))
  }
})

test('digits of large numbers in arguments survive', () => {
  const call = {
    id: 'c',
    type: 'function',
    function: { name: 'f', arguments: '{"id":12345678901234567890}' },
  }
  const translation = chatToMessages(
    { model: 'm', messages: [{ role: 'assistant', tool_calls: [call] }] },
    'm',
  )
  ok('body' in translation)
  ok(translation.body.toString().includes('"input":{"id":12345678901234567890}'))
})

test('members that have no effect pass', () => {
  const silent = {
    n: 1,
    logprobs: false,
    top_logprobs: 0,
    logit_bias: {},
    frequency_penalty: 0,
    presence_penalty: 0,
    seed: null,
    metadata: {},
    store: false,
    modalities: ['text'],
    verbosity: 'medium',
    audio: null,
    prediction: null,
    response_format: { type: 'text' },
    stream: null,
    stream_options: null,
    stop: null,
    tools: [],
    tool_choice: 'auto',
    parallel_tool_calls: false,
    functions: [],
    function_call: 'none',
    web_search_options: null,
    newer_than_this_gateway: null,
  }
  deepEqual(translate(silent as unknown as Chat), base)
  deepEqual(droppedFrom(silent), [])
})

describe('what Messages has no equal for is left out and named where it is a hint', () => {
  const wholes: Readonly<Record<string, unknown>> = {
    metadata: { a: 'b' },
    verbosity: 'low',
    prediction: { type: 'content', content: 'x' },
    prompt_cache_key: 'k',
    prompt_cache_options: { mode: 'explicit' },
    prompt_cache_retention: '24h',
  }
  for (const [name, value] of Object.entries(wholes)) {
    test(name, () => {
      deepEqual(droppedFrom({ [name]: value }), [name])
      deepEqual(translate({ [name]: value }), base)
    })
  }

  test('padding of a stream', () => {
    const request = { stream: true, stream_options: { include_obfuscation: true } }
    deepEqual(droppedFrom(request), ['stream_options.include_obfuscation'])
  })

  test('cache points in the content', () => {
    const content = [{ type: 'text', text: 'Hi', prompt_cache_breakpoint: { mode: 'explicit' } }]
    const messages = [{ role: 'user', content }]
    deepEqual(droppedFrom({ messages }), ['messages[].content[].prompt_cache_breakpoint'])
  })

  test('cache points that other servers of chat took over from Messages', () => {
    const cache_control = { type: 'ephemeral' }
    const url = 'https://site.test/a.png'
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
    const messages = [
      { role: 'system', content: 'Be brief.', cache_control },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi', cache_control },
          { type: 'image_url', image_url: { url }, cache_control },
        ],
        cache_control,
      },
      { role: 'assistant', content: null, tool_calls: [call], cache_control },
      { role: 'tool', tool_call_id: 'c', content: 'done', cache_control },
    ]
    const tools = [{ type: 'function', function: { name: 'f' }, cache_control }]
    deepEqual(
      new Set(droppedFrom({ messages, tools })),
      new Set(['messages[].cache_control', 'messages[].content[].cache_control', 'tools[].cache_control']),
    )
    const bare = JSON.parse(
      JSON.stringify({ messages, tools }, (key, value) => (key === 'cache_control' ? undefined : value)),
    )
    deepEqual(translate({ messages, tools } as unknown as Partial<Chat>), translate(bare))
  })

  test('thoughts in the history, by the name of any provider', () => {
    const thoughts = {
      reasoning: 'hm',
      reasoning_content: 'hm',
      reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
    }
    for (const [name, value] of Object.entries(thoughts)) {
      const messages = [...hi, { role: 'assistant', content: 'x', [name]: value }, ...hi]
      deepEqual(droppedFrom({ messages }), [`messages[].${name}`])
      deepEqual(translate({ messages } as Partial<Chat>).messages[1], { role: 'assistant', content: 'x' })
    }
  })
})

test('a history that is joined from the chunks of a stream passes, with indexes and nulls', () => {
  const called = {
    role: 'assistant',
    content: null,
    refusal: null,
    function_call: null,
    audio: null,
    annotations: [],
    tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
  }
  const messages = [...hi, called, { role: 'tool', tool_call_id: 'c', content: 'ok' }]
  deepEqual(droppedFrom({ messages }), [])
  deepEqual(translate({ messages } as Partial<Chat>).messages[1], {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }],
  })
})

describe('the older shape of calls', () => {
  const functions = [{ name: 'f', parameters: { type: 'object', properties: {} } }]
  const asked = [
    ...hi,
    { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
    { role: 'function', name: 'f', content: 'one' },
    { role: 'assistant', content: 'Again.', function_call: { name: 'f', arguments: '' } },
    { role: 'function', name: 'f', content: null },
  ]

  test('is one of tools, of which one at a time is called', () => {
    const request = { functions, function_call: { name: 'f' }, messages: asked } as Partial<Chat>
    const { tools, tool_choice, messages } = translate(request)
    deepEqual(tools, [{ name: 'f', input_schema: { type: 'object', properties: {} } }])
    deepEqual(tool_choice, { type: 'tool', name: 'f', disable_parallel_tool_use: true })
    deepEqual(messages.slice(1), [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'f', input: { a: 1 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'one' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Again.' },
          { type: 'tool_use', id: 'call_3', name: 'f', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_3', content: '' }] },
    ])
    deepEqual(translate({ functions } as Partial<Chat>).tool_choice, {
      type: 'auto',
      disable_parallel_tool_use: true,
    })
    deepEqual(translate({ functions, function_call: 'none' } as Partial<Chat>).tool_choice, { type: 'none' })
  })

  const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: { a: 1 } })
  const translation = () => {
    const made = chatToMessages({ model: 'm', messages: hi, functions }, 'm')
    ok('body' in made)
    return made
  }

  test('is that of the response', () => {
    const response = (...content: unknown[]) =>
      translation().response(JSON.stringify({ type: 'message', content, stop_reason: 'tool_use' }))
    const { choices } = JSON.parse(response(use('c'))!)
    deepEqual(choices[0], {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        refusal: null,
        function_call: { name: 'f', arguments: '{"a":1}' },
      },
      logprobs: null,
      finish_reason: 'function_call',
    })
    equal(response(use('c'), use('d')), null, 'there is room for one call')
  })

  test('is that of the stream', () => {
    const events = (...more: unknown[]) => {
      const stream = translation().events()
      const text = [
        { type: 'message_start', message: { id: 'm', model: 'c' } },
        { type: 'content_block_start', index: 0, content_block: { ...use('c'), input: {} } },
        {
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'input_json_delta', partial_json: '{"a":1}' },
        },
        { type: 'content_block_stop', index: 0 },
        ...more,
        { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
        { type: 'message_stop' },
      ]
        .map(event => stream.push(Buffer.from(`data: ${JSON.stringify(event)}\n\n`)))
        .join('')
      return { stream, text }
    }
    const { stream, text } = events()
    const choices = text
      .split('\n\n')
      .filter(line => line.includes('choices'))
      .map(line => JSON.parse(line.slice('data: '.length)).choices[0])
    deepEqual(
      choices.slice(1).map(({ delta, finish_reason }) => [delta, finish_reason]),
      [
        [{ function_call: { name: 'f', arguments: '' } }, null],
        [{ function_call: { arguments: '{"a":1}' } }, null],
        [{}, 'function_call'],
      ],
    )
    equal(stream.isComplete, true)
    const second = { type: 'content_block_start', index: 1, content_block: use('d') }
    equal(events(second).stream.isBroken, true, 'there is room for one call')
  })
})

test('images in the result of a tool stay in it', () => {
  const content = [
    { type: 'text', text: 'a map' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
  ]
  const [turn] = translate({
    messages: [{ role: 'tool', tool_call_id: 'c', content }],
  } as Partial<Chat>).messages
  deepEqual(turn, {
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 'c',
        content: [
          { type: 'text', text: 'a map' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
        ],
      },
    ],
  })
})

describe('what Messages has no equal for is refused by name', () => {
  const wholes: Readonly<Record<string, unknown>> = {
    n: 2,
    logprobs: true,
    top_logprobs: 3,
    logit_bias: { 50256: -100 },
    frequency_penalty: 0.5,
    presence_penalty: -0.5,
    seed: 7,
    store: true,
    modalities: ['text', 'audio'],
    audio: { voice: 'ash', format: 'wav' },
    moderation: { model: 'm' },
    web_search_options: {},
  }
  for (const [name, value] of Object.entries(wholes)) {
    test(name, () => {
      deepEqual(faultsOf({ [name]: value }), [
        [`/${name}`, `${name} has no equivalent in Messages: leave it out`],
      ])
    })
  }

  const parts: readonly (readonly [pointer: string, request: Record<string, unknown>])[] = [
    ['/temperature', { temperature: 1.5 }],
    ['/top_p', { top_p: 2 }],
    ['/max_tokens', { max_tokens: 0 }],
    ['/max_tokens', { max_tokens: 5, max_completion_tokens: 6 }],
    ['/user', { user: 'a', safety_identifier: 'b' }],
    ['/stream', { stream: 'yes' }],
    ['/stop/1', { stop: ['a', 1] }],
    ['/reasoning_effort', { reasoning_effort: 'minimal' }],
    ['/service_tier', { service_tier: 'flex' }],
    ['/response_format/type', { response_format: { type: 'json_object' } }],
    [
      '/response_format/json_schema/schema',
      { response_format: { type: 'json_schema', json_schema: { name: 'n' } } },
    ],
    ['/tools/1/type', { tools: [weather, { type: 'custom', custom: { name: 'c' } }] }],
    ['/tools/0/function/name', { tools: [{ type: 'function', function: {} }] }],
    ['/tool_choice/type', { tools: [weather], tool_choice: { type: 'allowed_tools', allowed_tools: {} } }],
    ['/tool_choice', { tools: [weather], tool_choice: 'any' }],
    ['/tool_choice', { tool_choice: 'required' }],
    ['/messages', { messages: null }],
    ['/messages', { messages: 'Hi' }],
    ['/messages/0', { messages: ['Hi'] }],
    ['/messages/0/role', { messages: [{ content: 'Hi' }] }],
    ['/messages/0', { messages: [{ role: 'function', name: 'f', content: 'x' }] }],
    [
      '/messages/1',
      {
        messages: [
          { role: 'assistant', function_call: { name: 'f', arguments: '{}' } },
          { role: 'function', name: 'g', content: 'x' },
        ],
      },
    ],
    ['/function_call', { function_call: { name: 'f' } }],
    ['/function_call', { functions: [{ name: 'f' }], function_call: 'required' }],
    ['/functions', { functions: [{ name: 'f' }], tools: [weather] }],
    [
      '/messages/0/function_call',
      {
        messages: [
          {
            role: 'assistant',
            function_call: { name: 'f', arguments: '{}' },
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
        ],
      },
    ],
    ['/messages/0/name', { messages: [{ role: 'user', name: 'Ann', content: 'Hi' }] }],
    ['/messages/0/content', { messages: [{ role: 'user' }] }],
    ['/messages/0/content/0/type', { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }],
    ['/messages/0/content/0/type', { messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] }],
    ['/messages/0/content/0/text', { messages: [{ role: 'system', content: [{ type: 'text' }] }] }],
    [
      '/messages/0/content/0/image_url',
      { messages: [{ role: 'tool', tool_call_id: 'c', content: [{ type: 'image_url' }] }] },
    ],
    [
      '/messages/0/content/0/image_url/url',
      {
        messages: [
          {
            role: 'tool',
            tool_call_id: 'c',
            content: [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }],
          },
        ],
      },
    ],
    [
      '/messages/0/content/0/type',
      { messages: [{ role: 'tool', tool_call_id: 'c', content: [{ type: 'file', file: {} }] }] },
    ],
    ['/messages/0', { messages: [{ role: 'assistant', content: null }] }],
    ['/messages/0/audio', { messages: [{ role: 'assistant', content: 'x', audio: { id: 'a' } }] }],
    ['/temprature', { temprature: 1 }],
  ]
  for (const [pointer, request] of parts) {
    test(`${pointer} of ${JSON.stringify(request)}`, () => {
      deepEqual(
        faultsOf(request).map(([pointer]) => pointer),
        [pointer],
      )
    })
  }

  const images = [
    'http://a.example/b.jpg',
    'data:image/png,raw',
    'data:image/svg+xml;base64,AA',
    'data:',
    'file:///etc',
    '',
  ]
  for (const url of images) {
    test(`the image ${url}`, () => {
      const content = [{ type: 'image_url', image_url: { url } }]
      const [fault] = faultsOf({ messages: [{ role: 'user', content }] })
      equal(fault?.[0], '/messages/0/content/0/image_url/url')
    })
  }

  const deep = `${'{"a":'.repeat(257)}1${'}'.repeat(257)}`
  for (const json of ['{"city":', '[]', '1', 'null', deep]) {
    test(`the arguments ${json.slice(0, 20)}`, () => {
      const call = { id: 'c', type: 'function', function: { name: 'f', arguments: json } }
      deepEqual(faultsOf({ messages: [{ role: 'assistant', tool_calls: [call] }] }), [
        [
          '/messages/0/tool_calls/0/function/arguments',
          'messages[0].tool_calls[0].function.arguments must contain a JSON object of at most 256 levels',
        ],
      ])
    })
  }

  test('a body that is nested too deeply to be written', () => {
    const call = {
      id: 'c',
      type: 'function',
      function: { name: 'f', arguments: '{"id":12345678901234567890}' },
    }
    const parameters = JSON.parse(`{"deep":${'['.repeat(1e5)}${']'.repeat(1e5)}}`)
    const request = {
      messages: [{ role: 'assistant', tool_calls: [call] }],
      tools: [{ type: 'function', function: { name: 'f', parameters } }],
    }
    deepEqual(faultsOf(request), [['', 'the body is nested too deeply']])
  })

  test('all of it at once', () => {
    const content = [{ type: 'text', text: 'a' }, { type: 'input_audio' }]
    const pointers = faultsOf({
      messages: [...hi, { role: 'user', content }],
      seed: 1,
      extra: 2,
      temperature: 2,
    })
    deepEqual(
      pointers.map(([pointer]) => pointer),
      ['/extra', '/messages/1/content/1/type', '/temperature', '/seed'],
    )
  })
})

test('no request makes the translator throw', () => {
  const member = fc.constantFrom(
    ...[
      'model',
      'messages',
      'tools',
      'tool_choice',
      'stop',
      'response_format',
      'stream_options',
      'user',
      'odd',
    ],
  )
  const key = fc.constantFrom(
    'role',
    'content',
    'type',
    'text',
    'image_url',
    'url',
    'tool_calls',
    'function',
    'name',
  )
  const value = fc.letrec(tie => ({
    any: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      fc.constantFrom(
        'user',
        'assistant',
        'tool',
        'system',
        'text',
        'image_url',
        'function',
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
      const translation = chatToMessages(request, 'm')
      ok('error' in translation ? translation.faults.length > 0 : JSON.parse(translation.body.toString()))
    }),
  )
})
