import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import OpenAI from 'openai'
import { ResponseEventsOfChat } from '../../../../src/ai/translate/chat-responses/chat-events-to-responses.ts'
import { responseOfChat } from '../../../../src/ai/translate/chat-responses/chat-response-to-responses.ts'
import { responseSettings } from '../../../../src/ai/translate/responses/response-settings.ts'
import {
  type FunctionTool,
  functionName,
  ToolNames,
} from '../../../../src/ai/translate/responses/responses-tools.ts'

const tools = [
  { type: 'function', name: 'weather' },
  { type: 'function', name: 'wait', namespace: 'agents' },
  { type: 'custom', name: 'apply_patch' },
  { type: 'tool_search', name: 'tool_search' },
] as const
const functions: readonly FunctionTool[] = tools.map(tool => ({
  tool,
  name: functionName(tool),
  description: undefined,
  parameters: {},
  strict: undefined,
}))
const options = { names: new ToolNames(functions), settings: responseSettings({}), now: () => 5000 }

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-x' }
const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason }],
})
const call = (piece: object) => chunk({ tool_calls: [piece] })
const usage = {
  prompt_tokens: 14,
  completion_tokens: 7,
  total_tokens: 21,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
}

const patch = '*** Begin Patch\n+"a"'
const talk = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Grüß ' }),
  chunk({ content: 'Gott 👋' }),
  call({ index: 0, id: 'c1', type: 'function', function: { name: 'weather', arguments: '' } }),
  call({ index: 0, function: { arguments: '{"city":' } }),
  call({ index: 1, id: 'c2', type: 'function', function: { name: 'apply_patch', arguments: '{"input":' } }),
  call({ index: 0, function: { arguments: '"Oslo"}' } }),
  call({ index: 1, function: { arguments: `${JSON.stringify(patch)}}` } }),
  call({ index: 2, id: 'c3', type: 'function', function: { name: 'agents__wait' } }),
  call({
    index: 3,
    id: 'c4',
    type: 'function',
    function: { name: 'tool_search', arguments: '{"query":"x"}' },
  }),
  chunk({}, 'tool_calls'),
  { ...head, choices: [], usage },
]

const write = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`
const DONE = 'data: [DONE]\n\n'
const stream = (chunks: readonly unknown[]) => Buffer.from(chunks.map(write).join(''))

function translate(bytes: Buffer) {
  const events = new ResponseEventsOfChat(options)
  const text = events.push(bytes) + events.end()
  return { text, isComplete: events.isComplete, isBroken: events.isBroken }
}

function finalOf(text: string): OpenAI.Responses.Response {
  const last = /data: (.*)\n\n$/.exec(text)![1]!
  return JSON.parse(last).response
}

const shapeOf = (output: readonly object[]) => output.map(({ id: _, ...item }: { id?: string }) => item)
const spoken = {
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Grüß Gott 👋', annotations: [], logprobs: [] }],
}
const output = [
  spoken,
  {
    type: 'function_call',
    status: 'completed',
    call_id: 'c1',
    name: 'weather',
    arguments: '{"city":"Oslo"}',
  },
  { type: 'custom_tool_call', status: 'completed', call_id: 'c2', name: 'apply_patch', input: patch },
  {
    type: 'function_call',
    status: 'completed',
    call_id: 'c3',
    name: 'wait',
    namespace: 'agents',
    arguments: '{}',
  },
  {
    type: 'tool_search_call',
    status: 'completed',
    call_id: 'c4',
    execution: 'client',
    arguments: { query: 'x' },
  },
]
const responsesUsage = {
  input_tokens: 14,
  input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 21,
}

test('a stream with calls of every kind ends with the same response as a whole one', () => {
  const { text, isComplete } = translate(Buffer.concat([stream(talk), Buffer.from(DONE)]))
  ok(isComplete)
  const streamed = finalOf(text)
  deepEqual(shapeOf(streamed.output), output)
  deepEqual(streamed.usage, responsesUsage)
  const called = (id: string, name: string, json: string) => ({
    id,
    type: 'function',
    function: { name, arguments: json },
  })
  const whole = JSON.parse(
    responseOfChat(
      JSON.stringify({
        ...head,
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: 'Grüß Gott 👋',
              tool_calls: [
                called('c1', 'weather', '{"city":"Oslo"}'),
                called('c2', 'apply_patch', JSON.stringify({ input: patch })),
                called('c3', 'agents__wait', ''),
                called('c4', 'tool_search', '{"query":"x"}'),
              ],
            },
            finish_reason: 'tool_calls',
          },
        ],
        usage,
      }),
      options,
    )!,
  )
  deepEqual({ ...whole, output: shapeOf(whole.output) }, { ...streamed, output })
})

test('the published client reads the stream', async () => {
  const { text } = translate(Buffer.concat([stream(talk), Buffer.from(DONE)]))
  const client = new OpenAI({
    apiKey: 'k',
    fetch: async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } }),
  })
  const final = await client.responses.stream({ model: 'gpt-x', input: 'Hi' }).finalResponse()
  equal(final.output_text, 'Grüß Gott 👋')
  equal(final.output.length, 5)
})

test('each piece goes on at once', () => {
  const events = new ResponseEventsOfChat(options)
  equal(events.push(stream([chunk({ role: 'assistant', content: '' })])).match(/^event: /gm)!.length, 2)
  match(events.push(stream([chunk({ content: 'Hi' })])), /"delta":"Hi"/)
  events.push(stream([talk[3]]))
  match(events.push(stream([talk[4]])), /"delta":"\{\\"city\\":"/)
})

test('however the bytes are cut, the events are the same', () => {
  const bytes = Buffer.concat([stream(talk), Buffer.from(DONE)])
  const plain = (text: string) => text.replaceAll(/_[0-9a-f]{24}/g, '_')
  const expected = plain(translate(bytes).text)
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length)), cuts => {
      const events = new ResponseEventsOfChat(options)
      const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
      const text = places.slice(1).map((end, i) => events.push(bytes.subarray(places[i], end)))
      equal(plain(text.join('') + events.end()), expected)
    }),
  )
})

test('a refusal is one', () => {
  const { text } = translate(stream([chunk({ role: 'assistant', refusal: 'No.' }), chunk({}, 'stop')]))
  deepEqual(shapeOf(finalOf(text).output), [{ ...spoken, content: [{ type: 'refusal', refusal: 'No.' }] }])
})

for (const [finish, reason] of [
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
] as const)
  test(`a stream that ends by ${finish} is incomplete, and so is a call that was cut`, () => {
    const { text, isComplete } = translate(stream([talk[0], talk[3], talk[4], chunk({}, finish)]))
    ok(isComplete)
    const { status, incomplete_details, output } = finalOf(text)
    deepEqual({ status, incomplete_details }, { status: 'incomplete', incomplete_details: { reason } })
    deepEqual(shapeOf(output), [
      { type: 'function_call', status: 'incomplete', call_id: 'c1', name: 'weather', arguments: '{"city":' },
    ])
  })

test('an error of the provider is a failure with the next sequence number', () => {
  const { text, isComplete } = translate(
    stream([talk[0], talk[1], { error: { message: 'Busy.', type: 'overloaded_error' } }]),
  )
  ok(isComplete)
  const last = JSON.parse(/data: (.*)\n\n$/.exec(text)![1]!)
  equal(last.type, 'response.failed')
  equal(last.sequence_number, text.match(/^event: /gm)!.length - 1)
  deepEqual(last.response.error, { code: 'server_is_overloaded', message: 'Busy.' })
})

test('a stream without an end is not complete', () => {
  const { text, isComplete } = translate(stream(talk.slice(0, 5)))
  ok(!isComplete)
  ok(!text.includes('response.completed'))
})

for (const [what, chunks] of [
  ['no JSON', ['nonsense']],
  [
    'a call without a name',
    [talk[0], call({ index: 0, id: 'c1', function: { arguments: '{}' } }), chunk({}, 'tool_calls')],
  ],
] as const)
  test(`${what} breaks the stream`, () => {
    const { isComplete, isBroken } = translate(
      Buffer.concat([
        what === 'no JSON' ? Buffer.from('data: nonsense\n\n') : stream(chunks),
        Buffer.from(DONE),
      ]),
    )
    ok(!isComplete && isBroken)
  })

test('what is no chat completion is no response', () => {
  for (const json of [
    '',
    '[]',
    '{}',
    '{"choices":[]}',
    '{"choices":[{"message":{"tool_calls":[{"id":"c"}]}}]}',
  ])
    equal(responseOfChat(json, options), null)
})

test('any chunks in any order are no exception', () => {
  const piece = fc.record(
    {
      index: fc.constantFrom(0, 1, 2),
      id: fc.constantFrom('c1', 'c2', ''),
      function: fc.record(
        {
          name: fc.constantFrom('weather', 'apply_patch', 'tool_search', 'x', ''),
          arguments: fc.oneof(fc.constantFrom('{', '"input":', '"a"', '}', '{}'), fc.jsonValue()),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  )
  const delta = fc.record(
    { content: fc.oneof(fc.string(), fc.jsonValue()), refusal: fc.string(), tool_calls: fc.array(piece) },
    { requiredKeys: [] },
  )
  const any = fc.oneof(
    fc.tuple(delta, fc.constantFrom(null, null, 'stop', 'length')).map(([delta, end]) => chunk(delta, end)),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(fc.array(any), chunks => {
      const { text, isComplete } = translate(Buffer.concat([stream(chunks), Buffer.from(DONE)]))
      const blocks = text.split('\n\n').slice(0, -1)
      for (const [i, block] of blocks.entries())
        equal(JSON.parse(/^data: (.*)$/m.exec(block)![1]!).sequence_number, i)
      if (isComplete) ok(finalOf(text).status !== 'in_progress')
    }),
  )
  fc.assert(fc.property(fc.jsonValue(), wild => void responseOfChat(JSON.stringify(wild), options)))
})
