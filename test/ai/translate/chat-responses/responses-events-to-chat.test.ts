import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import OpenAI from 'openai'
import { ChatEventsOfResponse } from '../../../../src/ai/translate/chat-responses/responses-events-to-chat.ts'
import { chatOfResponse } from '../../../../src/ai/translate/chat-responses/responses-response-to-chat.ts'
import { ResponseWriter } from '../../../../src/ai/translate/responses/response-writer.ts'
import { responseSettings } from '../../../../src/ai/translate/responses/response-settings.ts'

const counts = { prompt: 14, completion: 7, cacheRead: 4, cacheWrite: undefined, reasoning: 2 }
const usage = {
  prompt_tokens: 14,
  completion_tokens: 7,
  total_tokens: 21,
  prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 2 },
}

type Steps = (writer: ResponseWriter) => void

/** What a provider sends, whole and as a stream. */
function write(steps: Steps) {
  const writer = new ResponseWriter(responseSettings({}), 5000, true)
  writer.start({ id: 'resp_1', model: 'gpt-x' })
  steps(writer)
  return { events: writer.flush(), response: JSON.parse(JSON.stringify(writer.response)) }
}

const talk: Steps = writer => {
  writer.seal('c2VhbGVk')
  writer.say('Grüß ')
  writer.say('Gott 👋')
  const first = writer.call('c1', { type: 'function', name: 'weather' })
  const second = writer.call('c2', { type: 'custom', name: 'patch' })
  first.add('{"city":')
  second.add('***')
  first.add('"Oslo"}')
  first.close()
  second.close()
  writer.finish({ reason: null, counts, serviceTier: 'default' }, 5000)
}

function translate(bytes: Buffer | string, options = {}) {
  const events = new ChatEventsOfResponse({ withUsage: true, now: 5000, ...options })
  const text = events.push(Buffer.from(bytes)) + events.end()
  return { text, isComplete: events.isComplete, isBroken: events.isBroken }
}

/** What the published client makes of the chunks. */
async function read(text: string) {
  const client = new OpenAI({
    apiKey: 'k',
    fetch: async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } }),
  })
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  return client.chat.completions.stream({ model: 'gpt-x', messages }).finalChatCompletion()
}

const tool_calls = [
  { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
  { id: 'c2', type: 'custom', custom: { name: 'patch', input: '***' } },
]

test('a whole response is a chat completion', () => {
  const chat = JSON.parse(chatOfResponse(JSON.stringify(write(talk).response), 9000, false)!)
  deepEqual(chat, {
    id: 'resp_1',
    object: 'chat.completion',
    created: 9,
    model: 'gpt-x',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Grüß Gott 👋', refusal: null, tool_calls },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
    usage,
    service_tier: 'default',
  })
})

interface Chunk {
  readonly choices: readonly {
    readonly delta: Record<string, unknown>
    readonly finish_reason: string | null
  }[]
  readonly usage?: unknown
}

function chunksOf(text: string): readonly Chunk[] {
  const blocks = text.split('\n\n').slice(0, -1)
  equal(blocks.pop(), 'data: [DONE]')
  return blocks.map(block => JSON.parse(block.slice('data: '.length)))
}

test('a stream is chunks with the same content', () => {
  const { text, isComplete } = translate(write(talk).events)
  ok(isComplete)
  const chunks = chunksOf(text)
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))
  equal(deltas.map(({ content }) => content ?? '').join(''), 'Grüß Gott 👋')
  const pieces = deltas.flatMap(({ tool_calls }) => (tool_calls as Record<string, unknown>[]) ?? [])
  deepEqual(pieces, [
    { index: 0, id: 'c1', type: 'function', function: { name: 'weather', arguments: '' } },
    { index: 1, id: 'c2', type: 'custom', custom: { name: 'patch', input: '' } },
    { index: 0, function: { arguments: '{"city":' } },
    { index: 1, custom: { input: '***' } },
    { index: 0, function: { arguments: '"Oslo"}' } },
  ])
  deepEqual(chunks.at(-2)!.choices[0]!.finish_reason, 'tool_calls')
  deepEqual(chunks.at(-1), { ...chunks.at(-1), choices: [], usage })
})

test('the published client reads the chunks', async () => {
  const { events } = write(writer => {
    writer.say('Hello.')
    const call = writer.call('c1', { type: 'function', name: 'weather' })
    call.add('{"city":"Oslo"}')
    writer.finish({ reason: null, counts }, 5000)
  })
  const { choices, usage: read_ } = await read(translate(events).text)
  equal(choices[0]!.message.content, 'Hello.')
  equal(choices[0]!.finish_reason, 'tool_calls')
  const [call] = choices[0]!.message.tool_calls!
  ok(call?.type === 'function')
  deepEqual([call.id, call.function.name, call.function.arguments], ['c1', 'weather', '{"city":"Oslo"}'])
  deepEqual(read_, usage)
})

test('usage is left out unless the caller asks for it', () => {
  ok(!translate(write(talk).events, { withUsage: false }).text.includes('prompt_tokens'))
})

test('the older shape has one call at most', () => {
  const one = write(writer => {
    writer.call('c1', { type: 'function', name: 'weather' }).add('{}')
    writer.finish({ reason: null, counts }, 5000)
  })
  const chunks = chunksOf(translate(one.events, { asFunction: true }).text)
  deepEqual(
    chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.function_call ?? [])),
    [{ name: 'weather', arguments: '' }, { arguments: '{}' }],
  )
  equal(chunks.at(-2)!.choices[0]!.finish_reason, 'function_call')
  const whole = JSON.parse(chatOfResponse(JSON.stringify(one.response), 5000, true)!)
  deepEqual(whole.choices[0].message.function_call, { name: 'weather', arguments: '{}' })
  const two = write(writer => {
    for (const id of ['c1', 'c2']) writer.call(id, { type: 'function', name: 'weather' }).add('{}')
    writer.finish({ reason: null, counts }, 5000)
  })
  ok(translate(two.events, { asFunction: true }).isBroken)
  equal(chatOfResponse(JSON.stringify(two.response), 5000, true), null)
})

for (const [reason, finish] of [
  ['max_output_tokens', 'length'],
  ['content_filter', 'content_filter'],
] as const)
  test(`an incomplete response by ${reason} ends with ${finish}`, () => {
    const { events, response } = write(writer => {
      writer.say('I')
      writer.finish({ reason, counts }, 5000)
    })
    equal(chunksOf(translate(events).text).at(-2)!.choices[0]!.finish_reason, finish)
    equal(JSON.parse(chatOfResponse(JSON.stringify(response), 5000, false)!).choices[0].finish_reason, finish)
  })

test('a refusal is one', () => {
  const { events, response } = write(writer => {
    writer.refuse('No.')
    writer.finish({ reason: null, counts }, 5000)
  })
  match(translate(events).text, /"delta":\{"refusal":"No\."\}/)
  equal(JSON.parse(chatOfResponse(JSON.stringify(response), 5000, false)!).choices[0].message.refusal, 'No.')
})

test('a failure is an error of chat', () => {
  const { events, response } = write(writer => {
    writer.say('I')
    writer.fail({ message: 'Busy.', code: 'server_is_overloaded' })
  })
  const { text, isComplete } = translate(events)
  ok(isComplete)
  match(
    text,
    /data: \{"error":\{"message":"Busy\.","type":"api_error","param":null,"code":"server_is_overloaded"\}\}\n\n$/,
  )
  equal(chatOfResponse(JSON.stringify(response), 5000, false), null)
})

test('a stream without an end is not complete', () => {
  const { events } = write(writer => writer.say('I'))
  const { text, isComplete } = translate(events)
  ok(!isComplete)
  ok(!text.includes('[DONE]'))
})

const without = (events: string, name: string) =>
  events
    .split('\n\n')
    .map(block => block.replace(new RegExp(`"${name}":[^,}]*,?`, 'g'), ''))
    .join('\n\n')

test('servers that leave events or numbers out say the same', () => {
  const { events } = write(talk)
  const said = (text: string) => {
    const deltas = chunksOf(text).flatMap(({ choices }) => choices.map(({ delta }) => delta))
    const pieces = deltas.flatMap(
      ({ tool_calls }) => (tool_calls as Record<string, Record<string, string>>[]) ?? [],
    )
    const inputOf = (index: number) =>
      pieces
        .filter(piece => (piece.index as unknown) === index)
        .map(piece => piece.function?.arguments ?? piece.custom?.input)
        .join('')
    return [deltas.map(({ content }) => content ?? '').join(''), inputOf(0), inputOf(1)]
  }
  const expected = ['Grüß Gott 👋', '{"city":"Oslo"}', '***']
  const blocks = events.split('\n\n')
  const only = (...types: string[]) =>
    blocks
      .filter(block => types.some(type => block.startsWith(`event: response.${type}\n`)) || block === '')
      .join('\n\n')
  deepEqual(said(translate(events).text), expected)
  deepEqual(said(translate(without(events, 'output_index')).text), expected)
  deepEqual(said(translate(only('completed')).text), expected)
  deepEqual(said(translate(only('output_item.done', 'completed')).text), expected)
  deepEqual(
    said(translate(only('created', 'output_item.added', 'output_item.done', 'completed')).text),
    expected,
  )
  deepEqual(said(translate(`${events}data: [DONE]\n\n`).text), expected)
})

test('an item whose number is not its place in the final output comes once', () => {
  const { events } = write(talk)
  const shifted = events.replace(/"output_index":(\d)/g, (_, index) => `"output_index":${Number(index) + 2}`)
  const expected = translate(events).text
  equal(translate(shifted).text, expected)
  const unended = shifted
    .split('\n\n')
    .filter(block => !block.startsWith('event: response.output_item.done\n'))
  equal(translate(unended.join('\n\n')).text, expected)
})

test('however the bytes are cut, the chunks are the same', () => {
  const bytes = Buffer.from(write(talk).events)
  const expected = translate(bytes).text
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length)), cuts => {
      const events = new ChatEventsOfResponse({ withUsage: true, now: 5000 })
      const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
      const text = places.slice(1).map((end, i) => events.push(bytes.subarray(places[i], end)))
      equal(text.join('') + events.end(), expected)
    }),
  )
})

test('any events in any order are no exception', () => {
  const type = fc.constantFrom(
    ...[
      'created',
      'output_item.added',
      'output_text.delta',
      'refusal.delta',
      'function_call_arguments.delta',
    ],
    ...['output_item.done', 'completed', 'incomplete', 'failed'],
  )
  const item = fc.record(
    {
      type: fc.constantFrom('message', 'function_call', 'custom_tool_call', 'reasoning'),
      id: fc.constantFrom('i1', 'i2'),
      name: fc.constantFrom('weather', ''),
      call_id: fc.string(),
      arguments: fc.oneof(fc.string(), fc.jsonValue()),
      content: fc.oneof(
        fc.array(fc.record({ type: fc.constant('output_text'), text: fc.string() })),
        fc.jsonValue(),
      ),
    },
    { requiredKeys: [] },
  )
  const event = fc.record(
    {
      type: type.map(name => `response.${name}`),
      output_index: fc.constantFrom(0, 1),
      delta: fc.oneof(fc.string(), fc.jsonValue()),
      item,
      response: fc.record({ output: fc.oneof(fc.array(item), fc.jsonValue()), usage: fc.jsonValue() }),
    },
    { requiredKeys: ['type'] },
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(event, fc.jsonValue())), events => {
      const { text, isComplete } = translate(
        events.map(event => `data: ${JSON.stringify(event)}\n\n`).join(''),
      )
      for (const block of text.split('\n\n').slice(0, -1))
        if (block !== 'data: [DONE]') JSON.parse(block.slice('data: '.length))
      if (isComplete) ok(text.endsWith('data: [DONE]\n\n') || text.includes('{"error":'))
    }),
  )
  fc.assert(fc.property(fc.jsonValue(), wild => void chatOfResponse(JSON.stringify(wild), 5000, false)))
  fc.assert(
    fc.property(
      fc.record({ output: fc.array(item) }),
      wild => void chatOfResponse(JSON.stringify(wild), 5000, false),
    ),
  )
})
