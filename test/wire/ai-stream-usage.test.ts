// Streamed chats tell the log what they cost, whether or not their callers ask for it.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AiEdge, type AiSettings, call, startAi } from '../help/ai.ts'
import { type Origin, startResponder } from '../help/origin.ts'
import { chunks } from '../help/raw.ts'

const word = 'data: {"model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":"Hi"}}],"usage":null}\n\n'
const usage =
  'data: {"model":"gpt-4o-mini","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}\n\n'
const done = 'data: [DONE]\n\n'

/** A provider that tells the usage of a stream only where it is asked. */
async function start(t: TestContext, settings: AiSettings = {}): Promise<{ ai: AiEdge; provider: Origin }> {
  const provider = await startResponder(t, ({ text }) => {
    const isAsked = JSON.parse(text).stream_options?.include_usage === true
    const events = isAsked ? [word, usage, done] : [word, done]
    return `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${chunks(...events)}0\r\n\r\n`
  })
  return { ai: await startAi(t, { openai: provider.url, mistral: provider.url }, settings), provider }
}

async function stream(ai: AiEdge, members: string, path = '/v1/chat/completions'): Promise<string> {
  const body = `{ "model":"openai/gpt-4o-mini","messages":[],${members} }`
  return (await ai.edge.ask(call(`${ai.rest}${path}`, body, `Authorization: Bearer ${ai.token}`))).text
}

test('the usage of a stream is in the log, and its caller gets what it asked for', async t => {
  const { ai, provider } = await start(t)
  assert.equal(await stream(ai, '"stream":true'), word + done)
  const { tokensIn, tokensOut, cost, request, response, providerResponse } = await ai.entry(1)
  assert.deepEqual([response!.text, providerResponse!.text], [word + done, word + usage + done])
  assert.deepEqual([tokensIn, tokensOut], [9, 3])
  assert.ok(cost! > 0)
  assert.doesNotMatch(request!.text, /stream_options/)
  const sent = '{ "stream_options":{"include_usage":true},"model":"gpt-4o-mini","messages":[],"stream":true }'
  assert.equal(provider.requests[0]!.text, sent)
})

test('other options of the stream stay', async t => {
  const { ai, provider } = await start(t)
  const options = '"stream":true, "stream_options":{"include_obfuscation":false,"include_usage":false}'
  assert.equal(await stream(ai, options), word + done)
  assert.deepEqual(JSON.parse(provider.requests[0]!.text).stream_options, {
    include_obfuscation: false,
    include_usage: true,
  })
})

test('a caller that requests usage gets it, and its body is unchanged', async t => {
  const { ai, provider } = await start(t)
  const asking = '"stream":true,"stream_options":{"include_usage":true}'
  assert.equal(await stream(ai, asking), word + usage + done)
  assert.equal(provider.requests[0]!.text, `{ "model":"gpt-4o-mini","messages":[],${asking} }`)
})

test('usage is not requested by a gateway that does not want it or keeps no log, nor where it has no meaning', async t => {
  const isAsked = ({ requests }: Origin) => requests.map(({ text }) => text.includes('include_usage'))
  for (const gateway of [{ streamUsage: false }, { logManagement: 0 }]) {
    const { ai, provider } = await start(t, { gateway })
    assert.equal(await stream(ai, '"stream":true'), word + done)
    assert.deepEqual(isAsked(provider), [false])
  }
  const { ai, provider } = await start(t)
  await stream(ai, '"stream":false')
  await stream(ai, '"stream":true,"stream_options":"all"')
  const mistral = '{"model":"mistral/m","messages":[],"stream":true}'
  await ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, mistral, `Authorization: Bearer ${ai.token}`))
  const native = `${ai.native('openai')}/chat/completions`
  await ai.edge.ask(call(native, '{"stream":true}', `svc-aig-authorization: Bearer ${ai.token}`))
  assert.deepEqual(isAsked(provider), [false, false, false, false])
})

test('a run requests it too', async t => {
  const { ai, provider } = await start(t)
  const body = '{"model":"openai/gpt-4o-mini","input":{"messages":[],"stream":true}}'
  const answer = await ai.edge.ask(call(`${ai.rest}/run`, body, `Authorization: Bearer ${ai.token}`))
  assert.equal(answer.text, word + done)
  assert.match(provider.requests[0]!.text, /"include_usage":true/)
})
