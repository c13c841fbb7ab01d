// Responses to AI calls that are reused for equal ones: for whom, for how long, which ones, and what is said and counted.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AiEdge, type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { hasty, prices, rule, spentOf } from '../help/budgeted.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { type Origin, startOrigin } from '../help/origin.ts'
import type { Message } from '../help/raw.ts'
import { until } from '../help/until.ts'

const cached = { cacheTtl: 3600 }

interface Setup {
  readonly ai: AiEdge
  readonly provider: Origin
  /** How many calls the provider got. */
  readonly calls: () => number
  ask(text?: string, ...fields: string[]): Promise<Message>
}

const prompt = (content = 'Hi', more: object = {}) =>
  JSON.stringify({ model: 'openai/gpt-4o', messages: [{ role: 'user', content }], ...more })

/** Starts an edge whose provider numbers its completions, or responds with what `respond` makes. */
async function start(
  t: TestContext,
  settings: AiSettings = {},
  respond = (n: number) => json({ ...completion, id: `c-${n}` }),
): Promise<Setup> {
  let calls = 0
  const provider = await startOrigin(t, async wire => {
    for (;;) {
      await wire.request()
      await wire.send(respond(++calls))
    }
  })
  const ai = await startAi(
    t,
    { openai: { url: provider.url, keys: ['sk-operator'] } },
    { ...settings, gateway: { ...cached, ...settings.gateway } },
  )
  const ask = (text = prompt(), ...fields: string[]) =>
    ai.edge.ask(
      call(
        `${ai.rest}/v1/chat/completions`,
        text,
        ...(fields.some(field => /^authorization:/i.test(field))
          ? []
          : [`Authorization: Bearer ${ai.token}`]),
        ...fields,
      ),
    )
  return { ai, provider, calls: () => calls, ask }
}

const statusOf = (message: Message) => message.field('svc-aig-cache-status')
const idOf = (message: Message) => JSON.parse(message.text).id as string

test('an equal call gets the same response, without its provider', async t => {
  const { ask, calls } = await start(t)
  const first = await ask()
  const second = await ask()
  assert.deepEqual([first, second].map(statusOf), ['MISS', 'HIT'])
  assert.deepEqual([second.text, second.status, calls()], [first.text, 200, 1])
  assert.equal(second.field('content-type'), 'application/json')
  assert.equal(second.field('cache-control'), 'no-store')
  assert.match(second.field('age')!, /^\d$/)
  assert.equal(second.field('svc-aig-provider'), 'openai')
  assert.equal(idOf(await ask(prompt('Hello'))), 'c-2')
})

test('responses are reused only where the gateway or the call says so', async t => {
  const { ask, calls, ai } = await start(t, { gateway: { cacheTtl: 0 } })
  assert.deepEqual([await ask(), await ask()].map(statusOf), [null, null])
  const asked = ['svc-aig-cache-ttl: 60']
  assert.deepEqual([await ask(prompt(), ...asked), await ask(prompt(), ...asked)].map(statusOf), [
    'MISS',
    'HIT',
  ])
  assert.equal(statusOf(await ask()), null)
  await ai.change({ cacheTtl: 60 })
  await until(async () => statusOf(await ask()) !== null)
  const skipped = await ask(prompt(), 'svc-aig-skip-cache: true')
  assert.equal(statusOf(skipped), 'BYPASS; reason=skip')
  const before = calls()
  assert.equal(statusOf(await ask(prompt(), 'svc-aig-skip-cache: false')), 'HIT')
  assert.equal(calls(), before)
})

test('a response is reused for its time, or that of the call if that is shorter', async t => {
  const clock = new ManualClock()
  const { ask } = await start(t, { ...patient, clock, gateway: { cacheTtl: 600 } })
  await ask()
  clock.advance(120_000)
  assert.equal((await ask()).field('age'), '120')
  assert.equal(statusOf(await ask(prompt(), 'svc-aig-cache-ttl: 120')), 'MISS')
  clock.advance(119_999)
  assert.equal(statusOf(await ask(prompt(), 'svc-aig-cache-ttl: 600')), 'HIT')
  clock.advance(1)
  assert.equal(statusOf(await ask(prompt(), 'svc-aig-cache-ttl: 600')), 'MISS')
})

test('no cache on the way stores a response, unless its provider allows that', async t => {
  const fields = [[], [], ['Cache-Control: private, max-age=60'], ['cache-control: no-cache']]
  const { ask, ai } = await start(t, { gateway: { cacheTtl: 0 } }, n => json(completion, ...fields[n - 1]!))
  const seen = [(await ask()).field('cache-control')]
  const token = `svc-aig-authorization: Bearer ${ai.token}`
  for (let i = 0; i < 3; i++) {
    const list = `GET ${ai.native('openai')}/v1/files HTTP/1.1\r\nHost: ai.test\r\n${token}\r\n\r\n`
    seen.push((await ai.edge.ask(list)).field('cache-control'))
  }
  assert.deepEqual(seen, ['no-store', 'no-store', 'private, max-age=60', 'no-cache'])
  const refused = await ask(prompt(), 'Authorization: Bearer svct_wrong')
  assert.match(refused.field('cache-control')!, /no-store/)
})

test('fields out of their bounds are refused by name', async t => {
  const { ask, calls } = await start(t)
  for (const [field, message] of [
    ['svc-aig-cache-ttl: 59', /svc-aig-cache-ttl must be a whole number from 60 to 2678400/],
    ['svc-aig-cache-ttl: 1h', /svc-aig-cache-ttl must be a whole number/],
    ['svc-aig-cache-ttl: 60\r\nsvc-aig-cache-ttl: 60', /svc-aig-cache-ttl must be given once/],
    ['svc-aig-skip-cache: yes', /svc-aig-skip-cache must be true or false/],
    [`svc-aig-cache-key: ${'k'.repeat(257)}`, /svc-aig-cache-key must be 1 to 256 visible ASCII characters/],
    ['svc-aig-cache-key: a b', /svc-aig-cache-key must be/],
  ] as const) {
    const refused = await ask(prompt(), field)
    assert.equal(refused.status, 400, field)
    assert.match(refused.text, message)
  }
  assert.equal(calls(), 0)
})

test('a key of the caller stands for the body, within its own token', async t => {
  const { ask, ai, calls } = await start(t, { gateway: { cacheTtl: 0 } })
  const own = 'svc-aig-cache-key: weather'
  assert.equal(statusOf(await ask(prompt('Rain?'), own)), 'MISS')
  assert.equal(idOf(await ask(prompt('Will it rain?'), own)), 'c-1')
  for (const scope of ['token', 'app', 'shared'] as const) {
    await ai.change({ cacheScope: scope, createdAt: scope.length })
    const other = `Authorization: Bearer ${await ai.mint()}`
    const before = calls()
    assert.equal(statusOf(await ask(prompt('Rain?'), own, other)), 'MISS')
    assert.equal(calls(), before + 1, scope)
  }
  const stream = await ask(prompt('Rain?', { stream: true }), own)
  assert.equal(statusOf(stream), 'MISS')
  assert.equal(statusOf(await ask(prompt().replace('gpt-4o', 'gpt-5'), own)), 'MISS')
})

test('a key of the caller lasts five minutes where nobody says how long', async t => {
  const clock = new ManualClock()
  const { ask } = await start(t, { ...patient, clock, gateway: { cacheTtl: 0 } })
  const own = 'svc-aig-cache-key: weather'
  await ask(prompt(), own)
  clock.advance(299_999)
  assert.equal(statusOf(await ask(prompt(), own)), 'HIT')
  clock.advance(1)
  assert.equal(statusOf(await ask(prompt(), own)), 'MISS')
})

test('without a token, a key of the caller is ignored', async t => {
  const { ask } = await start(t, { gateway: { authentication: false } })
  assert.equal(statusOf(await ask(prompt(), 'svc-aig-cache-key: k')), 'BYPASS; reason=no_token')
  assert.deepEqual([await ask(), await ask()].map(statusOf), ['MISS', 'HIT'])
})

test('tokens share responses only if the gateway says so', async t => {
  const { ask, ai } = await start(t)
  await ask()
  const other = `Authorization: Bearer ${await ai.mint()}`
  assert.equal(statusOf(await ask(prompt(), other)), 'MISS')
  await ai.change({ cacheScope: 'shared' })
  await until(async () => statusOf(await ask(prompt('shared'))) === 'HIT')
  assert.equal(statusOf(await ask(prompt('shared'), other)), 'HIT')
})

test('a change of the gateway ends the reuse where it says so, and another gateway has its own', async t => {
  const { ask, ai } = await start(t, { gateway: { isCacheInvalidatedOnUpdate: true } })
  await ask()
  assert.equal(statusOf(await ask()), 'HIT')
  await ai.change({ modifiedAt: 5 })
  await until(async () => statusOf(await ask(prompt(), 'svc-aig-cache-ttl: 61')) === 'MISS')
  await ai.change({ isCacheInvalidatedOnUpdate: false, modifiedAt: 6 })
  await until(async () => statusOf(await ask(prompt('b'))) === 'HIT')
  await ai.change({ isCacheInvalidatedOnUpdate: false, modifiedAt: 7 })
  assert.equal(statusOf(await ask(prompt('b'))), 'HIT')
  const { record } = (await ai.store.gateways.get(ai.account, 'default'))!
  await ai.store.gateways.insert({ ...record, id: 'other' })
  assert.equal(statusOf(await ask(prompt('b'), 'svc-aig-gateway-id: other')), 'MISS')
})

test('responses that were deleted are not reused, although a process still has them in memory', async t => {
  const { ask, ai } = await start(t)
  await ask()
  assert.equal(statusOf(await ask()), 'HIT')
  await ai.change({ answersSince: Date.now() })
  await until(async () => statusOf(await ask(prompt(), 'svc-aig-cache-ttl: 61')) === 'MISS')
  assert.equal(statusOf(await ask()), 'HIT')
})

test('fields that change a response are part of the call, and those about its caller are not', async t => {
  const { ask } = await start(t)
  await ask(prompt(), 'User-Agent: one/1', 'x-stainless-retry-count: 0', 'traceparent: 00-1-1-01')
  assert.equal(statusOf(await ask(prompt(), 'User-Agent: two/2', 'x-stainless-retry-count: 1')), 'HIT')
  assert.equal(statusOf(await ask(prompt(), 'OpenAI-Beta: assistants=v2')), 'MISS')
  assert.equal(statusOf(await ask(prompt(), 'OpenAI-Beta: responses=v1')), 'MISS')
  assert.equal(statusOf(await ask(prompt(), 'Accept: text/plain')), 'MISS')
})

test('a limit of calls counts hits, and refuses them', async t => {
  const { ask } = await start(t, { gateway: { rateLimit: { limit: 2, interval: 60, technique: 'fixed' } } })
  assert.deepEqual([await ask(), await ask()].map(statusOf), ['MISS', 'HIT'])
  assert.equal((await ask()).status, 429)
})

test('a hit is charged nothing, and a spent budget refuses it', async t => {
  const spendLimits = { isEnabled: true, rules: [rule({ limit: 0.0003 })] }
  const { ask, ai } = await start(t, {
    gateway: { spendLimits, defaultMaxTokens: 1 },
    budgets: hasty,
    ai: { prices },
  })
  assert.equal(statusOf(await ask()), 'MISS')
  const spent = 9 * 1000 + 3 * 10_000
  await until(async () => (await spentOf(ai)) === spent)
  for (let i = 0; i < 5; i++) assert.equal(statusOf(await ask()), 'HIT')
  assert.equal(await spentOf(ai), spent)
  let others = 0
  while ((await ask(prompt(`other ${others}`))).status === 200) others++
  assert.ok(others > 0 && others < 10)
  assert.equal((await ask()).status, 429)
})

test('a hit is logged as one, at no cost, with what it saved', async t => {
  const { ask, ai } = await start(t, { ai: { prices } })
  await ask()
  await ask(prompt(), 'svc-aig-custom-cost: {"total_cost":5}')
  const [hit, miss] = await ai.logged(2)
  assert.deepEqual([miss!.cached, miss!.tokensIn, miss!.tokensOut, miss!.saved], [false, 9, 3, undefined])
  assert.deepEqual([hit!.cached, hit!.tokensIn, hit!.tokensOut, hit!.cost], [true, 0, 0, 0])
  assert.deepEqual(hit!.saved, { tokensIn: 9, tokensOut: 3, cost: 0.000039 })
  assert.deepEqual(
    [hit!.success, hit!.streamed, hit!.provider, hit!.model],
    [true, false, 'openai', 'gpt-4o'],
  )
  const entry = (await ai.store.logs.get(ai.account, 'default', hit!.id))!
  assert.match(JSON.stringify(entry), /Hello\./)
})

test('a token that is revoked gets no hit', async t => {
  const { ask, ai } = await start(t)
  const value = await ai.mint({ id: 'revoked', name: 'revoked' })
  const field = `Authorization: Bearer ${value}`
  await ask(prompt(), field)
  assert.equal(statusOf(await ask(prompt(), field)), 'HIT')
  const { record, version } = (await ai.store.tokens.get(ai.account, 'revoked'))!
  await ai.store.tokens.replace({ ...record, status: 'disabled' }, version)
  await until(async () => (await ask(prompt(), field)).status === 401)
})

test('only whole 200s that are no error are reused', async t => {
  const responses = [
    'HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
    'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
    json({ error: { message: 'overloaded' } }),
    json({ ...completion, choices: [] }),
    json({ ...completion, choices: [{ index: 0, finish_reason: null }] }),
    'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<hr>',
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{"',
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}',
  ]
  const { ask, calls } = await start(t, {}, n => responses[n - 1] ?? json(completion))
  for (const response of responses) assert.equal(statusOf(await ask()), 'MISS', response)
  assert.equal(calls(), responses.length)
  assert.deepEqual([await ask(), await ask()].map(statusOf), ['MISS', 'HIT'])
})

test('providers are asked for responses without a coding', async t => {
  const codings: (string | null)[] = []
  const provider = await startOrigin(t, async wire => {
    for (;;) {
      codings.push((await wire.request()).field('accept-encoding'))
      await wire.send(json(completion))
    }
  })
  const ai = await startAi(t, { openai: provider.url }, { gateway: cached })
  const path = `${ai.native('openai')}/v1/chat/completions`
  const field = `svc-aig-authorization: Bearer ${ai.token}`
  const ask = (...fields: string[]) =>
    ai.edge.ask(
      call(path, prompt(), field, 'Accept-Encoding: gzip', 'Authorization: Bearer sk-own', ...fields),
    )
  assert.deepEqual([await ask(), await ask()].map(statusOf), ['MISS', 'HIT'])
  await ask('svc-aig-skip-cache: true')
  assert.deepEqual(codings, ['identity', 'gzip'])
})

test('operations that store, list or change something, and calls that depend on such, are not reused', async t => {
  const { ai } = await start(t)
  const field = `svc-aig-authorization: Bearer ${ai.token}`
  const native = async (path: string, body: object | string, ...fields: string[]) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return statusOf(await ai.edge.ask(call(`${ai.native('openai')}${path}`, text, field, ...fields)))
  }
  for (const path of [
    '/v1/files',
    '/v1/batches',
    '/v1/threads/t/runs',
    '/v1/responses/r/cancel',
    '/v1/messages/batches',
  ])
    assert.equal(await native(path, {}), 'BYPASS; reason=operation', path)
  for (const [path, body] of [
    ['/v1/responses', { model: 'gpt-5', input: 'Hi' }],
    ['/v1/responses', { model: 'gpt-5', input: 'Hi', store: null }],
    ['/v1/responses', { model: 'gpt-5', input: 'Hi', store: false, background: true }],
    ['/v1/responses', { model: 'gpt-5', input: 'Hi', store: false, previous_response_id: 'r' }],
    ['/v1/responses', { model: 'gpt-5', input: 'Hi', store: false, conversation: 'c' }],
    ['/v1/chat/completions', { model: 'gpt-5', messages: [], store: true }],
    ['/v1/messages', { model: 'c', messages: [], container: 'c' }],
    ['/v1/responses', '{"store":true,"store":false}'],
  ] as const)
    assert.equal(await native(path, body), 'BYPASS; reason=stateful', JSON.stringify(body))
  assert.equal(await native('/v1/responses', { model: 'gpt-5', input: 'Hi', store: false }), 'MISS')
  assert.equal(await native('/v1/chat/completions', '[]'), 'BYPASS; reason=unreadable')
  assert.equal(
    await native('/v1/chat/completions', {}, 'Content-Encoding: gzip'),
    'BYPASS; reason=unreadable',
  )
})

test('a credential of the caller for its provider is part of the call', async t => {
  const { ai } = await start(t, { gateway: { authentication: false } })
  const path = `${ai.native('openai')}/v1/chat/completions`
  const ask = async (...fields: string[]) => statusOf(await ai.edge.ask(call(path, prompt(), ...fields)))
  assert.equal(await ask('Authorization: Bearer sk-one'), 'MISS')
  assert.equal(await ask('Authorization: Bearer sk-one'), 'HIT')
  assert.equal(await ask('Authorization: Bearer sk-two'), 'MISS')
  assert.equal(await ask(), 'MISS')
})

test('responses outlive a process in the store, sealed', async t => {
  const { ask, ai } = await start(t)
  await ask()
  await until(async () => (await ai.store.answers.total()).entries === 1)
  const others = await startAi(
    t,
    { openai: 'http://127.0.0.1:1' },
    { given: { store: ai.store, account: ai.account } },
  )
  const again = await others.edge.ask(
    call(`${ai.rest}/v1/chat/completions`, prompt(), `Authorization: Bearer ${ai.token}`),
  )
  // The address of the provider is part of the call.
  assert.equal(statusOf(again), 'MISS')
  assert.equal(again.status, 521)
})
