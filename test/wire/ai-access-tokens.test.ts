// Access tokens of OAuth on AI routes: what opens, what refuses and how the way to a token is told, and that each of what they are made of ends them within a second.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RateLimitConfig } from '../../src/config/model/limit-config.ts'
import { mintToken } from '../../src/tokens/token.ts'
import { type AiEdge, type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { startResponder } from '../help/origin.ts'
import type { Message } from '../help/raw.ts'
import { startRedis } from '../help/redis.ts'
import { busySecond, until } from '../help/until.ts'
import { endsOf, keepAccess } from '../oauth/grants/keep-access.ts'
import { partsWith, roleIds } from '../oauth/grants/parts-with.ts'

const chat = '{"model":"openai/gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}'
const mark = '/.well-known/oauth-protected-resource'

const routes = {
  REST: {
    path: (ai: AiEdge) => `${ai.rest}/v1/chat/completions`,
    base: (ai: AiEdge) => ai.rest,
    field: 'Authorization',
  },
  native: {
    path: (ai: AiEdge) => `${ai.native('openai')}/chat/completions`,
    base: (ai: AiEdge) => `/v1/${ai.account}/default`,
    field: 'svc-aig-authorization',
  },
} as const

async function start(t: TestContext, settings: AiSettings = {}) {
  const provider = await startResponder(t, json(completion))
  const ai = await startAi(t, { openai: provider.url }, settings)
  const now = Date.now()
  const keep = (wish: Parameters<typeof keepAccess>[1] = {}) =>
    keepAccess(ai.store, { account: ai.account, now, ...wish })
  return { ai, provider, keep }
}

const get = (path: string, ...fields: string[]) =>
  `${[`GET ${path} HTTP/1.1`, 'Host: ai.test', ...fields].join('\r\n')}\r\n\r\n`
const challengeOf = (answer: Message) => answer.field('www-authenticate')

for (const [name, { path, base, field }] of Object.entries(routes)) {
  const asking = (ai: AiEdge, value: string, ...fields: string[]) =>
    ai.edge.ask(call(path(ai), chat, `${field}: Bearer ${value}`, ...fields))

  test(`an access token opens an AI route (${name})`, async t => {
    const { ai, provider, keep } = await start(t)
    const { value } = await keep()
    for (let i = 0; i < 2; i++) assert.equal((await asking(ai, value)).status, 200)
    assert.equal(provider.requests.length, 2)
    assert.ok(!provider.requests.some(({ text }) => text.includes(value)))
    assert.equal(ai.edge.metrics.ai.allowed.authenticated.value, 2)
  })

  test(`the log entry of a call names the app and its user (${name})`, async t => {
    const { ai, keep } = await start(t)
    const { value, grant, client, user } = await keep()
    assert.equal((await asking(ai, value)).status, 200)
    const [entry] = await ai.logged(1)
    assert.partialDeepStrictEqual(entry, {
      tokenId: grant.id,
      tokenName: client.name,
      app: { user: user.id, email: user.email, client: client.id, clientName: client.name },
    })
    assert.equal((await asking(ai, ai.token)).status, 200)
    const [ofToken] = await ai.logged(2)
    assert.ok(!('app' in ofToken!))
  })

  test(`a 401 tells where the metadata are, and they where tokens come from (${name})`, async t => {
    const { ai } = await start(t)
    const named = `Bearer resource_metadata="http://ai.test${mark}${base(ai)}", scope="ai_gateway.run"`
    const bare = await ai.edge.ask(call(path(ai), chat))
    assert.deepEqual([bare.status, challengeOf(bare)], [401, named])
    for (const value of ['no', mintToken('svco_').value, mintToken('svcr_').value, mintToken().value]) {
      const answer = await asking(ai, value)
      assert.deepEqual([answer.status, challengeOf(answer)], [401, `${named}, error="invalid_token"`])
      assert.equal(answer.text, bare.text)
    }
    const metadata = await ai.edge.ask(get(mark + base(ai)))
    assert.deepEqual(
      [metadata.status, metadata.field('content-type'), metadata.field('access-control-allow-origin')],
      [200, 'application/json', '*'],
    )
    assert.partialDeepStrictEqual(JSON.parse(metadata.text), {
      resource: `http://ai.test${base(ai)}`,
      authorization_servers: ['https://id.example'],
    })
    assert.ok(JSON.parse(metadata.text).scopes_supported.includes('ai_gateway.run'))
  })

  test(`an access token is forbidden where its scopes, or the role of its user, do not reach (${name})`, async t => {
    const { ai, provider, keep } = await start(t)
    const lacking = await asking(ai, (await keep({ scopes: ['ai_gateway.read', 'user.read'] })).value)
    assert.equal(lacking.status, 403)
    assert.match(challengeOf(lacking)!, /scope="ai_gateway\.run", error="insufficient_scope"$/)
    const powerless = await asking(ai, (await keep({ roles: roleIds('Administrator Read Only') })).value)
    assert.deepEqual([powerless.status, challengeOf(powerless)], [403, null])
    const elsewhere = await asking(ai, (await keep({ account: 'e'.repeat(32) })).value)
    assert.equal(elsewhere.status, 403)
    assert.equal(provider.requests.length, 0)
  })

  test(`an access token for another API is none here (${name})`, async t => {
    const { ai, keep } = await start(t)
    for (const [aud, status] of [
      ['https://id.example/client/v4', 401],
      ['https://evil.example', 401],
      [`http://ai.test${base(ai)}`, 200],
      [['https://id.example/client/v4', 'https://ai.test'], 200],
    ] as const)
      assert.equal((await asking(ai, (await keep({ aud })).value)).status, status, String(aud))
    assert.equal(ai.edge.metrics.ai.refused.other_api.value, 2)
  })
}

const ofGateway = (key?: 'app' | 'token'): AiSettings => ({
  gateway: { rateLimit: { limit: 2, interval: 3_600, technique: 'sliding', ...(key && { key }) } },
})
const perApp: RateLimitConfig = {
  ...{ name: 'per-app', limit: 2, period: 3_600_000, key: [{ by: 'app' }], when: null, action: 'block' },
}

for (const [name, settings, statuses] of [
  ['the limit of a gateway counts by gateway', ofGateway(), [200, 200, 429, 429, 429]],
  ['the limit of a gateway counts by app', ofGateway('app'), [200, 200, 429, 200, 200]],
  ['the limit of a gateway counts by token', ofGateway('token'), [200, 200, 200, 200, 200]],
  ['a limit of the file counts by app', { gateway: {}, rateLimits: [perApp] }, [200, 200, 429, 200, 200]],
] as const)
  test(`${name}, and made-up tokens take nothing from it`, async t => {
    const { ai, keep } = await start(t, settings)
    for (let i = 0; i < 4; i++) {
      const field = `Authorization: Bearer ${mintToken('svco_').value}`
      assert.equal((await ai.edge.ask(call(routes.REST.path(ai), chat, field))).status, 401)
    }
    const own = await keep()
    const ofOther = await keep()
    // Another user of the same app.
    const { client, clientAccount } = own.grant
    const second = partsWith({ account: ai.account, clientAccount, now: Date.now() })
    await ai.store.users.insert(second.user)
    for (const member of [second.member, second.insider]) await ai.store.members.insert(member)
    await ai.store.oauthGrants.insert({ ...second.grant, client })
    await ai.store.credentials.put({ ...second.credential, client })
    const got: number[] = []
    for (const value of [own.value, own.value, second.value, ofOther.value, ai.token]) {
      const field = `Authorization: Bearer ${value}`
      got.push((await ai.edge.ask(call(routes.REST.path(ai), chat, field))).status)
    }
    assert.deepEqual(got, statuses)
  })

test('a limit by app has its fields beside those of other limits', async t => {
  const perAddress = { ...perApp, name: 'per-address', limit: 9, key: [{ by: 'address' }] } as const
  const { ai, keep } = await start(t, { gateway: {}, rateLimits: [perApp, perAddress] })
  const field = `Authorization: Bearer ${(await keep()).value}`
  const answer = await ai.edge.ask(call(routes.REST.path(ai), chat, field))
  assert.deepEqual(answer.all('ratelimit'), ['"per-address";r=8;t=3600', '"per-app";r=1;t=3600'])
})

test('an access or refresh token where it has no place is refused, and reaches nobody', async t => {
  const { ai, provider, keep } = await start(t)
  const { value } = await keep()
  const native = `${ai.native('openai')}/chat/completions`
  for (const request of [
    call(
      native,
      chat,
      `Authorization: Bearer ${value}`,
      `svc-aig-authorization: Bearer ${value}`,
      `X-Key: ${value}`,
    ),
    call(`${native}?key=${value}`, chat),
    call(native, chat, `X-Key: ${mintToken('svcr_').value}`),
  ])
    assert.equal((await ai.edge.ask(request)).status, 400)
  assert.equal(provider.requests.length, 0)
})

test('metadata are told by the host that a trusted hop says, and to GET and HEAD only', async t => {
  const { ai } = await start(t, { trustedProxies: ['127.0.0.1'] })
  const passedOn = [
    'X-Forwarded-For: 192.0.2.1',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Host: Gate.example',
  ]
  const { text } = await ai.edge.ask(get(mark, ...passedOn))
  assert.equal(JSON.parse(text).resource, 'https://gate.example')
  const refused = await ai.edge.ask(call(routes.REST.path(ai), chat, ...passedOn))
  assert.match(challengeOf(refused)!, /^Bearer resource_metadata="https:\/\/gate\.example\/\.well-known\//)
  const odd = await ai.edge.ask(
    call(routes.REST.path(ai), chat, ...passedOn.slice(0, 2), 'X-Forwarded-Host: a"b'),
  )
  // A host that no URL can have is not believed.
  assert.match(challengeOf(odd)!, /^Bearer resource_metadata="https:\/\/ai\.test\/\.well-known\//)
  const posted = await ai.edge.ask(call(mark, chat))
  assert.deepEqual([posted.status, posted.field('allow')], [405, 'GET, HEAD'])
  const head = await ai.edge.ask(get(mark).replace('GET', 'HEAD'))
  assert.deepEqual([head.status, head.text], [200, ''])
  assert.ok(Number(head.field('content-length')) > 100)
})

test('several requests for metadata and calls share a connection', async t => {
  const { ai, keep } = await start(t)
  const { value } = await keep()
  const client = await ai.edge.connect()
  const paid = call(routes.REST.path(ai), chat, `Authorization: Bearer ${value}`)
  await client.send(get(mark) + paid + get(`${mark}?a=b`) + get(`${mark}x`))
  for (const status of [200, 200, 200, 404]) assert.equal((await client.response()).status, status)
  client.leave()
})

for (const place of ['SQLite', 'Redis'] as const)
  test(`${place}: an access token ends within a second, whatever of it ends`, async t => {
    const storeUrl = place === 'SQLite' ? 'sqlite::memory:' : (await startRedis(t)).url
    const { ai, keep } = await start(t, { storeUrl, commandTimeout: 5_000 })
    for (const [what, { end, status }] of Object.entries(endsOf)) {
      const kept = await keep()
      const ask = async () =>
        (await ai.edge.ask(call(routes.REST.path(ai), chat, `Authorization: Bearer ${kept.value}`))).status
      assert.equal(await ask(), 200, what)
      await end(ai.store, kept)
      await until(async () => (await ask()) === status.call, busySecond)
    }
  })
