// Callers of Messages at a provider that has only Responses: the published clients, tools and reasoning included.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai'
import { type AiEdge, startAi } from '../help/ai.ts'
import { message } from '../help/messages-provider.ts'
import { type Asked, type Provider, type Reply, say, startProvider, stream } from '../help/provider.ts'
import { type Item, type Json, response, streamOf } from '../help/responses-provider.ts'

interface Setting {
  readonly ai: AiEdge
  readonly provider: Provider
  readonly client: Anthropic
}

async function start(t: TestContext, reply: Reply): Promise<Setting> {
  const provider = await startProvider(t, reply)
  const ai = await startAi(t, {
    'custom-lab': { url: `${provider.url}/v1`, keys: ['k'], apis: ['responses'] },
  })
  return { ai, provider, client: clientOf(ai) }
}

function clientOf(ai: AiEdge): Anthropic {
  const baseURL = `http://127.0.0.1:${ai.edge.port}${ai.rest}`
  return new Anthropic({ baseURL, authToken: ai.token, apiKey: null, maxRetries: 0 })
}

const ask = {
  model: 'custom-lab/gpt-5',
  max_tokens: 64,
  messages: [{ role: 'user' as const, content: 'Say hello.' }],
}

const reasoning: Item = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'Ask the tool.' }],
  encrypted_content: 'gAAA',
}
const hello: Item = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
}
const call = (id: string, city: string): Item => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'weather',
  arguments: JSON.stringify({ city }),
})

function send(reply: ServerResponse, { body }: Asked, output: readonly Item[], more: Json = {}): void {
  if (body.stream !== true) return say(reply, response(output, more))
  const type = more.status === 'incomplete' ? 'response.incomplete' : 'response.completed'
  const write = stream(reply)
  for (const event of streamOf(output, type, more)) write(event, event.type as string)
  reply.end()
}

/** Calls two tools at once, and ends once their results are there. */
const withTools: Reply = (asked, reply) => {
  const items = asked.body.input as readonly Json[]
  const results = items.filter(({ type }) => type === 'function_call_output')
  send(reply, asked, results.length === 2 ? [hello] : [reasoning, call('c1', 'Oslo'), call('c2', 'Bern')])
}

/** What the second request of a conversation repeats of the first response. */
function historyOf({ asked }: Provider): readonly unknown[] {
  assert.equal(asked.length, 2)
  assert.deepEqual(new Set(asked.map(({ path }) => path)), new Set(['/v1/responses']))
  for (const { body } of asked) assert.equal(body.store, false)
  return (asked[1]!.body.input as readonly unknown[]).slice(1)
}

const sent = [
  { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' },
  { type: 'function_call', call_id: 'c2', name: 'weather', arguments: '{"city":"Bern"}' },
  { type: 'function_call_output', call_id: 'c1', output: 'sunny in Oslo' },
  { type: 'function_call_output', call_id: 'c2', output: 'sunny in Bern' },
]

const inputSchema = { type: 'object' as const, properties: { city: { type: 'string' as const } } }
const run = (args: unknown) => `sunny in ${(args as { city: string }).city}`

for (const isStreamed of [false, true]) {
  const how = isStreamed ? 'streamed' : 'whole'

  test(`the tool runner keeps the reasoning of the provider, ${how}`, async t => {
    const { client, provider, ai } = await start(t, withTools)
    const last = await client.beta.messages
      .toolRunner({
        ...ask,
        max_tokens: 20_000,
        thinking: { type: 'enabled', budget_tokens: 10_000 },
        tools: [betaTool({ name: 'weather', description: 'Weather.', inputSchema, run })],
        stream: isStreamed,
        thread: false as const,
      })
      .runUntilDone()
    assert.deepEqual(last.content as unknown, [{ type: 'text', text: 'Hello.' }])
    assert.deepEqual(historyOf(provider), [reasoning, ...sent])
    assert.deepEqual(provider.asked[0]!.body.reasoning, { effort: 'medium', summary: 'auto' })
    const { tokensIn, tokensOut, provider: name } = await ai.entry(2)
    assert.deepEqual([tokensIn, tokensOut, name], [14, 7, 'custom-lab'])
  })

  test(`the AI SDK runs tools with reasoning, ${how}`, async t => {
    const { provider, ai } = await start(t, withTools)
    const model = createAnthropic({
      baseURL: `http://127.0.0.1:${ai.edge.port}${ai.rest}/v1`,
      authToken: ai.token,
    })(ask.model)
    const weather = tool({
      description: 'Weather.',
      inputSchema: jsonSchema<{ city: string }>(inputSchema),
      execute: run,
    })
    const request = {
      model,
      prompt: 'Say hello.',
      tools: { weather },
      stopWhen: stepCountIs(3),
      providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 4_000 } } },
    } as const
    const text = isStreamed ? await streamText(request).text : (await generateText(request)).text
    assert.equal(text, 'Hello.')
    assert.deepEqual(historyOf(provider), [reasoning, ...sent])
  })

  test(`an incomplete response has its reason, ${how}`, async t => {
    const more = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    const { client } = await start(t, (asked, reply) => send(reply, asked, [hello], more))
    const message = isStreamed
      ? await client.messages.stream(ask).finalMessage()
      : await client.messages.create(ask)
    const { input_tokens, cache_read_input_tokens, output_tokens } = message.usage
    assert.deepEqual(
      [message.stop_reason, input_tokens, cache_read_input_tokens, output_tokens],
      ['max_tokens', 10, 4, 7],
    )
  })
}

test('errors have the form of Messages, before the stream and within it', async t => {
  const error = {
    message: 'No such model',
    type: 'invalid_request_error',
    code: 'model_not_found',
    param: null,
  }
  const { client } = await start(t, (_, reply) => say(reply, { error }, 404))
  await assert.rejects(client.messages.create(ask), (thrown: unknown) => {
    assert.ok(thrown instanceof Anthropic.NotFoundError)
    assert.deepEqual(thrown.error, {
      type: 'error',
      error: { type: 'not_found_error', message: 'No such model' },
    })
    return true
  })
  const failed = await start(t, (_, reply) => {
    const write = stream(reply)
    const error = { code: 'rate_limit_exceeded', message: 'Slow down' }
    for (const event of streamOf([hello]).slice(0, 4)) write(event, event.type as string)
    write({ type: 'response.failed', response: response([], { status: 'failed', error }) }, 'response.failed')
    reply.end()
  })
  await assert.rejects(failed.client.messages.stream(ask).finalMessage(), /rate_limit_error.*Slow down/)
  const cut = await start(t, (_, reply) => {
    const write = stream(reply)
    for (const event of streamOf([hello]).slice(0, 4)) write(event, event.type as string)
    reply.end()
  })
  await assert.rejects(cut.client.messages.stream(ask).finalMessage(), Anthropic.APIError)
})

test('on an alias, reasoning goes to no other provider', async t => {
  const one = await startProvider(t, withTools)
  const other = await startProvider(t, withTools)
  const lab = (url: string) => ({ url: `${url}/v1`, keys: ['k'], apis: ['responses' as const] })
  const ai = await startAi(
    t,
    { 'custom-one': lab(one.url), 'custom-other': lab(other.url) },
    {
      ai: {
        models: [
          {
            name: 'fast',
            steps: ['custom-one/gpt-5', 'custom-other/gpt-5'].map(model => ({
              model,
              retries: 0,
              timeout: null,
              weight: null,
            })),
          },
        ],
      },
    },
  )
  const client = clientOf(ai)
  const thinking = { type: 'adaptive' as const }
  const first = await client.messages.create({ ...ask, model: 'fast', thinking })
  assert.equal((first.content[0] as Anthropic.ThinkingBlock).thinking, 'Ask the tool.')
  await one.stop()
  const results = ['c1', 'c2'].map(id => ({
    type: 'tool_result' as const,
    tool_use_id: id,
    content: 'sunny',
  }))
  const messages = [
    ...ask.messages,
    { role: 'assistant' as const, content: first.content },
    { role: 'user' as const, content: results },
  ]
  const { data, response: head } = await client.messages
    .create({ ...ask, model: 'fast', thinking, messages })
    .withResponse()
  assert.deepEqual(data.content as unknown, [{ type: 'text', text: 'Hello.' }])
  assert.equal(head.headers.get('svc-aig-dropped'), 'messages[].content[].thinking')
  const input = other.asked[0]!.body.input as readonly Json[]
  assert.deepEqual(
    input.map(({ type }) => type),
    [undefined, 'function_call', 'function_call', 'function_call_output', 'function_call_output'],
  )
})

test('a conversation moves from a provider of Messages to one of Responses and back, each with its own reasoning', async t => {
  const thought = { type: 'thinking', thinking: 'Hm.', signature: 'ErcB' }
  const anthropic = await startProvider(t, (_, reply) =>
    say(reply, message([thought, { type: 'text', text: 'A' }])),
  )
  const lab = await startProvider(t, (asked, reply) => send(reply, asked, [reasoning, hello]))
  const steps = ['anthropic/claude-sonnet-5', 'custom-lab/gpt-5'].map(model => ({
    model,
    retries: 0,
    timeout: null,
    weight: null,
  }))
  const ai = await startAi(
    t,
    {
      anthropic: { url: anthropic.url, keys: ['k'] },
      'custom-lab': { url: `${lab.url}/v1`, keys: ['k'], apis: ['responses'] },
    },
    { ai: { models: [{ name: 'fast', steps }] } },
  )
  const client = clientOf(ai)
  const messages: Anthropic.MessageParam[] = [...ask.messages]
  const turn = async () => {
    const thinking = { type: 'adaptive' as const }
    const { content } = await client.messages.create({ ...ask, model: 'fast', thinking, messages })
    messages.push({ role: 'assistant', content }, { role: 'user', content: 'And?' })
    return content
  }
  await turn()
  await anthropic.stop()
  assert.equal((await turn()).length, 2)
  assert.deepEqual(
    (lab.asked[0]!.body.input as Json[]).map(({ role, content }) => [role, content]),
    [
      ['user', 'Say hello.'],
      ['assistant', 'A'],
      ['user', 'And?'],
    ],
  )
  await turn()
  assert.deepEqual((lab.asked[1]!.body.input as Json[])[3], reasoning)
  await anthropic.start()
  await turn()
  const sent = anthropic.asked.at(-1)!.body.messages as Json[]
  const text = [{ type: 'text', text: 'Hello.' }]
  assert.deepEqual(
    sent.filter(({ role }) => role === 'assistant').map(({ content }) => content),
    [[thought, { type: 'text', text: 'A' }], text, text],
  )
})
