// AI providers in the management API: what is shown of them, to whom, and tests of them over real sockets.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { entryWith, keepEntries } from '../ai-logs/log-entries.ts'
import { allowing, startApi } from '../api.ts'
import { viewOf } from './providers.ts'

const path = '/ai-gateway/providers'
const fromFile = { kind: 'file', path: '/run/secrets/openai' } as const
const fromVariable = { kind: 'environment', variables: ['OPENAI_API_KEY'] } as const

/** Listens as a provider that responds with a status by the key that it is shown. */
async function startProvider(t: TestContext, statusOf: (request: IncomingMessage) => number) {
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    const { authorization = '' } = request.headers
    response.writeHead(statusOf(request)).end(`Incorrect API key provided: ${authorization}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, asked }
}

test('providers are listed with the sources of their keys, and never with a key', async t => {
  const { ask, providersGiven } = await startApi(t)
  const keys = ['sk-secret-1', 'sk-secret-2']
  providersGiven.configure({
    openai: { keys, keySources: [fromFile, fromVariable] },
    mistral: {},
    'azure-openai': { keys: ['azure-secret'], keySources: [fromVariable], resources: ['east', 'west'] },
  })
  const { status, json } = await ask('GET', path)
  assert.equal(status, 200)
  const [openai, mistral, east, west] = json.result
  assert.deepEqual(
    [openai.id, mistral.id, east.id, west.id],
    ['openai', 'mistral', 'azure-openai.east', 'azure-openai.west'],
  )
  assert.deepEqual(
    openai.keys.map(({ source }: { source: unknown }) => source),
    [
      { type: 'file', name: '/run/secrets/openai' },
      { type: 'environment', name: 'OPENAI_API_KEY' },
    ],
  )
  assert.equal(openai.origin, 'https://api.openai.com')
  assert.equal(openai.state, 'unknown')
  assert.ok(openai.priced_models.includes('gpt-4o-mini'))
  assert.ok(east.priced_models.includes('gpt-4o-mini'), 'Azure has the prices of OpenAI')
  assert.deepEqual([mistral.state, mistral.needs_key, mistral.keys], ['no_key', true, []])
  assert.doesNotMatch(JSON.stringify(json), /secret-[12]|azure-secret/)
})

test('others see names and states, but neither addresses nor where keys come from', async t => {
  const { ask, kept, keepToken, providersGiven } = await startApi(t)
  const [other, gateway] = ['b'.repeat(32), 'AI Gateway Read'] as const
  await kept.accounts.insert({ id: other, name: 'other', createdAt: 1 })
  providersGiven.configure({ openai: { keys: ['sk-1'], keySources: [fromFile] } })
  const failed = { badAt: 5_000, badError: 'origin_unreachable', badCode: 'GH_PROXY_REFUSED' } as const
  providersGiven.views = [[viewOf('openai', { lastAt: 5_000, ...failed })]]
  const owner = await keepToken(['Metrics Read', gateway])
  const reader = await keepToken([gateway])
  const tenant = await keepToken([], {
    account: other,
    policies: [allowing(['Metrics Read', gateway], [other])],
  })
  const listed = async (token: string, account?: string) => {
    const at = account === undefined ? path : `/client/v4/accounts/${account}${path}`
    const { json } = await ask('GET', at, { token })
    return json.result[0]
  }
  const whole = await listed(owner.value)
  assert.deepEqual(whole.keys[0].source, { type: 'file', name: '/run/secrets/openai' })
  assert.equal(whole.last_failure.code, 'GH_PROXY_REFUSED')
  assert.match(whole.last_failure.message, /proxy/)
  for (const part of [await listed(reader.value), await listed(tenant.value, other)]) {
    assert.equal(part.state, 'failing')
    assert.equal(part.origin, undefined)
    assert.deepEqual(part.keys, [{ number: 1, resting_in: 0, rests_until: null, rests_for_status: null }])
    assert.equal(part.last_failure.code, undefined)
    assert.doesNotMatch(JSON.stringify(part), /secrets|GH_|The proxy/)
  }
})

test('states tell what the latest calls came to, in all processes together', async t => {
  const { ask, providersGiven, clock } = await startApi(t)
  providersGiven.configure({ openai: { keys: ['sk-1', 'sk-2'] } })
  const now = clock.now()
  const free = { restsUntil: 0, status: 0 }
  const resting = (status: number) => ({ restsUntil: now + 30_000, status })
  const state = async (...views: Partial<ReturnType<typeof viewOf>>[]) => {
    providersGiven.views = views.map(view => [viewOf('openai', { keys: [free, free], ...view })])
    return (await ask('GET', path)).json.result[0]
  }
  const good = { lastAt: now, goodAt: now }
  const bad = (badStatus: number, failures = 1, ago = 0) => ({
    ...{ lastAt: now, badAt: now - ago, badStatus, failures },
  })
  assert.equal((await state({})).state, 'unknown')
  assert.equal((await state(good)).state, 'working')
  assert.equal((await state(bad(503), { lastAt: now - 1, goodAt: now - 1 })).state, 'failing')
  assert.equal((await state(bad(503, 1, 5), good)).state, 'working', 'another process got through since')
  assert.equal((await state({ ...bad(429), goodAt: now - 1 })).state, 'limited')
  // One refusal right after a success may be about the call.
  assert.equal((await state({ ...bad(403), goodAt: now - 1 })).state, 'working')
  assert.equal((await state({ ...bad(403, 2), goodAt: now - 1 }, bad(403, 1))).state, 'refused')
  assert.equal((await state({ ...bad(401), goodAt: now - 11 * 60_000 })).state, 'refused')
  assert.equal((await state(bad(401))).state, 'refused')
  const rests = await state({ ...good, keys: [resting(429), resting(429)] }, { keys: [resting(429), free] })
  assert.equal(rests.state, 'working', 'one key is left in one process')
  assert.deepEqual(
    rests.keys.map((key: { resting_in: number }) => key.resting_in),
    [2, 1],
  )
  assert.equal(rests.keys[0].rests_until, new Date(now + 30_000).toISOString())
  assert.equal(rests.processes, 2)
  assert.equal((await state({ keys: [resting(429), resting(401)] })).state, 'limited')
  assert.equal((await state({ keys: [resting(401), resting(401)] })).state, 'refused')
})

test('a provider that only callers with keys of their own use is listed behind the others', async t => {
  const { ask, providersGiven, clock } = await startApi(t)
  providersGiven.configure({ openai: {} })
  providersGiven.views = [[viewOf('groq', { lastAt: clock.now(), goodAt: clock.now() })]]
  const { json } = await ask('GET', path)
  const shown = json.result.map(({ id, is_configured }: Record<string, unknown>) => [id, is_configured])
  assert.deepEqual(shown, [
    ['openai', true],
    ['groq', false],
  ])
})

test('the calls of an account are counted from its logs', async t => {
  const { ask, kept, clock, providersGiven } = await startApi(t)
  providersGiven.configure({ openai: { keys: ['sk-1'] } })
  const call = { provider: 'openai', createdAt: clock.now() - 60_000 }
  await keepEntries(kept, [
    entryWith(1, { ...call, model: 'gpt-4o' }),
    entryWith(2, { ...call, model: 'gpt-4o' }),
    entryWith(3, { ...call, model: 'gpt-5', success: false, status: 500, createdAt: clock.now() - 1_000 }),
    entryWith(4, { ...call, createdAt: clock.now() - 9 * 86_400_000 }),
  ])
  const { json } = await ask('GET', path)
  const { calls } = json.result[0]
  assert.deepEqual([calls.count, calls.errors, calls.is_complete], [3, 1, true])
  assert.deepEqual(
    calls.models.map(({ model, count }: Record<string, unknown>) => [model, count]),
    [
      ['gpt-5', 1],
      ['gpt-4o', 2],
    ],
  )
})

test('a test asks with each key, and tells which one is refused without repeating it', async t => {
  const { ask, keepToken, providersGiven, lines } = await startApi(t)
  const { url, asked } = await startProvider(t, ({ headers }) =>
    headers.authorization === 'Bearer sk-good' ? 200 : 401,
  )
  providersGiven.configure({ openai: { url, keys: ['sk-good', 'sk-revoked'] } })
  const { value: token, token: caller } = await keepToken(['AI Gateway Run'])
  const { status, json } = await ask('POST', `${path}/openai/test`, { token })
  assert.equal(status, 200)
  assert.equal(json.result.path, '/models', 'the path of its url is part of its address')
  const shown = json.result.results.map((one: Record<string, unknown>) => [
    one.key,
    one.outcome,
    one.status,
    one.error,
  ])
  assert.deepEqual(shown, [
    [1, 'accepted', 200, null],
    [2, 'refused', 401, null],
  ])
  assert.match(json.result.results[1].message, /does not take the key/)
  assert.deepEqual(
    asked.map(({ method, url }) => `${method} ${url}`),
    ['GET /v1/models', 'GET /v1/models'],
  )
  assert.doesNotMatch(JSON.stringify([json, lines]), /sk-good|sk-revoked/)
  const line = lines.find(({ msg }) => msg === 'provider tested')!
  assert.deepEqual([line.provider, line.actor, line.outcomes], ['openai', caller.id, ['accepted', 'refused']])
})

test('however many ask for a test, the provider gets one', async t => {
  const { ask, providersGiven } = await startApi(t)
  const { url, asked } = await startProvider(t, () => 200)
  providersGiven.configure({ openai: { url, keys: ['sk-1'] } })
  const tests = await Promise.all([1, 2, 3].map(() => ask('POST', `${path}/openai/test`)))
  assert.deepEqual(
    tests.map(({ status }) => status),
    [200, 200, 200],
  )
  assert.equal(asked.length, 1)
})

test('a test says what a status means', async t => {
  const { ask, providersGiven } = await startApi(t)
  const outcomeOf = async (status: number, keys: string[]) => {
    const { url } = await startProvider(t, () => status)
    providersGiven.configure({ openai: { url, keys } })
    const { json } = await ask('POST', `${path}/openai/test`)
    assert.equal(json.result.path, '/v1/models')
    return json.result.results[0].outcome
  }
  assert.equal(await outcomeOf(403, ['sk-1']), 'refused')
  assert.equal(await outcomeOf(429, ['sk-1']), 'limited')
  assert.equal(await outcomeOf(503, ['sk-1']), 'failing')
  assert.equal(await outcomeOf(404, ['sk-1']), 'reached')
  assert.equal(await outcomeOf(401, []), 'reached')
  assert.equal(await outcomeOf(200, []), 'accepted')
})

test('a test needs the permission to run models, and a provider that there is', async t => {
  const { ask, keepToken, providersGiven } = await startApi(t)
  providersGiven.configure({ openai: { url: 'http://127.0.0.1:1/v1' } })
  const reader = await keepToken(['AI Gateway Read'])
  assert.equal((await ask('POST', `${path}/openai/test`, { token: reader.value })).status, 403)
  assert.equal((await ask('POST', `${path}/nobody/test`)).status, 404)
  const { json } = await ask('POST', `${path}/openai/test`)
  const [{ outcome, error, code }] = json.result.results
  assert.deepEqual([outcome, error, code], ['unreachable', 'origin_down', 'ECONNREFUSED'])
})
