// The Anthropic SDK against the gateway, with nothing but its base URL and credential changed: on the REST API, to providers of its own API and of another.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { type AiEdge, completion, startAi } from '../help/ai.ts'
import { freePort } from '../help/free-port.ts'
import { secondsUntil } from '../help/clock.ts'
import {
  type Provider,
  type Reply,
  say,
  startHttp2Provider,
  startProvider,
  stream,
} from '../help/provider.ts'

interface Setting {
  readonly ai: AiEdge
  readonly provider: Provider
  /** On the REST API, its token in Authorization. */
  readonly client: Anthropic
  /** On the provider-native endpoint, with a key of its own. */
  readonly native: Anthropic
}

async function start(t: TestContext, reply: Reply, port = 0): Promise<Setting> {
  const provider = await startProvider(t, reply, port)
  const ai = await startAi(t, { anthropic: { url: provider.url, keys: ['ant-ours'] }, openai: provider.url })
  const edge = `http://127.0.0.1:${ai.edge.port}`
  const native = new Anthropic({
    baseURL: `${edge}${ai.native('anthropic')}`,
    apiKey: 'ant-own',
    defaultHeaders: { 'svc-aig-authorization': `Bearer ${ai.token}` },
    maxRetries: 0,
  })
  return { ai, provider, client: clientOf(ai), native }
}

function clientOf(ai: AiEdge): Anthropic {
  // The SDK adds /v1/messages to its base.
  const baseURL = `http://127.0.0.1:${ai.edge.port}${ai.rest}`
  return new Anthropic({ baseURL, authToken: ai.token, apiKey: null, maxRetries: 0 })
}

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-5-5',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 3 },
}

const ask = {
  model: 'anthropic/claude-sonnet-5-5',
  max_tokens: 64,
  messages: [{ role: 'user', content: 'Say hello.' }],
} satisfies Anthropic.MessageCreateParams

function sendMessage(send: (data: { type: string }, name: string) => void, text: readonly string[]): void {
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...text.map(piece => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: piece },
    })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 3 },
    },
    { type: 'message_stop' },
  ]
  for (const event of events) send(event, event.type)
}

test('create on the provider-native endpoint passes the key of the caller', async t => {
  const { native, provider } = await start(t, (_, response) => say(response, message))
  const { content } = await native.messages.create({ ...ask, model: 'claude-sonnet-5-5' })
  assert.deepEqual(content, message.content)
  const { path, headers } = provider.asked[0]!
  assert.deepEqual(
    [path, headers.authorization, headers['svc-aig-authorization']],
    ['/v1/messages', 'Bearer ant-own', undefined],
  )
})

test('create on the REST API fills in the key of the gateway', async t => {
  const { client, provider } = await start(t, (_, response) => say(response, message))
  assert.equal((await client.messages.create(ask)).usage.output_tokens, 3)
  const { headers, body } = provider.asked[0]!
  assert.deepEqual(
    [headers['x-api-key'], headers.authorization, body.model],
    ['ant-ours', undefined, 'claude-sonnet-5-5'],
  )
})

const sayHello: Reply = (_, response) => {
  sendMessage(stream(response), ['Hel', 'lo.'])
  response.end()
}

test('stream gives the message piece by piece, and whole', async t => {
  const { client, ai } = await start(t, sayHello)
  const pieces: string[] = []
  const running = client.messages.stream(ask).on('text', piece => pieces.push(piece))
  const final = await running.finalMessage()
  assert.deepEqual(pieces, ['Hel', 'lo.'])
  assert.deepEqual(final.content[0], { type: 'text', text: 'Hello.' })
  const { tokensIn, tokensOut, model } = await ai.entry()
  assert.deepEqual([tokensIn, tokensOut, model], [9, 3, 'claude-sonnet-5-5'])
})

test('a stream comes from a provider of HTTP/2 as well', async t => {
  const provider = await startHttp2Provider(t, sayHello)
  const ai = await startAi(t, { anthropic: { ...provider.config, keys: ['ant-ours'] } })
  const pieces: string[] = []
  const running = clientOf(ai)
    .messages.stream(ask)
    .on('text', piece => pieces.push(piece))
  assert.deepEqual((await running.finalMessage()).content[0], { type: 'text', text: 'Hello.' })
  assert.deepEqual([pieces, provider.sessions.length], [['Hel', 'lo.'], 1])
  const { tokensIn, tokensOut } = await ai.entry()
  assert.deepEqual([tokensIn, tokensOut], [9, 3])
})

test('a provider of chat completions serves the Anthropic SDK, streaming and with tools', async t => {
  const { client, provider } = await start(t, (_, response) => {
    const send = stream(response)
    const chunk = (delta: unknown, finish_reason: string | null = null) =>
      send({
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'gpt-4o',
        choices: [{ index: 0, delta, finish_reason }],
      })
    chunk({ role: 'assistant', content: 'Let me look. ' })
    chunk({
      tool_calls: [
        { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } },
      ],
    })
    for (const piece of ['{"city"', ':"Bern"}'])
      chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })
    chunk({}, 'tool_calls')
    send({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'gpt-4o',
      choices: [],
      usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    })
    send('[DONE]')
    response.end()
  })
  const final = await client.messages
    .stream({
      ...ask,
      model: 'openai/gpt-4o',
      tools: [
        {
          name: 'weather',
          description: 'Tells the weather.',
          input_schema: { type: 'object', properties: { city: { type: 'string' } } },
        },
      ],
    })
    .finalMessage()
  assert.equal(provider.asked[0]!.path, '/chat/completions')
  assert.equal(final.stop_reason, 'tool_use')
  assert.deepEqual(
    final.content.map(block => (block.type === 'tool_use' ? [block.name, block.input] : block.type)),
    ['text', ['weather', { city: 'Bern' }]],
  )
  assert.deepEqual([final.usage.input_tokens, final.usage.output_tokens], [9, 3])
})

test('tool results go back to the provider as it knows them', async t => {
  const { client, provider } = await start(t, (_, response) => say(response, completion))
  const answer = await client.messages.create({
    ...ask,
    model: 'openai/gpt-4o',
    messages: [
      ...ask.messages,
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Bern' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'Sunny' }] },
    ],
  })
  assert.deepEqual(answer.content[0], { type: 'text', text: 'Hello.' })
  const [, call, result] = provider.asked[0]!.body.messages as Record<string, unknown>[]
  assert.equal((call!.tool_calls as { id: string }[])[0]!.id, 'call_1')
  assert.deepEqual([result!.role, result!.tool_call_id, result!.content], ['tool', 'call_1', 'Sunny'])
})

test('abort in mid-stream ends the stream at the provider too', async t => {
  const { client, provider } = await start(t, (_, response) => {
    stream(response)(
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      'message_start',
    )
  })
  const running = client.messages.stream(ask)
  running.on('streamEvent', () => running.abort())
  await assert.rejects(running.finalMessage(), Anthropic.APIUserAbortError)
  await provider.left.promise
})

test('a token that is not valid is an AuthenticationError, on either route, with its reason', async t => {
  const { client, native } = await start(t, () => assert.fail('nobody is asked'))
  for (const [refused, reason] of [
    [client.withOptions({ authToken: 'svct_nonsense' }), /Authentication error/],
    [native.withOptions({ defaultHeaders: { 'svc-aig-authorization': null } }), /Unauthorized/],
  ] as const) {
    await assert.rejects(refused.messages.create(ask), (error: unknown) => {
      assert.ok(error instanceof Anthropic.AuthenticationError)
      assert.match(error.message, reason)
      return true
    })
  }
})

test('a provider that dies in mid-stream is an error, not a short message', async t => {
  const { client } = await start(t, (_, response) => {
    stream(response)(
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      'message_start',
    )
    setImmediate(() => response.destroy())
  })
  await assert.rejects(client.messages.stream(ask).finalMessage(), (error: unknown) => {
    assert.ok(error instanceof Anthropic.APIError)
    assert.match(error.message, /origin_unknown_error/)
    return true
  })
})

test('a retryable failure of the gateway is retried after its Retry-After, and no sooner', async t => {
  const { client, provider } = await start(t, (_, response) => say(response, message), await freePort())
  await provider.stop()
  const answers: Response[] = []
  const { promise: first, resolve } = Promise.withResolvers<void>()
  const retrying = client.withOptions({
    maxRetries: 1,
    fetch: async (...request) => {
      const answer = await fetch(...request)
      answers.push(answer)
      resolve()
      return answer
    },
  })
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asking = retrying.messages.create(ask)
  await first
  await provider.start()
  const waited = await secondsUntil(t, () => provider.asked.length === 1)
  assert.deepEqual([answers[0]!.status, answers[0]!.headers.get('retry-after'), waited], [521, '120', 120])
  assert.equal((await asking).id, 'msg_1')
})

test('a token where the SDK puts its credential is told its place by the error, on a provider-native endpoint', async t => {
  const { ai, provider } = await start(t, (_, response) => say(response, message))
  const baseURL = `http://127.0.0.1:${ai.edge.port}${ai.native('anthropic')}`
  const told =
    'A credential of this gateway must not be in the header authorization: send it as svc-aig-authorization: Bearer TOKEN'
  for (const credential of [
    { authToken: ai.token, apiKey: null },
    { apiKey: ai.token, authToken: null },
  ]) {
    const client = new Anthropic({ baseURL, ...credential })
    const error = await client.messages.create({ ...ask, model: 'claude-sonnet-5-5' }).catch(error => error)
    assert.ok(error instanceof Anthropic.BadRequestError)
    assert.equal(error.message, `400 ${told}`)
    const { type, error: inner } = error.error as { type: string; error: { message: string } }
    assert.deepEqual([type, inner.message], ['error', told])
  }
  assert.equal(provider.asked.length, 0)
})
