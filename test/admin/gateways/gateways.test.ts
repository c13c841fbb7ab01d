import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { notBuilt } from '../../../src/admin/gateways/body.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'
import type { SpendRule } from '../../../src/store/records/budget-rule.ts'
import { meet } from '../../help/meet.ts'
import { thorough } from '../../help/thorough.ts'

const path = '/ai-gateway/gateways'

test('a gateway is created in the shape of its published clients, and requires a token by default', async t => {
  const { ask } = await startApi(t)
  const { status, json } = await ask('POST', path, { body: { id: 'mine', collect_logs: true, cache_ttl: 0 } })
  assert.equal(status, 200)
  assert.deepEqual(json.result, {
    id: 'mine',
    authentication: true,
    byok_only: false,
    collect_logs: true,
    log_management: 100_000,
    log_management_strategy: 'DELETE_OLDEST',
    rate_limiting_interval: 0,
    rate_limiting_limit: 0,
    rate_limiting_key: 'gateway',
    rate_limiting_technique: null,
    retry_max_attempts: null,
    retry_delay: null,
    retry_backoff: null,
    on_abandon: 'abort',
    stream_usage: true,
    ...notBuilt,
    spend_limits: null,
    default_max_tokens: 4096,
    unpriced_cost: null,
    cache_ttl: 0,
    cache_invalidate_on_update: false,
    cache_scope: 'token',
    dlp: null,
    idempotency_keys: false,
    is_default: false,
    created_at: '2026-01-01T00:00:00.000Z',
    modified_at: '2026-01-01T00:00:00.000Z',
  })
  assert.deepEqual((await ask('GET', `${path}/mine`)).json.result, json.result)
})

test('an id that is taken is 409', async t => {
  const { ask } = await startApi(t)
  const { status, json } = await ask('POST', path, { body: { id: 'default' } })
  assert.deepEqual([status, json.errors[0].source], [409, { pointer: '/id' }])
})

test('an unsupported setting is refused by name, and nothing is stored', async t => {
  const { ask, kept } = await startApi(t)
  const { status, json } = await ask('POST', path, { body: { id: 'mine', zdr: true } })
  assert.equal(status, 400)
  assert.deepEqual(json.errors, [
    {
      code: 10001,
      message: 'zdr is not supported by this gateway: leave it out, or send false',
      source: { pointer: '/zdr' },
    },
  ])
  assert.equal(await kept.gateways.get(account, 'mine'), null)
})

test('an update replaces all settings except authentication, which must be named to change', async t => {
  const { ask, clock } = await startApi(t)
  clock.advance(1_000)
  const open = await ask('PUT', `${path}/default`, { body: { authentication: false, log_management: 7 } })
  assert.deepEqual(
    [open.json.result.authentication, open.json.result.log_management, open.json.result.modified_at],
    [false, 7, '2026-01-01T00:00:01.000Z'],
  )
  const { result } = (await ask('PUT', `${path}/default`, { body: {} })).json
  assert.deepEqual(
    [result.authentication, result.log_management, result.created_at],
    [false, 100_000, '1970-01-01T00:00:00.000Z'],
  )
})

test('a rate limit is kept and shown, and turned off by an update that leaves it out', async t => {
  const { ask, kept } = await startApi(t)
  const set = { rate_limiting_limit: 10, rate_limiting_interval: 60, rate_limiting_technique: 'sliding' }
  const put = await ask('PUT', `${path}/default`, { body: set })
  const shown = ({ json: { result } }: typeof put) =>
    Object.fromEntries(Object.keys(set).map(name => [name, result[name]]))
  assert.deepEqual(shown(put), set)
  assert.deepEqual((await kept.gateways.get(account, 'default'))!.record.rateLimit, {
    limit: 10,
    interval: 60,
    technique: 'sliding',
  })
  const again = await ask('PUT', `${path}/default`, { body: put.json.result })
  assert.deepEqual(shown(again), set)
  assert.equal((await ask('PUT', `${path}/default`, { body: {} })).json.result.rate_limiting_limit, 0)
  const refused = await ask('PUT', `${path}/default`, { body: { rate_limiting_limit: 10 } })
  assert.deepEqual(
    [refused.status, refused.json.errors[0].source],
    [400, { pointer: '/rate_limiting_interval' }],
  )
})

test('attempts are shown as they were set, and left out again by an update without them', async t => {
  const { ask } = await startApi(t)
  const set = { retry_max_attempts: 3, retry_delay: 500, retry_backoff: 'linear', on_abandon: 'drain' }
  const shown = ({ json: { result } }: Awaited<ReturnType<typeof ask>>) =>
    Object.keys(set).map(name => result[name])
  const put = await ask('PUT', `${path}/default`, { body: set })
  assert.deepEqual(shown(put), Object.values(set))
  assert.deepEqual(shown(await ask('PUT', `${path}/default`, { body: put.json.result })), Object.values(set))
  assert.deepEqual(shown(await ask('PUT', `${path}/default`, { body: {} })), [null, null, null, 'abort'])
})

test('the reuse of responses is shown as it was set, and off again after an update without it', async t => {
  const { ask } = await startApi(t)
  const set = {
    ...{ cache_ttl: 3600, cache_invalidate_on_update: true, cache_scope: 'app' },
    idempotency_keys: true,
  }
  const shown = ({ json: { result } }: Awaited<ReturnType<typeof ask>>) =>
    Object.keys(set).map(name => result[name])
  const put = await ask('PUT', `${path}/default`, { body: set })
  assert.deepEqual(shown(put), Object.values(set))
  assert.deepEqual(shown(await ask('PUT', `${path}/default`, { body: put.json.result })), Object.values(set))
  assert.deepEqual(shown(await ask('PUT', `${path}/default`, { body: {} })), [0, false, 'token', false])
})

test('a change can be bound to what its caller has read', async t => {
  const { ask } = await startApi(t)
  const read = await ask('GET', `${path}/default`)
  const ifMatch = { 'if-match': read.headers.get('etag')! }
  const first = await ask('PUT', `${path}/default`, { body: { collect_logs: true }, headers: ifMatch })
  assert.equal(first.status, 200)
  const second = await ask('PUT', `${path}/default`, { body: {}, headers: ifMatch })
  assert.deepEqual(
    [second.status, second.headers.get('etag')],
    [412, (await ask('GET', `${path}/default`)).headers.get('etag')],
  )
  assert.equal(second.headers.get('etag'), first.headers.get('etag'))
})

test('a record can be written back as it was read', async t => {
  const { ask } = await startApi(t)
  const { result } = (await ask('GET', `${path}/default`)).json
  const put = await ask('PUT', `${path}/default`, { body: result })
  assert.deepEqual({ ...put.json.result, modified_at: null }, { ...result, modified_at: null })
})

test('after concurrent updates, one of them is stored as a whole', async t => {
  const { ask, kept } = await startApi(t)
  meet(t, kept.gateways, 'get', 20)
  const put = (i: number) =>
    ask('PUT', `${path}/default`, {
      body: { log_management: i + 1, collect_logs: i % 2 === 0, authentication: i % 2 === 0 },
    })
  const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => put(i)))
  assert.ok(replies.every(({ status }) => status === 200))
  const { log_management, collect_logs, authentication } = (await ask('GET', `${path}/default`)).json.result
  assert.deepEqual([collect_logs, authentication], [log_management % 2 === 1, log_management % 2 === 1])
})

test('gateways are listed by page, and by a part of their id', async t => {
  const { ask } = await startApi(t)
  for (const id of ['eu-1', 'eu-2', 'us-1']) await ask('POST', path, { body: { id } })
  const ids = async (query: string) => {
    const { json } = await ask('GET', `${path}${query}`)
    return [json.result.map(({ id }: { id: string }) => id), json.result_info.total_count]
  }
  assert.deepEqual(await ids(''), [['default', 'eu-1', 'eu-2', 'us-1'], 4])
  assert.deepEqual(await ids('?per_page=3&page=2'), [['us-1'], 4])
  assert.deepEqual(await ids('?search=EU&per_page=1&page=2'), [['eu-2'], 2])
  assert.deepEqual(await ids('?search='), [['default', 'eu-1', 'eu-2', 'us-1'], 4])
  assert.equal((await ask('GET', `${path}?page=0`)).status, 400)
})

test('any gateway can be deleted, the default one too, and then it is 404', async t => {
  const { ask } = await startApi(t)
  assert.equal((await ask('DELETE', `${path}/default`)).json.result.id, 'default')
  for (const id of ['default', 'A', 'a%2Fb', '%00'])
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const { status, json } = await ask(method, `${path}/${id}`, method === 'PUT' ? { body: {} } : {})
      assert.deepEqual([status, json.errors[0].code], [404, 7003], `${method} ${id}`)
    }
})

test('a token with read permission cannot change anything', async t => {
  const { ask, keepToken } = await startApi(t)
  const { value: token } = await keepToken(['AI Gateway Read'])
  assert.equal((await ask('GET', `${path}/default`, { token })).status, 200)
  assert.equal((await ask('PUT', `${path}/default`, { body: {}, token })).status, 403)
  assert.equal((await ask('DELETE', `${path}/default`, { token })).status, 403)
  assert.equal((await ask('POST', path, { body: { id: 'a' }, token })).status, 403)
})

test('random bodies are never a 5xx, and what is kept keeps the rules', async t => {
  const { ask, kept, bugs } = await startApi(t)
  const names = [
    'authentication',
    'collect_logs',
    'log_management',
    'log_management_strategy',
    'zdr',
    '__proto__',
    'x',
  ]
  const junk = fc.jsonValue({ maxDepth: 1 })
  const body = fc
    .tuple(
      fc.oneof(fc.stringMatching(/^[a-z0-9_-]{1,64}$/), junk),
      fc.dictionary(fc.constantFrom(...names), junk, { maxKeys: 2 }),
    )
    .map(([id, more]) => ({ ...more, id }))
  await fc.assert(
    fc.asyncProperty(fc.oneof(body, junk), async some => {
      const { status } = await ask('POST', path, { body: JSON.stringify(some) })
      assert.ok(status < 500, String(status))
    }),
    { numRuns: thorough(300, 80) },
  )
  assert.deepEqual(bugs, [])
  const { items } = await kept.gateways.list(account, { offset: 0, limit: 2_000 })
  for (const { id, authentication, collectLogs, logManagement } of items) {
    assert.match(id, /^[a-z0-9_-]{1,64}$/)
    assert.deepEqual([typeof authentication, typeof collectLogs], ['boolean', 'boolean'])
    assert.ok(Number.isInteger(logManagement) && logManagement >= 0)
  }
})

test('a token with limits of its own opens no gateway to calls without a token', async t => {
  const { ask, keepToken } = await startApi(t)
  const spend: SpendRule = {
    ...{ id: 'r', isEnabled: true, unit: 'cost', limit: 1, window: 60, technique: 'fixed' },
    whenUnreachable: 'closed',
  }
  const spendLimits = (isEnabled: boolean) => ({ spendLimits: { isEnabled, rules: [spend] } })
  for (const [name, limit] of [
    ['spend_limits', spendLimits(true)],
    ['gateways', { gateways: ['*'] }],
    ['models', { models: ['openai/*'] }],
  ] as const) {
    const { value: token } = await keepToken(['AI Gateway Edit'], limit)
    const rule = `your token has ${name}, which calls without a token escape, so it cannot turn authentication off`
    for (const [method, at, id] of [
      ['POST', path, { id: 'open' }],
      ['PUT', `${path}/default`, {}],
    ] as const) {
      const { status, json } = await ask(method, at, { body: { ...id, authentication: false }, token })
      assert.equal(status, 403, `${method} with ${name}`)
      const { message, source } = json.errors[0]
      assert.deepEqual([message, source], [`Forbidden: ${rule}`, { pointer: '/authentication' }])
    }
    assert.equal((await ask('PUT', `${path}/default`, { body: { collect_logs: true }, token })).status, 200)
  }
  const { value: token } = await keepToken(['AI Gateway Edit'], spendLimits(false))
  const opened = await ask('PUT', `${path}/default`, { body: { authentication: false }, token })
  assert.equal(opened.status, 200)
})

test('the secret of a webhook is sealed, never shown, and stays if a change leaves it out', async t => {
  const { ask, kept } = await startApi(t)
  const webhook = { url: 'https://guard.example.com/', check: ['REQUEST'] }
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const missing = await ask('POST', path, { body: { id: 'mine', dlp: { webhook } } })
  assert.deepEqual([missing.status, missing.json.errors[0].source], [400, { pointer: '/dlp/webhook/secret' }])
  const made = await ask('POST', path, { body: { id: 'mine', dlp: { webhook: { ...webhook, secret } } } })
  assert.deepEqual(made.json.result.dlp.webhook, { ...webhook, timeout: 5_000 })
  const sealed = async () => (await kept.gateways.get(account, 'mine'))!.record.guard?.webhook?.sealed
  const before = await sealed()
  assert.equal(before!.includes(secret), false)
  const again = await ask('PUT', `${path}/mine`, { body: made.json.result })
  assert.deepEqual([again.status, await sealed()], [200, before])
  const body = (secret: string) => ({ ...made.json.result, dlp: { webhook: { ...webhook, secret } } })
  await ask('PUT', `${path}/mine`, { body: body(secret) })
  assert.notEqual(await sealed(), before)
  const next = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
  await ask('PUT', `${path}/mine`, { body: body(next) })
  await ask('PUT', `${path}/mine`, { body: { dlp: { policies: [] } } })
  assert.equal(await sealed(), undefined)
  await ask('PUT', `${path}/mine`, { body: body(next) })
  const every = { since: null, before: null, offset: 0, limit: 9, after: null } as const
  const { items } = await kept.audit.list(account, { ...every, descending: false })
  assert.deepEqual(
    items.filter(({ resource }) => resource === 'mine').map(({ changed }) => changed),
    [['id', 'dlp'], [], [], ['dlp.webhook.secret'], ['dlp'], ['dlp']],
  )
  assert.equal(JSON.stringify(items).includes('whsec_'), false)
})
