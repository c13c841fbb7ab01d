// The OpenAI SDK against the gateway, with nothing but its base URL and key changed.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import OpenAI from 'openai'
import { type AiEdge, type AiSettings, completion, startAi } from '../help/ai.ts'
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
  readonly client: OpenAI
}

async function start(t: TestContext, reply: Reply, settings: AiSettings = {}): Promise<Setting> {
  const provider = await startProvider(t, reply)
  const ai = await startAi(t, { openai: { url: provider.url, keys: ['sk-ours'] } }, settings)
  return { ai, provider, client: clientOf(ai) }
}

function clientOf(ai: AiEdge): OpenAI {
  const baseURL = `http://127.0.0.1:${ai.edge.port}${ai.rest}/v1`
  return new OpenAI({ baseURL, apiKey: ai.token, maxRetries: 0 })
}

const ask = {
  model: 'openai/gpt-4o-mini',
  messages: [{ role: 'user', content: 'Say hello.' }],
} satisfies OpenAI.Chat.ChatCompletionCreateParams

function chunk(delta: unknown, finish_reason: string | null = null) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-4o-mini',
    choices: [{ index: 0, delta, finish_reason }],
  }
}

test('create gives the completion of the provider, whose key stays with the gateway', async t => {
  const { client, provider, ai } = await start(t, (_, response) => say(response, completion))
  const { choices, usage } = await client.chat.completions.create(ask)
  assert.deepEqual([choices[0]!.message.content, usage!.total_tokens], ['Hello.', 12])
  const [asked] = provider.asked
  assert.deepEqual([asked!.path, asked!.body.model], ['/chat/completions', 'gpt-4o-mini'])
  assert.equal(asked!.headers.authorization, 'Bearer sk-ours')
  assert.equal((await ai.entry()).tokensIn, 9)
})

const sayHello: Reply = (_, response) => {
  const send = stream(response)
  send(chunk({ role: 'assistant', content: '' }))
  for (const word of ['Hel', 'lo.']) send(chunk({ content: word }))
  send(chunk({}, 'stop'))
  send('[DONE]')
  response.end()
}

async function streamedBy(client: OpenAI): Promise<string> {
  const words: string[] = []
  for await (const { choices } of await client.chat.completions.create({ ...ask, stream: true }))
    words.push(choices[0]!.delta.content ?? '')
  return words.join('')
}

test('stream gives each piece, and the end', async t => {
  const { client } = await start(t, sayHello)
  assert.equal(await streamedBy(client), 'Hello.')
})

test('completions and streams come from a provider of HTTP/2 as well', async t => {
  const provider = await startHttp2Provider(t, (asked, response) =>
    asked.body.stream === true ? sayHello(asked, response) : say(response, completion),
  )
  const ai = await startAi(t, { openai: { ...provider.config, keys: ['sk-ours'] } })
  const client = clientOf(ai)
  const [streamed, { usage }] = await Promise.all([streamedBy(client), client.chat.completions.create(ask)])
  assert.deepEqual([streamed, usage!.total_tokens], ['Hello.', 12])
  assert.deepEqual([provider.asked.length, provider.sessions.length], [2, 1])
})

test('abort in mid-stream ends the stream at the provider too', async t => {
  const { client, provider } = await start(
    t,
    (_, response) => void stream(response)(chunk({ content: 'Hel' })),
  )
  const running = await client.chat.completions.create({ ...ask, stream: true })
  for await (const _ of running) running.controller.abort()
  await provider.left.promise
})

test('tools are called, and their results sent back', async t => {
  const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } }
  const { client, provider } = await start(t, ({ body }, response) => {
    const isSecond = (body.messages as unknown[]).length > 1
    const message = isSecond
      ? { role: 'assistant', content: 'Sunny.' }
      : { role: 'assistant', content: null, tool_calls: [call] }
    say(response, {
      ...completion,
      choices: [{ index: 0, message, finish_reason: isSecond ? 'stop' : 'tool_calls', logprobs: null }],
    })
  })
  const runner = client.chat.completions.runTools({
    ...ask,
    tools: [
      {
        type: 'function',
        function: {
          name: 'weather',
          description: 'Tells the weather.',
          parameters: { type: 'object', properties: { city: { type: 'string' } } },
          parse: JSON.parse,
          function: ({ city }: { city: string }) => `Sunny in ${city}`,
        },
      },
    ],
  })
  assert.equal(await runner.finalContent(), 'Sunny.')
  const [, , result] = provider.asked[1]!.body.messages as { role: string; content: string }[]
  assert.deepEqual([result!.role, result!.content], ['tool', 'Sunny in Bern'])
})

test('responses and embeddings work as well', async t => {
  const { client } = await start(t, ({ path }, response) =>
    say(
      response,
      path === '/embeddings'
        ? {
            object: 'list',
            data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
            model: 'e',
            usage: { prompt_tokens: 2, total_tokens: 2 },
          }
        : {
            id: 'resp_1',
            object: 'response',
            status: 'completed',
            model: 'gpt-4o',
            output: [
              {
                type: 'message',
                id: 'm',
                role: 'assistant',
                status: 'completed',
                content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
              },
            ],
            usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12 },
          },
    ),
  )
  const response = await client.responses.create({ model: 'openai/gpt-4o', input: 'Hi' })
  assert.equal(response.output_text, 'Hello.')
  const { data } = await client.embeddings.create({
    model: 'openai/text-embedding-3-small',
    input: 'Hi',
    encoding_format: 'float',
  })
  assert.deepEqual(data[0]!.embedding, [0.5, 0.25])
})

test('a token that is not valid is an AuthenticationError that says so', async t => {
  const { client, ai, provider } = await start(t, () => assert.fail('nobody is asked'))
  const stranger = client.withOptions({ apiKey: 'svct_nonsense', maxRetries: 2 })
  await assert.rejects(stranger.chat.completions.create(ask), (error: unknown) => {
    assert.ok(error instanceof OpenAI.AuthenticationError)
    assert.match(error.message, /401 Authentication error/)
    return true
  })
  assert.equal(provider.asked.length, 0)
  await ai.logs.close()
  assert.equal(await ai.store.logs.count(ai.account, 'default'), 0)
})

test('an unknown model is a NotFoundError, and a bad request a BadRequestError, each with its reason', async t => {
  const { client } = await start(t, () => assert.fail('nobody is asked'))
  await assert.rejects(client.chat.completions.create({ ...ask, model: 'nobody/gpt' }), error => {
    assert.ok(error instanceof OpenAI.NotFoundError)
    assert.match(error.message, /nobody/)
    return true
  })
  const odd = client.withOptions({ defaultHeaders: { 'svc-aig-metadata': 'no JSON' } })
  await assert.rejects(odd.chat.completions.create(ask), error => {
    assert.ok(error instanceof OpenAI.BadRequestError)
    assert.match(error.message, /svc-aig-metadata/)
    return true
  })
})

test('an error of the provider is the error that its own SDK defines', async t => {
  const { client } = await start(t, (_, response) =>
    say(response, { error: { message: 'Slow down', type: 'requests', code: 'rate_limit_exceeded' } }, 429, {
      'x-should-retry': 'false',
    }),
  )
  await assert.rejects(client.chat.completions.create(ask), error => {
    assert.ok(error instanceof OpenAI.RateLimitError)
    assert.equal(error.code, 'rate_limit_exceeded')
    return true
  })
})

test('a retryable failure of the gateway is retried after its Retry-After, and no sooner', async t => {
  const { client, provider } = await start(t, ({ headers }, response) => {
    if (headers['x-stainless-retry-count'] === '0') response.socket!.destroy()
    else say(response, completion)
  })
  const answers = answersOf(client)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asking = answers.client.chat.completions.create(ask)
  await answers.first
  const waited = await secondsUntil(t, () => provider.asked.length === 2)
  assert.deepEqual(
    [answers.seen[0]!.status, answers.seen[0]!.headers.get('retry-after'), waited],
    [520, '60', 60],
  )
  assert.equal((await asking).choices[0]!.message.content, 'Hello.')
})

test('a failure that is not retryable is not retried', async t => {
  const { client } = await start(t, () => assert.fail('nobody is asked'))
  const answers = answersOf(client)
  await assert.rejects(
    answers.client.chat.completions.create({ ...ask, model: 'nobody/gpt' }),
    OpenAI.NotFoundError,
  )
  assert.equal(answers.seen.length, 1)
})

/** The client with retries, and every answer that it gets. */
function answersOf(client: OpenAI) {
  const seen: Response[] = []
  const { promise: first, resolve } = Promise.withResolvers<void>()
  const watched = client.withOptions({
    maxRetries: 1,
    fetch: async (...request) => {
      const answer = await fetch(...request)
      seen.push(answer)
      resolve()
      return answer
    },
  })
  return { client: watched, seen, first }
}

test('a token where the SDK puts its key is told its place by the message of the error, on a provider-native endpoint', async t => {
  const { ai, provider } = await start(t, (_, response) => say(response, completion))
  const baseURL = `http://127.0.0.1:${ai.edge.port}${ai.native('openai')}`
  const client = new OpenAI({ baseURL, apiKey: ai.token, maxRetries: 2 })
  await assert.rejects(client.chat.completions.create({ ...ask, model: 'gpt-4o-mini' }), {
    status: 400,
    message:
      '400 A credential of this gateway must not be in the header authorization: send it as svc-aig-authorization: Bearer TOKEN',
  })
  assert.equal(provider.asked.length, 0)
})
