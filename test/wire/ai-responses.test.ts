// Callers of Responses whose provider has only Chat Completions, and the other way round: what they get whole and in a
// stream, when it breaks, and what the log says of it.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { AliasStep } from '../../src/config/model/config.ts'
import { type AiEdge, type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { type Respond, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, type Message, type Wire } from '../help/raw.ts'
import { response, streamOf } from '../help/responses-provider.ts'

const sse = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const asEvents = (...events: string[]) => `${sse}${chunks(...events)}0\r\n\r\n`
const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const usage = {
  prompt_tokens: 9,
  completion_tokens: 3,
  total_tokens: 12,
  prompt_tokens_details: { cached_tokens: 4 },
}
const usageChunk = `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [], usage })}\n\n`
const said = [chunk({ role: 'assistant', content: 'Hel' }), chunk({ content: 'lo.' })]
const told = [...said, chunk({}, 'stop'), usageChunk, 'data: [DONE]\n\n']

interface Started {
  readonly ai: AiEdge
  readonly requests: readonly Message[]
  readonly ask: (path: string, request: object) => Promise<Message>
}

/** Starts a provider that has one API alone, and a way to ask for its model. */
async function start(
  t: TestContext,
  api: 'chat' | 'responses',
  respond: Respond | string,
  settings: AiSettings = {},
): Promise<Started> {
  const { url, requests } = await startResponder(t, respond)
  const ai = await startAi(t, { 'custom-lab': { url, keys: ['k'], apis: [api] } }, settings)
  const ask = (path: string, request: object) =>
    ai.edge.ask(
      call(
        `${ai.rest}${path}`,
        JSON.stringify({ model: 'custom-lab/m', ...request }),
        `Authorization: Bearer ${ai.token}`,
      ),
    )
  return { ai, requests, ask }
}

const output = [
  {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'Hello.', annotations: [], logprobs: [] }],
  },
] as Parameters<typeof streamOf>[0]
/** The events of Responses up to the last piece of text. */
const begun = streamOf(output)
  .slice(0, streamOf(output).findLastIndex(({ delta }) => delta !== undefined) + 1)
  .map((event, i) => `data: ${JSON.stringify({ ...event, sequence_number: i })}\n\n`)

interface Event {
  readonly type: string
  readonly sequence_number: number
  readonly response?: {
    readonly status: string
    readonly error: { readonly message: string; readonly code: string }
  }
}

/** Reads events, which are numbered without a gap. */
function eventsOf(text: string): readonly Event[] {
  const events = [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => JSON.parse(data!) as Event)
  deepEqual(
    events.map(({ sequence_number }) => sequence_number),
    events.map((_, i) => i),
  )
  return events
}

describe('a caller of Responses with a provider of chat', () => {
  test('gets a whole response, and its log has usage and what was left out', async t => {
    const { ai, requests, ask } = await start(t, 'chat', json({ ...completion, usage }))
    const answer = await ask('/v1/responses', { input: 'Hi', metadata: { a: 'b' } })
    const { status, text } = answer
    equal(status, 200, text)
    const { object, output, metadata, store } = JSON.parse(text)
    deepEqual([object, output[0].content[0].text, metadata, store], ['response', 'Hello.', { a: 'b' }, false])
    equal(answer.field('svc-aig-dropped'), 'metadata')
    equal(requests[0]!.target, '/chat/completions')
    const { tokensIn, tokensOut, dropped, success } = (await ai.entry()) as unknown as Record<string, unknown>
    deepEqual([tokensIn, tokensOut, dropped, success], [9, 3, ['metadata'], true])
  })

  test('gets a stream, whose usage the gateway asks for', async t => {
    const { ai, requests, ask } = await start(t, 'chat', asEvents(...told))
    const { text } = await ask('/v1/responses', { input: 'Hi', stream: true })
    const events = eventsOf(text)
    deepEqual(
      events.map(({ type }) => type.slice('response.'.length)),
      [
        ...['created', 'in_progress', 'output_item.added', 'content_part.added', 'output_text.delta'],
        ...['output_text.delta', 'output_text.done', 'content_part.done', 'output_item.done', 'completed'],
      ],
    )
    deepEqual(JSON.parse(requests[0]!.text).stream_options, { include_usage: true })
    const { tokensIn, tokensOut } = await ai.entry()
    deepEqual([tokensIn, tokensOut], [9, 3])
  })

  test('gets it by /ai/run too, whole in the envelope', async t => {
    const { ask } = await start(t, 'chat', json(completion))
    const { text } = await ask('/run', { input: { input: 'Hi' } })
    const { success, result } = JSON.parse(text)
    deepEqual([success, result.output[0].content[0].text], [true, 'Hello.'])
  })

  test('reads what is not stored in the refusal', async t => {
    const { requests, ask } = await start(t, 'chat', json(completion))
    const { status, text } = await ask('/v1/responses', {
      input: [{ type: 'item_reference', id: 'msg_1' }],
      previous_response_id: 'resp_1',
      store: true,
    })
    equal(status, 400)
    const pointers = JSON.parse(text).errors.map(
      (error: { source: { pointer: string } }) => error.source.pointer,
    )
    deepEqual(pointers.toSorted(), ['/input/0', '/previous_response_id', '/store'])
    match(text, /the gateway stores nothing/)
    equal(requests.length, 0)
  })

  test('reads the error of a provider as OpenAI writes it', async t => {
    const error = {
      error: { message: 'No such model.', type: 'invalid_request_error', code: 'model_not_found' },
    }
    const { ask } = await start(t, 'chat', json(error).replace('200 OK', '404 Not Found'))
    const { status, text } = await ask('/v1/responses', { input: 'Hi' })
    deepEqual([status, JSON.parse(text)], [404, error])
  })

  test('reads an error within a stream as a failure', async t => {
    const error = 'data: {"error":{"message":"Busy.","type":"overloaded_error"}}\n\n'
    const { ask } = await start(t, 'chat', asEvents(...said, error))
    const { text } = await ask('/v1/responses', { input: 'Hi', stream: true })
    const last = eventsOf(text).at(-1)!
    equal(last.type, 'response.failed')
    deepEqual(last.response!.error, { code: 'server_is_overloaded', message: 'Busy.' })
  })
})

/** How a stream breaks behind its beginning. */
const breaks = [
  ['a provider of chat ends early', ['chat'], said, (wire: Wire) => wire.send('0\r\n\r\n')],
  [
    'a provider of chat sends no JSON',
    ['chat'],
    said,
    (wire: Wire) => wire.send(chunks('data: nonsense\n\n')),
  ],
  ['a provider of chat dies', ['chat'], said, (wire: Wire) => wire.reset()],
  ['a provider of Responses dies', ['responses'], begun, (wire: Wire) => wire.reset()],
] as const

for (const [what, apis, first, fail] of breaks)
  test(`when ${what}, the failure has the next number`, async t => {
    const asked = Promise.withResolvers<Wire>()
    const origin = await startOrigin(t, async wire => {
      await wire.request()
      asked.resolve(wire)
      await wire.ending
    })
    const ai = await startAi(t, { 'custom-lab': { url: origin.url, keys: ['k'], apis } })
    const client = await ai.edge.connect()
    const body = JSON.stringify({ model: 'custom-lab/m', input: 'Hi', stream: true })
    await client.send(call(`${ai.rest}/v1/responses`, body, `Authorization: Bearer ${ai.token}`))
    const wire = await asked.promise
    await wire.send(sse + chunks(...first))
    const beginning = await client.until('"delta":"lo."')
    await fail(wire)
    const text = beginning + (await client.until('0\r\n\r\n'))
    const failed = eventsOf(text).at(-1)!
    equal(failed.type, 'response.failed')
    ok(failed.sequence_number > 2)
    equal((await ai.entry()).success, false)
  })

describe('a caller of chat with a provider of Responses', () => {
  const messages = [{ role: 'user', content: 'Hi' }]
  const events = (type?: string, more?: Record<string, unknown>) =>
    asEvents(
      ...streamOf(output, type, more).map(
        event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
      ),
    )

  test('gets a whole completion, and its log has the usage', async t => {
    const { ai, requests, ask } = await start(t, 'responses', json(response(output)))
    const { text } = await ask('/v1/chat/completions', { messages })
    const { choices, usage } = JSON.parse(text)
    deepEqual([choices[0].message.content, usage.prompt_tokens_details.cached_tokens], ['Hello.', 4])
    equal(usage.completion_tokens_details.reasoning_tokens, 5)
    equal(requests[0]!.target, '/responses')
    equal(JSON.parse(requests[0]!.text).store, false)
    const { tokensIn, tokensOut } = await ai.entry()
    deepEqual([tokensIn, tokensOut], [14, 7])
  })

  for (const isAsked of [true, false])
    test(`gets a stream ${isAsked ? 'with' : 'without'} usage, which the log has`, async t => {
      const { ai, ask } = await start(t, 'responses', events())
      const asked = isAsked ? { stream_options: { include_usage: true } } : {}
      const { text } = await ask('/v1/chat/completions', { messages, stream: true, ...asked })
      match(text, /"content":"lo\."/)
      ok(text.includes('data: [DONE]'))
      equal(text.includes('"prompt_tokens":14'), isAsked)
      const { tokensIn, tokensOut } = await ai.entry()
      deepEqual([tokensIn, tokensOut], [14, 7])
    })

  test('reads a failed response as an error', async t => {
    const error = { code: 'server_error', message: 'Busy.' }
    const { ask } = await start(t, 'responses', events('response.failed', { status: 'failed', error }))
    const { text } = await ask('/v1/chat/completions', { messages, stream: true })
    match(text, /data: \{"error":\{"message":"Busy\."/)
    ok(!text.includes('[DONE]'))
  })
})

describe('an alias of providers with different APIs', () => {
  const step = (model: string): AliasStep => ({ model, timeout: null, retries: 0, weight: null })

  for (const isStreamed of [false, true])
    test(`serves a caller of Responses by chat when Responses fails (${isStreamed ? 'streamed' : 'whole'})`, async t => {
      // The first fails after its stream has begun, but before it has any content.
      const failing = { type: 'response.failed', response: { status: 'failed', error: { message: 'No.' } } }
      const dead = isStreamed
        ? asEvents(`data: ${JSON.stringify(streamOf([])[0])}\n\n`, `data: ${JSON.stringify(failing)}\n\n`)
        : json({ error: { message: 'Busy.' } }).replace('200 OK', '503 Service Unavailable')
      const first = await startResponder(t, dead)
      const second = await startResponder(t, isStreamed ? asEvents(...told) : json(completion))
      const models = [{ name: 'fast', steps: [step('custom-a/m'), step('custom-b/m')] }]
      const ai = await startAi(
        t,
        {
          'custom-a': { url: first.url, keys: ['k'], apis: ['responses'] },
          'custom-b': { url: second.url, keys: ['k'], apis: ['chat'] },
        },
        { ai: { models, failover: { statuses: [503], maxAttempts: 3, deadline: 0, retryWithin: 0 } } },
      )
      const asked = JSON.stringify({ model: 'fast', input: 'Hi', stream: isStreamed })
      const answer = await ai.edge.ask(
        call(`${ai.rest}/v1/responses`, asked, `Authorization: Bearer ${ai.token}`),
      )
      const { text } = answer
      equal(answer.field('svc-aig-provider'), 'custom-b', text)
      match(text, /"text":"Hello\."/)
      if (isStreamed) equal(eventsOf(text).at(-1)!.type, 'response.completed')
    })
})
