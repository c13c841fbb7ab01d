// Every method of the published client's AI gateways: each works, or is refused by the name of what is missing.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Cloudflare from 'cloudflare'
import { startApi } from '../admin/api.ts'
import { entryWith, keepEntries } from '../admin/ai-logs/log-entries.ts'
import { account } from '../tokens/token-with.ts'

const here = { account_id: account }
const inMine = { ...here, gateway_id: 'mine' }
const page = { ...here, per_page: 10 }
const off = {
  cache_invalidate_on_update: false,
  cache_ttl: 0,
  rate_limiting_interval: 0,
  rate_limiting_limit: 0,
}
const settings = { ...here, collect_logs: true, ...off }
const secret = 'sk-proj-0123456789abcdefWXYZ'

const body = { text: '{}', isCut: false }
const bodies = { request: body, response: body }

type Client = Cloudflare['aiGateway']

/** The names of all methods, with those of their resources before them. */
function methodsOf(resource: object, path = ''): readonly string[] {
  const names: string[] = []
  for (let proto = Object.getPrototypeOf(resource); proto !== null; proto = Object.getPrototypeOf(proto)) {
    if (proto === Object.prototype || proto.constructor.name === 'APIResource') break
    for (const name of Object.getOwnPropertyNames(proto))
      if (name !== 'constructor' && !names.includes(path + name)) names.push(path + name)
  }
  for (const [name, value] of Object.entries(resource))
    if (!name.startsWith('_') && typeof value === 'object' && value !== null)
      names.push(...methodsOf(value, `${path}${name}.`))
  return names
}

async function start(t: TestContext) {
  const api = await startApi(t)
  const client = new Cloudflare({
    apiToken: api.owner.value,
    baseURL: `${api.origin}/client/v4`,
    maxRetries: 0,
  })
  return { api, client: client.aiGateway }
}

/** What works, in an order in which each has what it needs. */
const works: Readonly<Record<string, (client: Client, made: Record<string, string>) => Promise<unknown>>> = {
  create: client => client.create({ ...settings, id: 'mine' }),
  list: async client => assert.ok((await client.list(page)).result.some(({ id }) => id === 'mine')),
  get: client => client.get('mine', here),
  update: async client => {
    const updated = await client.update('mine', { ...settings, byok_only: true } as never)
    assert.equal((updated as { byok_only?: boolean }).byok_only, true)
  },
  'customProviders.create': async (client, made) => {
    const body = { ...here, name: 'Mine', slug: 'mine', base_url: 'https://llm.example/v1' }
    made.provider = (await client.customProviders.create(body)).id
  },
  'customProviders.list': async client =>
    assert.equal(
      (await client.customProviders.list({ ...page, enable: true, search: 'min' })).result.length,
      1,
    ),
  'customProviders.get': async (client, made) =>
    assert.equal((await client.customProviders.get(made.provider!, here)).base_url, 'https://llm.example/v1'),
  'providerConfigs.create': async client => {
    const body = { ...here, alias: 'main', default_config: true, provider_slug: 'custom-mine', secret }
    const config = await client.providerConfigs.create('mine', body)
    assert.deepEqual([config.secret_preview, config.provider_slug], ['…WXYZ', 'custom-mine'])
  },
  'providerConfigs.list': async client => {
    const { result } = await client.providerConfigs.list('mine', page)
    assert.equal(result.length, 1)
    assert.ok(!JSON.stringify(result).includes(secret))
  },
  'urls.get': async client => {
    const url = `https://ai.example/v1/${account}/mine/custom-mine`
    assert.equal(await client.urls.get('custom-mine', inMine), url)
    await assert.rejects(client.urls.get('custom-other', inMine), /custom-other is no provider/)
  },
  'customProviders.delete': (client, made) => client.customProviders.delete(made.provider!, here),
  'dynamicRouting.create': async (client, made) => {
    const model = { provider: 'openai', model: 'gpt-4o', timeout: 1_000, retries: 0 }
    const to = (elementId: string) => ({ elementId })
    const elements = [
      { id: 's', type: 'start', outputs: { next: to('m') } },
      { id: 'm', type: 'model', properties: model, outputs: { success: to('e'), fallback: to('e') } },
      { id: 'e', type: 'end', outputs: {} },
    ]
    made.elements = JSON.stringify(elements)
    const route = await client.dynamicRouting.create('mine', { ...here, name: 'r', elements } as never)
    made.route = route.id
    made.version = route.version.version_id
  },
  'dynamicRouting.list': client => client.dynamicRouting.list('mine', here),
  'dynamicRouting.get': (client, made) => client.dynamicRouting.get(made.route!, inMine),
  'dynamicRouting.update': (client, made) =>
    client.dynamicRouting.update(made.route!, { ...inMine, name: 'renamed' }),
  'dynamicRouting.createVersion': (client, made) => {
    const elements = JSON.parse(made.elements!)
    return client.dynamicRouting.createVersion(made.route!, { ...inMine, elements } as never)
  },
  'dynamicRouting.getVersion': (client, made) =>
    client.dynamicRouting.getVersion(made.version!, { ...inMine, id: made.route! }),
  'dynamicRouting.listVersions': (client, made) => client.dynamicRouting.listVersions(made.route!, inMine),
  'dynamicRouting.createDeployment': (client, made) =>
    client.dynamicRouting.createDeployment(made.route!, { ...inMine, version_id: made.version! }),
  'dynamicRouting.listDeployments': (client, made) =>
    client.dynamicRouting.listDeployments(made.route!, inMine),
  'dynamicRouting.delete': (client, made) => client.dynamicRouting.delete(made.route!, inMine),
  'logs.list': async (client, made) => {
    const { result } = await client.logs.list('default', here)
    made.log = result[0]!.id
  },
  'logs.get': (client, made) => client.logs.get(made.log!, { ...here, gateway_id: 'default' }),
  'logs.edit': (client, made) => client.logs.edit(made.log!, { ...here, gateway_id: 'default', feedback: 1 }),
  'logs.request': (client, made) => client.logs.request(made.log!, { ...here, gateway_id: 'default' }),
  'logs.response': (client, made) => client.logs.response(made.log!, { ...here, gateway_id: 'default' }),
  'logs.delete': client => client.logs.delete('default', here),
  delete: client => client.delete('mine', here),
}

/** What is refused, by the words of the refusal. */
const refused: Readonly<Record<string, RegExp>> = {
  'evaluationTypes.list': /Evaluation types: not supported by this gateway/,
  ...everyOf(
    'evaluations',
    ['create', 'list', 'delete', 'get'],
    /Evaluations: not supported by this gateway/,
  ),
  ...everyOf(
    'datasets',
    ['create', 'update', 'list', 'delete', 'get'],
    /Datasets: not supported by this gateway/,
  ),
  ...everyOf(
    'billing',
    [
      ...['creditBalance', 'invoiceHistory', 'invoicePreview', 'usageHistory'],
      ...['spendingLimit.create', 'spendingLimit.delete', 'spendingLimit.get'],
      ...['topup.create', 'topup.status', 'topup.config.create', 'topup.config.delete', 'topup.config.get'],
    ],
    /Billing: not supported by this gateway/,
  ),
}

function everyOf(resource: string, names: readonly string[], words: RegExp) {
  return Object.fromEntries(names.map(name => [`${resource}.${name}`, words]))
}

test('every method of AI gateways works, or is refused by name', async t => {
  const { api, client } = await start(t)
  const methods = methodsOf(client)
  assert.deepEqual(methods.toSorted(), [...Object.keys(works), ...Object.keys(refused)].sort())
  await keepEntries(api.kept, [entryWith(1, bodies)])
  const made: Record<string, string> = {}
  for (const [name, run] of Object.entries(works))
    await assert.doesNotReject(async () => run(client, made), `${name} fails`)
  for (const [name, words] of Object.entries(refused)) {
    const path = name.split('.')
    const method = path.pop()!
    // biome-ignore lint/suspicious/noExplicitAny: methods are called by their names
    const resource = path.reduce((all: any, part) => all[part], client)
    const params = { ...inMine, value_grouping_window: 'day' }
    const takesId = !/^\w+\(params/.test(String(resource[method]))
    await assert.rejects(
      async () => (takesId ? resource[method]('id', params) : resource[method](params)),
      (error: Error) => {
        assert.ok(error instanceof Cloudflare.NotFoundError, `${name}: ${error.message}`)
        assert.match(error.message, words, name)
        return true
      },
    )
  }
})

test('spend limits are as the client sent them, with what was left out', async t => {
  const { client } = await start(t)
  const rules = [
    { id: 'all', enabled: true, limit: 250.5, limitType: 'cost', window: 86_400, technique: 'sliding' },
    {
      ...{ id: 'teams', enabled: false, limit: 10, limitType: 'cost', window: 3600, technique: 'fixed' },
      metadata: { team: { mode: 'partition' }, stage: { mode: 'filter', values: ['test'] } },
      model: { mode: 'filter', values: ['gpt-4o', 'anthropic/claude-sonnet-4'] },
      provider: { mode: 'filter', values: ['openai', 'anthropic'] },
    },
  ] as const
  const limits = { enabled: true, rules: rules as never }
  const shown = { ...limits, rules: rules.map(rule => ({ ...rule, when_store_unreachable: 'closed' })) }
  const created = await client.create({ ...settings, id: 'mine', spend_limits: limits })
  assert.deepEqual(created.spend_limits, shown)
  const read = await client.get('mine', here)
  assert.deepEqual(read.spend_limits, shown)
  const sent = { ...settings, spend_limits: read.spend_limits as never }
  assert.deepEqual((await client.update('mine', sent)).spend_limits, shown)
  const short = [{ limit: 1, limitType: 'cost', window: 60 }] as const
  const update = { ...settings, spend_limits: { rules: [...short] } }
  const ids: unknown[] = []
  for (const _ of 'ab') ids.push((await client.update('mine', update)).spend_limits?.rules?.[0]?.id)
  assert.match(String(ids[0]), /^[0-9a-f]{32}$/)
  assert.equal(ids[0], ids[1])
  assert.equal((await client.update('mine', settings)).spend_limits, null)
})

test('a key is never shown, in no response and no audit entry, and what has no place here is refused', async t => {
  const { api, client } = await start(t)
  const body = { ...here, alias: 'main', default_config: true, provider_slug: 'openai' }
  const refusals = [
    [{ ...body, secret_id: 'x' }, /secret_id is not supported: this gateway has no store of secrets/],
    [{ ...body, secret, rate_limit: 5 }, /rate_limit is not supported for a key/],
    [{ ...body, secret, provider_slug: 'custom-none' }, /custom-none is no provider/],
    [{ ...body, secret: 'with space' }, /secret must be/],
  ] as const
  for (const [refusal, words] of refusals)
    await assert.rejects(client.providerConfigs.create('default', refusal as never), words)
  const { id } = await client.providerConfigs.create('default', { ...body, secret })
  const kept = JSON.stringify(await api.kept.gateways.get(account, 'default'))
  assert.ok(!kept.includes(secret))
  for (const path of [
    'ai-gateway/gateways/default',
    'ai-gateway/gateways/default/provider_configs',
    'logs/audit',
  ]) {
    const { json } = await api.ask('GET', `/${path}`)
    assert.ok(!JSON.stringify(json).includes(secret), path)
  }
  const { value: reader } = await api.keepToken(['AI Gateway Read'])
  const listed = await api.ask('GET', `/ai-gateway/gateways/default/provider_configs`, {
    token: reader,
  })
  assert.equal(listed.status, 403)
  const path = `/ai-gateway/gateways/default/provider_configs/${id}`
  assert.equal((await api.ask('DELETE', path)).status, 200)
  assert.equal((await api.ask('DELETE', path)).status, 404)
})

test('the address of a custom provider must be https, without credentials, and never changes', async t => {
  const { api, client } = await start(t)
  const body = { ...here, name: 'Mine', slug: 'mine' }
  for (const base_url of [
    'http://llm.example',
    'https://a:b@llm.example',
    'https://llm.example/?a=b',
    'llm.example',
  ])
    await assert.rejects(client.customProviders.create({ ...body, base_url }), /base_url/, base_url)
  const headers = (value: object) => ({
    ...body,
    base_url: 'https://llm.example',
    headers: JSON.stringify(value),
  })
  for (const value of [
    { Authorization: 'x' },
    { Host: 'x' },
    { 'x-api-key': 'x' },
    { 'X-A': 'a\r\nB: c' },
    { a: 1 },
  ])
    await assert.rejects(client.customProviders.create(headers(value)), /headers must/)
  const made = await client.customProviders.create(headers({ 'X-Team': 'a' }))
  assert.deepEqual([made.base_url, made.headers], ['https://llm.example/v1', '{"X-Team":"a"}'])
  const path = `/ai-gateway/custom-providers/mine`
  const change = (body: object) => api.ask('PATCH', path, { body })
  assert.equal((await change({ base_url: 'https://evil.example' })).status, 400)
  assert.equal((await change({ enable: false })).json.result.enable, false)
})
