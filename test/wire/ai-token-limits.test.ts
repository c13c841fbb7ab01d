// Tokens that are limited to gateways and models: what they may call, and that nothing else reaches a provider or the log.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Token } from '../../src/store/records/records.ts'
import { type AiEdge, type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { type Origin, startResponder } from '../help/origin.ts'
import type { Message } from '../help/raw.ts'

const messages = [{ role: 'user', content: 'Hi' }]
const body = (model: string, more: object = {}) => JSON.stringify({ model, messages, ...more })

interface Started {
  readonly ai: AiEdge
  readonly openai: Origin
  readonly groq: Origin
  /** Makes a call with a new token that has such limits. */
  readonly as: (
    limits: Pick<Token, 'gateways' | 'models'>,
  ) => Promise<(path: string, body: string, ...fields: string[]) => Promise<Message>>
}

async function start(t: TestContext, settings: AiSettings = {}): Promise<Started> {
  const openai = await startResponder(t, json(completion))
  const groq = await startResponder(t, json(completion))
  const urls = {
    openai: { url: openai.url, keys: ['sk-a'] },
    groq: { url: groq.url, keys: ['sk-b'] },
    'google-ai-studio': { url: openai.url, keys: ['sk-c'] },
    openrouter: { url: openai.url, keys: ['sk-d'] },
    'custom-lab': { url: openai.url },
    'azure-openai': { url: openai.url, keys: ['sk-e'], resources: ['mine'] },
  }
  const ai = await startAi(t, urls, settings)
  const as: Started['as'] = async limits => {
    const token = await ai.mint(limits)
    return (path, text, ...fields) => {
      const isNative = /^\/v1\/[\da-f]{32}/.test(path)
      const bearer = `${isNative ? 'svc-aig-authorization' : 'Authorization'}: Bearer ${token}`
      return ai.edge.ask(call(path, text, bearer, ...fields))
    }
  }
  return { ai, openai, groq, as }
}

const rest = '/v1/chat/completions'

function assertBeyond(answer: Message, message: RegExp, api: 'rest' | 'native' = 'rest'): void {
  assert.equal(answer.status, 403, answer.text)
  const { errors, error, internalCode } = JSON.parse(answer.text)
  const [fault] = api === 'rest' ? errors : error
  assert.equal(fault.code, api === 'rest' ? 10000 : 2009)
  assert.equal(internalCode, api === 'rest' ? undefined : 2009)
  assert.match(fault.message, message)
  assert.equal(answer.field('x-should-retry'), 'false')
}

async function assertNothingSent({ ai, openai, groq }: Started): Promise<void> {
  assert.deepEqual([openai.bytesReceived, groq.bytesReceived], [0, 0])
  await ai.logs.close()
  for (const gateway of ['default', 'team-a']) assert.equal(await ai.store.logs.count(ai.account, gateway), 0)
}

test('a token that is limited to gateways uses no other, on any route', async t => {
  const started = await start(t)
  const { ai, as, openai } = started
  const gateway = (await ai.store.gateways.get(ai.account, 'default'))!.record
  await ai.store.gateways.insert({ ...gateway, id: 'team-a' })
  const ask = await as({ gateways: ['team-*'] })
  const limit =
    /^Forbidden: the token is limited to the gateways team-\*, and (default|missing|teams) is none of them$/
  // It is refused before its body.
  for (const text of [body('openai/gpt-4o'), '{']) assertBeyond(await ask(rest, text), limit)
  assertBeyond(await ask(`${ai.rest}/v1/chat/completions`, '{', 'svc-aig-gateway-id: missing'), limit)
  for (const gateway of ['default', 'missing', 'teams'])
    for (const provider of ['openai', 'compat', 'nobody'])
      assertBeyond(await ask(`${ai.native(provider, gateway)}/chat/completions`, '{'), limit, 'native')
  await assertNothingSent(started)
  assert.equal((await ask(rest, body('openai/gpt-4o'), 'svc-aig-gateway-id: team-a')).status, 200)
  assert.equal((await ask(rest, body('openai/gpt-4o'), 'svc-aig-gateway-id: team-z')).status, 404)
  assert.equal((await ask(`${ai.native('openai', 'team-a')}/chat/completions`, body('gpt-4o'))).status, 200)
  assert.equal(openai.requests.length, 2)
  const twice = ['svc-aig-gateway-id: team-a', 'svc-aig-gateway-id: default']
  assert.equal((await ask(rest, body('openai/gpt-4o'), ...twice)).status, 400)
})

test('a token that is limited to models calls no other on REST and unified routes', async t => {
  const started = await start(t)
  const { ai, as, openai } = started
  const ask = await as({ models: ['openai/gpt-4o*', 'google/gemini-*'] })
  const limit =
    /^Forbidden: the token is limited to the models openai\/gpt-4o\*, google\/gemini-\*, and ".*" is none of them$/
  for (const model of [
    'openai/gpt-5',
    'groq/gpt-4o',
    'openai/GPT-4o',
    'custom-lab/openai/gpt-4o',
    'google-ai-studio/gemini-3',
  ]) {
    assertBeyond(await ask(rest, body(model)), limit)
    assertBeyond(await ask(`${ai.native('compat')}/chat/completions`, body(model)), limit, 'native')
    assertBeyond(await ask(`${ai.rest}/run/${model}`, JSON.stringify({ messages })), limit)
  }
  await assertNothingSent(started)
  for (const model of ['openai/gpt-4o', 'openai/gpt-4o-mini', 'google/gemini-3'])
    assert.equal((await ask(rest, body(model))).status, 200, model)
  assert.equal(openai.requests.length, 3)
  assert.equal((await ask(rest, body('nobody/x'))).status, 404)
})

test('further models that a router may call count too', async t => {
  const started = await start(t)
  const { as, ai } = started
  const ask = await as({ models: ['openrouter/openai/*'] })
  const asked = [
    { models: ['openai/gpt-4o', 'anthropic/claude'] },
    { Models: ['anthropic/claude'] },
    { models: [7] },
    { fallbacks: [{ model: 'anthropic/claude' }] },
    { fallback_models: 'anthropic/claude' },
  ]
  const beyond = /limited to the models openrouter\/openai\/\*, and/
  for (const more of asked) {
    assertBeyond(await ask(rest, body('openrouter/openai/gpt-4o', more)), beyond)
    assertBeyond(
      await ask(`${ai.native('openrouter')}/v1/chat/completions`, body('openai/gpt-4o', more)),
      beyond,
      'native',
    )
  }
  await assertNothingSent(started)
  const good = { models: ['openai/gpt-4o', 'openai/gpt-5'] }
  assert.equal((await ask(rest, body('openrouter/openai/gpt-4o', good))).status, 200)
})

test('a token that names an alias may call all that it leads to, and others only the models that they name', async t => {
  const step = (model: string) => ({ model, timeout: null, retries: 0, weight: null })
  const models = [
    { name: 'fast', steps: [step('openai/gpt-4o'), step('groq/llama')] },
    { name: 'best', steps: [step('openai/gpt-5')] },
  ]
  const { as, openai, groq } = await start(t, { ai: { models } })
  const byName = await as({ models: ['fast'] })
  assert.equal((await byName(rest, body('fast'))).status, 200)
  assert.equal(openai.requests.length, 1)
  assertBeyond(await byName(rest, body('best')), /the models fast, and "openai\/gpt-5"/)
  assertBeyond(await byName(rest, body('openai/gpt-4o')), /the models fast, and "openai\/gpt-4o"/)
  // A granted name does not extend to what the caller adds.
  assertBeyond(await byName(rest, body('fast', { models: ['gpt-5'] })), /the models fast, and "/)
  const byModel = await as({ models: ['groq/*'] })
  assert.equal((await byModel(rest, body('fast'))).status, 200)
  assert.deepEqual([openai.requests.length, groq.requests.length], [1, 1])
  assertBeyond(await byModel(rest, body('best')), /the models groq\/\*, and "openai\/gpt-5"/)
})

test('on native routes the model is that of the path or the body, and an unknown one is refused', async t => {
  const started = await start(t)
  const { ai, as, openai } = started
  const limits = {
    models: ['openai/gpt-4o*', 'google-ai-studio/gemini-3*', 'azure-openai/gpt-4o', 'custom-lab/small'],
  }
  const ask = await as(limits)
  const to = (provider: string, path: string, text: string, ...fields: string[]) =>
    ask(`${ai.native(provider)}${path}`, text, ...fields)
  const twice = '{"model":"gpt-4o","model":"gpt-5"}'
  const refused: readonly (readonly [provider: string, path: string, body: string, ...string[]])[] = [
    ['openai', '/chat/completions', body('gpt-5')],
    ['openai', '/chat/completions?model=gpt-4o', body('gpt-5')],
    ['openai', '/chat/completions', twice],
    ['openai', '/chat/completions', '{"model":"gpt-4o","Model":"gpt-5"}'],
    ['openai', '/chat/completions', '{"Model":"gpt-4o"}'],
    ['openai', '/chat/completions', '{"model":"gpt-4o"'],
    ['openai', '/chat/completions', '{"m\\u006fdel":"gpt-5","model":"gpt-4o"}'],
    ['openai', '/chat/completions', '[]'],
    ['openai', '/chat/completions', ''],
    ['openai', '/responses', '{"prompt":{"id":"pmpt_1"}}'],
    ['openai', '/chat/completions', body('gpt-4o'), 'Content-Encoding: gzip'],
    ['openai', '/chat%2Fcompletions', body('gpt-4o')],
    ['openai', '/batches', body('gpt-4o')],
    ['openai', '/realtime/client_secrets', body('gpt-4o')],
    ['openai', '/realtime?model=gpt-4o&model=gpt-5', ''],
    ['openai', '/models/gpt-5:x', body('gpt-4o')],
    ['google-ai-studio', '/v1beta/models/gemini-2.5:generateContent', '{"model":"gemini-3"}'],
    ['google-ai-studio', '/v1beta/models/gemini-3:generateContent', '{"models":["gemini-2.5"]}'],
    ['google-ai-studio', '/v1beta/models/gemini-3:generateContent', "{'tools':[]}"],
    ['google-ai-studio', '/v1beta/models/gemini-3:generateContent', '{}', 'Content-Encoding: gzip'],
    ['google-ai-studio', '/v1beta/models/gemini-3:generateContent', '{}', 'Content-Type: text/plain'],
    [
      ...([
        'google-ai-studio',
        '/v1beta/models/gemini-3:generateContent',
        '{"models":["gemini-2.5"]}',
      ] as const),
      'Content-Type: multipart/form-data; boundary=b',
    ],
    ['openai', '/chat/completions', body('gpt-4o'), 'Content-Type: application/json; charset=utf-7'],
    ['azure-openai', '/mine/gpt-4o/responses', '{"Tools":[{"model":"gpt-5"}]}'],
    ['google-ai-studio', '/v1beta/tunedModels/gemini-3:generateContent', '{}'],
    ['google-ai-studio', '/v1beta/models/gemini-3/models/gemini-2.5:generateContent', '{}'],
    ['google-ai-studio', '/v1beta/openai/chat/completions', body('gemini-2.5')],
    ['azure-openai', '/mine/gpt-5/chat/completions', body('gpt-4o')],
    ['azure-openai', '/mine/openai/deployments/%67pt-5/chat/completions', body('gpt-4o')],
    ['azure-openai', '/mine/openai/deployments//gpt-5/chat/completions', body('gpt-4o')],
    ['azure-openai', '/mine/openai/deployments/gpt-5;x/chat/completions', body('gpt-4o')],
    ['custom-lab', '/deployments/small/chat/completions', body('small')],
    ['custom-lab', '/models/small:generateContent', '{}'],
    ['custom-lab', '/chat/completions', body('large')],
  ]
  for (const [provider, path, text, ...fields] of refused)
    assertBeyond(
      await to(provider, path, text, ...fields),
      /limited to the models openai\/gpt-4o\*.*(known|none of them)$/,
      'native',
    )
  const list = `GET ${ai.native('openai')}/models HTTP/1.1\r\nHost: ai.test\r\nsvc-aig-authorization: Bearer ${await ai.mint(limits)}\r\n\r\n`
  assertBeyond(await ai.edge.ask(list), /cannot be known$/, 'native')
  await assertNothingSent(started)
  const allowed: typeof refused = [
    ['openai', '/chat/completions', body('gpt-4o-mini')],
    ['openai', '/v1/responses', '{"model":"gpt-4o","input":"Hi"}'],
    ['google-ai-studio', '/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse', '{}'],
    ['google-ai-studio', '/v1beta/openai/chat/completions', body('gemini-3')],
    ['azure-openai', '/mine/gpt-4o/chat/completions?api-version=1', '{}'],
    ['custom-lab', '/chat/completions', body('small')],
  ]
  for (const [provider, path, text] of allowed) {
    const seen = openai.requests.length
    assert.equal((await to(provider, path, text)).status, 200, path)
    assert.equal(openai.requests[seen]!.text, text)
  }
})

test('an empty list permits nothing, and a gateway that requires no token has no limits', async t => {
  const { ai, as } = await start(t)
  const none = await as({ models: [] })
  assertBeyond(await none(rest, body('openai/gpt-4o')), /limited to the models , and/)
  await ai.change({ authentication: false })
  assert.equal((await none(rest, body('openai/gpt-4o'))).status, 200)
})

test('a WebSocket is of the model that its address names for good, and otherwise refused', async t => {
  const { ai, openai } = await start(t)
  const token = await ai.mint({ models: ['openai/gpt-realtime'] })
  const handshake = (path: string) =>
    ai.edge.ask(
      [
        `GET ${ai.native('openai')}${path} HTTP/1.1`,
        'Host: ai.test',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        `svc-aig-authorization: Bearer ${token}\r\n\r\n`,
      ].join('\r\n'),
    )
  for (const path of [
    '/realtime?model=gpt-5',
    '/realtime',
    '/responses?model=gpt-realtime',
    '/x/realtime?model=gpt-realtime',
  ])
    assertBeyond(await handshake(path), /limited to the models openai\/gpt-realtime, and/, 'native')
  assert.equal(openai.bytesReceived, 0)
  assert.notEqual((await handshake('/realtime?model=gpt-realtime')).status, 403)
  assert.match(openai.requests[0]!.startLine, /^GET \/realtime\?model=gpt-realtime /)
})
