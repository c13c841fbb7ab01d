import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type OpenAI from 'openai'
import { chatToResponses } from '../../../../src/ai/translate/chat-responses/chat-call-to-responses.ts'
import { responsesToChat } from '../../../../src/ai/translate/chat-responses/responses-call-to-chat.ts'

type Request = Partial<OpenAI.Chat.ChatCompletionCreateParams>
type Responses = OpenAI.Responses.ResponseCreateParams

function translate(request: Request | object) {
  return chatToResponses({ model: 'gpt-5', ...request }, 'gpt-5', () => 5000)
}

function translated(request: Request | object) {
  const call = translate(request)
  ok(!('error' in call), JSON.stringify(call))
  const responses: Responses & Record<string, unknown> = JSON.parse(call.body.toString())
  return { responses, dropped: call.dropped }
}

function faultsOf(request: Request | object) {
  const call = translate(request)
  ok('error' in call)
  return call.faults.map(({ pointer }) => pointer)
}

const hi = [{ role: 'user', content: 'Hi' }]
const read = { name: 'read', arguments: '{"a":1}' }
const parameters = { type: 'object', properties: { city: { type: 'string' } } }

const conversation = [
  { role: 'system', content: 'Be brief.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'Look.' },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'high' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' } },
    ],
  },
  {
    role: 'assistant',
    content: 'Looking.',
    tool_calls: [
      { id: 'c1', type: 'function', function: read },
      { id: 'c2', type: 'function', function: { name: 'now', arguments: '{}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'c1', content: 'one' },
  { role: 'tool', tool_call_id: 'c2', content: 'two' },
  { role: 'user', content: 'Go on.' },
]

describe('a chat', () => {
  test('becomes items', () => {
    deepEqual(translated({ messages: conversation }).responses.input, [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look.' },
          { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'high' },
          { type: 'input_file', file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' },
        ],
      },
      { role: 'assistant', content: 'Looking.' },
      { type: 'function_call', call_id: 'c1', ...read },
      { type: 'function_call', call_id: 'c2', name: 'now', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'one' },
      { type: 'function_call_output', call_id: 'c2', output: 'two' },
      { role: 'user', content: 'Go on.' },
    ])
  })

  test('and back is the same chat', () => {
    const tools = [
      { type: 'function', function: { name: 'read', description: 'Reads.', parameters, strict: true } },
    ]
    const schema = { type: 'json_schema', json_schema: { name: 'thing', schema: parameters, strict: true } }
    const chat = {
      model: 'gpt-5',
      messages: conversation,
      max_completion_tokens: 100,
      temperature: 1.5,
      top_p: 0.5,
      tools,
      tool_choice: { type: 'function', function: { name: 'read' } },
      parallel_tool_calls: false,
      response_format: schema,
      reasoning_effort: 'low',
      service_tier: 'flex',
      user: 'u1',
    }
    const back = responsesToChat(translated(chat).responses as unknown as Record<string, unknown>, 'gpt-5')
    ok(!('error' in back), JSON.stringify(back))
    deepEqual(JSON.parse(back.body.toString()), chat)
  })

  test('with custom tools keeps them', () => {
    const grammar = { definition: 'start: "a"', syntax: 'lark' }
    const { responses } = translated({
      messages: [
        ...hi,
        {
          role: 'assistant',
          tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'patch', input: 'a' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'done' },
      ],
      tools: [{ type: 'custom', custom: { name: 'patch', format: { type: 'grammar', grammar } } }],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'custom', custom: { name: 'patch' } }] },
      },
    })
    deepEqual((responses.input as unknown[]).slice(1), [
      { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: 'a' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
    ])
    deepEqual(responses.tools, [{ type: 'custom', name: 'patch', format: { type: 'grammar', ...grammar } }])
    deepEqual(responses.tool_choice, {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'custom', name: 'patch' }],
    })
  })

  test('of the older shape pairs its calls with their results', () => {
    const { responses } = translated({
      messages: [
        ...hi,
        { role: 'assistant', content: null, function_call: read },
        { role: 'function', name: 'read', content: 'one' },
      ],
      functions: [{ name: 'read', parameters }],
      function_call: 'auto',
    })
    deepEqual((responses.input as unknown[]).slice(1), [
      { type: 'function_call', call_id: 'call_1', ...read },
      { type: 'function_call_output', call_id: 'call_1', output: 'one' },
    ])
    deepEqual(responses.tools, [{ type: 'function', name: 'read', parameters, strict: false }])
    equal(responses.parallel_tool_calls, false)
  })

  test('stores nothing, and asks for 16 tokens at least', () => {
    const { responses } = translated({ messages: hi, max_tokens: 1, metadata: { a: 'b' } })
    equal(responses.store, false)
    equal(responses.max_output_tokens, 16)
  })

  test('leaves out the thoughts of another provider, and names them', () => {
    const { dropped } = translated({
      messages: [
        ...hi,
        { role: 'assistant', content: 'Hm.', reasoning_content: 'I…', reasoning_details: [{}] },
      ],
      metadata: { a: 'b' },
    })
    deepEqual(dropped.toSorted(), [
      'messages[].reasoning_content',
      'messages[].reasoning_details',
      'metadata',
    ])
  })
})

const refusals = [
  ['stop', ['x']],
  ['n', 2],
  ['logprobs', true],
  ['logit_bias', { 1: 1 }],
  ['seed', 7],
  ['store', true],
  ['audio', { voice: 'x', format: 'wav' }],
  ['web_search_options', {}],
  ['unheard_of', 1],
  ['messages', [{ role: 'function', name: 'x', content: '' }], '/messages/0'],
  ['messages', [{ role: 'user', name: 'Bob', content: '' }], '/messages/0/name'],
] as const

for (const [name, value, pointer = `/${name}`] of refusals)
  test(`${name} ${JSON.stringify(value)} is refused by name`, () => {
    deepEqual(faultsOf({ messages: hi, [name]: value }), [pointer])
  })

test('nothing that a caller may send is an exception', () => {
  const word = fc.constantFrom(
    'user',
    'assistant',
    'tool',
    'function',
    'custom',
    'text',
    'image_url',
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
      'id',
      'arguments',
      'tool_calls',
      'tool_call_id',
      'function',
    ],
    ...['custom', 'input', 'function_call', 'image_url', 'url'],
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
    fc.property(any, any, any, (messages, tools, tool_choice) => {
      const call = translate({ messages, tools, tool_choice } as object)
      ok('error' in call ? call.faults.length > 0 : JSON.parse(call.body.toString()))
    }),
  )
})
