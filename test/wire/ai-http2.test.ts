// Providers of HTTP/2: callers, logs and failures are as with a provider of HTTP/1.1, and many calls share a connection.

import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import { once } from 'node:events'
import { createSecureServer, sensitiveHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { usualTransport } from '../../src/config/model/pool-config.ts'
import { errorCode, flag, frameType } from '../../src/http2/frames/frames.ts'
import { selfSigned } from '../../src/process/demo/self-signed.ts'
import { type AiEdge, type AiSettings, call, completion, startAi } from '../help/ai.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { type Pairs, rstStream, uint32 } from '../help/http2.ts'
import { originAttacks } from '../help/http2-origin-attacks.ts'
import { data, frame, headers, type Http2Wire, startHttp2Origin } from '../help/http2-origin.ts'
import { startOrigin } from '../help/origin.ts'
import { say, startHttp2Provider, startProvider } from '../help/provider.ts'
import { chunks, type Wire } from '../help/raw.ts'
import { turnsUntil } from '../help/until.ts'

const h2c = { ...usualTransport, http: 'h2c' } as const
const body = '{"model":"openai/gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}'
const streaming = body.replace('{', '{"stream":true,')
const begun = [
  [':status', '200'],
  ['content-type', 'text/event-stream'],
] as const
const goAway = (last: number) =>
  frame(frameType.goAway, 0, 0, Buffer.concat([uint32(last), uint32(errorCode.none)]))

const rest = (ai: AiEdge, text = body) =>
  call(`${ai.rest}/v1/chat/completions`, text, `Authorization: Bearer ${ai.token}`)

const native = (ai: AiEdge, text: string, ...fields: string[]) =>
  call(
    `${ai.native('openai')}/chat/completions`,
    text,
    `svc-aig-authorization: Bearer ${ai.token}`,
    ...fields,
  )

function event(content: string): string {
  const choices = [{ index: 0, delta: { content }, finish_reason: null }]
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini', choices })}\n\n`
}

function answer(wire: Http2Wire, stream: number, value: unknown = completion): void {
  wire.answer(stream, JSON.stringify(value), [
    [':status', '200'],
    ['content-type', 'application/json'],
  ])
}

/** Starts a provider that follows a script over HTTP/2, without TLS, for each request. */
async function startScripted(
  t: TestContext,
  script: (wire: Http2Wire, stream: number, nth: number) => unknown,
  settings: AiSettings = {},
) {
  const provider = await startHttp2Origin(t, async (wire, nth) => {
    for (let stream = await wire.request(); stream !== 0; stream = await wire.request())
      await script(wire, stream, nth)
  })
  const ai = await startAi(t, { openai: { url: provider.url, keys: ['sk-ours'], transport: h2c } }, settings)
  return { ai, provider }
}

test('a call goes to its provider as over HTTP/1.1, its credential in no table of any hop', async t => {
  const provider = await startHttp2Provider(t, (_, response) => say(response, completion))
  const keyed = { ...provider.config, keys: ['sk-ours'] }
  const ai = await startAi(t, { openai: keyed, anthropic: keyed, 'google-ai-studio': keyed })
  await ai.edge.ask(native(ai, '{"model":"gpt-4o-mini",  "messages":[]}', 'OpenAI-Beta: a', 'Cookie: b=c'))
  const mine = `svc-aig-authorization: Bearer ${ai.token}`
  for (const path of ['anthropic/v1/messages', 'google-ai-studio/v1/models'])
    await ai.edge.ask(call(ai.native(path), '{}', mine))
  await ai.edge.ask(call(ai.native('google-ai-studio/v1'), '{}', mine, 'x-goog-api-key: own'))
  await ai.edge.ask(call(ai.native('google-ai-studio/v1?key=own'), '{}', mine))
  const asked = provider.asked.map(({ headers }) => headers as Record<string | symbol, unknown>)
  const [first] = asked
  assert.deepEqual(
    [first![':path'], first!.authorization, first!['openai-beta'], first!.cookie],
    ['/chat/completions', 'Bearer sk-ours', 'a', undefined],
  )
  assert.doesNotMatch(JSON.stringify(asked), /svct_|svc-aig|forwarded/)
  const credentials = ['authorization', 'x-api-key', 'x-goog-api-key', 'x-goog-api-key', ':path']
  for (const [i, fields] of asked.entries())
    assert.ok((fields[sensitiveHeaders] as readonly string[]).includes(credentials[i]!), credentials[i]!)
  const entries = await ai.logged(5)
  assert.deepEqual(new Set(entries.map(({ success }) => success)), new Set([true]))
  const { tokensIn, tokensOut } = entries.at(-1)!
  assert.deepEqual([tokensIn, tokensOut], [9, 3])
})

test('the handshake decides, and a provider of HTTP/1.1 is asked by that', async t => {
  const certificate = selfSigned('localhost')
  const serve = (incoming: { httpVersion: string }, outgoing: { end(text: string): unknown }) =>
    outgoing.end(incoming.httpVersion)
  for (const [version, server] of [
    ['2.0', createSecureServer(certificate, serve)],
    ['1.1', createServer(certificate, serve)],
  ] as const) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const tls = { verify: false, serverName: null, ca: null, identity: null }
    const ai = await startAi(t, { openai: { url, tls, transport: { ...usualTransport, http: '2' } } })
    const answers = await Promise.all(Array.from({ length: 3 }, () => ai.edge.ask(native(ai, '{}'))))
    assert.deepEqual(new Set(answers.map(({ text }) => text)), new Set([version]))
  }
})

test('each event reaches the caller before the next one is sent, and the tokens reach the log', async t => {
  const { ai, provider } = await startScripted(t, (wire, stream) =>
    wire.send(headers(stream, begun, flag.endHeaders)),
  )
  const client = await ai.edge.connect()
  await client.send(rest(ai, streaming))
  await client.until('\r\n\r\n')
  const [wire] = provider.wires
  for (const word of ['one', 'two', 'three']) {
    wire!.send(data(1, event(word)))
    await client.until(`"content":"${word}"`)
  }
  const usage = { choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } }
  wire!.send(data(1, `data: ${JSON.stringify(usage)}\n\ndata: [DONE]\n\n`, flag.endStream))
  await client.until('0\r\n\r\n')
  const { streamed, tokensIn, tokensOut, success, timeToFirstByte, duration } = await ai.entry()
  assert.deepEqual([streamed, tokensIn, tokensOut, success], [true, 9, 3, true])
  assert.ok(timeToFirstByte! < duration)
})

test('calls share connections, of which there are no more than their number needs', async t => {
  const held: number[] = []
  const { ai, provider } = await startScripted(t, (_, stream) => held.push(stream))
  const calls = Array.from({ length: 120 }, () => ai.edge.ask(rest(ai)))
  await turnsUntil(() => held.length === 120)
  assert.equal(ai.edge.metrics.originStreams.value, 120)
  assert.deepEqual(
    provider.wires.map(({ frames }) => frames.filter(({ type }) => type === frameType.headers).length),
    [100, 20],
  )
  for (const wire of provider.wires)
    for (const { type, stream } of wire.frames) if (type === frameType.headers) answer(wire, stream)
  for (const { status } of await Promise.all(calls)) assert.equal(status, 200)
})

test('a provider has no more connections than its setting allows, and calls that find its queue full are 1200', async t => {
  const held: (() => void)[] = []
  const provider = await startProvider(t, (_, response) => void held.push(() => say(response, completion)))
  const transport = { ...usualTransport, connections: 1, queue: { size: 1, timeout: 10_000 } }
  const ai = await startAi(t, { openai: { url: provider.url, keys: ['sk-ours'], transport } })
  const first = ai.edge.ask(rest(ai))
  await turnsUntil(() => held.length === 1)
  const queued = ai.edge.ask(rest(ai))
  await turnsUntil(() => ai.edge.metrics.originQueue.value === 1)
  const refused = await ai.edge.ask(rest(ai))
  assert.deepEqual([refused.status, refused.field('retry-after')], [503, '60'])
  assert.match(refused.text, /1200/)
  assert.equal(ai.edge.accesses.at(-1)!.cause, 'GH_QUEUE_FULL')
  held[0]!()
  await turnsUntil(() => held.length === 2)
  held[1]!()
  assert.deepEqual([(await first).status, (await queued).status], [200, 200])
})

test('calls that a provider refuses or leaves unseen go to another connection, and no caller notices', async t => {
  const { ai, provider } = await startScripted(t, (wire, stream, nth) => {
    if (nth > 0 && nth < 3) return answer(wire, stream)
    if (stream === 1) answer(wire, stream)
    else if (nth === 0) wire.send(rstStream(stream, errorCode.refusedStream))
    else wire.send(goAway(1))
  })
  for (let nth = 0; nth < 3; nth++) assert.equal((await ai.edge.ask(rest(ai))).status, 200)
  assert.equal(provider.wires.length, 2)
  const entries = await ai.logged(3)
  assert.deepEqual(new Set(entries.map(({ status }) => status)), new Set([200]))
})

test('a key that is turned away costs a call a stream, and no connection', async t => {
  const provider = await startHttp2Provider(t, ({ headers }, response) =>
    say(response, completion, headers.authorization === 'Bearer good' ? 200 : 429),
  )
  const ai = await startAi(t, { openai: { ...provider.config, keys: ['bad', 'good'] } })
  for (let i = 0; i < 3; i++) assert.equal((await ai.edge.ask(rest(ai))).status, 200)
  assert.deepEqual([provider.asked.length, provider.sessions.length], [4, 1])
})

test('a caller that leaves has its call cancelled, and those beside it go on', async t => {
  const { ai, provider } = await startScripted(t, (wire, stream) =>
    wire.send(headers(stream, begun, flag.endHeaders), data(stream, event(`of ${stream}`))),
  )
  const [leaves, stays] = [await ai.edge.connect(), await ai.edge.connect()]
  await leaves.send(rest(ai, streaming))
  await leaves.until('of 1')
  await stays.send(rest(ai, streaming))
  await stays.until('of 3')
  leaves.leave()
  const [wire] = provider.wires
  const { stream, payload } = (await wire!.next(frameType.rstStream))!
  assert.deepEqual([stream, payload.readUInt32BE(0)], [1, errorCode.cancel])
  wire!.send(data(3, 'data: [DONE]\n\n', flag.endStream))
  await stays.until('[DONE]')
  assert.equal(provider.wires.length, 1)
})

test('a caller that reads slowly keeps its provider waiting, and no other caller', async t => {
  const large = 8 * 1024 * 1024
  const provider = await startHttp2Provider(t, ({ path }, response) =>
    path === '/large' ? void response.end('x'.repeat(large)) : say(response, completion),
  )
  const ai = await startAi(t, { openai: { ...provider.config, keys: ['sk-ours'] } })
  const slow = await ai.edge.connect()
  slow.socket.pause()
  const mine = `svc-aig-authorization: Bearer ${ai.token}`
  await slow.send(call(`${ai.native('openai')}/large`, '{}', mine))
  await turnsUntil(() => provider.asked.length === 1)
  for (let i = 0; i < 20; i++) assert.equal((await ai.edge.ask(rest(ai))).status, 200)
  assert.equal(ai.edge.metrics.originStreams.value, 1)
  slow.socket.resume()
  assert.equal((await slow.response()).body.length, large)
  assert.equal(provider.sessions.length, 1)
})

test('the trailers of a provider reach the caller, and those of a caller no provider', async t => {
  const { ai, provider } = await startScripted(t, (wire, stream) =>
    wire.send(
      headers(stream, [[':status', '200']], flag.endHeaders),
      data(stream, '{}'),
      headers(stream, [['x-sum', '7']]),
    ),
  )
  const client = await ai.edge.connect()
  const chunked = native(ai, '', 'TE: trailers').replace('Content-Length: 0', 'Transfer-Encoding: chunked')
  await client.send(`${chunked}${chunks('{}')}0\r\nsvc-aig-authorization: Bearer ${ai.token}\r\n\r\n`)
  assert.deepEqual((await client.response()).trailers, ['x-sum: 7'])
  const [wire] = provider.wires
  const heads = wire!.frames.filter(({ type }) => type === frameType.headers)
  assert.equal(heads.length, 1)
  assert.doesNotMatch(JSON.stringify(wire!.fieldsOf(heads[0]!)), /svct_|svc-aig|"te"/)
})

test('a realtime call over WebSocket takes a connection of HTTP/1.1', async t => {
  const asked = Promise.withResolvers<string>()
  const provider = await startOrigin(t, async wire => {
    asked.resolve((await wire.request()).startLine)
    await wire.send('HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n')
  })
  const ai = await startAi(t, { openai: { url: provider.url, transport: h2c } })
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
  const post = native(ai, '', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', key)
  const handshake = post.replace('POST', 'GET').replace('Content-Length: 0\r\n', '')
  assert.equal((await ai.edge.ask(handshake)).status, 426)
  assert.equal(await asked.promise, 'GET /chat/completions HTTP/1.1')
})

interface Failure {
  readonly name: string
  /** What a provider of either version does once it has a call for a stream. */
  readonly http2: (wire: Http2Wire, stream: number) => unknown
  /** Null for what no connection of HTTP/1.1 can do. */
  readonly http1: ((wire: Wire) => unknown) | null
  /** The error in the log of the gateway, and the status that the caller got. */
  readonly outcome: readonly [error: string, status: number]
  readonly settings?: AiSettings
}

const sse = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n'
const withLength = (length: string): Pairs => [...begun, ['content-length', length]]

const failures: readonly Failure[] = [
  {
    name: 'dies before it responds',
    http2: wire => wire.socket.resetAndDestroy(),
    http1: wire => wire.reset(),
    outcome: ['origin_unknown_error', 520],
  },
  {
    name: 'hangs up before it responds',
    http2: wire => wire.socket.end(),
    http1: wire => wire.finish(),
    outcome: ['origin_unknown_error', 520],
  },
  {
    name: 'says nothing',
    http2: () => {},
    http1: wire => wire.rest(),
    outcome: ['origin_response_timeout', 524],
    settings: { timeouts: { response: 30 } },
  },
  {
    name: 'says nothing more',
    http2: (wire, stream) => wire.send(headers(stream, begun, flag.endHeaders), data(stream, event('Hel'))),
    http1: async wire => {
      await wire.send(`${sse}Transfer-Encoding: chunked\r\n\r\n${chunks(event('Hel'))}`)
      await wire.rest()
    },
    outcome: ['origin_response_timeout', 200],
    settings: { timeouts: { idle: 30 } },
  },
  {
    name: 'dies in mid-stream',
    http2: (wire, stream) => {
      wire.send(headers(stream, begun, flag.endHeaders), data(stream, event('Hel')))
      wire.socket.end()
    },
    http1: async wire => {
      await wire.send(`${sse}Transfer-Encoding: chunked\r\n\r\n${chunks(event('Hel'))}`)
      wire.finish()
    },
    outcome: ['origin_unknown_error', 200],
  },
  {
    name: 'gives up a stream',
    http2: (wire, stream) =>
      wire.send(headers(stream, begun, flag.endHeaders), rstStream(stream, errorCode.internal)),
    http1: null,
    outcome: ['origin_unknown_error', 520],
  },
  {
    name: 'ends a body short of its length',
    http2: (wire, stream) =>
      wire.send(headers(stream, withLength('1000'), flag.endHeaders), data(stream, 'x', flag.endStream)),
    http1: null,
    outcome: ['origin_bad_gateway', 502],
  },
  {
    name: 'sends more than its length',
    http2: (wire, stream) =>
      wire.send(headers(stream, withLength('1'), flag.endHeaders), data(stream, 'xx', flag.endStream)),
    http1: null,
    outcome: ['origin_bad_gateway', 502],
  },
  {
    name: 'has two lengths',
    http2: (wire, stream) =>
      wire.send(headers(stream, [...withLength('1'), ['content-length', '2']], flag.endHeaders)),
    http1: wire => wire.send(`${sse}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`),
    outcome: ['origin_bad_gateway', 502],
  },
]

for (const { name, http2, http1, outcome, settings = {} } of failures)
  test(`a provider that ${name} is told ${http1 === null ? 'by the record' : 'as over HTTP/1.1'}`, async t => {
    const { ai } = await startScripted(t, http2, settings)
    const told = await outcomeOf(ai)
    const { error, status, success } = told.entry
    assert.deepEqual([error, status, success], [...outcome, false])
    if (http1 === null) return
    const other = await startOrigin(t, async wire => {
      await wire.request()
      await http1(wire)
    })
    const same = await startAi(t, { openai: { url: other.url, keys: ['sk-ours'] } }, settings)
    assert.deepEqual(told, await outcomeOf(same))
  })

/** Asks for a stream, and tells what its caller and both logs have of it, without what is never the same. */
async function outcomeOf(ai: AiEdge) {
  const client = await ai.edge.connect()
  await client.send(rest(ai, streaming))
  // The error is the last that comes, as a response or as an event.
  const text = await client.until('"timestamp":"').catch(() => client.rest())
  const { error, status, success, streamed, response, providerResponse } = await ai.entry()
  const { phase, cause, retries, error: logged, status: sent } = ai.edge.accesses.at(-1)!
  return {
    text: steady(text),
    entry: { error, status, success, streamed, response: steady(response?.text ?? ''), providerResponse },
    line: { phase, cause, retries, error: logged, status: sent },
  }
}

function steady(text: string): string {
  return text.replaceAll(/\b[\da-f]{16}\b|\d\d:\d\d:\d\d(\.\d+)?|(?<=;ms=)\d+/g, '-')
}

test('whatever a provider does to its connection, the next call is served', async t => {
  const attacks = Object.entries(originAttacks)
  let attack: ((stream: number) => Buffer) | null = null
  const { ai, provider } = await startScripted(t, (wire, stream) => {
    if (attack === null) return answer(wire, stream)
    wire.send(attack(stream))
    attack = null
  })
  const faults = ai.edge.metrics.originHttp2Faults
  for (const [nth, [name, [reason, bytes]]] of attacks.entries()) {
    const { value: before } = faults[reason as 'flood']
    attack = bytes
    const caller = await ai.edge.connect()
    // A reader that keeps up opens windows as fast as they are used.
    caller.socket.pause()
    await caller.send(rest(ai))
    await turnsUntil(() => faults[reason as 'flood'].value === before + 1)
    assert.equal((await ai.edge.ask(rest(ai))).status, 200, name)
    assert.equal(provider.wires.length, nth + 2, name)
  }
})

test('a provider whose stream begins at once has ai.timeouts.response for its first words', async t => {
  const clock = new ManualClock()
  const asked = Promise.withResolvers<[wire: Http2Wire, stream: number]>()
  const settings = { ...patient, clock, timeouts: { idle: 1_000, response: 60_000 } }
  const { ai } = await startScripted(t, (wire, stream) => asked.resolve([wire, stream]), settings)
  const client = await ai.edge.connect()
  await client.send(rest(ai, streaming))
  const [wire, stream] = await asked.promise
  wire.send(headers(stream, begun, flag.endHeaders), data(stream, ': processing\n\n'))
  await client.until(': processing')
  clock.advance(59_000)
  await turnsUntil(() => ai.edge.plane.coarseNow >= clock.monotonic())
  wire.send(data(stream, event('Hello.')))
  await client.until('Hello.')
  clock.advance(1_500)
  assert.match(await client.until('0\r\n\r\n'), /"origin_response_timeout"/)
  assert.equal(ai.edge.accesses.at(-1)!.cause, 'GH_IDLE_TIMEOUT')
})
