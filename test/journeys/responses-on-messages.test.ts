// Callers of Responses at a provider that has only Messages: the published clients, tools and thinking included.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { type AiEdge, startAi } from '../help/ai.ts'
import { message, messageEvents } from '../help/messages-provider.ts'
import { type Asked, type Provider, type Reply, say, startProvider, stream } from '../help/provider.ts'

type Json = Record<string, unknown>

interface Setting {
  readonly ai: AiEdge
  readonly provider: Provider
  readonly client: OpenAI
}

async function start(t: TestContext, reply: Reply): Promise<Setting> {
  const provider = await startProvider(t, reply)
  const ai = await startAi(t, { anthropic: { url: provider.url, keys: ['k'] } })
  return { ai, provider, client: clientOf(ai) }
}

function clientOf(ai: AiEdge): OpenAI {
  const baseURL = `http://127.0.0.1:${ai.edge.port}${ai.rest}/v1`
  return new OpenAI({ baseURL, apiKey: ai.token, maxRetries: 0 })
}

const ask = { model: 'anthropic/claude-sonnet-4-5', input: 'Say hello.' }

const thinking = { type: 'thinking', thinking: 'Ask the tool.', signature: 'ErcB' }
const hello = { type: 'text', text: 'Hello.' }
const use = (id: string, city: string) => ({ type: 'tool_use', id, name: 'weather', input: { city } })
const calls = [thinking, use('toolu_1', 'Oslo'), use('toolu_2', 'Bern')]

function send(reply: ServerResponse, { body }: Asked, content: readonly Json[], more: Json = {}): void {
  if (body.stream !== true) return say(reply, message(content, more))
  const write = stream(reply)
  for (const event of messageEvents(content, more)) write(event, event.type as string)
  reply.end()
}

/** Calls two tools at once, and ends once their results are there. */
const withTools: Reply = (asked, reply) => {
  const hasResults = JSON.stringify(asked.body.messages).includes('tool_result')
  send(reply, asked, hasResults ? [hello] : calls)
}

/** What the second request of a conversation repeats of the first response, and adds. */
function historyOf({ asked }: Provider): readonly unknown[] {
  assert.equal(asked.length, 2)
  for (const { path } of asked) assert.equal(path, '/v1/messages')
  return (asked[1]!.body.messages as readonly unknown[]).slice(1)
}

const results = ['toolu_1', 'toolu_2'].map((tool_use_id, i) => ({
  type: 'tool_result',
  tool_use_id,
  content: [{ type: 'text', text: `sunny in ${['Oslo', 'Bern'][i]}` }],
}))
const history = [
  { role: 'assistant', content: calls },
  { role: 'user', content: results },
]

const parameters = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
}
const run = ({ city }: { readonly city: string }) => `sunny in ${city}`

for (const isStreamed of [false, true]) {
  const how = isStreamed ? 'streamed' : 'whole'

  test(`tools run with the thinking of the provider, ${how}`, async t => {
    const { client, provider, ai } = await start(t, withTools)
    const request = {
      model: ask.model,
      reasoning: { effort: 'medium' as const },
      tools: [{ type: 'function' as const, name: 'weather', parameters, strict: false }],
    }
    const { responses } = client
    const respond = (input: OpenAI.Responses.ResponseInput) =>
      isStreamed
        ? responses.stream({ ...request, input }).finalResponse()
        : responses.create({ ...request, input })
    const first = await respond([{ role: 'user', content: 'Say hello.' }])
    const [{ summary }] = first.output as [OpenAI.Responses.ResponseReasoningItem]
    assert.deepEqual(summary, [{ type: 'summary_text', text: 'Ask the tool.' }])
    const outputs = first.output.flatMap(item =>
      item.type === 'function_call'
        ? [
            {
              type: 'function_call_output' as const,
              call_id: item.call_id,
              output: run(JSON.parse(item.arguments)),
            },
          ]
        : [],
    )
    const input = [{ role: 'user', content: 'Say hello.' }, ...first.output, ...outputs]
    const last = await respond(input as OpenAI.Responses.ResponseInput)
    assert.equal(last.output_text, 'Hello.')
    assert.deepEqual(historyOf(provider), history)
    assert.deepEqual(provider.asked[1]!.body.thinking, { type: 'enabled', budget_tokens: 10_000 })
    const { tokensIn, tokensOut, provider: name, cost } = await ai.entry(2)
    assert.deepEqual([tokensIn, tokensOut, name], [16, 7, 'anthropic'])
    assert.ok(cost !== null && cost > 0)
  })

  test(`the AI SDK runs tools with reasoning, ${how}`, async t => {
    const { provider, ai } = await start(t, withTools)
    const baseURL = `http://127.0.0.1:${ai.edge.port}${ai.rest}/v1`
    const weather = tool({
      description: 'Weather.',
      inputSchema: jsonSchema<{ city: string }>(parameters),
      execute: run,
    })
    const request = {
      model: createOpenAI({ baseURL, apiKey: ai.token }).responses(ask.model),
      prompt: 'Say hello.',
      tools: { weather },
      stopWhen: stepCountIs(3),
      providerOptions: {
        openai: { store: false, forceReasoning: true, include: ['reasoning.encrypted_content'] },
      },
    } as const
    const text = isStreamed ? await streamText(request).text : (await generateText(request)).text
    assert.equal(text, 'Hello.')
    assert.deepEqual(historyOf(provider), history)
  })

  test(`a custom tool gets its text, ${how}`, async t => {
    const patch = '*** Begin Patch\n+"x"\n*** End Patch'
    const edit = { type: 'tool_use', id: 'toolu_1', name: 'apply_patch', input: { input: patch } }
    const { client } = await start(t, (asked, reply) => send(reply, asked, [edit]))
    const tools = [{ type: 'custom' as const, name: 'apply_patch', description: 'Edits files.' }]
    const { output } = isStreamed
      ? await client.responses.stream({ ...ask, tools }).finalResponse()
      : await client.responses.create({ ...ask, tools })
    const [{ type, input, name, call_id }] = output as [OpenAI.Responses.ResponseCustomToolCall]
    assert.deepEqual([type, input, name, call_id], ['custom_tool_call', patch, 'apply_patch', 'toolu_1'])
  })

  test(`an incomplete response has its reason, ${how}`, async t => {
    const more = { stop_reason: 'max_tokens' }
    const { client } = await start(t, (asked, reply) => send(reply, asked, [hello], more))
    const { status, incomplete_details } = isStreamed
      ? await client.responses.stream(ask).finalResponse()
      : await client.responses.create(ask)
    assert.deepEqual([status, incomplete_details], ['incomplete', { reason: 'max_output_tokens' }])
  })
}

test('errors have the form of OpenAI, before the stream and within it', async t => {
  const error = { type: 'overloaded_error', message: 'Overloaded' }
  const { client } = await start(t, (_, reply) => say(reply, { type: 'error', error }, 529))
  await assert.rejects(client.responses.create(ask), (thrown: unknown) => {
    assert.ok(thrown instanceof OpenAI.APIError)
    assert.deepEqual([thrown.status, thrown.error], [529, { ...error, param: null, code: null }])
    return true
  })
  const begun = messageEvents([hello]).slice(0, 4)
  const failed = await start(t, (_, reply) => {
    const write = stream(reply)
    for (const event of [...begun, { type: 'error', error }]) write(event, event.type as string)
    reply.end()
  })
  const events = await Array.fromAsync(await failed.client.responses.create({ ...ask, stream: true }))
  const last = events.at(-1)!
  assert.ok(last.type === 'response.failed')
  assert.equal(last.response.error!.message, 'Overloaded')
  const cut = await start(t, (_, reply) => {
    const write = stream(reply)
    for (const event of begun) write(event, event.type as string)
    reply.end()
  })
  await assert.rejects(
    async () => Array.fromAsync(await cut.client.responses.create({ ...ask, stream: true })),
    OpenAI.APIError,
  )
})

test('what needs a store is refused by name', async t => {
  const { client, provider } = await start(t, withTools)
  const refused = [
    { previous_response_id: 'resp_1' },
    { store: true },
    { background: true },
    { conversation: 'c' },
  ]
  for (const member of refused)
    await assert.rejects(client.responses.create({ ...ask, ...member }), (thrown: unknown) => {
      assert.ok(thrown instanceof OpenAI.BadRequestError)
      assert.match(thrown.message, new RegExp(Object.keys(member)[0]!))
      return true
    })
  assert.equal(provider.asked.length, 0)
})

test('on an alias, reasoning goes to no other provider', async t => {
  const one = await startProvider(t, withTools)
  const other = await startProvider(t, withTools)
  const steps = ['anthropic/claude-sonnet-4-5', 'custom-claude/claude-sonnet-4-5'].map(model => ({
    model,
    retries: 0,
    timeout: null,
    weight: null,
  }))
  const ai = await startAi(
    t,
    {
      anthropic: { url: one.url, keys: ['k'] },
      'custom-claude': { url: other.url, keys: ['k'], speaks: 'anthropic' },
    },
    { ai: { models: [{ name: 'fast', steps }] } },
  )
  const client = clientOf(ai)
  const request = { model: 'fast', reasoning: { effort: 'medium' as const } }
  const first = await client.responses.create({ ...request, input: 'Say hello.' })
  await one.stop()
  const outputs = ['toolu_1', 'toolu_2'].map(call_id => ({
    type: 'function_call_output' as const,
    call_id,
    output: 'sunny',
  }))
  const input = [{ role: 'user', content: 'Say hello.' }, ...first.output, ...outputs]
  const { data, response } = await client.responses
    .create({ ...request, input: input as OpenAI.Responses.ResponseInput })
    .withResponse()
  assert.equal(data.output_text, 'Hello.')
  assert.equal(response.headers.get('svc-aig-dropped'), 'input[].reasoning, reasoning.effort')
  const [, turn] = other.asked[0]!.body.messages as readonly { readonly content: readonly Json[] }[]
  assert.deepEqual(turn!.content, calls.slice(1))
})
