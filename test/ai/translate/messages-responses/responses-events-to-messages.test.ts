import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import { MessageEventsOfResponse } from '../../../../src/ai/translate/messages-responses/responses-events-to-messages.ts'
import { messagesResponse } from '../../../../src/ai/translate/messages-responses/responses-response-to-messages.ts'
import { pack, unpack } from '../../../../src/ai/translate/packed-reasoning.ts'
import { eventsOfItem, type Item, type Json, response, streamOf } from '../../../help/responses-provider.ts'
import { thorough } from '../../../help/thorough.ts'

const tag = 'svc.openai.'

const reasoning: Item = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [
    { type: 'summary_text', text: 'First.' },
    { type: 'summary_text', text: 'Then.' },
  ],
  encrypted_content: 'gAAA',
  status: 'completed',
}
const said: Item = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Grüß Gott 👋', annotations: [] }],
}
const call = (id: string, name: string, args: string): Item => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: args,
  status: 'completed',
})
const output = [reasoning, said, call('c1', 'weather', '{"city":"Oslo"}'), call('c2', 'now', '{}')]

const bytesOf = (events: readonly unknown[]) =>
  Buffer.from(
    events
      .map((event, i) => `event: e\ndata: ${JSON.stringify({ sequence_number: i, ...(event as Json) })}\n\n`)
      .join(''),
  )

function translate(events: readonly unknown[]) {
  const translator = new MessageEventsOfResponse(tag)
  const text = translator.push(bytesOf(events)) + translator.end()
  return { text, isComplete: translator.isComplete, isBroken: translator.isBroken }
}

function eventsIn(text: string): Json[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .map(block => {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? []
      const event = JSON.parse(data!)
      equal(event.type, name)
      return event
    })
}

/** Reads a stream with the published client. */
function read(text: string): Promise<Anthropic.Message> {
  const fetch = async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  const client = new Anthropic({ apiKey: 'none', fetch, maxRetries: 0 })
  return client.messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage()
}

/** What the published client makes of a stream, and what it gets of the whole response. */
async function both(output: readonly Item[], more: Json = {}) {
  const type = more.status === 'incomplete' ? 'response.incomplete' : 'response.completed'
  const { text, isComplete } = translate(streamOf(output, type, more))
  ok(isComplete)
  const whole: Anthropic.Message = JSON.parse(messagesResponse(JSON.stringify(response(output, more)), tag)!)
  return { streamed: await read(text), whole }
}

test('items become events, one by one', () => {
  const events = eventsIn(translate(streamOf(output)).text).map(({ type, index, delta, content_block }) =>
    [type, index, delta ?? content_block].filter(value => value !== undefined),
  )
  const block = (index: number, start: Json, deltas: readonly Json[]) => [
    ['content_block_start', index, start],
    ...deltas.map(delta => ['content_block_delta', index, delta]),
    ['content_block_stop', index],
  ]
  const thought = (thinking: string) => ({ type: 'thinking_delta', thinking })
  const word = (text: string) => ({ type: 'text_delta', text })
  const piece = (partial_json: string) => ({ type: 'input_json_delta', partial_json })
  const thoughts = ['Fir', 'st.', '\n\nThe', 'n.'].map(thought)
  const signed = { type: 'signature_delta', signature: pack(tag, reasoning as never) }
  deepEqual(events, [
    ['message_start'],
    ...block(0, { type: 'thinking', thinking: '', signature: '' }, [...thoughts, signed]),
    ...block(1, { type: 'text', text: '' }, [word('Grü'), word('ß Gott 👋')]),
    ...block(2, { type: 'tool_use', id: 'c1', name: 'weather', input: {} }, [
      piece('{"c'),
      piece('ity":"Oslo"}'),
    ]),
    ...block(3, { type: 'tool_use', id: 'c2', name: 'now', input: {} }, [piece('{}')]),
    ['message_delta', { stop_reason: 'tool_use', stop_sequence: null }],
    ['message_stop'],
  ])
})

test('each event gives its output at once', () => {
  const translator = new MessageEventsOfResponse(tag)
  for (const event of streamOf([said]).filter(({ type }) => (type as string).endsWith('.delta')))
    ok(translator.push(bytesOf([event])) !== '')
})

test('the published client reads the same, streamed and whole', async () => {
  const { streamed, whole } = await both(output)
  const thinking = {
    type: 'thinking',
    thinking: 'First.\n\nThen.',
    signature: pack(tag, reasoning as never),
  }
  deepEqual(streamed.content as unknown, [
    thinking,
    { type: 'text', text: 'Grüß Gott 👋' },
    { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Oslo' } },
    { type: 'tool_use', id: 'c2', name: 'now', input: {} },
  ])
  deepEqual(JSON.parse(JSON.stringify(streamed.content)), whole.content)
  for (const { id, model, stop_reason, usage } of [streamed, whole]) {
    const { input_tokens, output_tokens, cache_read_input_tokens: read, output_tokens_details } = usage
    deepEqual([id, model, stop_reason], ['resp_1', 'gpt-5', 'tool_use'])
    deepEqual([input_tokens, output_tokens, read], [10, 7, 4])
    deepEqual(output_tokens_details, { thinking_tokens: 5 })
  }
})

test('reasoning without a summary is redacted thinking, and goes back as it was', async () => {
  const silent: Item = { ...reasoning, summary: [] }
  const { streamed, whole } = await both([silent, said])
  for (const { content } of [streamed, whole]) {
    equal(content.length, 2)
    deepEqual(unpack(tag, (content[0] as Anthropic.RedactedThinkingBlock).data), silent)
  }
})

test('reasoning that its provider would not accept is shown alone', async () => {
  const { encrypted_content: _, ...bare } = reasoning
  const { streamed, whole } = await both([bare, { ...bare, id: 'rs_2', summary: [] }, said])
  for (const { content } of [streamed, whole])
    deepEqual(content.slice(0, -1) as unknown, [
      { type: 'thinking', thinking: 'First.\n\nThen.', signature: tag },
    ])
})

test('an open model shows its thoughts, and gets them back', async () => {
  const open: Item = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [],
    content: [{ type: 'reasoning_text', text: 'Hm.' }],
  }
  const delta = { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'Hm.' }
  const added = { type: 'response.output_item.added', output_index: 0, item: { ...open, content: [] } }
  const over = { type: 'response.output_item.done', output_index: 0, item: open }
  const end = { type: 'response.completed', response: response([open]) }
  const { content } = await read(translate([added, delta, over, end]).text)
  const [{ thinking, signature }] = content as [Anthropic.ThinkingBlock]
  deepEqual([thinking, unpack(tag, signature)], ['Hm.', open])
})

test('an end before its time has its reason', async () => {
  const cut = (reason: string) => ({ status: 'incomplete', incomplete_details: { reason } })
  const reasons = { max_output_tokens: 'max_tokens', content_filter: 'refusal' }
  for (const [reason, expected] of Object.entries(reasons)) {
    const { streamed, whole } = await both(output, cut(reason))
    deepEqual([streamed.stop_reason, whole.stop_reason], [expected, expected])
  }
})

test('a refusal is a text and a reason to stop', async () => {
  const refusal: Item = { ...said, content: [{ type: 'refusal', refusal: 'Not that.' }] } as Item
  const { streamed, whole } = await both([refusal])
  for (const { content, stop_reason, stop_details } of [streamed, whole]) {
    deepEqual(content as unknown, [{ type: 'text', text: 'Not that.' }])
    deepEqual([stop_reason, stop_details?.explanation], ['refusal', 'Not that.'])
  }
})

test('what a server leaves out comes from the end of the item, or of the stream', async () => {
  const all = streamOf(output)
  const without = (...types: string[]) => all.filter(({ type }) => !types.includes(type as string))
  const shifted = (event: Json) =>
    event.output_index === undefined ? event : { ...event, output_index: Number(event.output_index) + 2 }
  const shapes = [
    without('response.output_item.added'),
    without('response.output_item.done'),
    without('response.created', 'response.in_progress'),
    all.filter(({ type }) => !(type as string).endsWith('.delta')),
    all.slice(-1),
    [...all.slice(0, -1), ...all.slice(-2)],
    without('response.output_item.added', 'response.function_call_arguments.delta'),
    [...all, '[DONE]'],
    all.map(shifted),
    without('response.output_item.done').map(shifted),
    without('response.output_item.added', 'response.output_item.done').map(shifted),
    all.flatMap(event => (event.type === 'response.output_item.added' ? [event, event] : [event])),
  ]
  const expected = JSON.parse(JSON.stringify((await read(translate(all).text)).content))
  for (const shape of shapes) {
    const { text, isComplete } = translate(shape)
    ok(isComplete)
    deepEqual(JSON.parse(JSON.stringify((await read(text)).content)), expected)
  }
})

test('items that are written at once become blocks one after the other', async () => {
  const [first, second] = [call('c1', 'weather', '{"city":"Oslo"}'), call('c2', 'now', '{"tz":"UTC"}')]
  const streams = [first, second].map((item, i) => eventsOfItem(item, i))
  const mixed = streams[0]!.flatMap((event, i) => [event, streams[1]![i]])
  const { content } = await read(
    translate([...mixed, { type: 'response.completed', response: response([first, second]) }]).text,
  )
  deepEqual(JSON.parse(JSON.stringify(content)), [
    { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Oslo' } },
    { type: 'tool_use', id: 'c2', name: 'now', input: { tz: 'UTC' } },
  ])
})

test('a failure of the provider reaches the caller as one', async () => {
  const begun = streamOf([said]).slice(0, 4)
  const error = { code: 'rate_limit_exceeded', message: 'Slow down' }
  const failures = [
    { type: 'response.failed', response: response([], { status: 'failed', error }) },
    { type: 'error', ...error, param: null },
    { type: 'error', error },
    { error },
  ]
  for (const failure of failures) {
    const { text, isComplete } = translate([...begun, failure, ...streamOf([said]).slice(4)])
    ok(isComplete)
    deepEqual(eventsIn(text).at(-1), {
      type: 'error',
      error: { type: 'rate_limit_error', message: 'Slow down' },
    })
    await rejects(read(text), /Slow down/)
  }
  equal(messagesResponse(JSON.stringify(response([], { status: 'failed', error })), tag), null)
})

test('a stream that ends early is not complete', () => {
  const events = streamOf(output)
  for (let count = 0; count < events.length; count++) {
    const { text, isComplete } = translate(events.slice(0, count))
    deepEqual([isComplete, text.includes('message_stop')], [false, false])
  }
})

test('nothing follows what cannot be understood', () => {
  const nameless = streamOf([call('c1', '', '{}')])
  const { text, isComplete } = translate(nameless)
  deepEqual([isComplete, text.includes('tool_use')], [false, false])
  equal(messagesResponse(JSON.stringify(response([call('c1', '', '{}')])), tag), null)
  const translator = new MessageEventsOfResponse(tag)
  translator.push(Buffer.from('data: {"type":\n\n'))
  ok(translator.isBroken)
  for (const json of ['', '[]', '{}', '{"output":{}}']) equal(messagesResponse(json, tag), null)
})

test('a stream cut anywhere gives the same output', () => {
  const bytes = bytesOf(streamOf(output))
  const { text } = translate(streamOf(output))
  fc.assert(
    fc.property(fc.array(fc.nat({ max: bytes.length })), cuts => {
      const translator = new MessageEventsOfResponse(tag)
      const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      const pieces = edges.slice(1).map((edge, i) => translator.push(bytes.subarray(edges[i], edge)))
      equal(pieces.join('') + translator.end(), text)
    }),
  )
})

test('whatever a provider sends, the published client accepts the order of the events', async () => {
  const word = fc.constantFrom('', '{"a":1}', 'rs_1', 'reasoning', 'message', 'function_call')
  const json = fc.constantFrom('', '{', '{"a":', '{"a":1}', { a: 1 }, null)
  const index = fc.constantFrom(0, 1, 2, undefined, null)
  const part = fc.record(
    { type: fc.constantFrom('output_text', 'refusal', 'summary_text'), text: word, refusal: word },
    { requiredKeys: ['type'] },
  )
  const item = fc.record(
    {
      type: fc.constantFrom('reasoning', 'message', 'function_call', 'web_search_call'),
      id: word,
      call_id: word,
      name: fc.constantFrom('f', 'g'),
      arguments: json,
      content: fc.oneof(fc.array(part), word),
      summary: fc.array(part),
      encrypted_content: word,
    },
    { requiredKeys: ['type', 'name'] },
  )
  const kinds = [
    'response.created',
    'response.output_item.added',
    'response.output_item.done',
    'response.output_text.delta',
    'response.refusal.delta',
    'response.reasoning_summary_text.delta',
    'response.reasoning_text.delta',
    'response.function_call_arguments.delta',
    'keepalive',
  ]
  const event = fc.record(
    {
      type: fc.constantFrom(...kinds),
      output_index: index,
      content_index: index,
      summary_index: index,
      delta: fc.oneof(word, json),
      item,
    },
    { requiredKeys: ['type', 'item'] },
  )
  const end = fc.array(item).map(output => ({ type: 'response.completed', response: response(output) }))
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 30 }), end, async (events, end) => {
      const { text, isComplete, isBroken } = translate([...events, end])
      ok(isComplete !== isBroken)
      if (isBroken) return
      const types = eventsIn(text).map(({ type }) => type)
      const order =
        /^message_start( content_block_start( content_block_delta)* content_block_stop)* message_delta message_stop$/
      ok(order.test(types.join(' ')), types.join(' '))
      // The client throws at arguments that are no beginning of an object.
      await read(text).catch(error => ok(error.cause instanceof SyntaxError, error))
    }),
    { numRuns: thorough(200, 100) },
  )
})
