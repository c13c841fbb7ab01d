// What there is to see on the pages of the dashboard, for tests that look at all of them: whoever adds a page adds here what its path and its state need.

import { bucketsOf } from '../../src/budgets/buckets.ts'
import { mintSecret } from '../../src/oauth/clients/secret.ts'
import { type McpCount, mcpCount, mcpScope } from '../../src/activity/tally-scopes.ts'
import { slotOf, type Tally } from '../../src/store/records/tally.ts'
import { entryWith, keepEntries } from '../admin/ai-logs/log-entries.ts'
import { keepAccess } from '../admin/oauth-grants/access.ts'
import { viewOf } from '../admin/providers/providers.ts'
import { auditEntry } from '../store/contract-specimens.ts'
import { tokenWith } from '../tokens/token-with.ts'
import type { openDashboard } from './site.ts'
import { furnishRules, furnishZone } from './zones/zone.ts'

type Site = Awaited<ReturnType<typeof openDashboard>>

/** A name that somebody could have chosen to do harm. */
export const hostile = `"><img src=x onerror=alert(1)>'&lt;`

/** Makes what there is, and returns what the `{name}` steps of paths stand for. */
const makers: readonly ((site: Site) => Promise<Readonly<Record<string, string>>>)[] = [
  async ({ account }) => ({ account, operation: 'createToken', guide: 'configuration' }),
  async ({ account, kept, keys, clock }) => {
    const { client, grant, member } = await keepAccess(kept)
    const { record, version } = (await kept.oauthClients.get(account, client.id))!
    const secrets = [1, 2].map(() => mintSecret(keys.current, clock.now()).secret)
    await kept.oauthClients.replace({ ...record, name: hostile, secrets }, version)
    return { client: client.id, grant: grant.id, member: member.id }
  },
  async ({ given, ask }) => {
    furnishZone(given, hostile)
    return { zone: 'main', rule: await furnishRules(ask, hostile) }
  },
  furnishErrors,
  async site => {
    const { account, kept, clock, edge } = site
    const payload = { text: JSON.stringify({ said: hostile }), isCut: false }
    const texts = { model: hostile, path: hostile, tokenName: hostile, metadata: { who: hostile } }
    const bodies = { request: payload, response: payload }
    const entry = entryWith(1, { createdAt: clock.now() - 60_000, cost: 0.5, ...texts, ...bodies })
    const failed = entryWith(2, { createdAt: clock.now() - 60_000, success: false, status: 520, ...texts })
    await keepEntries(kept, [entry, { ...failed, error: 'origin_unknown_error' }])
    const values = {
      before: { name: hostile, scopes: ['a', 'b'] },
      after: { name: 'x', scopes: ['b', hostile] },
    }
    const changed = ['name', 'scopes', 'content']
    await kept.audit.append(auditEntry({ account, resourceName: hostile, at: clock.now(), changed, values }))
    const token = { ...(await furnishBudgets(site)), ...(await furnishPolicies(site)) }
    edge.entrance = {
      origin: 'http://ai.test:8080',
      provider: {
        name: 'openai',
        model: 'gpt-4o-mini',
        path: '/chat/completions',
        speaks: 'openai',
        hasKey: true,
      },
      aliases: [{ name: 'fast', models: ['openai/gpt-4o-mini', hostile] }],
      send: () => Promise.reject(new Error('Nobody there.')),
    }
    return {
      ...(await furnishRoute(site)),
      ...(await furnishKey(site)),
      ...token,
      gateway: 'default',
      log: entry.id,
      failed: failed.id,
      part: 'response',
    }
  },
  async ({ ask }) => {
    const body = {
      name: hostile,
      slug: 'x'.repeat(57),
      base_url: `https://llm.example/${'x/'.repeat(100)}v1`,
    }
    const { json } = await ask('POST', '/ai-gateway/custom-providers', { body })
    return { slug: json.result.slug }
  },
  async ({ providersGiven, clock }) => {
    const keys = ['sk-1', 'sk-2']
    const source = { kind: 'file', path: hostile } as const
    const keySources = [source, { kind: 'environment', variables: ['OPENAI_API_KEY'] } as const]
    providersGiven.configure({
      openai: { url: 'http://127.0.0.1:1', keys, keySources },
      mistral: {},
    })
    const resting = { restsUntil: clock.now() + 60_000, status: 429 }
    const failed = { badAt: clock.now(), badError: 'origin_down', badCode: 'ECONNREFUSED' } as const
    const shown = { keys: [resting, { restsUntil: 0, status: 0 }], lastAt: clock.now(), ...failed }
    providersGiven.views = [[viewOf('openai', { ...shown, failures: 2 })], [viewOf('openai')]]
    return { provider: 'openai' }
  },
]

/** Creates a dynamic route that has each kind of element, with an older version. */
async function furnishRoute({ ask }: Site): Promise<Readonly<Record<string, string>>> {
  const to = (elementId: string) => ({ elementId })
  const model = (id: string, fallback: string) => ({
    id,
    type: 'model',
    properties: { provider: 'openai', model: hostile.replaceAll(' ', ''), timeout: 20_000, retries: 1 },
    outputs: { success: to('end'), fallback: to(fallback) },
  })
  const conditions = { 'metadata.plan': { $in: [hostile, 'pro'] } }
  const rate = { key: 'token', limit: 100, limitType: 'count', window: 60 }
  const elements = [
    { id: 'start', type: 'start', outputs: { next: to('plan') } },
    {
      id: 'plan',
      type: 'conditional',
      properties: { conditions },
      outputs: { true: to('share'), false: to('rate') },
    },
    {
      id: 'share',
      type: 'percentage',
      outputs: { [`10% ${hostile.slice(0, 20)}`]: to(hostile), else: to('small') },
    },
    { id: 'rate', type: 'rate', properties: rate, outputs: { success: to('small'), fallback: to('end') } },
    model(hostile, 'small'),
    model('small', 'end'),
    { id: 'end', type: 'end', outputs: {} },
  ]
  const routes = '/ai-gateway/gateways/default/routes'
  const { result: route } = (await ask('POST', routes, { body: { name: 'support', elements } })).json
  await ask('POST', `${routes}/${route.id}/versions`, { body: { elements } })
  return { modelroute: route.id, version: route.version.version_id }
}

/** Sets budgets of a gateway and of a token, and what is spent of them: of each about as much as may be. */
async function furnishBudgets(site: Site): Promise<Readonly<Record<string, string>>> {
  const { ask, kept, account, clock, user } = site
  const partition = { mode: 'partition' }
  const rules = [
    { id: 'each', limit: 100, limitType: 'cost', window: 'month', time_zone: 'Europe/Berlin' },
    {
      limit: 2.5,
      limitType: 'cost',
      window: 86_400,
      technique: 'sliding',
      token: partition,
      model: partition,
    },
    { limit: 50, limitType: 'tokens', window: 60, metadata: { who: { mode: 'filter', values: [hostile] } } },
    { limit: 4, limitType: 'concurrency', person: partition },
    { id: 'x'.repeat(64), enabled: false, limit: 1, limitType: 'tokens', window: 'day' },
  ]
  const { json } = await ask('GET', '/ai-gateway/gateways/default')
  await ask('PUT', '/ai-gateway/gateways/default', { body: { ...json.result, spend_limits: { rules } } })
  const { token: made } = await site.keepToken(['AI Gateway Run'], { name: hostile })
  const limits = {
    rules: [
      { ...rules[0], time_zone: 'UTC' },
      { ...rules[4], id: 'off' },
    ],
  }
  const { result: token } = (await ask('GET', `/tokens/${made.id}`)).json
  await ask('PUT', `/tokens/${made.id}`, { body: { ...token, spend_limits: limits } })
  const { record: gateway } = (await kept.gateways.get(account, 'default'))!
  const { record: limited } = (await kept.tokens.get(account, made.id))!
  const call = { provider: 'openai', model: hostile, metadata: { who: hostile } }
  const entry = entryWith(3, { createdAt: clock.now(), ...call, tokenId: made.id, tokenName: hostile })
  await keepEntries(kept, [entry])
  const lines = bucketsOf(gateway, limited, call, clock.now()).map(({ bucket, window, rule }, i) => ({
    ...{ bucket, window, limit: rule.limit, share: `share ${i}`, confirmed: 0, ifLost: 0, need: 0, want: 0 },
    ...{
      total: rule.unit === 'concurrency' ? 0 : Math.ceil(rule.limit * (0.4 + 0.3 * i)),
      keep: Math.ceil(rule.limit / 8),
    },
  }))
  await kept.budgets.step({ account, sequence: 1, lease: 15_000, lines })
  const { record: member } = (await kept.members.find(account, user.id))!
  const own = {
    ...limited,
    ...tokenWith().token,
    person: { user: user.id, email: user.email, member: member.id },
  }
  await kept.tokens.insert({ ...own, account, policies: made.policies, spendLimits: limited.spendLimits! })
  return { token: made.id, budget: 'each' }
}

/** Commits policies of a gateway twice, and leaves a draft of each kind of change. */
async function furnishPolicies({
  ask,
  kept,
  account,
  clock,
}: Site): Promise<Readonly<Record<string, string>>> {
  const policies = '/ai-gateway/gateways/default/policies'
  const everybody = { name: 'Everybody', actor: '*', resource: '*', action: { type: 'no-limit' } }
  const limit = { type: 'limit', amount: 2.5, period: 'daily', time_zone: 'Europe/Berlin' }
  const condition = 'metadata.plan == "pro" && model != "x"'
  const each = { name: hostile, actor: 'user:{svc.user.id}', resource: '*', condition, action: limit }
  const models = Array.from({ length: 20 }, (_, i) => `openai/${'m'.repeat(30)}-${i}*`)
  const add = async (body: object) => (await ask('POST', policies, { body })).json.result
  await add(everybody)
  const { result: commit } = (await ask('POST', `${policies}/commit`)).json
  const former = await add({ ...everybody, name: 'Former', action: limit })
  const changed = await add(each)
  await ask('POST', `${policies}/commit`)
  const now = clock.now()
  const refused = {
    kind: 'budget',
    scope: `budgets ${account}`,
    count: 12_345,
    slot: now,
    last: now,
  } as const
  await kept.tallies.add([{ ...refused, name: `policy default ${changed.id}`, occurrences: [] }])
  const only = { name: 'x'.repeat(100), actor: `team:${hostile}`, resource: { model: models } }
  await add({ ...only, action: { type: 'block', except: true } })
  await ask('PUT', `${policies}/${changed.id}`, { body: { ...each, actor: '*' } })
  await ask('DELETE', `${policies}/${former.id}`)
  return { policy: changed.id, commit: commit.id }
}

/** Adds a key of a provider to the gateway. */
async function furnishKey({ ask }: Site): Promise<Readonly<Record<string, string>>> {
  const body = {
    provider_slug: 'openai',
    alias: 'x'.repeat(64),
    default_config: true,
    secret: 'sk-0123456789abcdef',
  }
  const { json } = await ask('POST', '/ai-gateway/gateways/default/provider_configs', { body })
  return { providerkey: json.result.id }
}

/** Sets a rule and a page of a zone, and counts an error with its request. */
async function furnishErrors({ ask, kept, clock, metrics }: Site): Promise<Readonly<Record<string, string>>> {
  const rules = '/client/v4/zones/main/error_rules'
  const rule = { expression: 'request.path == "/api"', content: hostile, content_type: 'text/html' }
  await ask('POST', rules, { body: rule })
  const { json } = await ask('POST', rules, { body: { ...rule, description: hostile } })
  const page = { body: `<h1>Sorry</h1>${hostile}`, headers: { 'content-type': 'text/html' } }
  await ask('PUT', '/client/v4/zones/main/error_pages/waf_block', page)
  const now = clock.now()
  const occurrence = {
    at: now,
    ray: 'ab',
    method: 'GET',
    host: 'x',
    path: hostile,
    status: 403,
    format: 'html',
  }
  const error = { kind: 'error', scope: 'zone main', last: now, occurrences: [occurrence] } as const
  await kept.tallies.add([{ ...error, name: '1020', count: 7, slot: slotOf('error', now) }])
  metrics.edge.zone('main').request(403, 5)
  await kept.tallies.add(mcpTallies('/mcp', now, hostile))
  return { zone: 'main', errorrule: json.result.id, type: 'waf_block', code: '1020' }
}

/** What a route to an MCP server was asked, by somebody and of tools with such names. */
export function mcpTallies(route: string, now: number, text: string): readonly Tally[] {
  const counts: readonly (readonly [McpCount, number])[] = [
    [['message', 'tools/call', text, 'answered'], 1_200],
    [['message', 'tools/call', text, 'failed'], 3],
    [['time', 'tools/call', text], 150_375],
    [['message', 'tools/list', '', 'answered'], 7],
    [['message', 'tools/call', 'other', 'refused'], 5],
    [['refusal', 'tools/call', 'other', 'MCP rule 1'], 5],
    [['caller', text, 'answered'], 1_207],
    [['caller', text, 'refused'], 5],
  ]
  const tally = { kind: 'mcp', scope: mcpScope('main', route), slot: slotOf('mcp', now), last: now } as const
  return counts.map(([what, count]) => ({ ...tally, name: mcpCount(what), count, occurrences: [] }))
}

/** Other states of pages that are looked at besides: what follows the account in the path, with `{name}` steps and a query. */
export const states: readonly string[] = [
  '/tokens?done=token-revoked',
  '/audit?action=update',
  '/errors?zone=main',
  '/gateways/{gateway}/logs?model=none&min_cost=1',
  '/gateways/{gateway}/logs?range=24h',
  '/gateways/{gateway}/logs/{failed}',
  '/gateways/{gateway}/logs/charts?by=token&range=30d',
]

/** Makes what pages are about, and returns what puts it into their paths. */
export async function furnish(site: Site): Promise<(path: string) => string> {
  const ids: Record<string, string> = {}
  for (const make of makers) Object.assign(ids, await make(site))
  return path =>
    path.replaceAll(/\{(\w+)\}/g, (_, name) => {
      if (ids[name] === undefined)
        throw new Error(`test/dashboard/fixtures.ts makes no {${name}}, which ${path} needs`)
      return encodeURIComponent(ids[name])
    })
}
