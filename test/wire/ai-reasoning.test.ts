// A conversation with an alias that moves from provider to provider: each gets back the reasoning that it
// encrypted or signed itself, as it was, and never that of another.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AiEdge, call, json, startAi } from '../help/ai.ts'
import { type Origin, startOrigin } from '../help/origin.ts'

const sse = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n'
const stream = (...events: object[]) =>
  sse + events.map(event => `data: ${JSON.stringify(event)}\n\n`).join('')
const busy = 'HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\n{}'

/** A block, an item, a message, an event or a part of one. */
interface Part {
  [name: string]: unknown
  readonly type?: string
  readonly index?: number
  readonly content_block?: Part
  readonly delta?: Part
  readonly item?: Part
  readonly response?: { readonly output: readonly Part[] }
  readonly choices?: readonly Part[]
  readonly reasoning_details?: readonly Part[]
  signature?: string
}

/** How an API carries a conversation. */
interface Api {
  readonly path: string
  readonly providers: readonly [string, string]
  /** What a model adds to the conversation, with reasoning that only its provider can read. */
  readonly turn: (secret: string) => readonly Part[]
  readonly response: (turn: readonly Part[]) => object
  readonly events: (turn: readonly Part[]) => readonly object[]
  /** Reads the turn from events. */
  readonly gather: (events: readonly Part[]) => readonly Part[]
  readonly request: (history: readonly (readonly Part[])[]) => object
  /** What is left of a turn without its reasoning. */
  readonly without: (turn: readonly Part[]) => readonly Part[]
  readonly dropped: string
}

const question = { role: 'user', content: 'Why?' }

const apis: Readonly<Record<string, Api>> = {
  messages: {
    path: 'v1/messages',
    providers: ['anthropic', 'custom-claude'],
    turn: secret => [
      { type: 'thinking', thinking: 'Hm.', signature: `${secret}=` },
      { type: 'redacted_thinking', data: secret },
      { type: 'text', text: 'So.' },
    ],
    response: content => ({ type: 'message', role: 'assistant', content }),
    events: turn => [
      { type: 'message_start', message: { role: 'assistant', content: [] } },
      ...turn.flatMap((block, index): object[] =>
        block.type === 'thinking'
          ? [
              { type: 'content_block_start', index, content_block: { ...block, signature: '' } },
              {
                type: 'content_block_delta',
                index,
                delta: { type: 'signature_delta', signature: block.signature },
              },
            ]
          : [{ type: 'content_block_start', index, content_block: block }],
      ),
      { type: 'message_stop' },
    ],
    gather: events => {
      const blocks: Part[] = []
      for (const { type, index, content_block, delta } of events)
        if (type === 'content_block_start') blocks[index!] = content_block!
        else if (type === 'content_block_delta') blocks[index!]!.signature = delta!.signature!
      return blocks
    },
    request: history => ({
      max_tokens: 9,
      messages: [question, ...history.flatMap(content => [{ role: 'assistant', content }, question])],
    }),
    without: turn => turn.slice(2),
    dropped: 'messages[].content[].thinking, messages[].content[].redacted_thinking',
  },
  responses: {
    path: 'v1/responses',
    providers: ['openai', 'groq'],
    turn: secret => [
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: secret },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'So.' }] },
    ],
    response: output => ({ object: 'response', output }),
    events: output => [
      { type: 'response.created', response: { output: [] } },
      ...output.map(item => ({ type: 'response.output_item.done', item })),
      { type: 'response.completed', response: { output } },
    ],
    gather: events => {
      const items = events.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item!] : []))
      deepEqual(events.at(-1)!.response!.output, items)
      return items
    },
    request: history => ({ input: [question, ...history.flatMap(items => [...items, question])] }),
    without: turn => turn.slice(1),
    dropped: 'input[].reasoning',
  },
  chat: {
    path: 'v1/chat/completions',
    providers: ['openrouter', 'openai'],
    turn: secret => [
      {
        role: 'assistant',
        content: 'So.',
        reasoning_details: [{ type: 'reasoning.encrypted', data: secret, index: 0 }],
      },
    ],
    response: ([message]) => ({ choices: [{ index: 0, message, finish_reason: 'stop' }] }),
    events: ([message]) => [
      ...[
        { role: 'assistant', content: '' },
        { reasoning_details: message!.reasoning_details },
        { content: 'So.' },
      ].map(delta => ({ choices: [{ index: 0, delta }] })),
      { choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } },
    ],
    gather: events => [Object.assign({}, ...events.map(({ choices }) => choices![0]!.delta))],
    request: history => ({ messages: [question, ...history.flatMap(turn => [...turn, question])] }),
    without: turn => turn.map(({ reasoning_details: _, ...message }) => message),
    dropped: 'messages[].reasoning_details',
  },
}

interface Provider extends Origin {
  isBusy: boolean
}

async function startProvider(t: TestContext, api: Api, secret: string): Promise<Provider> {
  const origin: Provider = Object.assign(
    await startOrigin(t, async wire => {
      const request = await wire.request()
      origin.requests.push(request)
      const turn = api.turn(secret)
      const { stream: isStream } = JSON.parse(request.text)
      const body =
        isStream === true ? stream(...api.events(turn)) : json(api.response(turn), 'Connection: close')
      await wire.send(origin.isBusy ? busy : body)
      wire.finish()
    }),
    { isBusy: false },
  )
  return origin
}

interface Started {
  readonly ai: AiEdge
  readonly first: Provider
  readonly second: Provider
  readonly ask: (
    request: object,
    path?: string,
  ) => Promise<{ status: number; text: string; field: (name: string) => string | null }>
}

async function start(t: TestContext, api: Api): Promise<Started> {
  const first = await startProvider(t, api, 'firsts/secret')
  const second = await startProvider(t, api, 'seconds+secret')
  const [one, other] = api.providers
  const speaks = api.path === 'v1/messages' ? 'anthropic' : 'openai'
  const steps = [`${one}/m`, `${other}/n`].map(model => ({ model, timeout: null, retries: 0, weight: null }))
  const ai = await startAi(
    t,
    {
      [one]: { url: first.url, keys: ['sk-1'], speaks },
      [other]: { url: second.url, keys: ['sk-2'], speaks },
    },
    {
      ai: {
        models: [{ name: 'fast', steps }],
        failover: { statuses: [503], maxAttempts: 3, deadline: 0, retryWithin: 0 },
      },
    },
  )
  const ask = (request: object, path = api.path) =>
    ai.edge.ask(call(`${ai.rest}/${path}`, JSON.stringify(request), `Authorization: Bearer ${ai.token}`))
  return { ai, first, second, ask }
}

function eventsOf(text: string): readonly Part[] {
  return text.split('\n\n').flatMap(event => (event === '' ? [] : [JSON.parse(event.slice('data: '.length))]))
}

for (const [name, api] of Object.entries(apis))
  for (const isStream of [false, true])
    test(`a conversation by ${name} moves to another provider and back${isStream ? ', streamed' : ''}`, async t => {
      const { ai, first, second, ask } = await start(t, api)
      const history: (readonly Part[])[] = []
      const turn = async () => {
        const response = await ask({ model: 'fast', stream: isStream, ...api.request(history) })
        equal(response.status, 200, response.text)
        const body = isStream ? null : JSON.parse(response.text)
        history.push(
          isStream
            ? api.gather(eventsOf(response.text))
            : (body.content ?? body.output ?? body.choices.map(({ message }: { message: Part }) => message)),
        )
        return response.field('svc-aig-dropped')
      }
      const bodyAt = (origin: Origin, model: string, request: object) =>
        equal(
          origin.requests.at(-1)!.text.replace('"stream_options":{"include_usage":true},', ''),
          JSON.stringify({ model, stream: isStream, ...request }),
        )
      const [ofFirst, ofSecond] = [api.turn('firsts/secret'), api.turn('seconds+secret')]

      equal(await turn(), null)
      first.isBusy = true
      equal(await turn(), api.dropped)
      bodyAt(second, 'n', api.request([api.without(ofFirst)]))
      equal(await turn(), api.dropped)
      bodyAt(second, 'n', api.request([api.without(ofFirst), ofSecond]))
      first.isBusy = false
      equal(await turn(), api.dropped)
      bodyAt(first, 'm', api.request([ofFirst, api.without(ofSecond), api.without(ofSecond)]))

      deepEqual(
        history.map(turn => JSON.stringify(turn).match(/svc\.[a-z-]+\./)![0]),
        [0, 1, 1, 0].map(i => `svc.${api.providers[i]}.`),
      )
      ok((await ai.entry(4)).success)
    })

test('a response without reasoning keeps its length', async t => {
  const { first, ask } = await start(t, {
    ...apis.chat!,
    turn: () => [{ role: 'assistant', content: 'So.' }],
  })
  const response = await ask({ model: 'fast', messages: [question] })
  equal(response.field('content-length'), String(response.text.length))
  equal(first.requests.length, 1)
})

test('the result of /ai/run is tagged in its envelope, and taken back from an input', async t => {
  const { first, ask } = await start(t, apis.responses!)
  const { text } = await ask({ input: 'Why?' }, 'run/fast')
  const { success, result } = JSON.parse(text)
  deepEqual([success, result.output[0].encrypted_content], [true, 'svc.openai.firsts/secret'])
  await ask({ model: 'fast', input: { input: result.output } }, 'run')
  deepEqual(JSON.parse(first.requests.at(-1)!.text).input, apis.responses!.turn('firsts/secret'))
})

test('a call by the name of a model gets no tags, and loses what has that of another provider', async t => {
  const { first, ask } = await start(t, apis.messages!)
  const request = { model: 'anthropic/m', messages: [{ role: 'assistant', content: turn('svc.anthropic.') }] }
  const response = await ask(request)
  deepEqual(JSON.parse(response.text).content, apis.messages!.turn('firsts/secret'))
  deepEqual(JSON.parse(first.requests.at(-1)!.text).messages[0].content, turn(''))
  request.messages[0]!.content = turn('')
  await ask(request)
  equal(first.requests.at(-1)!.text, JSON.stringify(request).replace('anthropic/m', 'm'))
  request.messages[0]!.content = turn('svc.custom-claude.')
  await ask(request)
  equal(first.requests.at(-1)!.text, JSON.stringify({ model: 'm', messages: [] }))

  function turn(tag: string) {
    return [
      { type: 'thinking', thinking: 'Hm.', signature: `${tag}abc` },
      { type: 'redacted_thinking', data: `${tag}def` },
    ]
  }
})

test('thinking that led to the use of a tool goes to its own provider or nowhere', async t => {
  const { first, second, ask } = await start(t, apis.messages!)
  const request = (signature: string) => ({
    model: 'fast',
    max_tokens: 2048,
    thinking: { type: 'enabled', budget_tokens: 1024 },
    messages: [
      question,
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature },
          { type: 'tool_use', id: 't', name: 'look', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: '1' }] },
    ],
  })
  const passedOver = await ask(request('svc.custom-claude.abc'))
  equal(passedOver.status, 200)
  equal(passedOver.field('svc-aig-step'), '1')
  equal(JSON.parse(second.requests[0]!.text).messages[1].content[0].signature, 'abc')

  first.isBusy = true
  equal((await ask(request('svc.anthropic.abc'))).status, 503)
  deepEqual([first.requests.length, second.requests.length], [1, 1])

  const refused = await ask(request('abc'))
  equal(refused.status, 400)
  match(refused.text, /messages\.1\.content\.0 must be from anthropic, since its turn ends in tool use/)
  match(refused.text, /"\/messages\/1\/content\/0"/)
})
