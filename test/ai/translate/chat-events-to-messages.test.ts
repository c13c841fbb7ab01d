import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import type OpenAI from 'openai'
import { MessageEvents } from '../../../src/ai/translate/chat-events-to-messages.ts'

type Chunk = OpenAI.Chat.ChatCompletionChunk
type Choice = Chunk['choices'][number]
type Delta = Choice['delta']
type Call = NonNullable<Delta['tool_calls']>[number]
type Event = Anthropic.RawMessageStreamEvent

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-x' } as const
const chunk = (delta: Delta, finish_reason: Choice['finish_reason'] = null): Chunk => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason }],
})
const call = (call: Partial<Call>): Chunk => chunk({ tool_calls: [call as Call] })

const talk: readonly Chunk[] = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Grüß ' }),
  chunk({ content: 'Gott 👋' }),
  call({ index: 0, id: 'c1', type: 'function', function: { name: 'weather', arguments: '' } }),
  call({ index: 0, function: { arguments: '{"city":' } }),
  call({ index: 0, function: { arguments: '"Oslo"}' } }),
  call({ index: 1, id: 'c2', type: 'function', function: { name: 'now', arguments: '{}' } }),
  chunk({}, 'tool_calls'),
  {
    ...head,
    choices: [],
    usage: {
      prompt_tokens: 14,
      completion_tokens: 7,
      total_tokens: 21,
      prompt_tokens_details: { cached_tokens: 4 },
    },
  },
]

const write = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`
const DONE = 'data: [DONE]\n\n'
const stream = (chunks: readonly unknown[]) => Buffer.from(chunks.map(write).join(''))
const whole = (chunks: readonly unknown[]) => Buffer.concat([stream(chunks), Buffer.from(DONE)])

function translate(bytes: Buffer) {
  const events = new MessageEvents()
  const pushed = events.push(bytes)
  return { text: pushed + events.end(), isComplete: events.isComplete }
}

/** Reads the events of what was written; the name of each must be its type. */
function eventsOf(text: string): Event[] {
  const blocks = text.split('\n\n').slice(0, -1)
  return blocks.map(block => {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? []
    const event = JSON.parse(data!)
    equal(event.type, name)
    return event
  })
}

const typesOf = (text: string) => eventsOf(text).map(({ type }) => type)

/** Reads a stream with the published client. */
function read(text: string) {
  const fetch = async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  const client = new Anthropic({ apiKey: 'none', fetch, maxRetries: 0 })
  return client.messages.stream({ model: 'm', max_tokens: 1, messages: [] })
}

test('chunks become events, one by one', () => {
  const { text, isComplete } = translate(whole(talk))
  const expected = [
    {
      type: 'message_start',
      message: {
        id: 'chatcmpl-1',
        type: 'message',
        role: 'assistant',
        model: 'gpt-x',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 0, output_tokens: 0 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüß ' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Gott 👋' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'c1', name: 'weather', input: {} },
    },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"city":' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '"Oslo"}' } },
    { type: 'content_block_stop', index: 1 },
    {
      type: 'content_block_start',
      index: 2,
      content_block: { type: 'tool_use', id: 'c2', name: 'now', input: {} },
    },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{}' } },
    { type: 'content_block_stop', index: 2 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { input_tokens: 10, output_tokens: 7, cache_read_input_tokens: 4 },
    },
    { type: 'message_stop' },
  ]
  deepEqual(eventsOf(text), expected)
  ok(isComplete)
})

test('each chunk gives its output at once', () => {
  const events = new MessageEvents()
  for (const chunk of talk.slice(0, 3)) ok(events.push(stream([chunk])) !== '')
})

test('the published client reads what is written', async () => {
  const message = await read(translate(whole(talk)).text).finalMessage()
  deepEqual(
    message.content.map(block =>
      block.type === 'tool_use' ? block.input : block.type === 'text' && block.text,
    ),
    ['Grüß Gott 👋', { city: 'Oslo' }, {}],
  )
  equal(message.stop_reason, 'tool_use')
  deepEqual([message.usage.input_tokens, message.usage.output_tokens], [10, 7])
})

test('a stream cut anywhere gives the same output', () => {
  const bytes = whole(talk)
  const { text } = translate(bytes)
  fc.assert(
    fc.property(fc.array(fc.nat({ max: bytes.length })), cuts => {
      const events = new MessageEvents()
      const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      const pieces = edges.slice(1).map((edge, i) => events.push(bytes.subarray(edges[i], edge)))
      equal(pieces.join('') + events.end(), text)
    }),
  )
})

test('a stream that ends before its finish_reason is not complete', () => {
  for (let count = 0; count < 7; count++) {
    const { text, isComplete } = translate(stream(talk.slice(0, count)))
    deepEqual([isComplete, text.includes('message_stop')], [false, false])
  }
})

test('a stream with its finish_reason is complete without its last line', () => {
  const { text, isComplete } = translate(stream(talk))
  deepEqual([isComplete, text], [true, translate(whole(talk)).text])
})

test('an empty finish_reason finishes nothing', () => {
  const early = { ...head, choices: [{ index: 0, delta: { content: 'a' }, finish_reason: '' }] }
  equal(translate(stream([early])).isComplete, false)
})

test('a chunk without choices starts no message', () => {
  const { text } = translate(whole([{ id: '', model: '', choices: [], prompt_filter_results: [] }, ...talk]))
  equal(text, translate(whole(talk)).text)
  equal(translate(Buffer.from(DONE)).isComplete, false)
})

test('an error of the provider reaches the caller as one', async () => {
  const error = { error: { message: 'Slow down', type: 'requests', code: 'rate_limit_exceeded' } }
  const { text, isComplete } = translate(whole([talk[0], error, talk[1]]))
  deepEqual(eventsOf(text).at(-1), {
    type: 'error',
    error: { type: 'rate_limit_error', message: 'Slow down' },
  } as never)
  ok(isComplete)
  await rejects(read(text).finalMessage(), /Slow down/)
  equal(eventsOf(translate(stream([{ error: 'gone' }])).text).length, 1)
})

test('of several choices only the first by its index is used', () => {
  const second = talk.map(chunk => ({
    ...chunk,
    choices: chunk.choices.map(choice => ({ ...choice, index: 1 })),
  }))
  const both = talk.flatMap((chunk, i) => (chunk.choices.length > 0 ? [second[i], chunk] : [chunk]))
  equal(translate(whole(both)).text, translate(whole(talk)).text)
})

test('a refusal is a text and a reason to stop', () => {
  const { text } = translate(
    whole([chunk({ refusal: 'Not ' }), chunk({ refusal: 'that.' }), chunk({}, 'stop')]),
  )
  const events = eventsOf(text)
  deepEqual(events[3], {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: 'that.' },
  })
  deepEqual((events.at(-2) as Anthropic.RawMessageDeltaEvent).delta, {
    stop_reason: 'refusal',
    stop_sequence: null,
    stop_details: { type: 'refusal', category: null, explanation: 'Not that.' },
  })
})

test('calls that share an index, or have none, are distinguished by their ids', () => {
  const named = (name: string) => ({ name, arguments: '{}' })
  const shapes: readonly (readonly Chunk[])[] = [
    [call({ index: 0, id: 'a', function: named('f') }), call({ index: 0, id: 'b', function: named('g') })],
    [call({ id: 'a', function: named('f') }), call({ id: 'b', function: named('g') })],
    [call({ id: 'a', function: { name: 'f' } }), call({ function: { arguments: '{}' } }), call({ id: 'b' })],
    [call({ index: 0, function: named('f') }), call({ index: 1, function: named('g') })],
  ]
  for (const shape of shapes) {
    const { text, isComplete } = translate(whole([...shape, chunk({}, 'stop')]))
    equal(typesOf(text).filter(type => type === 'content_block_start').length, 2)
    equal(JSON.stringify(eventsOf(text)).includes('"stop_reason":"tool_use"'), true)
    ok(isComplete)
  }
})

test('a provider that repeats the id with each piece writes one call', () => {
  const piece = (args: string) => call({ index: 0, id: 'a', function: { name: 'f', arguments: args } })
  const { text } = translate(whole([piece('{"a"'), piece(':1}'), chunk({}, 'tool_calls')]))
  equal(typesOf(text).filter(type => type === 'content_block_start').length, 1)
})

test('nothing follows what cannot be written in order, or understood', () => {
  const late = [
    call({ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }),
    call({ index: 1, id: 'b', function: { name: 'g', arguments: '{' } }),
    call({ index: 0, function: { arguments: '}' } }),
    chunk({}, 'tool_calls'),
  ]
  const lateTogether = [
    ...late.slice(0, 2),
    chunk({ tool_calls: [0, 2].flatMap(index => [{ index, id: index ? 'c' : 'a' }]) }),
  ]
  const broken = Buffer.concat([stream(talk.slice(0, 2)), Buffer.from('data: {"choices":[\n\n'), whole(talk)])
  for (const bytes of [whole(late), whole(lateTogether), broken]) {
    const { text, isComplete } = translate(bytes)
    deepEqual([isComplete, text.includes('message_stop'), text.includes('"id":"c"')], [false, false, false])
  }
})

test('no stream makes the translator throw', () => {
  const wild = fc.jsonValue()
  const delta = fc.record({
    content: wild,
    refusal: wild,
    tool_calls: fc.array(fc.oneof(wild, fc.record({ index: wild, id: wild, function: wild }))),
  })
  const chunk = fc.record({
    choices: fc.array(fc.oneof(wild, fc.record({ delta, finish_reason: wild }))),
    usage: wild,
  })
  fc.assert(
    fc.property(fc.array(fc.oneof(chunk, fc.record({ error: wild }))), fc.uint8Array(), (chunks, noise) => {
      ok(eventsOf(translate(Buffer.concat([whole(chunks), Buffer.from(noise)])).text))
    }),
  )
})

test('blocks open and close in order, whatever the chunks', () => {
  const piece = fc.oneof(
    fc.string().map(content => chunk({ content })),
    fc
      .record({
        index: fc.nat({ max: 2 }),
        id: fc.constantFrom('', 'a', 'b'),
        function: fc.constant({ name: 'f', arguments: '{}' }),
      })
      .map(call),
  )
  fc.assert(
    fc.property(fc.array(piece), pieces => {
      const { text, isComplete } = translate(whole([...pieces, chunk({}, 'stop')]))
      let open = -1
      let next = 0
      for (const event of eventsOf(text)) {
        if (event.type === 'content_block_start') {
          deepEqual([open, event.index], [-1, next])
          open = next++
        } else if (event.type === 'content_block_delta') equal(event.index, open)
        else if (event.type === 'content_block_stop') {
          equal(event.index, open)
          open = -1
        }
      }
      if (isComplete) equal(open, -1)
    }),
  )
})

test('a last chunk without its blank line counts if it is whole, and what is cut does not', () => {
  const bytes = stream(talk)
  const told = translate(bytes).text
  for (const missing of [1, 2]) equal(translate(bytes.subarray(0, bytes.length - missing)).text, told)
  for (const end of ['data: [DONE]', 'data: [DO', 'data: {"cho', 'da'])
    deepEqual(translate(Buffer.concat([bytes, Buffer.from(end)])), { text: told, isComplete: true }, end)
})
