// Event streams of providers: at once, whole or ended by an error event, and no longer than somebody listens.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ProviderConfig } from '../../src/config/model/config.ts'
import { type AiEdge, type AiSettings, call, startAi } from '../help/ai.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { type Origin, startOrigin } from '../help/origin.ts'
import { chunks, type Wire } from '../help/raw.ts'
import { until } from '../help/until.ts'

const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const body = '{"model":"openai/gpt-4o-mini","stream":true,"messages":[{"role":"user","content":"Hi"}]}'

function event(delta: unknown, more: object = {}): string {
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini', choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`
}

const messageEvents = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}\n\n',
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello."}}\n\n',
  'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":3}}\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
]

interface Streaming {
  readonly ai: AiEdge
  readonly provider: Origin
  readonly client: Wire
  /** The connection to the provider, its request read. */
  readonly wire: Wire
}

/** Asks for a stream, and gives both ends of it once the provider has its request. */
async function stream(
  t: TestContext,
  name: string,
  path: (ai: AiEdge) => string,
  text: string,
  settings: AiSettings = {},
  provided: Partial<ProviderConfig> = {},
): Promise<Streaming> {
  const asked = Promise.withResolvers<Wire>()
  const provider = await startOrigin(t, async wire => {
    await wire.request()
    asked.resolve(wire)
    await wire.ending
  })
  const ai = await startAi(t, { [name]: { url: provider.url, ...provided } }, settings)
  const client = await ai.edge.connect()
  const field = path(ai).startsWith('/v1/') ? 'svc-aig-authorization' : 'Authorization'
  await client.send(call(path(ai), text, `${field}: Bearer ${ai.token}`))
  return { ai, provider, client, wire: await asked.promise }
}

const rest = (ai: AiEdge) => `${ai.rest}/v1/chat/completions`

test('each event reaches the caller before the next one is sent', async t => {
  const { ai, client, wire } = await stream(t, 'openai', rest, body)
  await wire.send(head)
  for (const word of ['one', 'two', 'three']) {
    await wire.send(chunks(event({ content: word })))
    await client.until(`"content":"${word}"`)
  }
  const usage = event(
    {},
    { choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } },
  )
  await wire.send(`${chunks(usage, 'data: [DONE]\n\n')}0\r\n\r\n`)
  await client.until('0\r\n\r\n')
  const entry = await ai.entry()
  assert.deepEqual([entry.streamed, entry.tokensIn, entry.tokensOut, entry.success], [true, 9, 3, true])
  assert.ok(entry.timeToFirstByte! < entry.duration)
})

test('a translated stream is sent event by event, and ends as the caller expects', async t => {
  const text = body.replace('openai/gpt-4o-mini', 'anthropic/claude-sonnet-5-5')
  const { client, wire } = await stream(t, 'anthropic', rest, text)
  await wire.send(head)
  for (const one of messageEvents.slice(0, 3)) await wire.send(chunks(one))
  await client.until('"content":"Hello."')
  await wire.send(`${chunks(...messageEvents.slice(3))}0\r\n\r\n`)
  const end = await client.until('0\r\n\r\n')
  assert.match(end, /"finish_reason":"stop"/)
  assert.match(end, /data: \[DONE\]/)
})

test('a provider that dies in mid-stream is reported in the dialect of OpenAI', async t => {
  const { ai, client, wire } = await stream(t, 'openai', rest, body)
  await wire.send(head + chunks(event({ content: 'Hel' })))
  await client.until('Hel')
  wire.reset()
  const end = await client.until('0\r\n\r\n')
  const [, data] = /data: (\{"error":.*\})\n\n/.exec(end)!
  const { error, error_name, retryable } = JSON.parse(data!)
  assert.deepEqual(
    [error.type, error.code, error_name, retryable],
    ['origin_unknown_error', 520, 'origin_unknown_error', true],
  )
  const entry = await ai.entry()
  assert.deepEqual([entry.success, entry.error, entry.status], [false, 'origin_unknown_error', 200])
})

/** The last events by which callers of an API take a stream for a whole one. */
const wholeBy = /\[DONE\]|message_stop|response\.completed/

for (const [api, path, sent] of [
  ['chat', rest, event({ content: 'Hel' })],
  ['messages', (ai: AiEdge) => `${ai.native('openai')}/v1/messages`, messageEvents[0]!],
  ['responses', (ai: AiEdge) => `${ai.native('openai')}/responses`, 'data: {"type":"response.created"}\n\n'],
] as const)
  test(`the error event ends a stream whose provider dies, and the connection serves another call (${api})`, async t => {
    const { ai, client, wire } = await stream(t, 'openai', path, body)
    await wire.send(head + chunks(sent))
    await client.until('data: ')
    wire.reset()
    // A reader that meets a broken connection behind the event may lose the event with it.
    const end = await client.until('0\r\n\r\n')
    assert.match(end, /"error_code":520.*\}\n\n\r\n0\r\n\r\n$/)
    assert.doesNotMatch(end, wholeBy)
    await client.send(
      `GET /v1/${ai.account}/default/nobody/x HTTP/1.1\r\nHost: ai.test\r\nsvc-aig-authorization: Bearer ${ai.token}\r\n\r\n`,
    )
    assert.equal((await client.response()).status, 404)
    const entry = await ai.entry()
    assert.deepEqual([entry.success, entry.error], [false, 'origin_unknown_error'])
  })

for (const [name, path] of [
  ['REST', (ai: AiEdge) => `${ai.rest}/v1/responses`],
  ['native', (ai: AiEdge) => `${ai.native('openai')}/v1/responses?a=b`],
] as const)
  test(`a provider that dies in mid-stream fails the response of a caller of Responses (${name})`, async t => {
    const { client, wire } = await stream(
      t,
      'openai',
      path,
      '{"model":"openai/gpt-5","stream":true,"input":"Hi"}',
    )
    await wire.send(head + chunks('event: response.created\ndata: {"type":"response.created"}\n\n'))
    await client.until('response.created')
    wire.reset()
    const [, data] = /event: response.failed\ndata: (\{.*\})\n\n/.exec(await client.until('0\r\n\r\n'))!
    const { type, response, error, detail, error_code } = JSON.parse(data!)
    assert.deepEqual(
      [type, response.status, response.error.message, error_code],
      ['response.failed', 'failed', detail, 520],
    )
    assert.deepEqual(error, { message: detail, type: 'origin_unknown_error', code: 520 })
  })

for (const [name, speaks, path] of [
  ['anthropic', 'openai', '/v1/messages'],
  ['custom-mine', 'anthropic', '/messages'],
  ['openrouter', 'openai', '/v1/messages?beta=true'],
] as const)
  test(`a provider that dies in mid-stream is reported in the dialect of Anthropic (${name})`, async t => {
    const native = (ai: AiEdge) => ai.native(name) + path
    const { client, wire } = await stream(t, name, native, body, {}, { speaks })
    await wire.send(head + chunks(messageEvents[0]!))
    await client.until('message_start')
    wire.reset()
    const end = await client.until('0\r\n\r\n')
    const [, data] = /event: error\ndata: (\{.*\})\n\n/.exec(end)!
    const { type, error, error_code } = JSON.parse(data!)
    assert.deepEqual([type, error.type, error_code], ['error', 'origin_unknown_error', 520])
  })

test('messages of a thread are no Messages', async t => {
  const native = (ai: AiEdge) => `${ai.native('openai')}/threads/t/messages`
  const { client, wire } = await stream(t, 'openai', native, body)
  await wire.send(head + chunks(event({})))
  await client.until('data: ')
  wire.reset()
  const end = await client.until('0\r\n\r\n')
  assert.match(end, /data: \{"error":/)
  assert.doesNotMatch(end, /event: error/)
})

test('a translated stream that ends before its last event ends with an error, however cleanly it ended', async t => {
  const text = body.replace('openai/gpt-4o-mini', 'anthropic/claude-sonnet-5-5')
  const { client, wire } = await stream(t, 'anthropic', rest, text)
  await wire.send(head + chunks(...messageEvents.slice(0, 3)))
  await client.until('Hello.')
  await wire.send('0\r\n\r\n')
  const end = await client.until('0\r\n\r\n')
  assert.match(end, /data: \{"error":/)
  assert.doesNotMatch(end, /\[DONE\]/)
})

test('a caller that disconnects ends the call to the provider: before the first byte', async t => {
  const { ai, client, wire } = await stream(t, 'openai', rest, body)
  client.leave()
  await wire.ending
  assert.equal(ai.edge.metrics.clientAborts.value, 1)
  const entry = await ai.entry()
  assert.deepEqual([entry.success, entry.status], [false, 0])
})

test('a caller that disconnects ends the call to the provider: in mid-stream', async t => {
  const { client, wire } = await stream(t, 'openai', rest, body)
  await wire.send(head + chunks(event({ content: 'Hel' })))
  await client.until('Hel')
  client.leave()
  await wire.ending
})

test('a caller that disconnects while its body is read causes no call to a provider', async t => {
  const provider = await startOrigin(t, () => {})
  const ai = await startAi(t, { openai: provider.url })
  const client = await ai.edge.connect()
  await client.send(call(rest(ai), body, `Authorization: Bearer ${ai.token}`).slice(0, -10))
  client.leave()
  await new Promise(resolve => {
    const look = () => (ai.edge.metrics.clientAborts.value === 1 ? resolve(null) : setImmediate(look))
    look()
  })
  assert.equal(provider.bytesReceived, 0)
})

test('a provider that sends nothing for ai.timeouts.response is 524', async t => {
  const { client } = await stream(t, 'openai', rest, body, { timeouts: { response: 200 } })
  const answer = await client.response('POST')
  assert.equal(answer.status, 524)
})

test('a translated stream with an unreadable event is cut there, and the provider is read no further', async t => {
  const text = body.replace('openai/gpt-4o-mini', 'anthropic/claude-sonnet-5-5')
  const { client, wire } = await stream(t, 'anthropic', rest, text)
  await wire.send(head + chunks(...messageEvents.slice(0, 3)))
  await client.until('Hello.')
  await wire.send(chunks('data: no JSON\n\n'))
  assert.match(await client.until('0\r\n\r\n'), /data: \{"error":/)
  await wire.ending
})

for (const model of ['openai/gpt-4o-mini', 'anthropic/claude-sonnet-5-5'])
  test(`a stream that breaks off is in the log as its caller got it, last event included (${model})`, async t => {
    const text = body.replace('openai/gpt-4o-mini', model)
    const { ai, client, wire } = await stream(t, model.split('/')[0]!, rest, text)
    const sent = model.startsWith('openai')
      ? event({ content: 'Hello.' })
      : messageEvents.slice(0, 3).join('')
    await wire.send(head + chunks(sent))
    await client.until('Hello.')
    wire.reset()
    const got = (await client.until('0\r\n\r\n'))
      .split('\r\n')
      .filter(line => line.startsWith('data: {"error":'))
    const { response, providerResponse } = await ai.entry()
    assert.equal(got.length, 1)
    assert.ok(response!.text.endsWith(got[0]!), response!.text)
    assert.match(response!.text, /^data: .*\n\ndata: .*"Hello\."|^data: .*"Hello\."/s)
    assert.equal(providerResponse!.text, sent)
  })

test('what is kept of a stream that its caller left within a character is text', async t => {
  const asking = body.replace('"stream":true', '"stream":true,"stream_options":{"include_usage":true}')
  const { ai, client, wire } = await stream(t, 'openai', rest, asking)
  const bytes = Buffer.from(event({ content: 'Grüße' }))
  const cut = bytes.subarray(0, bytes.indexOf(0xc3) + 1).toString('latin1')
  await wire.send(head + chunks(cut))
  await client.until(cut)
  client.leave()
  await wire.ending
  const { response } = await ai.entry()
  assert.deepEqual(response, { text: cut.slice(0, -1), isCut: true })
})

const openings: Readonly<Record<string, string>> = {
  'its head': '',
  'a comment': ': processing\n\n',
  'whose turn it is': event({ role: 'assistant', content: '' }),
  'the events that begin a message': `${messageEvents.slice(0, 2).join('')}event: ping\ndata: {"type":"ping"}\n\n`,
}

for (const [what, opening] of Object.entries(openings))
  for (const [form, path] of [
    ['REST', rest],
    ['native', (ai: AiEdge) => `${ai.native('openai')}/chat/completions`],
  ] as const)
    test(`a provider that sends ${what} and then thinks has ai.timeouts.response for it (${form})`, async t => {
      const settings = { ...patient, clock: new ManualClock(), timeouts: { idle: 1_000, response: 60_000 } }
      const { clock } = settings
      const { ai, client, wire } = await stream(t, 'openai', path, body, settings)
      await wire.send(head + (opening === '' ? '' : chunks(opening)))
      await client.until(opening === '' ? '\r\n\r\n' : opening.trim().split('\n').at(-1)!)
      for (let i = 0; i < 2; i++) {
        clock.advance(59_000)
        await swept(ai, clock)
        await wire.send(chunks(': still\n\n'))
        await client.until(': still')
      }
      await wire.send(chunks(event({ content: 'Hello.' })))
      await client.until('Hello.')
      clock.advance(1_500)
      const end = await client.until('0\r\n\r\n')
      assert.match(end, /"origin_response_timeout"/)
      assert.equal(ai.edge.accesses.at(-1)!.cause, 'GH_IDLE_TIMEOUT')
    })

test('a provider that never begins is cut at ai.timeouts.response', async t => {
  const settings = { ...patient, clock: new ManualClock(), timeouts: { idle: 1_000, response: 60_000 } }
  const { ai, client, wire } = await stream(t, 'openai', rest, body, settings)
  await wire.send(head + chunks(': processing\n\n'))
  await client.until(': processing')
  settings.clock.advance(59_000)
  await swept(ai, settings.clock)
  assert.equal(ai.edge.accesses.length, 0)
  settings.clock.advance(2_000)
  assert.match(await client.until('0\r\n\r\n'), /"origin_response_timeout"/)
  assert.equal(ai.edge.accesses.at(-1)!.cause, 'GH_RESPONSE_TIMEOUT')
})

test('a translated stream has as long for its first words', async t => {
  const settings = { ...patient, clock: new ManualClock(), timeouts: { idle: 1_000, response: 60_000 } }
  const text = body.replace('openai/gpt-4o-mini', 'anthropic/claude-sonnet-5-5')
  const { ai, client, wire } = await stream(t, 'anthropic', rest, text, settings)
  await wire.send(head + chunks(...messageEvents.slice(0, 2)))
  await client.until('"role":"assistant"')
  settings.clock.advance(59_000)
  await swept(ai, settings.clock)
  await wire.send(`${chunks(...messageEvents.slice(2))}0\r\n\r\n`)
  assert.match(await client.until('0\r\n\r\n'), /Hello\..*data: \[DONE\]/s)
})

/** Waits until the edge has looked at all deadlines by the time that it is now. */
function swept({ edge }: AiEdge, clock: ManualClock): Promise<void> {
  return until(() => edge.plane.coarseNow >= clock.monotonic())
}
