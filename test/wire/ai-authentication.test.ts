// Who is let in to an AI gateway: the four rows of setting and header on both kinds of routes, and everything that is no valid token.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AiEdge, type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { ManualClock } from '../help/clock.ts'
import { recordOf } from '../help/edge.ts'
import { type Origin, startResponder } from '../help/origin.ts'
import type { Message } from '../help/raw.ts'
import { busySecond, until } from '../help/until.ts'

const chat = '{"model":"openai/gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}'

/** The two kinds of routes, and where each bears the token. */
const routes = {
  'the REST API': {
    path: (ai: AiEdge) => `${ai.rest}/v1/chat/completions`,
    field: 'Authorization',
    assertUnauthorized(answer: Message) {
      const { errors, success, result } = JSON.parse(answer.text)
      assert.deepEqual(
        { errors, success, result },
        {
          success: false,
          errors: [{ code: 10000, message: 'Authentication error' }],
          result: null,
        },
      )
    },
  },
  'a provider-native endpoint': {
    path: (ai: AiEdge) => `${ai.native('openai')}/chat/completions`,
    field: 'svc-aig-authorization',
    assertUnauthorized(answer: Message) {
      assert.equal(
        answer.text,
        '{"success":false,"result":[],"messages":[],"error":[{"code":2009,"message":"Unauthorized"}],"name":"AiGatewayError","internalCode":2009}',
      )
    },
  },
} as const

async function start(t: TestContext, settings: AiSettings = {}): Promise<{ ai: AiEdge; provider: Origin }> {
  const provider = await startResponder(t, json(completion))
  return { ai: await startAi(t, { openai: provider.url }, settings), provider }
}

for (const [name, { path, field, assertUnauthorized }] of Object.entries(routes)) {
  test(`authentication on, token header present: authenticated gateway, the request succeeds (${name})`, async t => {
    const { ai, provider } = await start(t)
    const answer = await ai.edge.ask(call(path(ai), chat, `${field}: Bearer ${ai.token}`))
    assert.equal(answer.status, 200)
    assert.deepEqual(JSON.parse(answer.text), completion)
    assert.equal(provider.requests.length, 1)
    assert.equal((await ai.logged(1))[0]!.authenticated, true)
    assert.equal(ai.edge.metrics.ai.allowed.authenticated.value, 1)
  })

  test(`authentication on, no token header: error, the request fails for missing authorization (${name})`, async t => {
    const { ai, provider } = await start(t)
    const answer = await ai.edge.ask(call(path(ai), chat))
    assert.equal(answer.status, 401)
    assert.match(answer.field('www-authenticate')!, /^Bearer resource_metadata=/)
    assert.equal(answer.field('x-should-retry'), 'false')
    assert.equal(answer.field('retry-after'), null)
    assertUnauthorized(answer)
    assert.equal(provider.bytesReceived, 0)
    await ai.logs.close()
    assert.equal(await ai.store.logs.count(ai.account, 'default'), 0)
    assert.equal(ai.edge.metrics.ai.refused.missing.value, 1)
    assert.deepEqual(ai.edge.accesses, [])
  })

  test(`authentication off, token header present: unauthenticated gateway, the request succeeds (${name})`, async t => {
    const { ai } = await start(t, { gateway: { authentication: false } })
    const good = await ai.edge.ask(call(path(ai), chat, `${field}: Bearer ${ai.token}`))
    const bad = await ai.edge.ask(call(path(ai), chat, `${field}: Bearer nonsense`))
    assert.deepEqual([good.status, bad.status], [200, 200])
    const entries = await ai.logged(2)
    assert.deepEqual(
      entries.map(({ authenticated }) => authenticated),
      [false, false],
    )
  })

  test(`authentication off, no token header: unauthenticated gateway, the request succeeds (${name})`, async t => {
    const { ai } = await start(t, { gateway: { authentication: false } })
    assert.equal((await ai.edge.ask(call(path(ai), chat))).status, 200)
    assert.equal(ai.edge.metrics.ai.allowed.authentication_off.value, 1)
  })

  test(`an invalid token is refused, each kind for its reason (${name})`, async t => {
    const clock = new ManualClock()
    const { ai, provider } = await start(t, { clock })
    const now = clock.now()
    const tokens = {
      malformed: `${ai.token.slice(0, -1)}${ai.token.endsWith('A') ? 'B' : 'A'}`,
      unknown: (await import('../../src/tokens/token.ts')).mintToken().value,
      disabled: await ai.mint({ status: 'disabled' }),
      expired: await ai.mint({ expiresOn: now - 1 }),
      not_yet_valid: await ai.mint({ notBefore: now + 1 }),
      address_denied: await ai.mint({ addressesIn: ['10.0.0.0/8'] }),
    }
    for (const [reason, token] of Object.entries(tokens)) {
      const answer = await ai.edge.ask(call(path(ai), chat, `${field}: Bearer ${token}`))
      assert.equal(answer.status, 401, reason)
      assertUnauthorized(answer)
      assert.equal(ai.edge.metrics.ai.refused[reason as keyof typeof tokens].value, 1, reason)
    }
    const twice = call(path(ai), chat, `${field}: Bearer ${ai.token}`, `${field}: Bearer ${ai.token}`)
    const statuses = [
      (await ai.edge.ask(call(path(ai), chat, `${field}: Basic Og==`))).status,
      (await ai.edge.ask(twice)).status,
    ]
    assert.deepEqual(statuses, [401, 401])
    assert.equal(provider.bytesReceived, 0)
  })

  test(`a token without the permission, or of another account, is forbidden (${name})`, async t => {
    const { ai, provider } = await start(t)
    const weak = await ai.mint({ permissions: ['AI Gateway Read', 'AI Gateway Edit', 'API Tokens Write'] })
    const stranger = await ai.mint({
      policies: [
        {
          id: '0',
          effect: 'allow',
          permissionGroups: ['a27621d5ea9af545e8a8cb080c699127'],
          accounts: ['0'.repeat(32)],
        },
      ],
    })
    for (const token of [weak, stranger]) {
      const answer = await ai.edge.ask(call(path(ai), chat, `${field}: Bearer ${token}`))
      assert.equal(answer.status, 403)
      assert.match(answer.text, /AI Gateway Run/)
    }
    assert.equal(ai.edge.metrics.ai.refused.forbidden.value, 2)
    assert.equal(provider.bytesReceived, 0)
  })

  test(`a change of the setting applies to the next request (${name})`, async t => {
    const { ai } = await start(t)
    const ask = async () => (await ai.edge.ask(call(path(ai), chat))).status
    assert.equal(await ask(), 401)
    await ai.change({ authentication: false })
    await until(async () => (await ask()) === 200, busySecond)
    await ai.change({ authentication: true })
    await until(async () => (await ask()) === 401, busySecond)
  })
}

test('a missing gateway is revealed only to tokens with permission', async t => {
  const { ai } = await start(t)
  const path = `${ai.native('openai', 'nowhere')}/chat/completions`
  assert.equal((await ai.edge.ask(call(path, chat))).status, 401)
  const known = await ai.edge.ask(call(path, chat, `svc-aig-authorization: Bearer ${ai.token}`))
  assert.equal(known.status, 404)
  assert.match(known.text, /Gateway not found/)
})

test('a REST call picks its gateway by svc-aig-gateway-id', async t => {
  const { ai } = await start(t)
  const { record } = (await ai.store.gateways.get(ai.account, 'default'))!
  await ai.store.gateways.insert({ ...record, id: 'open', authentication: false })
  const path = `${ai.rest}/v1/chat/completions`
  assert.equal((await ai.edge.ask(call(path, chat, 'svc-aig-gateway-id: open'))).status, 200)
  assert.equal((await ai.edge.ask(call(path, chat, 'svc-aig-gateway-id: ../open'))).status, 401)
  assert.equal(
    (await ai.edge.ask(call(path, chat, 'svc-aig-gateway-id: open', 'svc-aig-gateway-id: open'))).status,
    401,
  )
  const mine = `Authorization: Bearer ${ai.token}`
  const twice = await ai.edge.ask(
    call(path, chat, mine, 'svc-aig-gateway-id: open', 'SVC-AIG-Gateway-Id: default'),
  )
  assert.equal(twice.status, 400)
  assert.equal(JSON.parse(twice.text).errors[0].message, 'svc-aig-gateway-id must be given once')
  assert.equal((await ai.edge.ask(call(path, chat, mine, 'svc-aig-gateway-id: none'))).status, 404)
})

test('a refused client keeps its connection when its body is small, and loses it when it is large', async t => {
  const { ai } = await start(t)
  const path = `${ai.rest}/v1/chat/completions`
  const client = await ai.edge.connect()
  await client.send(call(path, chat).repeat(2))
  for (let i = 0; i < 2; i++) {
    const answer = await client.response()
    assert.deepEqual([answer.status, answer.field('connection')], [401, null])
  }
  await client.send(call(path, `"${'x'.repeat(100_000)}"`))
  const last = await client.response()
  assert.deepEqual([last.status, last.field('connection')], [401, 'close'])
})

test('an unreachable store keeps unknown callers out with 503, and lets remembered ones in', async t => {
  const { ai } = await start(t)
  const path = `${ai.rest}/v1/chat/completions`
  const ask = (token: string) =>
    ai.edge.ask(call(path, chat, `Authorization: Bearer ${token}`, 'Accept: application/json'))
  const stranger = await ai.mint()
  assert.equal((await ask(ai.token)).status, 200)
  await ai.store.close()
  assert.equal((await ask(ai.token)).status, 200)
  const twice = [`Authorization: Bearer ${ai.token}`, `Authorization: Bearer ${ai.token}`]
  assert.equal((await ai.edge.ask(call(path, chat, ...twice))).status, 401)
  const refused = await ask(stranger)
  const record = recordOf(refused)
  assert.deepEqual([refused.status, record.error_name, record.retryable], [503, 'service_unavailable', true])
  assert.equal(refused.field('x-should-retry'), 'true')
})

test('a refused client that never sends the rest of its body still gets its response soon', async t => {
  const { ai } = await start(t)
  const client = await ai.edge.connect()
  await client.send(call(`${ai.rest}/v1/chat/completions`, chat).slice(0, -5))
  const answer = await client.response('POST')
  assert.deepEqual([answer.status, answer.field('connection')], [401, 'close'])
})
