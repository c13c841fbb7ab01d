import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import type Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import type OpenAI from 'openai'
import { responsesToMessages } from '../../../../src/ai/translate/messages-responses/responses-call-to-messages.ts'
import { pack } from '../../../../src/ai/translate/packed-reasoning.ts'

type Responses = OpenAI.Responses.ResponseCreateParams
type Messages = Anthropic.MessageCreateParams & { temperature?: number; top_p?: number }
type Pair = readonly [name: string, responses: Partial<Responses>, messages: Partial<Messages>]

const tag = 'svc.anthropic.'
const claude = 'claude-sonnet-4-5'

function translation(request: Record<string, unknown>, model: string) {
  return responsesToMessages({ model: 'author/model', input: 'Hi', ...request }, model, tag, () => 0)
}

/** Translates a request that is expected to pass. */
function translate(responses: Partial<Responses>, model = claude): Messages {
  const translated = translation(responses as Record<string, unknown>, model)
  ok('body' in translated, JSON.stringify(translated))
  return JSON.parse(translated.body.toString())
}

/** Names what is left out of a request. */
function droppedFrom(request: Record<string, unknown>, model = claude): readonly string[] {
  const translated = translation(request, model)
  ok('body' in translated, JSON.stringify(translated))
  return translated.dropped
}

/** Translates a request that is expected to be refused; gives the pointer of each fault. */
function faultsOf(request: Record<string, unknown>) {
  const refusal = translation(request, claude)
  ok('error' in refusal, 'it was translated')
  return refusal.faults.map(({ pointer }) => pointer)
}

const text = (text: string) => ({ type: 'text' as const, text })
const hi: Messages['messages'] = [{ role: 'user', content: [text('Hi')] }]
const base: Messages = { model: claude, max_tokens: 32_000, messages: hi }

const schema = { type: 'object' as const, properties: { city: { type: 'string' } } }
const weather: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'weather',
  description: 'Weather.',
  parameters: schema,
  strict: null,
}
const weatherTool = { name: 'weather', description: 'Weather.', input_schema: schema }
const tools = { tools: [weather] }

describe('a member of a Responses request becomes its equal in Messages', () => {
  const pairs: readonly Pair[] = [
    ['a text', {}, {}],
    ['a limit', { max_output_tokens: 9 }, { max_tokens: 9 }],
    ['sampling', { temperature: 0, top_p: 0.5 }, { temperature: 0, top_p: 0.5 }],
    ['the usual sampling', { temperature: 1, top_p: 1 }, {}],
    ['instructions', { instructions: 'Be brief.' }, { system: [text('Be brief.')] }],
    ['a stream', { stream: true }, { stream: true }],
    ['nothing stored', { store: false, include: ['reasoning.encrypted_content'] }, {}],
    ['the user', { safety_identifier: 'u1' }, { metadata: { user_id: 'u1' } }],
    ['the standard tier', { service_tier: 'default' }, { service_tier: 'standard_only' }],
    [
      'a schema for the text',
      { text: { format: { type: 'json_schema', name: 'n', schema } } },
      { output_config: { format: { type: 'json_schema', schema } } },
    ],
    ['tools', tools, { tools: [weatherTool] }],
    [
      'one tool at a time',
      { ...tools, parallel_tool_calls: false },
      { tools: [weatherTool], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    ],
    [
      'any tool, one at a time',
      { ...tools, tool_choice: 'required', parallel_tool_calls: false },
      { tools: [weatherTool], tool_choice: { type: 'any', disable_parallel_tool_use: true } },
    ],
    ['no tool', { ...tools, tool_choice: 'none' }, { tools: [weatherTool], tool_choice: { type: 'none' } }],
    [
      'a named tool',
      { ...tools, tool_choice: { type: 'function', name: 'weather' } },
      { tools: [weatherTool], tool_choice: { type: 'tool', name: 'weather' } },
    ],
  ]
  for (const [name, responses, messages] of pairs) {
    test(name, () => deepEqual(translate(responses), { ...base, ...messages }))
  }

  test('no limit, as what the model accepts for sure', () => {
    const limits = ['claude-opus-4-1', 'claude-sonnet-5-5', 'claude-3-haiku-20240307', 'glm-5'].map(
      model => translate({}, model).max_tokens,
    )
    deepEqual(limits, [32_000, 32_000, 4_096, 8_192])
  })

  test('a custom tool, as one with a text', () => {
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } as const
    const { tools } = translate({
      tools: [{ type: 'custom', name: 'apply_patch', description: 'Edits files.', format }],
    })
    const [{ name, description, input_schema }] = tools as [Anthropic.Tool]
    equal(name, 'apply_patch')
    ok(description!.startsWith('Edits files.') && description!.includes('start: "x"'))
    deepEqual(input_schema.properties, { input: { type: 'string' } })
  })
})

describe('items become turns', () => {
  const image = {
    type: 'input_image' as const,
    detail: 'auto' as const,
    image_url: 'https://a.example/b.png',
  }
  const call = (call_id: string, city: string) => ({
    type: 'function_call' as const,
    call_id,
    name: 'weather',
    arguments: JSON.stringify({ city }),
  })
  const use = (id: string, city: string) => ({
    type: 'tool_use' as const,
    id,
    name: 'weather',
    input: { city },
  })
  const output = (call_id: string, output: string) => ({
    type: 'function_call_output' as const,
    call_id,
    output,
  })
  const result = (tool_use_id: string, said: string) => ({
    type: 'tool_result' as const,
    tool_use_id,
    content: [text(said)],
  })
  const user = (said: string) => ({ role: 'user' as const, content: said })

  const pairs: readonly (readonly [string, OpenAI.Responses.ResponseInput, Partial<Messages>])[] = [
    [
      'messages at the beginning, the system prompt',
      [{ role: 'developer', content: 'One.' }, { role: 'system', content: 'Two.' }, user('Hi')],
      { system: [text('One.'), text('Two.')], messages: hi },
    ],
    [
      'messages of the developer later on, turns of the system',
      [user('Hi'), { role: 'developer', content: 'Be brief.' }, user('And?')],
      {
        messages: [
          ...hi,
          { role: 'system', content: [text('Be brief.')] } as never,
          { role: 'user', content: [text('And?')] },
        ],
      },
    ],
    [
      'images and files',
      [
        {
          role: 'user',
          content: [
            image,
            { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,aGk=' },
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' },
            { type: 'input_file', file_data: 'data:text/plain;base64,aGk=' },
          ],
        },
      ],
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image', source: { type: 'url', url: image.image_url } },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
              {
                type: 'document',
                title: 'a.pdf',
                source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' },
              },
              { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hi' } },
            ],
          },
        ],
      },
    ],
    [
      'calls at once, and their results in one turn before all else',
      [
        user('Hi'),
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Looking.', annotations: [] }],
        },
        call('c1', 'Oslo'),
        call('c2', 'Bern'),
        output('c1', 'Rain'),
        user('And?'),
        output('c2', 'Sun'),
      ],
      {
        messages: [
          ...hi,
          { role: 'assistant', content: [text('Looking.'), use('c1', 'Oslo'), use('c2', 'Bern')] },
          { role: 'user', content: [result('c1', 'Rain'), result('c2', 'Sun'), text('And?')] },
        ],
      },
    ],
    [
      'a custom tool, as one with a text',
      [
        { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: '*** Begin' },
        { type: 'custom_tool_call_output', call_id: 'c1', output: 'Done' },
      ],
      {
        messages: [
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'c1', name: 'apply_patch', input: { input: '*** Begin' } }],
          },
          { role: 'user', content: [result('c1', 'Done')] },
        ],
      },
    ],
    ['empty texts, not at all', [user('Hi'), { role: 'assistant', content: '' }, user('')], { messages: hi }],
  ]
  for (const [name, input, messages] of pairs) {
    test(name, () => deepEqual(translate({ input }), { ...base, ...messages }))
  }
})

describe('reasoning', () => {
  const thought = { type: 'thinking', thinking: 'Hm.', signature: 'ErcB' } as const
  const redacted = { type: 'redacted_thinking', data: 'EmwK' } as const
  const item = (packed: string) => ({
    type: 'reasoning' as const,
    id: 'rs_1',
    summary: [],
    encrypted_content: packed,
  })
  const call = { type: 'function_call' as const, call_id: 'c1', name: 'weather', arguments: '{}' }
  const output = { type: 'function_call_output' as const, call_id: 'c1', output: '1' }
  const asked = { role: 'user' as const, content: 'Hi' }

  test('goes back to its provider as it was, before the use of the tool', () => {
    const input = [asked, item(pack(tag, thought)), item(pack(tag, redacted)), call, output]
    const { messages, thinking } = translate({ input, reasoning: { effort: 'low' } })
    deepEqual(messages[1]!.content as unknown, [
      thought,
      redacted,
      { type: 'tool_use', id: 'c1', name: 'weather', input: {} },
    ])
    deepEqual(thinking as unknown, { type: 'enabled', budget_tokens: 4_000 })
  })

  test('of any other provider is left out, and so is thinking with a budget for the rest of the turn', () => {
    const foreign = ['gAAA', pack('svc.openai.', thought), pack(tag, { type: 'reasoning' }), tag]
    for (const packed of foreign) {
      const request = { input: [asked, item(packed), call, output], reasoning: { effort: 'low' as const } }
      const { messages, thinking } = translate(request)
      deepEqual([messages.length, thinking], [3, undefined])
      deepEqual(droppedFrom(request), ['input[].reasoning', 'reasoning.effort'])
      deepEqual(translate(request, 'claude-sonnet-5').thinking as unknown, { type: 'adaptive' })
    }
  })

  test('that nothing follows is left out', () => {
    const request = { input: [asked, item(pack(tag, thought))] }
    deepEqual(translate(request).messages, hi)
    deepEqual(droppedFrom(request), ['input[].reasoning'])
  })

  const effortOf = (model: string, effort: string, more: Record<string, unknown> = {}) => {
    const request = { reasoning: { effort, summary: 'auto' }, ...more } as never
    const { thinking, output_config } = translate(request, model)
    return [thinking, output_config?.effort, ...droppedFrom(request, model)]
  }

  test('of a level of effort is a budget, or a level, as the model knows it', () => {
    const adaptive = { type: 'adaptive', display: 'summarized' }
    const enabled = (budget_tokens: number) => ({ type: 'enabled', budget_tokens })
    for (const model of [
      'claude-opus-4-6',
      'claude-sonnet-5',
      'claude-haiku-5-5',
      'claude-fable-5-1',
      'x/claude-opus-4.8',
    ])
      deepEqual(effortOf(model, 'high'), [adaptive, 'high'], model)
    deepEqual(effortOf('claude-sonnet-5', 'minimal'), [adaptive, 'low'])
    for (const model of [
      'claude-opus-4-1-20250805',
      'claude-sonnet-4-20250514',
      'claude-haiku-4-5',
      'claude-3-7-sonnet',
    ])
      deepEqual(effortOf(model, 'medium', { max_output_tokens: 20_000 }), [enabled(10_000), undefined], model)
    deepEqual(effortOf(claude, 'max'), [enabled(30_976), undefined])
    deepEqual(effortOf(claude, 'none'), [{ type: 'disabled' }, undefined])
  })

  test('is left out where there is no place for it', () => {
    const none = [undefined, undefined, 'reasoning.effort']
    for (const model of ['claude-3-5-sonnet-20241022', 'claude-3-opus', 'llama'])
      deepEqual(effortOf(model, 'medium'), none, model)
    deepEqual(effortOf(claude, 'medium', { max_output_tokens: 2_000 }), none)
    for (const model of [claude, 'claude-sonnet-5'])
      deepEqual(effortOf(model, 'medium', { ...tools, tool_choice: 'required' }), none)
    equal(translate({}).thinking, undefined)
    const shown = { reasoning: { summary: 'auto' as const } }
    equal(translate(shown).thinking, undefined)
    deepEqual(translate(shown, 'claude-opus-5-5').thinking as unknown, {
      type: 'adaptive',
      display: 'summarized',
    })
  })
})

test('what has no equivalent, or needs a store, is refused by name', () => {
  const refused = {
    previous_response_id: 'resp_1',
    store: true,
    background: true,
    conversation: 'conv_1',
    prompt: { id: 'p' },
    top_logprobs: 2,
    temperature: 1.5,
    odd: 1,
  }
  for (const [name, value] of Object.entries(refused)) deepEqual(faultsOf({ [name]: value }), [`/${name}`])
  deepEqual(faultsOf({ text: { format: { type: 'json_object' } } }), ['/text/format'])
  deepEqual(faultsOf({ tool_choice: 'required' }), ['/tool_choice'])
  deepEqual(faultsOf({ input: [{ type: 'item_reference', id: 'rs_1' }] }), ['/input/0'])
  const shown = (part: object) => ({ input: [{ role: 'user', content: [part] }] })
  const place = '/input/0/content/0'
  deepEqual(faultsOf(shown({ type: 'input_image', image_url: 'ftp://a' })), [`${place}/image_url`])
  const odd = { type: 'input_file', file_data: 'data:x/y;base64,aGk=' }
  deepEqual(faultsOf(shown(odd)), [`${place}/file_data`])
  const broken = { type: 'function_call', call_id: 'c', name: 'n', arguments: '{' }
  equal(faultsOf({ input: [broken] }).length, 1)
})

test('any request is translated, or refused with a reason', () => {
  const word = fc.constantFrom(
    'message',
    'reasoning',
    'function_call',
    'function_call_output',
    'custom_tool_call',
    'input_text',
    'output_text',
    'input_image',
    'input_file',
    'user',
    'assistant',
    'developer',
    'data:application/pdf;base64,',
    '{}',
    pack(tag, { type: 'thinking' }),
  )
  const name = fc.constantFrom(
    'type',
    'role',
    'content',
    'text',
    'image_url',
    'file_data',
    'call_id',
    'name',
    'arguments',
    'input',
    'output',
    'encrypted_content',
    'tools',
  )
  const { json } = fc.letrec(tie => ({
    json: fc.oneof({ maxDepth: 5 }, word, fc.integer(), fc.boolean(), fc.array(tie('json')), tie('object')),
    object: fc.dictionary(name, tie('json')),
  }))
  const request = fc.record({ input: fc.array(fc.dictionary(name, json)), reasoning: json, tools: json })
  fc.assert(
    fc.property(request, request => {
      const translated = translation(request, claude)
      if ('body' in translated) JSON.parse(translated.body.toString())
      else ok(translated.faults.length > 0)
    }),
  )
})
