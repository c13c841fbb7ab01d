import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
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
    [
      call({ id: 'a', function: { name: 'f' } }),
      call({ function: { arguments: '{}' } }),
      call({ id: 'b', function: named('g') }),
    ],
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

test('nothing follows what cannot be understood', () => {
  const begun = call({ index: 0, id: 'a', function: { name: 'f', arguments: '{"a":1}' } })
  const glued = [begun, call({ index: 0, function: { arguments: '{"b":2}' } }), chunk({}, 'tool_calls')]
  const late = [
    begun,
    call({ index: 1, id: 'b', function: { name: 'g', arguments: '{' } }),
    call({ index: 0, function: { arguments: '}' } }),
    chunk({}, 'tool_calls'),
  ]
  const nameless = [call({ index: 0, id: 'c', function: { arguments: '{}' } }), chunk({}, 'tool_calls')]
  const broken = Buffer.concat([stream(talk.slice(0, 2)), Buffer.from('data: {"choices":[\n\n'), whole(talk)])
  for (const bytes of [whole(glued), whole(late), whole(nameless), broken]) {
    const { text, isComplete } = translate(bytes)
    deepEqual([isComplete, text.includes('message_stop'), text.includes('"id":"c"')], [false, false, false])
  }
})

/** Returns the name and the input of each call, as the published client reads them. */
async function usesIn(chunks: readonly Chunk[]) {
  const { text, isComplete } = translate(whole([...chunks, chunk({}, 'tool_calls')]))
  ok(isComplete)
  const { content, stop_reason } = await read(text).finalMessage()
  equal(stop_reason, 'tool_use')
  return content.flatMap(block => (block.type === 'tool_use' ? [block] : []))
}

test('two calls stay two, whatever their provider leaves out', async () => {
  const oslo = { name: 'weather', arguments: '{"city":"Oslo"}' }
  const utc = { name: 'now', arguments: '{"tz":"UTC"}' }
  const object = ({ name, arguments: json }: typeof oslo) => ({ name, arguments: JSON.parse(json) })
  const shapes: Record<string, readonly Chunk[]> = {
    'one index': [call({ index: 0, id: 'a', function: oslo }), call({ index: 0, id: 'b', function: utc })],
    'one index, no ids': [call({ index: 0, function: oslo }), call({ index: 0, function: utc })],
    'no index': [call({ id: 'a', function: oslo }), call({ id: 'b', function: utc })],
    neither: [call({ function: oslo }), call({ function: utc })],
    'neither, in one chunk': [chunk({ tool_calls: [{ function: oslo }, { function: utc }] as never })],
    'one id': [call({ index: 0, id: 'a', function: oslo }), call({ index: 1, id: 'a', function: utc })],
    'one id, empty': [call({ index: 0, id: '', function: oslo }), call({ index: 1, id: '', function: utc })],
    'one id and one index': [
      call({ index: 0, id: 'a', function: oslo }),
      call({ index: 0, id: 'a', function: utc }),
    ],
    objects: [call({ index: 0, function: object(oslo) }), call({ index: 1, function: object(utc) })],
  }
  for (const [shape, chunks] of Object.entries(shapes)) {
    const uses = await usesIn(chunks)
    deepEqual(
      uses.map(({ name, input }) => [name, input]),
      [
        ['weather', { city: 'Oslo' }],
        ['now', { tz: 'UTC' }],
      ],
      shape,
    )
    equal(new Set(uses.map(({ id }) => id)).size, 2, shape)
    ok(
      uses.every(({ id }) => id !== ''),
      shape,
    )
  }
})

test('the older form of a call is a use of a tool', async () => {
  const uses = await usesIn([
    chunk({ function_call: { name: 'f', arguments: '{"a"' } }),
    chunk({ function_call: { arguments: ':1}' } }),
  ])
  deepEqual(
    uses.map(({ name, input }) => [name, input]),
    [['f', { a: 1 }]],
  )
})

test('a name that comes again behind the arguments is a repetition, and another call once arguments follow', async () => {
  for (const place of [{}, { index: 0 }]) {
    const begun = call({ ...place, id: 'a', function: { name: 'f', arguments: '{"n":1}' } })
    const again = call({ ...place, id: 'a', function: { name: 'f', arguments: '' } })
    const rest = ['{"n":', '2}'].map(json => call({ ...place, function: { arguments: json } }))
    deepEqual(
      (await usesIn([begun, again])).map(({ input }) => input),
      [{ n: 1 }],
    )
    const uses = await usesIn([begun, again, ...rest])
    deepEqual(
      uses.map(({ name, input }) => [name, input]),
      [
        ['f', { n: 1 }],
        ['f', { n: 2 }],
      ],
    )
    equal(new Set(uses.map(({ id }) => id)).size, 2)
  }
})

/** A call as a provider means it, and how it spells it. */
const meant = fc.record({
  name: fc.constantFrom('f', 'g', 'h'),
  input: fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }).map(input => JSON.stringify(input)),
  cuts: fc.array(fc.nat(), { maxLength: 4 }),
})
const spelling = fc.record({
  index: fc.constantFrom('own', 'shared', 'none'),
  id: fc.constantFrom('own', 'shared', 'none', 'empty'),
  repeats: fc.boolean(),
})
type Meant = typeof meant extends fc.Arbitrary<infer T> ? T : never
type Spelling = typeof spelling extends fc.Arbitrary<infer T> ? T : never

/** Writes a call as its pieces; the id and the name are in the first, or in all. */
function piecesOf({ name, input, cuts }: Meant, i: number, how: Spelling): Chunk[] {
  const edges = [0, ...cuts.map(cut => cut % input.length).sort((a, b) => a - b), input.length]
  const index = { own: { index: i }, shared: { index: 0 }, none: {} }[how.index]
  const id = { own: { id: `c${i}` }, shared: { id: 'c' }, none: {}, empty: { id: '' } }[how.id]
  return edges.slice(1).map((edge, n) => {
    const text = input.slice(edges[n], edge)
    // Without an id, a name that is repeated before there are arguments would be another call.
    const isNamed = n === 0 || (how.repeats && how.id === 'own')
    return call({
      ...index,
      ...(isNamed ? id : {}),
      function: { ...(isNamed ? { name } : {}), arguments: text },
    })
  })
}

test('calls keep their names and inputs in every spelling, and between texts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(meant, { minLength: 1, maxLength: 4 }), spelling, async (calls, how) => {
      const chunks = calls.flatMap((one, i) => [chunk({ content: `text ${i}` }), ...piecesOf(one, i, how)])
      const { text, isComplete } = translate(whole([...chunks, chunk({}, 'tool_calls')]))
      ok(isComplete)
      const { content } = await read(text).finalMessage()
      deepEqual(
        content.map(block =>
          block.type === 'tool_use' ? [block.name, block.input] : block.type === 'text' && block.text,
        ),
        calls.flatMap(({ name, input }, i) => [`text ${i}`, [name, JSON.parse(input)]]),
      )
      equal(new Set(content.map(block => block.type === 'tool_use' && block.id)).size, calls.length + 1)
    }),
  )
})

test('calls whose pieces come in turns keep their arguments', async () => {
  const how = {
    index: fc.constantFrom('own', 'shared'),
    id: fc.constant('own'),
    repeats: fc.constant(true),
  } as const
  await fc.assert(
    fc.asyncProperty(
      fc.array(meant, { minLength: 2, maxLength: 3 }),
      fc.record(how),
      fc.array(fc.nat(), { minLength: 20, maxLength: 20 }),
      async (calls, how, turns) => {
        const queues = calls.map((one, i) => piecesOf(one, i, how))
        const chunks = queues.map(queue => queue.shift()!)
        for (let turn = 0; queues.some(queue => queue.length > 0); turn++) {
          const left = queues.filter(queue => queue.length > 0)
          chunks.push(left[turns[turn % turns.length]! % left.length]!.shift()!)
        }
        const uses = await usesIn(chunks)
        deepEqual(
          uses.map(({ name, input }) => [name, input]),
          calls.map(({ name, input }) => [name, JSON.parse(input)]),
        )
      },
    ),
  )
})

test('a call is streamed while it is written, and the next one as soon as it has ended', () => {
  const events = new MessageEvents()
  const [, , , begin, ...rest] = talk
  events.push(stream([begin]))
  match(events.push(stream([rest[0]])), /"partial_json":"{\\"city\\":"/)
  match(events.push(stream([rest[1]])), /Oslo/)
  match(events.push(stream([rest[2]])), /"name":"now"/)
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
