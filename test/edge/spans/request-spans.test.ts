// The spans of real requests through a real edge, as its sink gets them.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Span } from '../../../src/telemetry/span.ts'
import { gzipSync } from 'node:zlib'
import { call, completion, json, startAi } from '../../help/ai.ts'
import { Edge, edgeConfig, type EdgeSettings, listenAt, openAccess } from '../../help/edge.ts'
import { deadOrigin, ok as okay, startResponder } from '../../help/origin.ts'
import { request } from '../../help/raw.ts'
import { until } from '../../help/until.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentId = '00f067aa0ba902b7'
const sampled = `traceparent: 00-${traceId}-${parentId}-01`

async function startRecorded(t: TestContext, members: readonly string[], settings: EdgeSettings = {}) {
  const spans: Span[] = []
  const telemetry = { trace: { continues: 'all', sample: 0 } } as const
  const sink = { take: (taken: readonly Span[]) => spans.push(...taken) }
  const edge = await listenAt(
    t,
    new Edge(t, edgeConfig(members, { telemetry, ...settings }), { spans: sink }),
  )
  return { edge, spans }
}

const named = (span: Span | undefined) => span?.events.map(({ name }) => name)

test('a request is one span in the trace of the client, and its attempt the parent of the origin', async t => {
  const origin = await startResponder(t, () => okay('hello'))
  const { edge, spans } = await startRecorded(t, [origin.url])
  await edge.ask(request('GET /a?secret=1', sampled, 'tracestate: a=1', 'Cookie: c=1'))
  const [server, client] = spans
  equal(spans.length, 2)
  deepEqual(
    [
      server?.kind,
      server?.traceId,
      server?.parentId,
      server?.isParentRemote,
      server?.name,
      server?.state,
      server?.isError,
    ],
    ['server', traceId, parentId, true, 'GET /', 'a=1', false],
  )
  deepEqual([client?.kind, client?.parentId, client?.isParentRemote], ['client', server?.spanId, false])
  equal(origin.requests[0]!.field('traceparent'), `00-${traceId}-${client?.spanId}-01`)
  deepEqual(named(server), [
    'request.received',
    'request.admitted',
    'origin.connected',
    'response.first_byte',
    'request.ended',
  ])
  const { 'gatehouse.ray': ray, ...attributes } = server!.attributes
  deepEqual(attributes, {
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'http.route': '/',
    'url.scheme': 'http',
    'url.path': '/a',
    'server.address': 'site.test',
    'client.address': '127.0.0.1',
    'network.peer.address': '127.0.0.1',
    'network.protocol.name': 'http',
    'network.protocol.version': '1.1',
    'gatehouse.zone': 'site',
  })
  equal(ray, edge.accesses[0]?.ray)
  deepEqual(client?.attributes, {
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'url.full': `${origin.url}/a`,
    'server.address': '127.0.0.1',
    'server.port': origin.port,
  })
  const times = [server!.start, ...server!.events.map(({ at }) => at), server!.end]
  deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  )
  ok(client!.start >= server!.start && client!.end <= server!.end)
})

test('a request that is not sampled has no span, and no new one where the share is 0', async t => {
  const origin = await startResponder(t, () => okay())
  const { edge, spans } = await startRecorded(t, [origin.url])
  await edge.ask(request('GET /', sampled.replace(/1$/, '0')))
  await edge.ask(request('GET /'))
  deepEqual(spans, [])
})

test('the span of a refused request names the step and the error', async t => {
  const { edge, spans } = await startRecorded(t, ['http://127.0.0.1:1'], {
    zone: { access: { ...openAccess, otherwise: 'deny' } },
  })
  const refused = await edge.ask(request('GET /', sampled))
  equal(spans.length, 1)
  const { attributes, events, isError } = spans[0]!
  deepEqual(events[1]?.attributes, { 'gatehouse.step': 'admit' })
  deepEqual(named(spans[0]), ['request.received', 'request.refused', 'request.ended'])
  deepEqual(
    [attributes['error.type'], attributes['http.response.status_code'], isError],
    ['1050', refused.status, false],
  )
})

test('each attempt is a span: one that could not connect, one that was passed over, and the one that served', async t => {
  const failing = await startResponder(t, () => 'HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n')
  const good = await startResponder(t, () => okay())
  const { edge, spans } = await startRecorded(t, [deadOrigin().url, failing.url, good.url], {
    pool: { retryOn: [503], retries: { most: 2, budget: 1 }, ejection: null },
  })
  const got = await edge.ask(request('GET /', sampled))
  equal(got.status, 200)
  const attempts = spans.filter(({ kind }) => kind === 'client')
  deepEqual(
    attempts.map(({ attributes: a, isError }) => [
      a['http.request.resend_count'],
      a['http.response.status_code'],
      a['error.type'],
      isError,
    ]),
    [
      [undefined, undefined, '521', true],
      [1, 503, '503', true],
      [2, 200, undefined, false],
    ],
  )
  equal(spans[0]?.attributes['gatehouse.retries'], 2)
  equal(good.requests[0]!.field('traceparent'), `00-${traceId}-${attempts[2]?.spanId}-01`)
  equal(new Set(spans.map(({ spanId }) => spanId)).size, 4)
})

test('each attempt at an AI call is an event, with its provider, its model and its outcome', async t => {
  const failing = await startResponder(t, () => 'HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n')
  const good = await startResponder(t, json(completion))
  const spans: Span[] = []
  const step = (model: string) => ({ model, timeout: null, retries: 0, weight: null })
  const ai = await startAi(
    t,
    { openai: { url: failing.url, keys: ['sk-1'] }, groq: { url: good.url, keys: ['sk-2'] } },
    {
      telemetry: { trace: { continues: 'all', sample: 0 } },
      spans: { take: taken => spans.push(...taken) },
      ai: {
        models: [{ name: 'fast', steps: [step('openai/a'), step('groq/b')] }],
        failover: { statuses: [503], maxAttempts: 2, deadline: 0, retryWithin: 0 },
      },
    },
  )
  await ai.edge.ask(
    call(
      `${ai.rest}/v1/chat/completions`,
      '{"model":"fast","messages":[]}',
      `Authorization: Bearer ${ai.token}`,
      sampled,
    ),
  )
  await until(() => spans.length > 0)
  const { events } = spans.find(({ kind }) => kind === 'server')!
  deepEqual(
    events.filter(({ name }) => name === 'attempt.ended').map(({ attributes }) => Object.values(attributes!)),
    [
      ['openai', 'a', 'http_503'],
      ['groq', 'b', 'ok'],
    ],
  )
})

test('an origin that fails for good is an error of both spans', async t => {
  const { edge, spans } = await startRecorded(t, [deadOrigin().url])
  await edge.ask(request('GET /', sampled))
  deepEqual(
    spans.map(({ kind, isError, attributes }) => [kind, isError, attributes['error.type']]),
    [
      ['server', true, '521'],
      ['client', true, '521'],
    ],
  )
})

test('the span of an AI call says what was asked of which model, and what it used, without a body', async t => {
  const told = Promise.withResolvers<readonly Span[]>()
  const provider = await startResponder(t, json(completion))
  const telemetry = { trace: { continues: 'all', sample: 1 } } as const
  const ai = await startAi(t, { openai: provider.url }, { telemetry, spans: { take: told.resolve } })
  const body = JSON.stringify({
    model: 'openai/gpt-4o-mini',
    messages: [{ role: 'user', content: 'SECRET' }],
  })
  const fields = [`svc-aig-authorization: Bearer ${ai.token}`, 'Authorization: Bearer sk-own']
  const got = await ai.edge.ask(call(`${ai.native('compat')}/chat/completions`, body, ...fields))
  equal(got.status, 200)
  const [server, client] = await told.promise
  equal(client?.name, 'chat gpt-4o-mini')
  const { attributes } = client!
  deepEqual(Object.fromEntries(Object.entries(attributes).filter(([name]) => name.startsWith('gen_ai.'))), {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o-mini',
    'gen_ai.response.model': completion.model,
    'gen_ai.usage.input_tokens': 9,
    'gen_ai.usage.output_tokens': 3,
  })
  equal(provider.requests[0]!.field('traceparent'), `00-${client!.traceId}-${client!.spanId}-03`)
  equal(/SECRET|svct_|sk-own/.test(JSON.stringify([server, client])), false)
})

test('input tokens are all of a call, and those of a cache are told apart', async t => {
  const told = Promise.withResolvers<readonly Span[]>()
  const usage = {
    input_tokens: 3,
    cache_creation_input_tokens: 20,
    cache_read_input_tokens: 100,
    output_tokens: 7,
  }
  const provider = await startResponder(t, json({ type: 'message', model: 'claude-x', usage }))
  const telemetry = { trace: { continues: 'all', sample: 1 } } as const
  const ai = await startAi(t, { anthropic: provider.url }, { telemetry, spans: { take: told.resolve } })
  const token = `svc-aig-authorization: Bearer ${ai.token}`
  await ai.edge.ask(call(`${ai.native('anthropic')}/v1/messages`, '{"model":"claude-x"}', token))
  const [, client] = await told.promise
  const of = (name: string) => client!.attributes[`gen_ai.usage.${name}`]
  deepEqual(
    ['input_tokens', 'cache_read.input_tokens', 'cache_creation.input_tokens', 'output_tokens'].map(of),
    [123, 100, 20, 7],
  )
})

test('the use of a call is read from a response that is compressed, too', async t => {
  const told = Promise.withResolvers<readonly Span[]>()
  const zipped = gzipSync(JSON.stringify(completion)).toString('latin1')
  const reply = okay(zipped, 'Content-Type: application/json', 'Content-Encoding: gzip')
  const provider = await startResponder(t, reply)
  const telemetry = { trace: { continues: 'all', sample: 1 } } as const
  const ai = await startAi(t, { mistral: provider.url }, { telemetry, spans: { take: told.resolve } })
  const fields = [`svc-aig-authorization: Bearer ${ai.token}`, 'Accept-Encoding: gzip']
  await ai.edge.ask(call(`${ai.native('mistral')}/v1/chat/completions`, '{}', ...fields))
  const [, client] = await told.promise
  deepEqual(
    [
      client!.attributes['gen_ai.provider.name'],
      client!.attributes['gen_ai.usage.input_tokens'],
      client!.name,
    ],
    ['mistral_ai', 9, 'chat'],
  )
})

test('a preview of an error is no failed request', async t => {
  const { edge, spans } = await startRecorded(t, [deadOrigin().url])
  await edge.ask(request('GET /cdn-cgi/error/522', sampled))
  const [span] = spans
  const { attributes } = span!
  deepEqual(
    [span?.isError, attributes['http.response.status_code'], attributes['gatehouse.preview']],
    [false, 522, true],
  )
  deepEqual([attributes['error.type'], attributes['gatehouse.error']], [undefined, undefined])
})
