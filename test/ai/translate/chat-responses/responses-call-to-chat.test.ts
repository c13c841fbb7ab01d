import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type OpenAI from 'openai'
import { responsesToChat } from '../../../../src/ai/translate/chat-responses/responses-call-to-chat.ts'

type Request = OpenAI.Responses.ResponseCreateParams
type Chat = OpenAI.Chat.ChatCompletionCreateParams

function translate(request: Request | object, model = 'gpt-5') {
  return responsesToChat({ model, ...request }, model, { now: () => 5000 })
}

function translated(request: Request | object, model?: string) {
  const call = translate(request, model)
  ok(!('error' in call), JSON.stringify(call))
  const chat: Chat & Record<string, unknown> = JSON.parse(call.body.toString())
  return { chat, dropped: call.dropped }
}

function faultsOf(request: Request | object) {
  const call = translate(request)
  ok('error' in call)
  return call.faults.map(({ pointer, message }) => [pointer, message])
}

const messagesOf = (input: unknown, rest: object = {}) => translated({ input, ...rest }).chat.messages

describe('the input', () => {
  test('is one message of the user if it is a string', () => {
    deepEqual(messagesOf('Hi'), [{ role: 'user', content: 'Hi' }])
  })

  test('has its instructions and first system messages in one message', () => {
    const input = [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { role: 'developer', content: 'The file has changed.' },
    ]
    deepEqual(messagesOf(input, { instructions: 'You code.' }), [
      { role: 'system', content: 'You code.\n\nBe brief.\n\nBe kind.' },
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'The file has changed.' },
    ])
  })

  test('has images and files', () => {
    const parts = [
      { type: 'input_text', text: 'Look.' },
      { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'auto' },
      { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'original' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' },
    ]
    deepEqual(messagesOf([{ role: 'user', content: parts }]), [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look.' },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'high' } },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' } },
        ],
      },
    ])
  })

  test('has what a model wrote at once in one message, and its results right after', () => {
    const { chat, dropped } = translated({
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2VhbGVk' },
        {
          type: 'message',
          id: 'msg_1',
          status: 'completed',
          role: 'assistant',
          phase: 'commentary',
          content: [{ type: 'output_text', text: 'Looking.', annotations: [], logprobs: [] }],
        },
        {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'c1',
          name: 'read',
          arguments: '{"a":1}',
          status: 'completed',
        },
        { type: 'function_call', call_id: 'c2', name: 'wait', namespace: 'agents', arguments: '' },
        { type: 'custom_tool_call', call_id: 'c3', name: 'apply_patch', input: '*** "Begin"' },
        { type: 'function_call_output', id: 'fco_1', call_id: 'c1', output: 'one' },
        {
          type: 'function_call_output',
          call_id: 'c2',
          output: [{ type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'high' }],
        },
        { type: 'custom_tool_call_output', call_id: 'c3', output: [{ type: 'input_text', text: 'three' }] },
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
      ],
    })
    deepEqual(dropped, ['input[].reasoning', 'input[].web_search_call'])
    deepEqual(chat.messages, [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: 'Looking.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'read', arguments: '{"a":1}' } },
          { id: 'c2', type: 'function', function: { name: 'agents__wait', arguments: '{}' } },
          {
            id: 'c3',
            type: 'function',
            function: { name: 'apply_patch', arguments: '{"input":"*** \\"Begin\\""}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
      { role: 'tool', tool_call_id: 'c2', content: 'The result is in the next message of the user.' },
      { role: 'tool', tool_call_id: 'c3', content: 'three' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Result of tool call c2:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'high' } },
        ],
      },
    ])
  })
})

describe('the tools', () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }

  test('are functions, whatever they are for the caller', () => {
    const { chat, dropped } = translated({
      input: 'Hi',
      tools: [
        { type: 'function', name: 'weather', description: 'Tells.', parameters, strict: true },
        { type: 'function', name: 'now', parameters: null, strict: false },
        {
          type: 'custom',
          name: 'apply_patch',
          description: 'Edits.',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
        },
        {
          type: 'namespace',
          name: 'agents',
          description: 'Agents.',
          tools: [{ type: 'function', name: 'wait', parameters, strict: false }],
        },
        { type: 'tool_search', execution: 'client', description: 'Finds.', parameters },
        { type: 'web_search', external_web_access: true },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: false,
    })
    deepEqual(dropped, ['tools[].web_search'])
    equal(chat.tool_choice, 'auto')
    equal(chat.parallel_tool_calls, false)
    const empty = { type: 'object', properties: {} }
    const text = {
      type: 'object',
      properties: { input: { type: 'string' } },
      required: ['input'],
      additionalProperties: false,
    }
    const description =
      'Edits.\n\nIts text is the member input of the arguments.\n\nIt follows this grammar, in lark syntax:\nstart: "a"'
    deepEqual(
      chat.tools!.map(tool => tool.type === 'function' && tool.function),
      [
        { name: 'weather', description: 'Tells.', parameters, strict: true },
        { name: 'now', parameters: empty },
        { name: 'apply_patch', description, parameters: text },
        { name: 'agents__wait', parameters },
        { name: 'tool_search', description: 'Finds.', parameters },
      ],
    )
  })

  test('in the input are tools too, once each', () => {
    const tool = { type: 'function', name: 'read', parameters, strict: false }
    const found = { type: 'tool_search_output', call_id: 'c1', execution: 'client', status: 'completed' }
    const { chat } = translated({
      input: [
        {
          type: 'additional_tools',
          id: 'at_1',
          role: 'developer',
          tools: [{ type: 'custom', name: 'exec' }],
        },
        { role: 'user', content: 'Hi' },
        { type: 'tool_search_call', call_id: 'c1', execution: 'client', arguments: { query: 'read' } },
        { ...found, tools: [{ type: 'namespace', name: 'mcp', description: '', tools: [tool] }, tool] },
      ],
      tools: [tool],
    })
    deepEqual(
      chat.tools!.map(tool => tool.type === 'function' && tool.function.name),
      ['read', 'exec', 'mcp__read'],
    )
    deepEqual(chat.messages.slice(1), [
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'tool_search', arguments: '{"query":"read"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'Tools that you can call now: mcp__read, read' },
    ])
  })

  test('with names that chat does not take have others, which differ', () => {
    const long = 'a'.repeat(80)
    const tools = [`${long}1`, `${long}2`, 'a.b'].map(name => ({
      type: 'function',
      name,
      parameters,
      strict: false,
    }))
    const names = translated({ input: 'Hi', tools }).chat.tools!.map(
      tool => tool.type === 'function' && tool.function.name,
    ) as string[]
    equal(new Set(names).size, 3)
    for (const name of names) ok(/^[\w-]{1,64}$/.test(name), name)
  })

  const choices = [
    ['none', 'none'],
    ['required', 'required'],
    [
      { type: 'function', name: 'weather' },
      { type: 'function', function: { name: 'weather' } },
    ],
    [
      { type: 'custom', name: 'patch' },
      { type: 'function', function: { name: 'patch' } },
    ],
    [{ type: 'allowed_tools', mode: 'required', tools: [{ type: 'custom', name: 'patch' }] }, 'required'],
  ] as const
  for (const [choice, expected] of choices)
    test(`have the choice ${JSON.stringify(choice)}`, () => {
      const tools = [
        { type: 'function', name: 'weather', parameters, strict: false },
        { type: 'custom', name: 'patch' },
      ]
      const { chat } = translated({ input: 'Hi', tools, tool_choice: choice })
      deepEqual(chat.tool_choice, expected)
      equal(chat.tools!.length, typeof choice === 'object' && choice.type === 'allowed_tools' ? 1 : 2)
    })
})

test('other members keep their meaning', () => {
  const schema = { type: 'object', properties: {} }
  const { chat, dropped } = translated({
    input: 'Hi',
    max_output_tokens: 100,
    temperature: 1.5,
    top_p: 0.5,
    stream: true,
    store: false,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'minimal', summary: 'auto' },
    text: { format: { type: 'json_schema', name: 'thing', schema, strict: true } },
    service_tier: 'flex',
    safety_identifier: 'u1',
    metadata: {},
    truncation: 'disabled',
    background: false,
    previous_response_id: null,
  })
  deepEqual(dropped, [])
  deepEqual(chat, {
    model: 'gpt-5',
    messages: [{ role: 'user', content: 'Hi' }],
    max_completion_tokens: 100,
    temperature: 1.5,
    top_p: 0.5,
    stream: true,
    stream_options: { include_usage: true },
    reasoning_effort: 'minimal',
    response_format: { type: 'json_schema', json_schema: { name: 'thing', schema, strict: true } },
    service_tier: 'flex',
    user: 'u1',
  })
})

test('hints are left out, and named', () => {
  const hints = {
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    client_metadata: { turn: '1' },
    truncation: 'auto',
    text: { verbosity: 'low' },
    reasoning: { effort: 'high' },
  }
  const { chat, dropped } = translated({ input: 'Hi', ...hints }, 'llama-3')
  deepEqual(dropped.toSorted(), [
    'client_metadata',
    'metadata',
    'prompt_cache_key',
    'reasoning.effort',
    'text.verbosity',
    'truncation',
  ])
  deepEqual(Object.keys(chat), ['model', 'messages'])
})

const refusals = [
  ['store', true],
  ['previous_response_id', 'resp_1'],
  ['conversation', 'conv_1'],
  ['background', true],
  ['prompt', { id: 'pmpt_1' }],
  ['tools', [{ type: 'code_interpreter', container: 'c' }], '/tools/0/type'],
  ['tools', [{ type: 'mcp', server_label: 's' }], '/tools/0/type'],
  ['tool_choice', 'required'],
  ['input', [{ type: 'item_reference', id: 'msg_1' }], '/input/0'],
  ['input', [{ type: 'compaction', encrypted_content: 'c' }], '/input/0/type'],
  [
    'input',
    [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://a', file_id: 'f' }] }],
    '/input/0/content/0/file_id',
  ],
  ['unheard_of', 1],
] as const

for (const [name, value, pointer = `/${name}`] of refusals)
  test(`${name} ${JSON.stringify(value)} is refused by name`, () => {
    const faults = faultsOf({ input: 'Hi', [name]: value })
    equal(faults.length, 1, JSON.stringify(faults))
    equal(faults[0]![0], pointer)
  })

test('nothing that a caller may send is an exception', () => {
  const word = fc.constantFrom(
    'message',
    'function_call',
    'custom',
    'function',
    'namespace',
    'user',
    'assistant',
    'x',
    '',
  )
  const key = fc.constantFrom(
    ...[
      'type',
      'role',
      'content',
      'text',
      'name',
      'call_id',
      'arguments',
      'output',
      'input',
      'tools',
      'parameters',
    ],
    ...['format', 'execution', 'summary', 'namespace'],
  )
  const { any } = fc.letrec(tie => ({
    any: fc.oneof(
      { maxDepth: 5 },
      word,
      fc.jsonValue(),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(key, tie('any'), { maxKeys: 5 }),
    ),
  }))
  fc.assert(
    fc.property(any, any, any, (input, tools, choice) => {
      const call = translate({ input, tools, tool_choice: choice } as object)
      ok('error' in call ? call.faults.length > 0 : JSON.parse(call.body.toString()))
    }),
  )
})
