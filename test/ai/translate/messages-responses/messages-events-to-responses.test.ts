import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import OpenAI from 'openai'
import { ResponseEventsOfMessages } from '../../../../src/ai/translate/messages-responses/messages-events-to-responses.ts'
import { responseOfMessages } from '../../../../src/ai/translate/messages-responses/messages-response-to-responses.ts'
import { unpack } from '../../../../src/ai/translate/packed-reasoning.ts'
import { responseSettings } from '../../../../src/ai/translate/responses/response-settings.ts'
import { ToolNames } from '../../../../src/ai/translate/responses/responses-tools.ts'
import { message, messageEvents } from '../../../help/messages-provider.ts'
import { thorough } from '../../../help/thorough.ts'

type Json = Record<string, unknown>
type Response = OpenAI.Responses.Response

const tag = 'svc.anthropic.'
const patch = { type: 'custom', name: 'apply_patch' } as const
const shell = { type: 'local_shell', name: 'local_shell' } as const
const names = new ToolNames(
  [patch, shell].map(tool => ({
    tool,
    name: tool.name,
    description: undefined,
    parameters: {},
    strict: undefined,
  })),
)
const options = { names, settings: responseSettings({}), tag, now: () => 5_000 }

const thought = { type: 'thinking', thinking: 'Hm, well.', signature: 'ErcB' }
const redacted = { type: 'redacted_thinking', data: 'EmwK' }
const said = { type: 'text', text: 'Grüß Gott 👋' }
const weather = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } }
const now = { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} }
const edit = { type: 'tool_use', id: 'toolu_3', name: 'apply_patch', input: { input: '*** Begin\n"x"' } }
const content = [thought, redacted, said, weather, now, edit]

const bytesOf = (events: readonly unknown[]) =>
  Buffer.from(events.map(event => `event: e\ndata: ${JSON.stringify(event)}\n\n`).join(''))

function translate(events: readonly unknown[]) {
  const translator = new ResponseEventsOfMessages(options)
  const text = translator.push(bytesOf(events)) + translator.end()
  return { text, isComplete: translator.isComplete, isBroken: translator.isBroken }
}

function eventsIn(text: string): Json[] {
  return text.split('\n\n').flatMap(block => {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? []
    if (data === undefined) return []
    const event = JSON.parse(data)
    equal(event.type, name)
    return [event]
  })
}

/** Reads a stream with the published client. */
function read(text: string): Promise<Response> {
  const fetch = async () =>
    new globalThis.Response(text, { headers: { 'content-type': 'text/event-stream' } })
  const client = new OpenAI({ apiKey: 'none', fetch, maxRetries: 0 })
  return client.responses.stream({ model: 'm', input: 'Hi' }).finalResponse()
}

/** What the published client makes of a stream, and what it gets of the whole message. */
async function both(content: readonly Json[], more: Json = {}) {
  const { text, isComplete } = translate(messageEvents(content, more))
  ok(isComplete)
  const whole: Response = JSON.parse(responseOfMessages(JSON.stringify(message(content, more)), options)!)
  return { streamed: await read(text), whole }
}

/** Without ids that the gateway made, and what the client adds. */
function outputOf({ output }: Response): readonly Json[] {
  const omit = (name: string, value: unknown) => (name === 'id' || /^parsed/.test(name) ? undefined : value)
  return JSON.parse(JSON.stringify(output, omit))
}

test('the published client reads the same, streamed and whole', async () => {
  const { streamed, whole } = await both(content)
  for (const response of [streamed, whole]) {
    const [first, second, ...rest] = outputOf(response)
    deepEqual(
      [first!.summary, unpack(tag, first!.encrypted_content)],
      [[{ type: 'summary_text', text: 'Hm, well.' }], thought],
    )
    deepEqual([second!.summary, unpack(tag, second!.encrypted_content)], [[], redacted])
    const part = rest[0]!.content as Json[]
    deepEqual([rest[0]!.role, part[0]!.text], ['assistant', said.text])
    deepEqual(
      rest.slice(1).map(({ status: _, ...item }) => item),
      [
        { type: 'function_call', call_id: 'toolu_1', name: 'weather', arguments: '{"city":"Oslo"}' },
        { type: 'function_call', call_id: 'toolu_2', name: 'now', arguments: '{}' },
        { type: 'custom_tool_call', call_id: 'toolu_3', name: 'apply_patch', input: '*** Begin\n"x"' },
      ],
    )
    const { id, model, status, usage, service_tier, store } = response as Response & Json
    deepEqual(
      [id, model, status, service_tier, store],
      ['msg_1', 'claude-sonnet-4-5', 'completed', 'default', false],
    )
    deepEqual(usage, {
      input_tokens: 16,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 23,
    })
  }
})

test('the local shell gets its command', async () => {
  const use = (input: Json) => ({ type: 'tool_use', id: 'toolu_1', name: 'local_shell', input })
  const inputs = [{ command: ['ls', '-l'], working_directory: '/a' }, { command: 'ls -l' }]
  const commands = [
    ['ls', '-l'],
    ['bash', '-lc', 'ls -l'],
  ]
  for (const [i, input] of inputs.entries()) {
    const { streamed, whole } = await both([use(input)])
    for (const { output } of [streamed, whole]) {
      const { type, id, call_id, action } = output[0] as OpenAI.Responses.ResponseOutputItem.LocalShellCall
      deepEqual([type, id, call_id], ['local_shell_call', 'toolu_1', 'toolu_1'])
      deepEqual(action, { type: 'exec', env: {}, ...input, command: commands[i] })
    }
  }
})

test('each event gives its output at once', () => {
  const events = messageEvents([thought, said, weather])
  const translator = new ResponseEventsOfMessages(options)
  for (const event of events) {
    const text = translator.push(bytesOf([event]))
    const { type } = event.delta ? (event.delta as Json) : event
    if (type === 'text_delta' || type === 'thinking_delta' || type === 'input_json_delta') ok(text !== '')
  }
})

test('an end before its time has its reason', async () => {
  const reasons = {
    max_tokens: 'max_output_tokens',
    model_context_window_exceeded: 'max_output_tokens',
    refusal: 'content_filter',
  }
  for (const [stop_reason, reason] of Object.entries(reasons)) {
    const { streamed, whole } = await both([said], { stop_reason })
    for (const { status, incomplete_details } of [streamed, whole])
      deepEqual([status, incomplete_details], ['incomplete', { reason }])
  }
  for (const stop_reason of ['end_turn', 'stop_sequence', 'pause_turn', 'odd'])
    equal((await both([said], { stop_reason })).whole.status, 'completed')
})

test('a refusal has its explanation', async () => {
  const stop_details = { type: 'refusal', category: null, explanation: 'Not that.' }
  const { streamed, whole } = await both([], { stop_reason: 'refusal', stop_details })
  for (const response of [streamed, whole])
    deepEqual(outputOf(response)[0]!.content, [{ type: 'refusal', refusal: 'Not that.' }])
})

test('a call that was cut does not look complete', async () => {
  const events = messageEvents([weather, edit], { stop_reason: 'max_tokens' })
  const isEnd = ({ delta }: Json) => (delta as Json)?.partial_json === 'ity":"Oslo"}'
  const { text } = translate(events.filter(event => !isEnd(event)))
  const [first] = outputOf(await read(text))
  deepEqual([first!.status, first!.arguments], ['incomplete', '{"c'])
})

test('a failure of the provider reaches the caller as one', async () => {
  const failure = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  for (const events of [[failure], [...messageEvents([said]).slice(0, 4), failure]]) {
    const { text, isComplete } = translate(events)
    ok(isComplete)
    const last = eventsIn(text).at(-1)!
    const { status, error } = last.response as Json
    deepEqual(
      [last.type, status, error],
      ['response.failed', 'failed', { code: 'server_is_overloaded', message: 'Overloaded' }],
    )
  }
  equal(responseOfMessages(JSON.stringify(failure), options), null)
})

test('a stream that ends early is not complete', () => {
  const events = messageEvents(content)
  for (let count = 0; count < events.length; count++) {
    const { text, isComplete } = translate(events.slice(0, count))
    deepEqual([isComplete, text.includes('response.completed')], [false, false])
  }
})

test('what a provider leaves out changes nothing', async () => {
  const events = messageEvents(content)
  const shapes = [
    events.filter(({ type }) => type !== 'ping'),
    events.filter(({ type }) => type !== 'content_block_stop'),
    events.map(({ index: _, ...event }) => event),
    events.map(event => ('index' in event ? { ...event, index: 0 } : event)),
    [...events, { type: 'message_stop' }],
    [{ type: 'odd' }, ...events.slice(1)],
  ]
  const expected = outputOf(await read(translate(events).text))
  for (const shape of shapes) deepEqual(outputOf(await read(translate(shape).text)), expected)
})

test('nothing follows what cannot be understood', () => {
  const start = messageEvents([])[0]!
  const block = (index: number, content_block: Json) => ({
    type: 'content_block_start',
    index,
    content_block,
  })
  const piece = (index: number, partial_json: string) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json },
  })
  const broken = [
    [start, block(0, { ...weather, name: '' })],
    [start, piece(3, '{}')],
    [start, block(0, weather), piece(0, '{}'), piece(0, '{}')],
  ]
  for (const events of broken) {
    const { isBroken, text } = translate([...events, ...messageEvents([said]).slice(1)])
    deepEqual([isBroken, text.includes('Gott')], [true, false])
  }
  equal(responseOfMessages(JSON.stringify(message([{ ...weather, name: '' }])), options), null)
  for (const json of ['', '[]', '{}', '{"type":"message"}']) equal(responseOfMessages(json, options), null)
})

test('a stream without end is given up, since all of it is retained', () => {
  const translator = new ResponseEventsOfMessages(options)
  const [start] = messageEvents([])
  translator.push(bytesOf([start]))
  const text = 'x'.repeat(1024 * 1024)
  const piece = bytesOf([{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }])
  let pieces = 0
  while (!translator.isBroken && pieces < 100) {
    translator.push(piece)
    pieces++
  }
  equal(pieces, 64)
})

test('a stream cut anywhere gives the same output', () => {
  const bytes = bytesOf(messageEvents(content))
  const typesOf = (text: string) => eventsIn(text).map(({ type, sequence_number }) => [type, sequence_number])
  const expected = typesOf(translate(messageEvents(content)).text)
  deepEqual(
    expected.map(([, number]) => number),
    expected.map((_, i) => i),
  )
  fc.assert(
    fc.property(fc.array(fc.nat({ max: bytes.length })), cuts => {
      const translator = new ResponseEventsOfMessages(options)
      const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      const pieces = edges.slice(1).map((edge, i) => translator.push(bytes.subarray(edges[i], edge)))
      deepEqual(typesOf(pieces.join('') + translator.end()), expected)
    }),
  )
})

test('whatever a provider sends, the published client accepts the order of the events', async () => {
  const word = fc.constantFrom('', 'a', '{"a":1}', '{')
  const index = fc.constantFrom(0, 1, undefined, null)
  const block = fc.record(
    {
      type: fc.constantFrom('text', 'thinking', 'redacted_thinking', 'tool_use', 'server_tool_use'),
      text: word,
      thinking: word,
      signature: word,
      data: word,
      id: word,
      name: fc.constantFrom('f', 'apply_patch', 'local_shell'),
      input: fc.constantFrom({}, { a: 1 }, null),
    },
    { requiredKeys: ['type', 'name'] },
  )
  const types = ['text_delta', 'thinking_delta', 'signature_delta', 'input_json_delta', 'citations_delta']
  const delta = fc.record({
    type: fc.constantFrom(...types),
    text: word,
    thinking: word,
    signature: word,
    partial_json: word,
  })
  const event = fc.record(
    {
      type: fc.constantFrom(
        'ping',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
      ),
      index,
      content_block: block,
      delta,
      usage: fc.constant({ output_tokens: 3 }),
    },
    { requiredKeys: ['type', 'content_block', 'delta'] },
  )
  const [start] = messageEvents([])
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 30 }), fc.boolean(), async (events, isStarted) => {
      const all = [...(isStarted ? [start] : []), ...events, { type: 'message_stop' }]
      const { text, isComplete, isBroken } = translate(all)
      ok(isComplete !== isBroken)
      if (isComplete) await read(text)
    }),
    { numRuns: thorough(300, 100) },
  )
})
