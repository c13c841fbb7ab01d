// Short base URLs: REST routes without an account, which comes from the token.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { type AiEdge, type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { recordOf, zoneTo } from '../help/edge.ts'
import { ask as askHttp2, connectHttp2 } from '../help/http2-client.ts'
import { ok, startResponder } from '../help/origin.ts'
import { until } from '../help/until.ts'
import { keepAccess } from '../oauth/grants/keep-access.ts'
import { permissionGroups } from '../../src/permissions/permission-groups.ts'
import { mintToken } from '../../src/tokens/token.ts'

const chat = '{"model":"openai/gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}'
const short = '/v1/chat/completions'
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}

async function start(t: TestContext, settings: AiSettings = {}) {
  const provider = await startResponder(t, json(completion))
  const openai = { url: provider.url, keys: ['sk-ours'] }
  const ai = await startAi(t, { openai }, settings)
  const ask = (...fields: string[]) => ai.edge.ask(call(short, chat, ...fields))
  return { ai, provider, ask }
}

/** Adds an account with the gateway `default`, and a token for it. */
async function addAccount(ai: AiEdge, changes: { readonly authentication?: boolean } = {}) {
  const account = randomBytes(16).toString('hex')
  const gateway = (await ai.store.gateways.get(ai.account, 'default'))!.record
  const entry = { account, id: 'x', at: 0, actor: 'x', address: '', ray: '', action: 'create' } as const
  await ai.store.accounts.insert(
    { id: account, name: 'other', createdAt: 1 },
    {
      gateway: { ...gateway, account, ...changes },
      audit: { ...entry, resourceKind: 'account', resource: account, changed: [] },
    },
  )
  const groups = permissionGroups.filter(({ name }) => name === 'AI Gateway Run')
  const policy = { id: '0', effect: 'allow', accounts: [account] } as const
  const policies = [{ ...policy, permissionGroups: groups.map(({ id }) => id) }]
  const token = await ai.mint({ account, policies })
  return { account, token }
}

test('each operation of REST has a short route, of the account of the token', async t => {
  const provider = await startResponder(t, json(completion))
  const anthropic = await startResponder(t, json(message))
  const ai = await startAi(t, { openai: provider.url, anthropic: { url: anthropic.url, keys: ['sk-ant'] } })
  const bearer = `Authorization: Bearer ${ai.token}`
  const calls = {
    '/v1/chat/completions': chat,
    '/v1/responses': '{"model":"openai/gpt-4o-mini","input":"Hi"}',
    '/v1/embeddings': '{"model":"openai/text-embedding-3-small","input":"Hi"}',
    '/v1/messages':
      '{"model":"anthropic/claude-haiku-4-5","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}',
  }
  for (const [path, body] of Object.entries(calls))
    for (const target of [path, `/v1${path}`, `${path}?beta=true`])
      assert.equal((await ai.edge.ask(call(target, body, bearer))).status, 200, target)
  const entries = await ai.logged(12)
  assert.ok(entries.every(({ authenticated }) => authenticated))
  const paths = new Set(entries.map(({ path }) => path.replace(/^\/(?!v1)/, '/v1/')))
  assert.deepEqual(paths, new Set(Object.keys(calls)))
})

test('the SDKs of OpenAI and Anthropic need the base URL and the token alone', async t => {
  const { ai } = await start(t)
  const baseURL = `http://127.0.0.1:${ai.edge.port}`
  const openai = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey: ai.token, maxRetries: 0 })
  const { choices } = await openai.chat.completions.create(JSON.parse(chat))
  assert.equal(choices[0]!.message.content, 'Hello.')
  for (const base of [baseURL, `${baseURL}/v1`])
    for (const credential of [
      { apiKey: ai.token, authToken: null },
      { authToken: ai.token, apiKey: null },
    ]) {
      const anthropic = new Anthropic({ baseURL: base, ...credential, maxRetries: 0 })
      const { content } = await anthropic.messages.create({ ...JSON.parse(chat), max_tokens: 9 })
      assert.deepEqual(content, [{ type: 'text', text: 'Hello.' }])
    }
  const wrong = new Anthropic({ baseURL, apiKey: mintToken().value, maxRetries: 0 })
  await assert.rejects(wrong.messages.create({ ...JSON.parse(chat), max_tokens: 9 }), { status: 401 })
})

test('the token may be in x-api-key on short routes alone, and neither it nor a key there is forwarded', async t => {
  const { ai, provider, ask } = await start(t)
  const { token } = ai
  const [good, expired] = [`x-api-key: ${token}`, `x-api-key: ${await ai.mint({ expiresOn: 1 })}`]
  const dummy = 'Authorization: Bearer unused'
  const statuses = async (...asked: (readonly string[])[]) =>
    Promise.all(asked.map(async fields => (await ask(...fields)).status))
  assert.deepEqual(await statuses([good], [good, 'Authorization: ']), [200, 200])
  // Authorization rules if both have something.
  assert.deepEqual(
    await statuses(
      [expired, `Authorization: Bearer ${token}`],
      [good, `Authorization: Bearer ${token}`],
      ['x-api-key: sk-theirs', `Authorization: Bearer ${token}`],
    ),
    [200, 200, 200],
  )
  for (const request of provider.requests) {
    assert.equal(request.field('authorization'), 'Bearer sk-ours')
    assert.equal(request.field('x-api-key'), null)
  }
  const passed = provider.requests.length
  assert.deepEqual(
    await statuses(
      [expired],
      ['x-api-key: sk-theirs'],
      ['x-api-key: '],
      [good, good],
      [good, `x-api-key: ${mintToken().value}`],
      [`Authorization: Bearer ${token}`, `Authorization: Bearer ${token}`],
      [good, `Authorization: Bearer ${token}`, 'Authorization: Bearer x'],
      [`Authorization: Bearer ${mintToken().value}`, good],
    ),
    [401, 401, 401, 401, 401, 401, 401, 401],
  )
  const misplaced = await Promise.all([
    ask(good, dummy),
    ask(`x-api-key: Bearer ${token}`),
    ask(`x-api-key: svcs_${'x'.repeat(43)}`),
    ask(`x-goog-api-key: ${token}`),
    ai.edge.ask(call(`${short}?key=${token}`, chat)),
    ai.edge.ask(call(`${short}?key=${token}`, chat, `Authorization: Bearer ${token}`)),
    ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, chat, good)),
    ai.edge.ask(call(`${ai.native('openai')}/chat/completions`, chat, good)),
  ])
  for (const { status, text } of misplaced) {
    assert.equal(status, 400)
    assert.match(text, /A credential of this gateway must not be in .* TOKEN/)
    assert.doesNotMatch(text, new RegExp(token.slice(5)))
  }
  assert.equal(provider.requests.length, passed)
})

test('the token decides between accounts, and reaches no gateway of another', async t => {
  const { ai, ask } = await start(t)
  const other = await addAccount(ai)
  const gateway = (await ai.store.gateways.get(ai.account, 'default'))!.record
  await ai.store.gateways.insert({ ...gateway, id: 'mine' })
  await ai.store.gateways.insert({ ...gateway, account: other.account, id: 'theirs', authentication: false })
  const bearer = (value: string) => `Authorization: Bearer ${value}`
  assert.equal((await ask(bearer(ai.token), 'svc-aig-gateway-id: mine')).status, 200)
  assert.equal((await ask(bearer(other.token), 'svc-aig-gateway-id: mine')).status, 404)
  assert.equal((await ask(bearer(ai.token), 'svc-aig-gateway-id: theirs')).status, 404)
  assert.equal((await ask(bearer(ai.token), `svc-aig-gateway-id: ${other.account}/theirs`)).status, 404)
  const twice = ['svc-aig-gateway-id: mine', 'svc-aig-gateway-id: mine']
  assert.equal((await ask(bearer(ai.token), ...twice)).status, 400)
  assert.equal((await ask(bearer(other.token), 'svc-aig-gateway-id: theirs')).status, 200)
  await ai.logs.close()
  assert.equal(await ai.store.logs.count(other.account, 'theirs'), 1)
  assert.equal(await ai.store.logs.count(ai.account, 'mine'), 1)
  const reader = await ai.mint({ permissions: ['AI Gateway Read'] })
  assert.equal((await ask(bearer(reader))).status, 403)
  assert.equal((await ask(bearer(reader), 'svc-aig-gateway-id: unknown')).status, 403)
})

test('an access token is for the account of its consent', async t => {
  const { ai, ask } = await start(t)
  const other = await addAccount(ai)
  const { value } = await keepAccess(ai.store, { account: ai.account, now: Date.now() })
  assert.equal((await ask(`Authorization: Bearer ${value}`)).status, 200)
  assert.equal((await ask(`x-api-key: ${value}`)).status, 200)
  await ai.logs.close()
  assert.equal(await ai.store.logs.count(ai.account, 'default'), 2)
  assert.equal(await ai.store.logs.count(other.account, 'default'), 0)
})

test('without a token, a gateway that requires none serves the only account', async t => {
  const { ai, ask } = await start(t, { gateway: { authentication: false } })
  for (const fields of [[], ['Authorization: Bearer unused'], ['x-api-key: sk-theirs']])
    assert.equal((await ask(...fields)).status, 200)
  assert.equal(ai.edge.metrics.ai.allowed.authentication_off.value, 3)
  const used = await ai.mint({ expiresOn: 1 })
  for (const fields of [[`Authorization: Bearer ${used}`], [`x-api-key: ${used}`]])
    assert.equal((await ask(...fields)).status, 401)
  await addAccount(ai)
  const refused = await ask()
  assert.equal(refused.status, 400)
  assert.match(
    JSON.parse(refused.text).error.message,
    /^Authorization must have a token .*ai\.default_account/,
  )
  assert.match(refused.field('www-authenticate')!, /oauth-protected-resource\/v1"/)
  assert.equal((await ask(`Authorization: Bearer ${ai.token}`)).status, 200)
})

test('without a token, a gateway that requires one refuses the call with 401', async t => {
  const { ai, provider, ask } = await start(t)
  for (const fields of [[], ['Authorization: Bearer unused'], ['Authorization: Basic Og==']]) {
    const answer = await ask(...fields)
    assert.equal(answer.status, 401)
    assert.match(answer.field('www-authenticate')!, /oauth-protected-resource\/v1"/)
    assert.deepEqual(JSON.parse(answer.text).errors, [{ code: 10000, message: 'Authentication error' }])
  }
  assert.equal(provider.bytesReceived, 0)
  await ai.logs.close()
  assert.equal(await ai.store.logs.count(ai.account, 'default'), 0)
})

test('ai.default_account decides for calls without a token, and for no others', async t => {
  const account = randomBytes(16).toString('hex')
  const { ai, ask } = await start(t, { ai: { defaultAccount: account } })
  assert.equal((await ask()).status, 401)
  const gateway = (await ai.store.gateways.get(ai.account, 'default'))!.record
  await ai.store.gateways.insert({ ...gateway, account, authentication: false })
  await until(async () => (await ask()).status === 200)
  assert.equal((await ask(`Authorization: Bearer ${ai.token}`)).status, 200)
  await ai.logs.close()
  assert.equal(await ai.store.logs.count(account, 'default'), 1)
  assert.equal(await ai.store.logs.count(ai.account, 'default'), 1)
})

test('calls to short routes are refused as those of REST are', async t => {
  const { ai } = await start(t)
  const bearer = `Authorization: Bearer ${ai.token}`
  const get = (line: string, ...fields: string[]) =>
    ai.edge.ask(`${[`${line} HTTP/1.1`, 'Host: ai.test', ...fields].join('\r\n')}\r\n\r\n`)
  assert.equal((await get(`GET ${short}`, bearer)).status, 405)
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  const handshake = [...upgrade, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', bearer]
  assert.equal((await get('GET /v1/responses', ...handshake)).status, 426)
  const unknown = await get('GET /v1/assistants', bearer)
  assert.equal(unknown.status, 404)
  assert.match(unknown.text, /not a route of an AI gateway/)
  for (const base of ['/', '/v1', '/v1/']) assert.equal((await get(`HEAD ${base}`)).status, 204, base)
  const metadata = await get('GET /.well-known/oauth-protected-resource/v1')
  assert.equal(JSON.parse(metadata.text).resource, 'http://ai.test/v1')
  for (const path of ['/v1/Chat/completions', '/v1/chat/completions/', '//v1/chat/completions', '/v1/run'])
    assert.equal((await ai.edge.ask(call(path, chat, bearer))).status, 404, path)
})

test('a site keeps its own paths, and short routes work beside the rest of it', async t => {
  const site = await startResponder(t, ok('site'))
  const provider = await startResponder(t, json(completion))
  const zone = { ...zoneTo([site.url]), name: 'other', hosts: ['ai.test'] }
  const ai = await startAi(t, { openai: provider.url }, { zones: [zone] })
  assert.equal((await ai.edge.ask(call(short, chat))).text, 'site')
  const leaked = await ai.edge.ask(call(short, chat, `Authorization: Bearer ${ai.token}`))
  assert.match(String(recordOf(leaked).detail), /AI calls belong to this host, under/)
  assert.equal(provider.bytesReceived, 0)

  const [route] = zone.routes
  const below = { ...zone, routes: [{ ...route!, path: '/client/v4' }] }
  const shared = await startAi(t, { openai: provider.url }, { zones: [below] })
  const asked = call(short, chat, `Authorization: Bearer ${shared.token}`)
  assert.equal((await shared.edge.ask(asked)).status, 200)
  const user = await shared.edge.ask('GET /client/v4/user HTTP/1.1\r\nHost: ai.test\r\n\r\n')
  assert.equal(user.text, 'site')
  const elsewhere = await shared.edge.ask(asked.replace('Host: ai.test', 'Host: site.test'))
  assert.equal(elsewhere.status, 409)
})

test('calls on one connection are each for the account of their own token (HTTP/2)', async t => {
  const { ai, provider } = await start(t, { h2c: true })
  const other = await addAccount(ai)
  const expired = await ai.mint({ expiresOn: 1 })
  const allowsTwo: object = { strictSingleValueFields: false }
  const session = await connectHttp2(t, `http://127.0.0.1:${ai.edge.port}`, allowsTwo)
  const post = async (path: string, fields: Readonly<Record<string, string | readonly string[]>>) => {
    const about = {
      ':method': 'POST',
      ':path': path,
      ':authority': 'ai.test',
      'content-type': 'application/json',
    }
    return (await askHttp2(session, { ...about, ...fields }, chat)).status
  }
  const statuses = await Promise.all([
    post(short, { 'x-api-key': ai.token }),
    post(short, { 'x-api-key': other.token }),
    post(short, { authorization: `Bearer ${other.token}`, 'x-api-key': ai.token }),
    post(short, { 'x-api-key': expired }),
    post(short, { 'x-api-key': [ai.token, other.token] }),
    post(short, { authorization: [`Bearer ${ai.token}`, `Bearer ${other.token}`] }),
    post(`${ai.rest}/v1/chat/completions`, { 'x-api-key': ai.token }),
    post(`${ai.native('openai')}/chat/completions`, { 'x-api-key': ai.token }),
  ])
  assert.deepEqual(statuses, [200, 200, 200, 401, 401, 401, 400, 400])
  assert.equal(provider.requests.length, 3)
  await ai.logs.close()
  assert.equal(await ai.store.logs.count(ai.account, 'default'), 1)
  assert.equal(await ai.store.logs.count(other.account, 'default'), 2)
})

test('the same lines mean the same on each route of a connection (HTTP/1.1)', async t => {
  const { ai } = await start(t)
  const wire = await ai.edge.connect()
  const paths = [
    short,
    `${ai.rest}/v1/chat/completions`,
    short,
    '/v1/embeddings?key=a',
    `${short}?key=${ai.token}`,
  ]
  const statuses: number[] = []
  for (const path of paths) {
    await wire.send(call(path, chat, `x-api-key: ${ai.token}`))
    statuses.push((await wire.response()).status)
  }
  assert.deepEqual(statuses, [200, 400, 200, 200, 400])
})

test('a limit that counts by token counts the one in x-api-key', async t => {
  const key = [{ by: 'token' }] as const
  const perToken = { name: 'calls', limit: 1, period: 3_600_000, key, when: null, action: 'block' } as const
  const { ai, ask } = await start(t, { rateLimits: [perToken] })
  const second = await ai.mint()
  const statuses: number[] = []
  for (const fields of [
    [`x-api-key: ${ai.token}`],
    [`x-api-key: ${second}`],
    [`x-api-key: ${ai.token}`],
    [`Authorization: Bearer ${second}`, `x-api-key: ${mintToken().value}`],
  ])
    statuses.push((await ask(...fields)).status)
  assert.deepEqual(statuses, [200, 200, 429, 429])
})
