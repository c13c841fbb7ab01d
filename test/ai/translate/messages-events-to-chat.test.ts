import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import OpenAI from 'openai'
import { ChatEvents } from '../../../src/ai/translate/messages-events-to-chat.ts'

type Event =
  | Anthropic.RawMessageStreamEvent
  | { type: 'ping' }
  | { type: 'error'; error: Anthropic.ErrorObject }
type Chunk = OpenAI.Chat.ChatCompletionChunk
type Choice = Chunk['choices'][number]
type Call = NonNullable<Choice['delta']['tool_calls']>[number]

const now = 1700000000999

const usage: Anthropic.Usage = {
  input_tokens: 10,
  output_tokens: 1,
  cache_read_input_tokens: 4,
  cache_creation_input_tokens: 0,
  cache_creation: null,
  inference_geo: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: 'standard',
  speed: null,
}

const start: Event = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-x',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage,
  },
}

const startText = (index: number): Event => ({
  type: 'content_block_start',
  index,
  content_block: { type: 'text', text: '', citations: null },
})
const startTool = (index: number, id: string, name: string): Event => ({
  type: 'content_block_start',
  index,
  content_block: { type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } },
})
const text = (index: number, text: string): Event => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'text_delta', text },
})
const json = (index: number, partial_json: string): Event => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'input_json_delta', partial_json },
})
const stopBlock = (index: number): Event => ({ type: 'content_block_stop', index })
const finish = (stop_reason: Anthropic.StopReason): Event => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null, stop_details: null, container: null },
  usage: {
    input_tokens: null,
    output_tokens: 7,
    cache_creation_input_tokens: null,
    cache_read_input_tokens: null,
    output_tokens_details: null,
    server_tool_use: null,
  },
})
const stop: Event = { type: 'message_stop' }

const talk: readonly Event[] = [
  start,
  startText(0),
  { type: 'ping' },
  text(0, 'Grüß '),
  text(0, 'Gott 👋'),
  stopBlock(0),
  startTool(1, 'c1', 'weather'),
  json(1, ''),
  json(1, '{"city":'),
  json(1, '"Oslo"}'),
  stopBlock(1),
  startTool(2, 'c2', 'now'),
  json(2, ''),
  stopBlock(2),
  finish('tool_use'),
  stop,
]

const write = (event: object & { type: string }) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
const stream = (events: readonly Event[]) => Buffer.from(events.map(write).join(''))

function translate(bytes: Buffer, withUsage = false) {
  const events = new ChatEvents({ withUsage, now })
  return { text: events.push(bytes) + events.end(), isComplete: events.isComplete }
}

/** Reads the data of what was written: chunks, and other texts as they are. */
function dataOf(text: string): unknown[] {
  const lines = text.split('\n').filter(line => line.startsWith('data: '))
  return lines.map(line => (line.includes('{') ? JSON.parse(line.slice(6)) : line.slice(6)))
}

/** Reads a stream with the published client. */
function read(text: string) {
  const fetch = async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  const client = new OpenAI({ apiKey: 'none', fetch, maxRetries: 0 })
  return client.chat.completions.stream({ model: 'm', messages: [] })
}

const head = {
  id: 'msg_1',
  object: 'chat.completion.chunk',
  created: 1700000000,
  model: 'claude-x',
  service_tier: 'default',
}
const chunk = (delta: Choice['delta'], finish_reason: Choice['finish_reason'] = null): Chunk =>
  ({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }] }) as Chunk

test('events become chunks, one by one', () => {
  const { text, isComplete } = translate(stream(talk))
  const calls = (call: Call) => chunk({ tool_calls: [call] })
  deepEqual(dataOf(text), [
    chunk({ role: 'assistant', content: '', refusal: null }),
    chunk({ content: 'Grüß ' }),
    chunk({ content: 'Gott 👋' }),
    calls({ index: 0, id: 'c1', type: 'function', function: { name: 'weather', arguments: '' } }),
    calls({ index: 0, function: { arguments: '{"city":' } }),
    calls({ index: 0, function: { arguments: '"Oslo"}' } }),
    calls({ index: 1, id: 'c2', type: 'function', function: { name: 'now', arguments: '' } }),
    calls({ index: 1, function: { arguments: '{}' } }),
    chunk({}, 'tool_calls'),
    '[DONE]',
  ])
  ok(isComplete)
})

test('each event gives its output at once', () => {
  const events = new ChatEvents({ withUsage: false, now })
  const silent = new Set(['content_block_stop'])
  for (const event of talk.slice(2, 6)) {
    const text = events.push(Buffer.from(write(event)))
    equal(text === '', silent.has(event.type), event.type)
  }
})

test('usage comes last where the caller asked for it', () => {
  const chunks = dataOf(translate(stream(talk), true).text) as Chunk[]
  deepEqual(
    chunks.slice(0, -2).map(({ usage }) => usage),
    Array(9).fill(null),
  )
  deepEqual(chunks.at(-2), {
    ...head,
    choices: [],
    usage: {
      prompt_tokens: 14,
      completion_tokens: 7,
      total_tokens: 21,
      prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
    },
  })
})

test('no usage is written where the provider counted none', () => {
  const uncounted = talk.map(event => {
    if (event.type === 'message_start') return { ...event, message: { ...event.message, usage: undefined } }
    return event.type === 'message_delta' ? { ...event, usage: undefined } : event
  })
  const chunks = dataOf(translate(stream(uncounted as never), true).text) as Chunk[]
  deepEqual([chunks.length, chunks.at(-2)?.choices[0]?.finish_reason], [10, 'tool_calls'])
})

test('a ping keeps the caller waiting, and is no data', () => {
  equal(translate(Buffer.from(write({ type: 'ping' }))).text, ': ping\n\n')
})

test('the published client reads what is written', async () => {
  const completion = await read(translate(stream(talk), true).text).finalChatCompletion()
  const { message, finish_reason } = completion.choices[0]!
  equal(message.content, 'Grüß Gott 👋')
  equal(finish_reason, 'tool_calls')
  deepEqual(
    message.tool_calls?.map(
      call => call.type === 'function' && [call.id, call.function.name, call.function.arguments],
    ),
    [
      ['c1', 'weather', '{"city":"Oslo"}'],
      ['c2', 'now', '{}'],
    ],
  )
  equal(completion.usage?.total_tokens, 21)
})

test('a stream cut anywhere gives the same output', () => {
  const bytes = stream(talk)
  const whole = translate(bytes, true).text
  fc.assert(
    fc.property(fc.array(fc.nat({ max: bytes.length })), cuts => {
      const events = new ChatEvents({ withUsage: true, now })
      const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      const pieces = edges.slice(1).map((edge, i) => events.push(bytes.subarray(edges[i], edge)))
      equal(pieces.join('') + events.end(), whole)
    }),
  )
})

test('a stream that ends early is not complete', () => {
  for (let count = 0; count < talk.length; count++) {
    const { text, isComplete } = translate(stream(talk.slice(0, count)))
    deepEqual([isComplete, text.includes('[DONE]')], [false, false])
  }
})

test('an error of the provider reaches the caller as one', async () => {
  const error: Event = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const { text, isComplete } = translate(stream([start, error, stop]))
  deepEqual(dataOf(text).at(-1), {
    error: { message: 'Overloaded', type: 'overloaded_error', param: null, code: null },
  })
  ok(isComplete)
  await rejects(read(text).finalChatCompletion(), { message: 'Overloaded', type: 'overloaded_error' })
})

test('a refusal is passed on with its reason', () => {
  const stop_details = { type: 'refusal', category: null, explanation: 'Not that.' } as const
  const refusal = finish('refusal') as Anthropic.RawMessageDeltaEvent
  const event = { ...refusal, delta: { ...refusal.delta, stop_details } }
  deepEqual(
    dataOf(translate(stream([start, event, stop])).text).at(1),
    chunk({ refusal: 'Not that.' }, 'content_filter'),
  )
})

test('no client is told why a message has ended before it is complete', () => {
  const { text, isComplete } = translate(stream(talk.slice(0, -1)))
  deepEqual([isComplete, /"finish_reason":"/.test(text)], [false, false])
})

test('thinking and events of unknown types are dropped', () => {
  const thought = { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } }
  equal(translate(Buffer.from(write(thought) + write({ type: 'new' }))).text, '')
})

test('nothing follows what cannot be understood', () => {
  const bytes = Buffer.concat([stream([start]), Buffer.from('data: {"type":\n\n'), stream(talk)])
  const { text, isComplete } = translate(bytes)
  deepEqual([dataOf(text).length, isComplete], [1, false])
})

/** Returns id, name and arguments of each call, as the published client reads them. */
async function callsIn(events: readonly Event[]) {
  const { text, isComplete } = translate(stream([start, ...events, finish('tool_use'), stop]))
  ok(isComplete)
  const { choices } = await read(text).finalChatCompletion()
  const calls = choices[0]!.message.tool_calls ?? []
  return calls.map(call => call.type === 'function' && [call.function.name, call.function.arguments, call.id])
}

test('two calls stay two, whatever their provider leaves out', async () => {
  const given = (index: number, id: string, name: string, input: object): Event =>
    ({ type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input } }) as never
  const shapes: Record<string, readonly Event[]> = {
    'in turns': [
      startTool(0, 'a', 'weather'),
      startTool(1, 'b', 'now'),
      json(1, '{"tz":'),
      json(0, '{"city":"Oslo"}'),
      json(1, '"UTC"}'),
      stopBlock(0),
      stopBlock(1),
    ],
    'one index': [
      startTool(0, 'a', 'weather'),
      json(0, '{"city":"Oslo"}'),
      startTool(0, 'b', 'now'),
      json(0, '{"tz":"UTC"}'),
    ],
    'one id': [given(0, 'a', 'weather', { city: 'Oslo' }), given(1, 'a', 'now', { tz: 'UTC' })],
    'no ids': [given(0, '', 'weather', { city: 'Oslo' }), given(1, '', 'now', { tz: 'UTC' })],
    'no ends': [
      given(0, 'a', 'weather', { city: 'Oslo' }),
      startTool(1, 'b', 'now'),
      json(1, '{"tz":"UTC"}'),
    ],
    objects: [
      startTool(0, 'a', 'weather'),
      json(0, { city: 'Oslo' } as never),
      stopBlock(0),
      given(1, 'b', 'now', { tz: 'UTC' }),
      stopBlock(1),
    ],
  }
  for (const [shape, events] of Object.entries(shapes)) {
    const calls = (await callsIn(events)) as string[][]
    deepEqual(
      calls.map(([name, json]) => [name, json]),
      [
        ['weather', '{"city":"Oslo"}'],
        ['now', '{"tz":"UTC"}'],
      ],
      shape,
    )
    equal(new Set(calls.map(([, , id]) => id)).size, 2, shape)
    ok(
      calls.every(([, , id]) => id !== ''),
      shape,
    )
  }
})

test('nothing follows arguments behind their end, of no call, or of a call without a name', () => {
  const faults: readonly (readonly Event[])[] = [
    [startTool(0, 'a', 'f'), json(0, '{"a":1}'), json(0, '{"b":2}')],
    [startTool(0, 'a', 'f'), json(3, '{"a":1}')],
    [startTool(0, 'a', '')],
  ]
  for (const events of faults) {
    const { text, isComplete } = translate(stream([start, ...events, finish('tool_use'), stop]))
    deepEqual([isComplete, text.includes('[DONE]'), text.includes('finish_reason":"')], [false, false, false])
  }
})

test('calls whose pieces come in turns keep their arguments', async () => {
  const inputs = fc.array(
    fc.dictionary(fc.string(), fc.jsonValue()).map(input => JSON.stringify(input)),
    { minLength: 1, maxLength: 4 },
  )
  await fc.assert(
    fc.asyncProperty(inputs, fc.array(fc.nat(), { minLength: 9, maxLength: 9 }), async (inputs, turns) => {
      const left = inputs.map((text, index) => ({ index, text }))
      const events = inputs.map((_, index) => startTool(index, `c${index}`, 'f'))
      for (let turn = 0; left.some(({ text }) => text !== ''); turn++) {
        const open = left.filter(({ text }) => text !== '')
        const one = open[turns[turn % 9]! % open.length]!
        const length = 1 + (turns[(turn + 1) % 9]! % one.text.length)
        events.push(json(one.index, one.text.slice(0, length)))
        one.text = one.text.slice(length)
      }
      const calls = await callsIn([...events, ...inputs.map((_, index) => stopBlock(index))])
      deepEqual(
        calls,
        inputs.map((text, index) => ['f', text, `c${index}`]),
      )
    }),
  )
})

test('no stream makes the translator throw', () => {
  const type = fc.constantFrom(...talk.map(({ type }) => type), 'error', 'odd')
  const block = fc.oneof(
    fc.jsonValue(),
    fc.record({
      type: fc.constantFrom('text', 'tool_use', 'text_delta', 'input_json_delta'),
      text: fc.jsonValue(),
    }),
  )
  const event = fc.record({
    type,
    delta: block,
    content_block: block,
    message: block,
    usage: block,
    error: block,
  })
  fc.assert(
    fc.property(fc.array(event), fc.uint8Array(), (events, noise) => {
      const text = events.map(event => `data: ${JSON.stringify(event)}\n\n`).join('')
      const { text: written } = translate(Buffer.concat([Buffer.from(text), noise]), true)
      ok(Array.isArray(dataOf(written)))
    }),
  )
})

test('a last event without its blank line counts if it is whole, and what is cut does not', () => {
  const bytes = stream(talk)
  for (const missing of [1, 2]) {
    const { text, isComplete } = translate(bytes.subarray(0, bytes.length - missing))
    deepEqual([text, isComplete], [translate(bytes).text, true])
  }
  const cut = translate(bytes.subarray(0, bytes.length - 3))
  deepEqual([cut.isComplete, cut.text.includes('[DONE]')], [false, false])
})
