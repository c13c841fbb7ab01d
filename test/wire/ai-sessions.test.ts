// What is logged of calls that have no response with usage at their end: streams that are broken off, and WebSockets.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { type AiEdge, call, startAi } from '../help/ai.ts'
import type { Span } from '../../src/telemetry/span.ts'
import { startOrigin } from '../help/origin.ts'
import { chunks } from '../help/raw.ts'
import { until } from '../help/until.ts'

const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const words = 'Forty characters are about ten tokens. '
const body = `{"model":"openai/gpt-4o","stream":true,"messages":[{"role":"user","content":"${words}"}]}`

function chat(ai: AiEdge): string {
  return call(`${ai.rest}/v1/chat/completions`, body, `Authorization: Bearer ${ai.token}`)
}

/** Starts a provider that stops in the middle of its stream, and what its client does then. */
async function broken(t: TestContext, events: readonly string[], isOfProvider: boolean) {
  const over = Promise.withResolvers<void>()
  t.after(() => over.resolve())
  const provider = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(head + chunks(...events))
    if (isOfProvider) wire.socket.destroy()
    else await over.promise
  })
  return startAi(t, { openai: provider.url, anthropic: provider.url })
}

const endsInError = /data: \{.*"error":.*\}\n\n$/

describe('a stream that is broken off', () => {
  const delta = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: words } }], usage: null })}\n\n`

  test('by its client is logged with about the tokens that were sent, marked as estimated', async t => {
    const ai = await broken(t, [delta, delta], false)
    const client = await ai.edge.connect()
    await client.send(chat(ai))
    await client.until('tokens. ')
    client.leave()
    const entry = await ai.entry(1)
    assert.deepEqual([entry.success, entry.tokensOut, entry.usageIsEstimated], [false, 20, true])
    assert.ok(entry.tokensIn! >= 10 && entry.tokensIn! < 20, `${entry.tokensIn}`)
    assert.ok(entry.cost! > 20 * 10e-6)
  })

  test('by its provider is logged so too', async t => {
    const ai = await broken(t, [delta], true)
    assert.match((await ai.edge.ask(chat(ai))).text, endsInError)
    const { tokensOut, usageIsEstimated } = await ai.entry(1)
    assert.deepEqual([tokensOut, usageIsEstimated], [10, true])
  })

  test('has the input that Anthropic reported, and not its placeholder', async t => {
    const events = [
      {
        type: 'message_start',
        message: { model: 'claude-haiku-4-5', usage: { input_tokens: 25, output_tokens: 1 } },
      },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words } },
    ].map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    const ai = await broken(t, events, true)
    const native = call(
      `${ai.native('anthropic')}/v1/messages`,
      '{}',
      `svc-aig-authorization: Bearer ${ai.token}`,
    )
    assert.match((await ai.edge.ask(native)).text, endsInError)
    const { tokensIn, tokensOut, usageIsEstimated } = await ai.entry(1)
    assert.deepEqual([tokensIn, tokensOut, usageIsEstimated], [25, 10, true])
  })

  test('is not estimated where its provider had reported what it used by then', async t => {
    const counted = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 9 } })}\n\n`
    const ai = await broken(t, [delta, counted], true)
    assert.match((await ai.edge.ask(chat(ai))).text, endsInError)
    const { tokensIn, tokensOut, usageIsEstimated } = await ai.entry(1)
    assert.deepEqual([tokensIn, tokensOut, usageIsEstimated], [3, 9, undefined])
  })
})

describe('a WebSocket', () => {
  /** Starts a provider that sends these events, and opens a WebSocket to it as a Realtime client does. */
  async function open(t: TestContext, events: readonly object[], query: string) {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: { threshold: 0 } })
    t.after(() => {
      for (const socket of server.clients) socket.terminate()
      server.close()
    })
    await once(server, 'listening')
    server.on('connection', socket => {
      for (const event of events) socket.send(JSON.stringify(event))
    })
    const { port } = server.address() as AddressInfo
    const prices = ['gpt-realtime', 'gpt-5'].map(model => ({
      model: `openai/${model}`,
      input: 1,
      output: 2,
      cacheRead: null,
      cacheWrite: null,
      cacheWriteLong: null,
    }))
    const told = Promise.withResolvers<readonly Span[]>()
    const telemetry = { trace: { continues: 'all', sample: 1 } } as const
    const settings = { ai: { prices }, telemetry, spans: { take: told.resolve } }
    const ai = await startAi(t, { openai: `http://127.0.0.1:${port}` }, settings)
    const socket = new WebSocket(`ws://127.0.0.1:${ai.edge.port}${ai.native('openai')}/realtime${query}`, {
      headers: { 'svc-aig-authorization': `Bearer ${ai.token}` },
    })
    t.after(() => socket.terminate())
    let seen = 0
    socket.on('message', () => void seen++)
    await until(() => seen === events.length)
    return { ai, socket, spans: told.promise }
  }

  const done = (input: number, output: number) => ({
    type: 'response.done',
    response: { usage: { input_tokens: input, output_tokens: output } },
  })

  test('to the Realtime API is logged with the model, tokens and cost of its responses', async t => {
    const sound = { type: 'response.output_audio.delta', delta: 'x'.repeat(100_000) }
    const events = [done(1000, 500), sound, done(2000, 700)]
    const { ai, socket, spans } = await open(t, events, '?model=gpt-realtime')
    assert.equal(socket.extensions, '')
    socket.close()
    const { status, success, model, tokensIn, tokensOut, cost, streamed, usageIsEstimated } =
      await ai.entry(1)
    assert.deepEqual([status, success, model, streamed], [101, true, 'gpt-realtime', true])
    assert.deepEqual([tokensIn, tokensOut, cost, usageIsEstimated], [3000, 1200, 0.0054, undefined])
    const [, { attributes }] = (await spans) as readonly [Span, Span]
    assert.deepEqual(
      [attributes['gen_ai.response.model'], attributes['gen_ai.usage.output_tokens']],
      ['gpt-realtime', 1200],
    )
  })

  test('to the Responses API is logged with the model that its events name, and unfinished responses are estimated', async t => {
    const completed = {
      type: 'response.completed',
      response: { model: 'gpt-5', usage: { input_tokens: 10, output_tokens: 5 } },
    }
    const { ai, socket } = await open(
      t,
      [completed, { type: 'response.output_text.delta', delta: words }],
      '',
    )
    socket.terminate()
    const { model, tokensIn, tokensOut, usageIsEstimated } = await ai.entry(1)
    assert.deepEqual([model, tokensIn, tokensOut, usageIsEstimated], ['gpt-5', 10, 15, true])
  })
})
