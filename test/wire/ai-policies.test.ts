// Policies on the wire: who may call what, on every route, and as soon as they are committed.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Api, Call } from '../../src/admin/api/api-types.ts'
import { listPolicyBudgets } from '../../src/admin/policies/budgets.ts'
import { nobody } from '../../src/budgets/buckets.ts'
import { compilePolicies } from '../../src/budgets/policies/compile.ts'
import { decidePolicies, policyBuckets } from '../../src/budgets/policies/decide.ts'
import type { SpendRule } from '../../src/store/records/budget-rule.ts'
import type { Policy } from '../../src/store/records/policy.ts'
import { openStore } from '../../src/store/open.ts'
import { type AiEdge, type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { HaltingClock } from '../help/clock.ts'
import { startResponder } from '../help/origin.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'
import { temporaryFile } from '../store/sqlite/temporary-file.ts'

const messages = [{ role: 'user', content: 'Hi' }]
const flat = { cacheRead: 1, cacheWrite: 1, cacheWriteLong: 1 }
const prices = ['openai/gpt-4o', 'openai/o3', 'openai/text-embedding-3-small', 'groq/llama'].map(model => ({
  ...{ model, input: 1, output: 10 },
  ...flat,
}))
const usage = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 }
/** What a call costs, in US dollars. */
const price = 0.00101

const free: Policy['action'] = { type: 'no-limit' }
const block: Policy['action'] = { type: 'block' }

function policy(name: string, action: Policy['action'], more: Partial<Policy> = {}): Policy {
  return { id: randomBytes(16).toString('hex'), name, actor: '*', resource: '*', action, ...more }
}

function daily(amount: number): Policy['action'] {
  return { type: 'limit', amount, period: 'daily', technique: 'named-interval' }
}

async function start(t: TestContext, policies: readonly Policy[], settings: AiSettings = {}) {
  const models: (string | undefined)[] = []
  const provider = await startResponder(t, ({ body }) => {
    const { model } = body.length === 0 ? {} : JSON.parse(body.toString())
    models.push(model)
    return json({ ...completion, model, usage })
  })
  const ai = await startAi(
    t,
    {
      openai: { url: provider.url, keys: ['sk-a'] },
      groq: { url: provider.url, keys: ['sk-b'] },
      openrouter: { url: provider.url, keys: ['sk-c'] },
      'google-ai-studio': { url: provider.url, keys: ['sk-d'] },
    },
    { ...settings, ai: { prices, ...settings.ai } },
  )
  if (policies.length > 0) await ai.commit(policies)
  const post = (path: string, body: object | string, ...fields: string[]) => {
    const field = path.startsWith('/v1') ? 'svc-aig-authorization' : 'Authorization'
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return ai.edge.ask(call(path, text, `${field}: Bearer ${ai.token}`, ...fields))
  }
  const ask = (model = 'openai/gpt-4o', more: object = {}, ...fields: string[]) =>
    post(`${ai.rest}/v1/chat/completions`, { model, messages, ...more }, ...fields)
  const native = (path: string, body: object | string, ...fields: string[]) =>
    post(`${ai.native('openai')}${path}`, body, ...fields)
  return { ai, ask, native, post, models, provider, url: provider.url }
}

test('a block wins, is named, is not to be retried, and reaches neither provider nor log', async t => {
  const { ai, ask, models } = await start(t, [
    policy('All', free),
    policy('No reasoning', block, { resource: { model: 'o3*' } }),
  ])
  assert.equal((await ask()).status, 200)
  const refused = await ask('openai/o3')
  assert.equal(refused.status, 403)
  assert.deepEqual(JSON.parse(refused.text).errors, [
    { code: 10000, message: 'Access denied by policy: "No reasoning" blocks calls of "openai/o3"' },
  ])
  assert.equal(refused.field('retry-after'), null)
  assert.equal(refused.field('x-should-retry'), 'false')
  assert.equal((await ask('openai/O3')).status, 403, 'in any case')
  assert.equal((await ask()).status, 200)
  assert.deepEqual(models, ['gpt-4o', 'gpt-4o'])
  assert.equal((await ai.logged(2)).length, 2)
  const { allow, block: blocked } = ai.edge.metrics.ai.policyDecisions
  assert.deepEqual([allow.value, blocked.value], [2, 2])
})

test('what no policy allows is refused, until policies are committed that are empty', async t => {
  const { ai, ask, models } = await start(t, [policy('Small', free, { resource: { model: 'gpt-*' } })])
  const refused = await ask('groq/llama')
  assert.equal(refused.status, 403)
  assert.match(refused.text, /none allows calls of \\"groq\/llama\\"/)
  await ai.commit([])
  await until(async () => (await ask('groq/llama')).status === 200)
  assert.deepEqual(models, ['llama'])
})

test('native calls are held to policies by the model of their body or path', async t => {
  const { ai, native, post, models } = await start(t, [
    policy('All', free),
    policy('Only gpt', { type: 'block', except: true }, { resource: { model: 'openai/gpt-*' } }),
  ])
  assert.equal((await native('/v1/chat/completions', { model: 'gpt-4o', messages })).status, 200)
  const refused = await native('/v1/chat/completions', { model: 'o3', messages })
  assert.equal(refused.status, 403)
  assert.match(refused.text, /Access denied by policy: \\"Only gpt\\" blocks calls of \\"openai\/o3\\"/)
  assert.equal((await native('/v1/embeddings', { model: 'text-embedding-3-small', input: 'a' })).status, 403)
  assert.equal((await native('/v1/chat/completions', { model: 'gpt-4o', Model: 'o3', messages })).status, 403)
  const other = `${ai.native('groq')}/openai/v1/chat/completions`
  assert.equal((await post(other, { model: 'llama', messages })).status, 403)
  assert.deepEqual(models, ['gpt-4o'])
})

test('a call whose model cannot be known is blocked by whatever blocks any model', async t => {
  const { ai, native, models } = await start(t, [
    policy('All', free),
    policy('No o3', block, { resource: { model: 'o3' } }),
  ])
  const refused = await native('/v1/batches', { input_file_id: 'file-1' })
  assert.equal(refused.status, 403)
  assert.match(refused.text, /blocks calls of openai whose model cannot be known/)
  await ai.commit([policy('All', free)])
  await until(async () => (await native('/v1/batches', { input_file_id: 'file-1' })).status === 200)
  assert.deepEqual(models, [undefined])
})

test('a limit of a model counts a call whose model cannot be known, whatever else allows it', async t => {
  const limit = { ...daily(price * 1.5), period: 'monthly' } as const
  const { ai, native, models } = await start(
    t,
    [policy('All', free), policy('Little gpt', limit, { resource: { model: 'gpt-*' } })],
    { gateway: { unpricedCost: price } },
  )
  const chat = '/v1/chat/completions'
  const doubled = () => native(chat, { model: 'gpt-4o', Model: 'gpt-4o', max_tokens: 9, messages })
  assert.equal((await doubled()).status, 200)
  await ai.logged(1)
  let refused = await doubled()
  await until(async () => (refused = await doubled()).status === 429)
  assert.match(refused.text, /\(\\?"Little gpt\\?"\)\. \$[\d.]+ of it/)
  const coded = await native(chat, { model: 'gpt-4o', messages }, 'Content-Encoding: gzip')
  assert.equal(coded.status, 403)
  assert.match(coded.text, /no known bound/)
  assert.equal((await native('/v1/batches', { input_file_id: 'file-1' })).status, 403)
  const count = models.length
  assert.equal((await native(chat, { model: 'o3', max_tokens: 9, messages })).status, 200, 'of no gpt')
  assert.deepEqual(models.slice(count), ['o3'])
})

test('other models that a body names do not go around a block', async t => {
  const { ask, post, ai, models } = await start(t, [
    policy('All', free),
    policy('No o3', block, { resource: { model: ['*o3'] } }),
  ])
  const path = `${ai.native('openrouter')}/api/v1/chat/completions`
  for (const more of [
    { models: ['openai/gpt-4o', 'openai/o3'] },
    { fallbacks: [{ model: 'openai/o3' }] },
    { fallback_models: 'openai/o3' },
    { models: [{ name: 'odd' }] },
    { providerOptions: { gateway: { models: ['openai/o3'] } } },
    { tools: [{ type: 'image_generation' }, { type: 'advisor', model: 'o3' }] },
  ]) {
    assert.equal(
      (await post(path, { model: 'openai/gpt-4o', messages, ...more })).status,
      403,
      JSON.stringify(more),
    )
    assert.equal((await ask('openrouter/openai/gpt-4o', more)).status, 403, JSON.stringify(more))
  }
  assert.equal((await ask('openrouter/openai/gpt-4o', { models: ['openai/gpt-4o-mini'] })).status, 200)
  assert.deepEqual(models, ['openai/gpt-4o'])
})

test('other models count however a body names them, and where the path has its model', async t => {
  const { ai, native, post, models } = await start(t, [
    policy('All', free),
    policy('No o3', block, { resource: { model: '*o3' } }),
  ])
  const chat = '/v1/chat/completions'
  const texts = [
    '"models":["o3"],"models":["gpt-4o"]',
    '"Models":"o3"',
    '"Tools":[{"type":"advisor","model":"o3"}]',
    '"tools":[{"model":"o3"}],"tools":[]',
    '"tools":[{"type":"advisor","Model":"o3"}]',
    '"providerOptions":{"gateway":{"models":["o3"]}},"providerOptions":{}',
  ]
  const google = `${ai.native('google-ai-studio')}/v1beta/models/gemini-3:generateContent`
  for (const text of texts) {
    const body = `{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}],${text}}`
    assert.equal((await native(chat, body)).status, 403, text)
    assert.equal((await post(`${ai.rest}${chat}`, body.replace('gpt', 'openai/gpt'))).status, 403, text)
    assert.equal((await post(google, `{"contents":[],${text}}`)).status, 403, text)
  }
  assert.equal((await post(google, '{"contents":[{"parts":[]}],"tools":[{}]}')).status, 200)
  assert.equal((await post(google, '{}', 'Content-Encoding: gzip')).status, 403)
  assert.equal((await post(google, "{'contents':[]}")).status, 403, 'some readers take more than JSON')
  assert.equal(models.length, 1)
})

test('forms and embeddings are held to policies', async t => {
  const { ai, post, models } = await start(t, [policy('Chat', free, { resource: { model: 'gpt-*' } })])
  const embedding = { model: 'openai/text-embedding-3-small', input: 'a' }
  assert.equal((await post(`${ai.rest}/v1/embeddings`, embedding)).status, 403)
  const form = ['--b', 'Content-Disposition: form-data; name="model"', '', 'openai/whisper-1', '--b--', '']
  const text = form.join('\r\n')
  const { status } = await ai.edge.ask(
    call(`${ai.rest}/v1/audio/transcriptions`, text, `Authorization: Bearer ${ai.token}`).replace(
      'application/json',
      'multipart/form-data; boundary=b',
    ),
  )
  assert.equal(status, 403)
  assert.deepEqual(models, [])
})

test('an alias goes to the first of its models that policies allow', async t => {
  const steps = ['openai/o3', 'groq/llama', 'openai/gpt-4o'].map(model => ({
    ...{ model, timeout: null, retries: 0, weight: null },
  }))
  const failover = { statuses: [503], maxAttempts: 3, deadline: 0, retryWithin: 0 }
  const { ai, ask, models } = await start(
    t,
    [policy('All', free), policy('No o3', block, { resource: { model: ['o3', 'llama'] } })],
    { ai: { models: [{ name: 'fast', steps }], failover } },
  )
  assert.equal((await ask('fast')).status, 200)
  assert.deepEqual(models, ['gpt-4o'])
  await ai.commit([policy('Nothing', block)])
  await until(async () => (await ask('fast')).status === 403)
  const { text } = await ask('fast')
  assert.match(text, /\\"Nothing\\" blocks calls of \\"openai\/o3\\"/)
})

test('a fallback goes around models that policies block', async t => {
  const asked: string[] = []
  const failing = await startResponder(t, ({ body }) => {
    asked.push(JSON.parse(body.toString()).model)
    return json({ error: { message: 'no' } }).replace('200 OK', '503 Service Unavailable')
  })
  const working = await startResponder(t, json({ ...completion, usage }))
  const steps = ['openai/gpt-4o', 'openai/o3', 'groq/llama'].map(model => ({
    ...{ model, timeout: null, retries: 0, weight: null },
  }))
  const failover = { statuses: [503], maxAttempts: 3, deadline: 0, retryWithin: 0 }
  const ai = await startAi(
    t,
    { openai: { url: failing.url, keys: ['sk-a'] }, groq: { url: working.url, keys: ['sk-b'] } },
    { ai: { prices, models: [{ name: 'fast', steps }], failover } },
  )
  await ai.commit([policy('All', free), policy('No o3', block, { resource: { model: 'o3' } })])
  const text = JSON.stringify({ model: 'fast', messages })
  const { status } = await ai.edge.ask(
    call(`${ai.rest}/v1/chat/completions`, text, `Authorization: Bearer ${ai.token}`),
  )
  assert.equal(status, 200)
  assert.deepEqual(asked, ['gpt-4o'])
})

test('a limit is reserved and charged, each identity has its own, and a refusal names the policy', async t => {
  const { ai, ask } = await start(t, [
    policy('A little each', daily(price * 1.5), { actor: 'team:{metadata.team}' }),
  ])
  const as = (team: string) =>
    ask('openai/gpt-4o', { max_tokens: 100 }, `svc-aig-metadata: {"team":"${team}"}`)
  const served = await as('a')
  assert.equal(served.status, 200)
  assert.match(served.field('svc-aig-budget') ?? '', /^"[0-9a-f]{32}";owner=policy;unit=cost;limit=0\.001;/)
  await ai.logged(1)
  let refused = await as('a')
  await until(async () => (refused = await as('a')).status === 429)
  assert.match(refused.text, /spend limit of \$[\d.]+ a day \(\\?"A little each\\?"\)\. \$[\d.]+ of it/)
  assert.equal((await as('b')).status, 200)
  assert.equal((await ask()).status, 403, 'without a team nothing allows it')
})

test('limits of policies and spend limits are reserved together, or none of them', async t => {
  const rule: SpendRule = {
    ...{ id: 'small', isEnabled: true, unit: 'cost', limit: price / 2, window: 'day' },
    ...{ technique: 'fixed', whenUnreachable: 'closed' },
  }
  const much = policy('Much', daily(1))
  const { ai, ask } = await start(t, [much], { gateway: { spendLimits: { isEnabled: true, rules: [rule] } } })
  const { account } = ai
  const compiled = compilePolicies([much], { account, gateway: 'default' })
  const decision = decidePolicies(compiled, { provider: 'openai', model: 'gpt-4o', metadata: null }, nobody)
  assert.equal(decision.type, 'allow')
  const buckets = policyBuckets(decision.type === 'allow' ? decision.limits : [], Date.now())
  const spent = async () => (await ai.store.budgets.read(account, buckets))[0]!.spent
  assert.equal((await ask()).status, 403)
  await ai.change({ spendLimits: null })
  await until(async () => (await ask()).status === 200)
  await until(async () => (await spent()) > 0)
  assert.equal(await spent(), price * 1e9)
})

test('blocked models are neither listed nor counted', async t => {
  const { ai, post } = await start(t, [
    policy('All', free),
    policy('Only gpt', { type: 'block', except: true }, { resource: { model: 'gpt-4o' } }),
  ])
  const count = (model: string) => post(`${ai.rest}/v1/messages/count_tokens`, { model, messages })
  assert.equal((await count('openai/gpt-4o')).status, 200)
  assert.equal((await count('openai/o3')).status, 403)
  const { text } = await ai.edge.ask(
    `GET ${ai.rest}/v1/models HTTP/1.1\r\nHost: ai.test\r\nAuthorization: Bearer ${ai.token}\r\n\r\n`,
  )
  const ids = (JSON.parse(text) as { data: { id: string }[] }).data.map(({ id }) => id)
  assert.deepEqual(ids, ['gpt-4o', 'openai/gpt-4o'])
})

test('a WebSocket session is held to policies before its provider is asked', async t => {
  const { ai, models } = await start(t, [
    policy('All', free),
    policy('No realtime', block, { resource: { model: '*realtime*' } }),
  ])
  const open = (model: string) =>
    ai.edge.ask(
      [
        `GET ${ai.native('openai')}/v1/realtime?model=${model} HTTP/1.1`,
        ...['Host: ai.test', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
        `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
        `svc-aig-authorization: Bearer ${ai.token}`,
        ...['', ''],
      ].join('\r\n'),
    )
  const refused = await open('gpt-realtime')
  assert.equal(refused.status, 403)
  assert.match(refused.text, /No realtime/)
  assert.deepEqual(models, [])
})

test('a field that names another method does not reach a provider, as limits count by that of the request', async t => {
  const rule: SpendRule = {
    ...{ id: 'all', isEnabled: true, unit: 'cost', limit: 1, window: 'day' },
    ...{ technique: 'fixed', whenUnreachable: 'closed' },
  }
  const { ai, provider } = await start(t, [policy('All', free)], {
    gateway: { spendLimits: { isEnabled: true, rules: [rule] } },
  })
  const names = ['X-HTTP-Method-Override', 'x-http-method', 'X-Method-Override', 'X_HTTP_METHOD_OVERRIDE']
  for (const method of ['GET', 'DELETE', 'POST']) {
    const body = JSON.stringify({ model: 'gpt-4o', messages })
    const asked = call(`${ai.native('openai')}/v1/chat/completions`, body, 'X-Other: POST')
    const fields = [`svc-aig-authorization: Bearer ${ai.token}`, ...names.map(name => `${name}: POST`)]
    const lines = asked.replace('POST', method).replace('\r\n', `\r\n${fields.join('\r\n')}\r\n`)
    assert.equal((await ai.edge.ask(lines)).status, 200, method)
    const sent = provider.requests.at(-1)!
    assert.equal(sent.startLine.split(' ')[0], method)
    assert.deepEqual(
      [...names, 'X-Other'].map(name => sent.field(name)),
      [null, null, null, null, 'POST'],
    )
  }
})

test('a gateway without authentication has calls of nobody', async t => {
  const { ask } = await start(t, [policy('People', free, { actor: 'user:{svc.user.id}' })], {
    gateway: { authentication: false },
  })
  assert.equal((await ask()).status, 403)
})

test('a commit is seen by other processes within a second', async t => {
  const redis = await startRedis(t)
  const first = await start(t, [], { storeUrl: redis.url })
  const store = await openStore(redis.url, { commandTimeout: 1_000 })
  t.after(() => store.close())
  const second: AiEdge = await startAi(
    t,
    { openai: { url: first.url, keys: ['sk-a'] } },
    { given: { store, account: first.ai.account } },
  )
  const through = ({ edge, rest }: AiEdge) =>
    edge.ask(
      call(
        `${rest}/v1/chat/completions`,
        JSON.stringify({ model: 'openai/gpt-4o', messages }),
        `Authorization: Bearer ${first.ai.token}`,
      ),
    )
  assert.equal((await first.ask()).status, 200)
  assert.equal((await through(second)).status, 200)
  const clock = new HaltingClock(t)
  const at = clock.monotonic()
  await first.ai.commit([policy('Nothing', block)])
  await until(async () => (await first.ask()).status === 403)
  await until(async () => (await through(second)).status === 403)
  const took = clock.monotonic() - at
  assert.ok(took < 1_000, `${took} ms`)
})

test('without the store the known policies decide for the grace, and unknown ones refuse', async t => {
  const redis = await startRedis(t)
  const { ai, ask, url } = await start(t, [policy('All', free, { resource: { model: 'gpt-*' } })], {
    storeUrl: redis.url,
    commandTimeout: 200,
  })
  await until(async () => (await ask()).status === 200)
  await ask()
  await redis.kill()
  assert.equal((await ask()).status, 200)
  assert.equal((await ask('groq/llama')).status, 403)
  const other = await startAi(
    t,
    { openai: { url, keys: ['sk-a'] } },
    { given: { store: ai.store, account: ai.account } },
  )
  const { status } = await other.edge.ask(
    call(
      `${ai.rest}/v1/chat/completions`,
      JSON.stringify({ model: 'openai/gpt-4o', messages }),
      `Authorization: Bearer ${ai.token}`,
    ),
  )
  assert.equal(status, 503)
})

const stores: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  Redis: async t => (await startRedis(t)).url,
  SQLite: async t => `sqlite:${temporaryFile(t)}`,
}

for (const [name, place] of Object.entries(stores))
  test(`${name}: what was spent of each limit is listed, and what each policy refused`, async t => {
    const ours = { provider: 'openai' }
    const policies = [
      policy('Each token', daily(0.01), { actor: 'token:{svc.token.id}', resource: ours }),
      policy('Everybody', daily(5), { resource: ours }),
      policy('No o3', block, { resource: { model: 'o3' } }),
    ]
    const { ai, ask } = await start(t, policies, { storeUrl: await place(t) })
    const statuses: number[] = []
    for (const [model, maxTokens] of [
      ['openai/gpt-4o', 100],
      ['openai/gpt-4o', 950],
      ['openai/o3', 100],
      ['groq/llama', 100],
      ['groq/llama', 100],
    ] as const)
      statuses.push((await ask(model, { max_tokens: maxTokens })).status)
    assert.deepEqual(statuses, [200, 429, 403, 403, 403])
    await ai.store.tallies.add(ai.edge.tallies)
    const asked = {
      account: ai.account,
      params: { gateway_id: 'default' },
      now: Date.now(),
    } as unknown as Call
    const list = async () => {
      const { body } = await listPolicyBudgets(asked, { store: ai.store } as Api)
      return (JSON.parse(body) as { result: PolicyRow[] }).result
    }
    await until(async () =>
      (await list()).every(({ budgets }) => budgets.every(({ leased }) => leased === 0)),
    )
    assert.deepEqual(
      (await list()).map(({ policy, budgets, refused_last_day }) => [
        policy?.name ?? null,
        budgets.map(({ identity, spent, amount }) => [identity === null, spent, amount]),
        refused_last_day,
      ]),
      [
        ['Each token', [[false, price, 0.01]], 1],
        ['Everybody', [[true, price, 5]], 0],
        ['No o3', [], 1],
        [null, [], 2],
      ],
    )
  })

interface PolicyRow {
  readonly policy: { readonly name: string } | null
  readonly budgets: readonly {
    readonly identity: string | null
    readonly spent: number
    readonly leased: number
    readonly amount: number
  }[]
  readonly refused_last_day: number
}
