// Streamed chats tell the log what they cost, whether or not their callers ask for it.

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
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

/** A provider that does not know what a stream may be asked for, and says so or not. */
async function startUnknowing(t: TestContext, reason: string, settings: AiSettings = {}) {
  const provider = await startResponder(t, ({ text }) => {
    if (text.includes('stream_options'))
      return `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks(...reason.split('|'))}0\r\n\r\n`
    return `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${chunks(word, done)}0\r\n\r\n`
  })
  return { ai: await startAi(t, { openai: provider.url, groq: provider.url }, settings), provider }
}

const reason = '{"error":{"message":"Unrecognized request argument supplied: stre|am_options"}}'
const messages = '"max_tokens":9,"stream":true'

describe('a provider that refuses stream_options', () => {
  test('is asked again without, and from then on only so for the same model', async t => {
    const { ai, provider } = await startUnknowing(t, reason)
    const sent = () => provider.requests.map(({ text }) => text.includes('stream_options'))
    for (let i = 0; i < 2; i++) assert.equal(await stream(ai, '"stream":true'), word + done)
    assert.deepEqual(sent(), [true, false, false])
    assert.equal(provider.requests[1]!.text, '{ "model":"gpt-4o-mini","messages":[],"stream":true }')
    const other = '{"model":"openai/other","messages":[],"stream":true}'
    await ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, other, `Authorization: Bearer ${ai.token}`))
    const elsewhere = '{"model":"groq/gpt-4o-mini","messages":[],"stream":true}'
    await ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, elsewhere, `Authorization: Bearer ${ai.token}`))
    assert.deepEqual(sent(), [true, false, false, true, false, true, false])
    const { status, response } = await ai.entry(4)
    assert.deepEqual([status, response!.text], [200, word + done])
  })

  test('is asked again in a translation, which it refused as a whole', async t => {
    const { ai, provider } = await startUnknowing(t, reason)
    for (let i = 0; i < 2; i++)
      assert.match(
        await stream(ai, messages, '/v1/messages'),
        /message_start[\s\S]*"text":"Hi"[\s\S]*message_stop/,
      )
    assert.deepEqual(
      provider.requests.map(({ text }) => text.includes('stream_options')),
      [true, false, false],
    )
  })

  test('is asked once where its error says something else, and the caller gets that as it came', async t => {
    for (const other of ['{"error":"bad mes|sages"}', `{"error":"${'x'.repeat(100_000)}|stream_options"}`]) {
      const { ai, provider } = await startUnknowing(t, other)
      const answer = await ai.edge.ask(
        call(
          `${ai.rest}/v1/chat/completions`,
          '{"model":"openai/m","messages":[],"stream":true}',
          `Authorization: Bearer ${ai.token}`,
        ),
      )
      assert.deepEqual([answer.status, answer.text], [400, other.replace('|', '')])
      assert.equal(provider.requests.length, 1)
      assert.equal((await ai.entry(1)).status, 400)
    }
  })

  test('is asked for usage as before where its error only repeats words of the caller', async t => {
    const provider = await startResponder(t, ({ text }) => {
      const word = JSON.parse(text).reasoning_effort
      if (word === undefined) return 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
      const error = `{"error":{"message":"Invalid value: '${word}'"}}`
      return `HTTP/1.1 400 Bad Request\r\nContent-Length: ${error.length}\r\n\r\n${error}`
    })
    const ai = await startAi(t, { openai: provider.url })
    assert.match(
      await stream(ai, '"stream":true,"reasoning_effort":"stream_options"'),
      /Invalid value: 'stream_options'/,
    )
    await stream(ai, '"stream":true')
    const asked = provider.requests.map(({ text }) => text.includes('include_usage'))
    assert.deepEqual(asked, [true, false, true])
  })

  test('is asked once where the caller asked, and it gets the error', async t => {
    const { ai, provider } = await startUnknowing(t, reason)
    const asking = '"stream":true,"stream_options":{"include_usage":true}'
    assert.equal(await stream(ai, asking), reason.replace('|', ''))
    assert.equal(provider.requests.length, 1)
  })

  test('that breaks off its error fails the call like any other', async t => {
    const provider = await startResponder(t, async (_request, wire) => {
      await wire.send('HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nstre')
      wire.socket.destroy()
    })
    const ai = await startAi(t, { openai: provider.url })
    const body = '{"model":"openai/m","messages":[],"stream":true}'
    const answer = await ai.edge.ask(
      call(`${ai.rest}/v1/chat/completions`, body, `Authorization: Bearer ${ai.token}`),
    )
    assert.equal(answer.status, 520)
  })
})

test('the switches of gateway and provider hold for translated streams, whatever is logged', async t => {
  const asked = async (settings: AiSettings, config: object = {}) => {
    const { provider } = await start(t)
    const ai = await startAi(t, { openai: { url: provider.url, ...config } }, settings)
    await stream(ai, messages, '/v1/messages')
    await stream(ai, '"stream":true')
    return provider.requests.map(({ text }) => text.includes('stream_options'))
  }
  assert.deepEqual(await asked({}), [true, true])
  assert.deepEqual(await asked({ gateway: { logManagement: 0 } }), [true, false])
  assert.deepEqual(await asked({ gateway: { streamUsage: false } }), [false, false])
  assert.deepEqual(await asked({}, { streamUsage: false }), [false, false])
})
