import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import type Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import type OpenAI from 'openai'
import { messagesToResponses } from '../../../../src/ai/translate/messages-responses/messages-call-to-responses.ts'
import { pack } from '../../../../src/ai/translate/packed-reasoning.ts'

/** The published types are of the newest version, which knows no sampling. */
type Messages = Anthropic.MessageCreateParams & { temperature?: number; top_p?: number }
type Responses = OpenAI.Responses.ResponseCreateParams
type Pair = readonly [name: string, messages: Partial<Messages>, responses: Partial<Responses>]

const hi: Messages['messages'] = [{ role: 'user', content: 'Hi' }]
const tag = 'svc.openai.'

function translation(request: Record<string, unknown>, model: string) {
  return messagesToResponses({ model: 'author/model', max_tokens: 99, messages: hi, ...request }, model, tag)
}

/** Translates a request that is expected to pass. */
function translate(messages: Partial<Messages>, model = 'gpt-4o'): Responses {
  const translated = translation(messages, model)
  ok('body' in translated, JSON.stringify(translated))
  return JSON.parse(translated.body.toString())
}

/** Names what is left out of a request. */
function droppedFrom(request: Record<string, unknown>, model = 'gpt-5'): readonly string[] {
  const translated = translation(request, model)
  ok('body' in translated, JSON.stringify(translated))
  return translated.dropped
}

/** Translates a request that is expected to be refused; gives each fault as its pointer and message. */
function faultsOf(request: Record<string, unknown>) {
  const refusal = translation(request, 'gpt-5')
  ok('error' in refusal, 'it was translated')
  return refusal.faults.map(({ message, pointer }) => [pointer, message])
}

const schema = { type: 'object' as const, properties: { city: { type: 'string' } } }
const weatherTool: Anthropic.Tool = { name: 'weather', description: 'Weather.', input_schema: schema }
const weather: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'weather',
  description: 'Weather.',
  parameters: schema,
  strict: false,
}

const base: Responses = {
  model: 'gpt-4o',
  max_output_tokens: 99,
  input: [{ role: 'user', content: 'Hi' }],
  store: false,
}

describe('a member of a Messages request becomes its equal in Responses', () => {
  const pairs: readonly Pair[] = [
    ['sampling', { temperature: 0, top_p: 0.5 }, { temperature: 0, top_p: 0.5 }],
    ['the usual sampling, which models that reason refuse', { temperature: 1, top_p: 1 }, {}],
    ['a limit that OpenAI would refuse', { max_tokens: 1 }, { max_output_tokens: 16 }],
    ['a system prompt', { system: 'Be brief.' }, { instructions: 'Be brief.' }],
    [
      'a system prompt in parts',
      {
        system: [
          { type: 'text', text: 'One.' },
          { type: 'text', text: 'Two.' },
        ],
      },
      { instructions: 'One.\n\nTwo.' },
    ],
    ['no system prompt', { system: '' }, {}],
    ['a stream', { stream: true }, { stream: true }],
    ['no stops', { stop_sequences: [] }, {}],
    ['the user', { metadata: { user_id: 'u1' } }, { user: 'u1' }],
    ['the standard tier', { service_tier: 'standard_only' }, { service_tier: 'default' }],
    [
      'a schema for the response',
      { output_config: { format: { type: 'json_schema', schema } } },
      { text: { format: { type: 'json_schema', name: 'answer', strict: true, schema } } },
    ],
    ['tools', { tools: [{ ...weatherTool, type: 'custom' }] }, { tools: [weather] }],
    [
      'a strict tool',
      { tools: [{ ...weatherTool, strict: true }] },
      { tools: [{ ...weather, strict: true }] },
    ],
    [
      'one tool at a time',
      { tools: [weatherTool], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      { tools: [weather], tool_choice: 'auto', parallel_tool_calls: false },
    ],
    [
      'any tool',
      { tools: [weatherTool], tool_choice: { type: 'any' } },
      { tools: [weather], tool_choice: 'required' },
    ],
    [
      'a named tool',
      { tools: [weatherTool], tool_choice: { type: 'tool', name: 'weather' } },
      { tools: [weather], tool_choice: { type: 'function', name: 'weather' } },
    ],
  ]
  for (const [name, messages, responses] of pairs) {
    test(name, () => deepEqual(translate(messages), { ...base, ...responses }))
  }
})

describe('a turn becomes items', () => {
  const pairs: readonly (readonly [string, Messages['messages'], unknown])[] = [
    ['a text of the user', hi, [{ role: 'user', content: 'Hi' }]],
    [
      'images and documents',
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
            { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } },
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' } },
            { type: 'document', title: 'T', source: { type: 'url', url: 'https://a.example/b.pdf' } },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Plain.' } },
          ],
        },
      ],
      [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look.' },
            { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' },
            { type: 'input_image', image_url: 'https://a.example/b.png', detail: 'auto' },
            {
              type: 'input_file',
              filename: 'document.pdf',
              file_data: 'data:application/pdf;base64,aGk=',
            },
            { type: 'input_file', file_url: 'https://a.example/b.pdf' },
            { type: 'input_text', text: 'Plain.' },
          ],
        },
      ],
    ],
    [
      'tools called at once, and their results',
      [
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me ' },
            { type: 'text', text: 'look.' },
            { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Oslo' } },
            { type: 'tool_use', id: 'c2', name: 'now', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: 'Rain' },
            {
              type: 'tool_result',
              tool_use_id: 'c2',
              content: [
                { type: 'text', text: '12:00' },
                { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } },
              ],
              is_error: true,
            },
            { type: 'text', text: 'And?' },
          ],
        },
      ],
      [
        { role: 'assistant', content: 'Let me look.' },
        { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' },
        { type: 'function_call', call_id: 'c2', name: 'now', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'Rain' },
        {
          type: 'function_call_output',
          call_id: 'c2',
          output: [
            { type: 'input_text', text: 'Error:' },
            { type: 'input_text', text: '12:00' },
            { type: 'input_image', image_url: 'https://a.example/b.png', detail: 'auto' },
          ],
        },
        { role: 'user', content: 'And?' },
      ],
    ],
    [
      'a system message among the others',
      [...hi, { role: 'system', content: 'Be brief.' }],
      [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'Be brief.' },
      ],
    ],
  ]
  for (const [name, messages, input] of pairs) {
    test(name, () => deepEqual(translate({ messages }).input, input))
  }
})

describe('thinking', () => {
  const reasoningOf = (request: Partial<Messages>, model = 'gpt-5') => {
    const { reasoning, include } = translate(request, model)
    return [reasoning, include]
  }
  const include = ['reasoning.encrypted_content']

  test('becomes effort, with the ciphertext that goes back later', () => {
    const enabled = (budget_tokens: number) => ({ thinking: { type: 'enabled' as const, budget_tokens } })
    deepEqual(reasoningOf(enabled(4_000)), [{ effort: 'low', summary: 'auto' }, include])
    deepEqual(reasoningOf(enabled(10_000)), [{ effort: 'medium', summary: 'auto' }, include])
    deepEqual(reasoningOf(enabled(31_999)), [{ effort: 'high', summary: 'auto' }, include])
    deepEqual(reasoningOf({ thinking: { type: 'adaptive' } }), [{ summary: 'auto' }, include])
    deepEqual(
      reasoningOf({ thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'xhigh' } }),
      [{ effort: 'xhigh' }, include],
    )
  })

  test('that is off asks for nothing', () => {
    deepEqual(reasoningOf({}), [undefined, undefined])
    deepEqual(reasoningOf({ thinking: { type: 'disabled' } }), [undefined, undefined])
    deepEqual(reasoningOf({ output_config: { effort: 'low' } }), [{ effort: 'low' }, undefined])
  })

  test('is left out for a model without effort', () => {
    const request = { thinking: { type: 'adaptive' as const }, output_config: { effort: 'low' as const } }
    deepEqual(reasoningOf(request, 'gpt-4o'), [undefined, undefined])
    deepEqual(droppedFrom(request, 'gpt-4o'), ['output_config.effort', 'thinking'])
  })

  const item = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'Hm.' }],
    encrypted_content: 'gAAA',
  }
  const turn = (packed: string): Messages['messages'] => [
    ...hi,
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: packed },
        { type: 'redacted_thinking', data: packed },
        { type: 'text', text: 'Well.' },
      ],
    },
  ]

  test('of the provider goes back as it was', () => {
    deepEqual(translate({ messages: turn(pack(tag, item)) }).input, [
      { role: 'user', content: 'Hi' },
      item,
      item,
      { role: 'assistant', content: 'Well.' },
    ])
  })

  test('of any other is left out', () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'ErcB' }
    const foreign = ['ErcB', pack('svc.groq.', item), pack(tag, thinking), tag, `${tag}!!`, `${tag}bnVsbA`]
    for (const packed of foreign) {
      const request = { messages: turn(packed) }
      deepEqual(translate(request).input, [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Well.' },
      ])
      deepEqual(droppedFrom(request), [
        'messages[].content[].thinking',
        'messages[].content[].redacted_thinking',
      ])
    }
  })
})

test('tools that Claude Code loads on demand are there from the beginning', () => {
  const request = {
    tools: [{ ...weatherTool, defer_loading: true }],
    messages: [
      ...hi,
      { role: 'system', content: 'Be brief.', output_config: { effort: 'low' } },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'ToolSearch', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c1',
            content: [{ type: 'tool_reference', tool_name: 'weather' }],
          },
        ],
      },
    ],
  }
  const { tools, input } = translate(request as never)
  deepEqual(tools, [weather])
  deepEqual((input as unknown[]).at(-1), {
    type: 'function_call_output',
    call_id: 'c1',
    output: 'You can call the tool weather.',
  })
  deepEqual(droppedFrom(request), ['messages[].output_config'])
})

test('what has no equivalent is refused by name', () => {
  const out = 'has no equivalent in Responses: leave it out'
  deepEqual(faultsOf({ stop_sequences: ['A'], top_k: 5 }), [
    ['/top_k', `top_k ${out}`],
    ['/stop_sequences', `stop_sequences ${out}`],
  ])
  const document = { type: 'document', source: { type: 'file', file_id: 'f' } }
  equal(
    faultsOf({ messages: [{ role: 'user', content: [document] }] })[0]![0],
    '/messages/0/content/0/source/type',
  )
  equal(faultsOf({ tool_choice: { type: 'any' } })[0]![0], '/tool_choice')
  const late = [
    { type: 'text', text: 'And?' },
    { type: 'tool_result', tool_use_id: 'c', content: '1' },
  ]
  deepEqual(faultsOf({ messages: [{ role: 'user', content: late }] }), [
    ['/messages/0/content/1', 'messages[0].content[1] must come before other content'],
  ])
})

test('any request is translated, or refused with a reason', () => {
  const word = fc.constantFrom(
    'text',
    'image',
    'document',
    'tool_use',
    'tool_result',
    'thinking',
    'redacted_thinking',
    'user',
    'assistant',
    'system',
    'base64',
    'url',
    'enabled',
    tag,
    pack(tag, { type: 'reasoning' }),
  )
  const { json } = fc.letrec(tie => ({
    json: fc.oneof({ maxDepth: 5 }, word, fc.integer(), fc.boolean(), fc.array(tie('json')), tie('object')),
    object: fc.dictionary(
      fc.constantFrom(
        'type',
        'role',
        'content',
        'text',
        'source',
        'data',
        'url',
        'input',
        'id',
        'name',
        'tool_use_id',
        'signature',
      ),
      tie('json'),
    ),
  }))
  const turn = fc.record({ role: word, content: fc.oneof(word, fc.array(json)) })
  const request = fc.record({ system: json, messages: fc.array(turn), thinking: json, tools: json })
  fc.assert(
    fc.property(request, request => {
      const translated = translation(request, 'gpt-5')
      if ('body' in translated) JSON.parse(translated.body.toString())
      else ok(translated.faults.length > 0)
    }),
  )
})
