import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { createOpenAI } from '@ai-sdk/openai'
import { streamText } from 'ai'
import fc from 'fast-check'
import OpenAI from 'openai'
import { ResponseWriter } from '../../../../src/ai/translate/responses/response-writer.ts'
import { responseSettings } from '../../../../src/ai/translate/responses/response-settings.ts'

type Response = OpenAI.Responses.Response
type Event = OpenAI.Responses.ResponseStreamEvent

const counts = { prompt: 14, completion: 7, cacheRead: 4, cacheWrite: undefined, reasoning: 2 }
const none = {
  prompt: undefined,
  completion: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  reasoning: undefined,
}
const now = 5000

const weather = { type: 'function', name: 'weather' } as const
const inSpace = { ...weather, namespace: 'sky' } as const
const patch = { type: 'custom', name: 'apply_patch' } as const
const search = { type: 'tool_search', name: 'tool_search' } as const

type Step = (writer: ResponseWriter) => void

/** Writes one response by steps; both forms are the same. */
function write(steps: Step, settings: Record<string, unknown> = {}) {
  const [whole, streamed] = [false, true].map(isStreamed => {
    const writer = new ResponseWriter(responseSettings(settings), now, isStreamed)
    writer.start({ id: 'chatcmpl-1', model: 'gpt-x' })
    steps(writer)
    return writer
  }) as [ResponseWriter, ResponseWriter]
  equal(whole.flush(), '')
  const text = streamed.flush()
  equal(streamed.flush(), '')
  const response = JSON.parse(JSON.stringify(streamed.response)) as Response
  return { text, response, whole: JSON.parse(JSON.stringify(whole.response)) as Response }
}

function eventsOf(text: string): Event[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((block, i) => {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? []
      const event = JSON.parse(data!)
      equal(event.type, name)
      equal(event.sequence_number, i)
      return event
    })
}

const replying = (text: string, type = 'text/event-stream') => ({
  apiKey: 'k',
  fetch: async () => new Response(text, { headers: { 'content-type': type } }),
})

/** What the published client makes of a stream. */
function read(text: string) {
  return new OpenAI({ ...replying(text), maxRetries: 0 }).responses
    .stream({ model: 'gpt-x', input: 'Hi' })
    .finalResponse()
}

const talk: Step = writer => {
  writer.think('I should ')
  writer.think('look.')
  writer.seal('c2VhbGVk')
  writer.say('Grüß ')
  writer.say('Gott 👋')
  const first = writer.call('call_1', weather)
  first.add('{"city":')
  const second = writer.call('call_2', patch)
  first.add('"Oslo"}')
  second.add('*** Begin')
  first.close()
  second.close()
  writer.say('Done.')
  writer.finish({ reason: null, counts }, 9000)
}

/** Without ids, which are random. */
const shapeOf = (output: Response['output']) => output.map(({ id, ...item }) => item)

test('a response is the same whole and as the end of a stream, and as its client puts it together', async () => {
  const { text, response, whole } = write(talk, { instructions: 'Be brief.', temperature: 1 })
  deepEqual({ ...whole, output: shapeOf(whole.output) }, { ...response, output: shapeOf(response.output) })
  deepEqual(shapeOf(response.output), [
    {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'I should look.' }],
      encrypted_content: 'c2VhbGVk',
    },
    {
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Grüß Gott 👋', annotations: [], logprobs: [] }],
    },
    {
      type: 'function_call',
      status: 'completed',
      call_id: 'call_1',
      name: 'weather',
      arguments: '{"city":"Oslo"}',
    },
    {
      type: 'custom_tool_call',
      status: 'completed',
      call_id: 'call_2',
      name: 'apply_patch',
      input: '*** Begin',
    },
    {
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Done.', annotations: [], logprobs: [] }],
    },
  ])
  const { status, created_at, completed_at, instructions, temperature, usage } = response
  deepEqual(
    {
      status,
      created_at,
      completed_at,
      instructions,
      temperature,
      store: Reflect.get(response, 'store'),
    },
    {
      status: 'completed',
      created_at: 5,
      completed_at: 9,
      instructions: 'Be brief.',
      temperature: 1,
      store: false,
    },
  )
  deepEqual(usage, {
    input_tokens: 14,
    input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 21,
  })
  const final = await read(text)
  equal(final.output_text, 'Grüß Gott 👋Done.')
  deepEqual(
    shapeOf(
      JSON.parse(
        JSON.stringify(final.output, (key, value) =>
          key === 'parsed' || key === 'parsed_arguments' ? undefined : value,
        ),
      ),
    ),
    shapeOf(response.output),
  )
})

test('the pieces of a stream make up the items that it ends with', () => {
  const { text, response } = write(talk)
  const events = eventsOf(text)
  deepEqual(
    events
      .filter(({ type }) => type === 'response.output_item.done')
      .map(event => event.type === 'response.output_item.done' && [event.output_index, event.item])
      .toSorted(),
    response.output.map((item, index) => [index, item]),
  )
  const pieces = (index: number) =>
    events
      .flatMap(event =>
        'delta' in event && 'output_index' in event && event.output_index === index ? [event.delta] : [],
      )
      .join('')
  deepEqual([0, 1, 2, 3, 4].map(pieces), [
    'I should look.',
    'Grüß Gott 👋',
    '{"city":"Oslo"}',
    '*** Begin',
    'Done.',
  ])
  for (const event of events)
    if ('item_id' in event) equal(event.item_id, response.output[event.output_index]!.id)
  equal(new Set(response.output.map(({ id }) => id)).size, 5)
})

test('the AI SDK reads the stream', async () => {
  const { text } = write(talk)
  const { textStream, finishReason } = streamText({
    model: createOpenAI(replying(text)).responses('gpt-x'),
    prompt: 'Hi',
  })
  equal((await Array.fromAsync(textStream)).join(''), 'Grüß Gott 👋Done.')
  equal(await finishReason, 'tool-calls')
})

for (const reason of ['max_output_tokens', 'content_filter'] as const)
  test(`a response that ends by ${reason} is incomplete, with what was open`, async () => {
    const { text, response } = write(writer => {
      writer.call('call_1', weather).add('{"ci')
      writer.say('I')
      writer.finish({ reason, counts: none }, now)
    })
    equal(response.status, 'incomplete')
    deepEqual(response.incomplete_details, { reason })
    equal(response.usage, null)
    equal(response.completed_at, null)
    deepEqual(
      response.output.map(item => 'status' in item && item.status),
      ['incomplete', 'incomplete'],
    )
    equal(eventsOf(text).at(-1)!.type, 'response.incomplete')
    equal((await read(text)).incomplete_details?.reason, reason)
  })

test('text and a refusal are two parts of one message', async () => {
  const { text, response } = write(writer => {
    writer.say('Well. ')
    writer.refuse('I cannot ')
    writer.refuse('do that.')
    writer.finish({ reason: null, counts }, now)
  })
  const [message] = response.output
  ok(message?.type === 'message')
  deepEqual(message.content, [
    { type: 'output_text', text: 'Well. ', annotations: [], logprobs: [] },
    { type: 'refusal', refusal: 'I cannot do that.' },
  ])
  equal((await read(text)).output_text, 'Well. ')
})

const failures = [
  [{ message: 'Too many.', type: 'rate_limit_error' }, 'rate_limit_exceeded', 'Too many.'],
  [{ message: 'Busy.', type: 'overloaded_error' }, 'server_is_overloaded', 'Busy.'],
  [
    { message: 'Long.', type: 'invalid_request_error', code: 'context_length_exceeded' },
    'context_length_exceeded',
    'Long.',
  ],
  [{ message: 'Odd.', code: 17 }, 'server_error', 'Odd.'],
  ['Broken.', 'server_error', 'Broken.'],
  [null, 'server_error', 'The provider failed.'],
] as const

for (const [error, code, message] of failures)
  test(`the failure ${JSON.stringify(error)} has the code ${code}`, () => {
    const { text, response } = write(writer => {
      writer.say('I')
      writer.fail(error)
    })
    deepEqual(response.error, { code, message })
    equal(response.status, 'failed')
    equal(eventsOf(text).at(-1)!.type, 'response.failed')
  })

test('a failure before anything else is a response too', async () => {
  const writer = new ResponseWriter(responseSettings({}), now, true)
  writer.fail({ message: 'Busy.' })
  const text = writer.flush()
  deepEqual(
    eventsOf(text).map(({ type }) => type),
    ['response.created', 'response.in_progress', 'response.failed'],
  )
})

test('any steps in any order make a stream that its client accepts', async () => {
  const word = fc.string()
  let calls = 0
  const step = fc.oneof(
    ...(['say', 'refuse', 'think', 'seal'] as const).map(name =>
      word.map(
        (text): Step =>
          writer =>
            writer[name](text),
      ),
    ),
    fc
      .tuple(word, fc.constantFrom(weather, patch, inSpace, search), fc.boolean())
      .map(([text, tool, isClosed]): Step => {
        return writer => {
          const call = writer.call(`call_${calls++}`, tool)
          call.add(text)
          if (isClosed) call.close()
        }
      }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async steps => {
      const { text, response } = write(writer => {
        for (const take of steps) take(writer)
        writer.finish({ reason: null, counts }, now)
      })
      eventsOf(text)
      equal((await read(text)).output.length, response.output.length)
    }),
    { numRuns: 50 },
  )
})
