// Rules of routes to MCP servers: who may ask what of one, with which scopes, and how often.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parse } from '../../src/config/load/parse.ts'
import type { McpConfig, McpRuleConfig } from '../../src/config/model/mcp-config.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { keepAccess } from '../oauth/grants/keep-access.ts'
import { roleIds } from '../oauth/grants/parts-with.ts'
import { startAi } from '../help/ai.ts'
import { startEdge, zoneTo } from '../help/edge.ts'
import { issuer, sign, startIssuer } from '../help/issuer.ts'
import { blocksOf, readPage, section } from '../help/docs.ts'
import { surroundings } from '../help/golden-config.ts'
import { ok, startResponder } from '../help/origin.ts'
import { post, request } from '../help/raw.ts'

const anything: McpRuleConfig = {
  ...{ methods: null, targets: null, condition: null, action: null, scopes: [], rate: null },
}
const tool = (pattern: string) => [{ kind: 'tool', pattern } as const]

/** A server behind a gate and rules; each question has claims of its own. */
async function start(
  t: TestContext,
  rules: readonly Partial<McpRuleConfig>[],
  otherwise: McpConfig['otherwise'],
) {
  const origin = await startResponder(t, ok('{}'))
  const { gate, key } = await startIssuer(t)
  const all = rules.map(rule => ({ ...anything, ...rule }))
  const mcp: McpConfig = { bodyLimit: 2 ** 20, origins: [], rules: all, otherwise }
  const edge = await startEdge(t, [origin.url], { route: { path: '/mcp', mcp, protect: [gate] } })
  const ask = async (messages: unknown, claims = {}) => {
    const token = `Authorization: Bearer ${await sign(key, claims)}`
    return edge.ask(post('/mcp', JSON.stringify(messages), 'Content-Type: application/json', token))
  }
  const statuses = async (claims: object, ...messages: readonly unknown[]) =>
    (await Array.fromAsync(messages, message => ask(message, claims))).map(({ status }) => status)
  return { edge, origin, ask, statuses }
}

type Wish = NonNullable<Parameters<typeof keepAccess>[1]>

/** Keeps an access token for routes, and the consent to it. */
async function keepFor(store: Store, resource: readonly string[], wish: Wish) {
  const kept = await keepAccess(store, { now: Date.now(), aud: resource, ...wish })
  const { record, version } = (await store.oauthGrants.get(kept.grant.account, kept.grant.id))!
  await store.oauthGrants.replace({ ...record, resource }, version)
  return kept
}

function message(method: string, params: object = {}, id: number | null = 1): object {
  return { jsonrpc: '2.0', ...(id !== null && { id }), method, params }
}

const call = (name: string) => message('tools/call', { name, arguments: {} })
const read = (uri: string) => message('resources/read', { uri })

test('a tool is forbidden to a role, and to those of whom the role is not known', async t => {
  const rules = [{ targets: tool('delete_*'), condition: 'claims.role == "guest"', action: 'deny' } as const]
  const { ask, edge, origin, statuses } = await start(t, rules, 'allow')
  assert.deepEqual(
    await statuses({ role: 'guest' }, call('delete_all'), call('search'), call('Delete_x')),
    [403, 200, 200],
  )
  assert.deepEqual(await statuses({ role: 'owner' }, call('delete_all')), [200])
  assert.deepEqual(await statuses({}, call('delete_all'), call('search')), [403, 200])
  assert.equal(origin.requests.length, 4)
  const refused = await ask(call('delete_all'), { role: 'guest' })
  const { id, error } = JSON.parse(refused.text)
  assert.deepEqual([id, error.code, error.data.error_name], [1, -32000, 'forbidden'])
  assert.equal(edge.accesses.at(-1)!.cause, 'MCP rule 1')
})

test('what is not allowed by a rule can be forbidden, and a client can still begin and see what there is', async t => {
  const rules = [
    {
      targets: [...tool('search'), { kind: 'resource', pattern: 'file:///public/*' } as const],
      action: 'allow',
    } as const,
    { methods: ['tasks/*'], condition: '"admin" in claims.roles', action: 'allow' } as const,
  ]
  const { statuses, edge } = await start(t, rules, 'deny')
  const roles = { roles: ['admin'] }
  const begin = ['initialize', 'ping', 'tools/list', 'resources/templates/list'].map(method =>
    message(method),
  )
  assert.deepEqual(await statuses({}, ...begin), [200, 200, 200, 200])
  const note = message('notifications/initialized', {}, null)
  const reply = { jsonrpc: '2.0', id: 1, result: {} }
  assert.deepEqual(await statuses({}, note, reply), [200, 200])
  assert.deepEqual(
    await statuses(roles, call('search'), call('search2'), message('made/up')),
    [200, 403, 403],
  )
  const secret = 'file:///secret'
  assert.deepEqual(await statuses(roles, read('file:///public/a'), read(secret)), [200, 403])
  const asks = message('completion/complete', { ref: { type: 'ref/resource', uri: secret }, argument: {} })
  assert.deepEqual(await statuses(roles, asks, message('resources/subscribe', { uri: secret })), [403, 403])
  const task = message('tasks/get', { taskId: 'a' })
  assert.deepEqual([...(await statuses(roles, task)), ...(await statuses({}, task))], [200, 403])
  assert.equal(edge.accesses.at(-1)!.cause, 'no MCP rule')
})

test('a resource is the same in all spellings that a URL parser takes for it', async t => {
  const resources = (pattern: string) => ({ targets: [{ kind: 'resource', pattern } as const] })
  const denied = [{ ...resources('file:///secret/*'), action: 'deny' } as const]
  const listen = (uri: string) =>
    message('subscriptions/listen', { notifications: { resourceSubscriptions: [uri] } })
  const respelled = [
    'FILE:///secret/a',
    'file:///x/../secret/a',
    'file:/secret/a',
    ' file:\\\\\\secret\\a',
    'file:///%73ecret/a',
  ]
  const some = await start(t, denied, 'allow')
  for (const ask of [read, listen])
    assert.deepEqual(await some.statuses({}, ...respelled.map(ask)), [403, 403, 403, 403, 403])
  assert.deepEqual(await some.statuses({}, read('file:///open/a'), read('no URI')), [200, 200])
  const rate = {
    ...{ name: 'reads', limit: 1, period: 60_000, key: [{ by: 'subject' } as const] },
    ...{ when: null, action: 'block' as const },
  }
  const allowed = ['https://example.com', 'note:a%20b*', 'urn:%2A'].map(pattern => {
    return { ...resources(pattern), action: 'allow', rate: { ...rate, name: pattern.slice(0, 4) } } as const
  })
  const few = await start(t, allowed, 'deny')
  const same = [
    'https://example.com',
    'HTTPS://example.com:443/',
    'note:a%20bc',
    'https://example.com/x',
    'urn:a',
  ]
  assert.deepEqual(await few.statuses({}, ...same.map(read)), [200, 403, 200, 403, 403])
})

test('patterns of rules take no longer than a request may, and then allow nothing', async t => {
  const searching = Array.from({ length: 100 }, (_, i) => ({
    ...{ targets: [{ kind: 'resource', pattern: `*sec${i}*` } as const], action: 'deny' as const },
  }))
  const long = Array.from({ length: 100 }, (_, i) => `${'se'.repeat(4_000)}${i}`)
  const listen = (uris: readonly string[]) =>
    message('subscriptions/listen', { notifications: { resourceSubscriptions: uris } })
  const denying = await start(t, searching, 'allow')
  const short = Array.from({ length: 100 }, (_, i) => `file:///a/${i}`)
  assert.deepEqual(await denying.statuses({}, listen(short), listen(long)), [200, 403])
  const some = { targets: [{ kind: 'resource', pattern: '*e*' } as const] }
  const allowed = [...searching, some].map(rule => ({ ...rule, action: 'allow' as const }))
  const allowing = await start(t, allowed, 'deny')
  assert.deepEqual(await allowing.statuses({}, listen(short), listen(long)), [200, 403])
})

test('of a batch, the strictest decides', async t => {
  const rules = [{ targets: tool('a'), action: 'deny' } as const, { targets: tool('b'), scopes: ['b.use'] }]
  const { ask, origin } = await start(t, rules, 'allow')
  const scoped = { scope: 'b.use' }
  assert.equal((await ask([call('c'), call('b')], scoped)).status, 200)
  assert.equal((await ask([call('c'), call('b')])).status, 403)
  assert.equal((await ask([call('b'), call('c'), call('a')], scoped)).status, 403)
  assert.equal(origin.requests.length, 1)
})

test('a token that lacks scopes learns all that its request takes, at once', async t => {
  const rules = [
    { targets: tool('write_*'), scopes: ['files.write', 'files.read'] },
    { targets: tool('*_all'), scopes: ['files.all'] },
    { targets: tool('write_*'), action: 'allow' } as const,
    { scopes: ['never'], targets: tool('write_*') },
  ]
  const { ask, statuses } = await start(t, rules, 'deny')
  const refused = await ask(call('write_all'), { scope: 'files.write openid' })
  assert.equal(refused.status, 403)
  assert.equal(
    refused.field('www-authenticate'),
    'Bearer resource_metadata="http://site.test/.well-known/oauth-protected-resource/mcp", scope="files.write files.read files.all", error="insufficient_scope"',
  )
  assert.deepEqual(await statuses({ scope: 'files.read files.all files.write' }, call('write_all')), [200])
  assert.deepEqual(await statuses({ scp: ['files.read', 'files.write'] }, call('write_one')), [200])
  assert.deepEqual(await statuses({ scope: 7 }, call('write_one')), [403])
})

test('a rate counts each whom a gate lets in, and each message of a batch', async t => {
  const rate = { name: 'search', limit: 3, period: 60_000, key: [{ by: 'subject' } as const], when: null }
  const rules = [{ targets: tool('search'), rate: { ...rate, action: 'block' as const } }]
  const { ask, statuses } = await start(t, rules, 'allow')
  const search = call('search')
  assert.deepEqual(await statuses({ sub: 'a' }, search, search, call('other')), [200, 200, 200])
  const over = await ask([search, search], { sub: 'a' })
  assert.deepEqual([over.status, JSON.parse(over.text).error.data.error_name], [429, 'rate_limited'])
  assert.ok(Number(over.field('retry-after')) > 0)
  assert.deepEqual(await statuses({ sub: 'a' }, search, search), [200, 429])
  assert.deepEqual(await statuses({ sub: 'b' }, search), [200])
})

test('a condition reads what is asked and who asks', async t => {
  const conditions = [
    'mcp.method == "prompts/get" && mcp.prompt == "p" && mcp.tool == "" && mcp.resource == ""',
    'mcp.resource.startsWith("file:") && claims.sub == "alice"',
    'mcp.version == "2025-06-18"',
  ]
  const rules = conditions.map(condition => ({ condition, action: 'deny' as const }))
  const { ask, statuses } = await start(t, rules, 'allow')
  const asked = [message('prompts/get', { name: 'p' }), message('prompts/get', { name: 'q' }), call('p')]
  assert.deepEqual(await statuses({}, ...asked), [403, 200, 200])
  assert.deepEqual(await statuses({}, read('file:a'), read('http:a')), [403, 200])
  assert.deepEqual(await statuses({ sub: 'bob' }, read('file:a')), [200])
  assert.equal((await ask(message('ping'))).status, 200)
})

test('a client that got a token for the route learns from its metadata and a refusal which scopes it takes', async t => {
  const origin = await startResponder(t, ok('{}'))
  const { edge, store, account } = await startAi(t, {})
  const rules = [{ ...anything, targets: tool('write'), scopes: ['files.write', 'files.read'] }]
  const mcp: McpConfig = { bodyLimit: 2 ** 20, origins: [], rules, otherwise: 'allow' }
  const protect = [
    {
      kind: 'token',
      accepts: { scopes: ['files.read'], server: null, account: null },
      fields: [],
      endsOpen: true,
    } as const,
  ]
  const [route] = zoneTo([origin.url]).routes
  edge.reload({
    ...edge.config,
    zones: [{ ...zoneTo([]), routes: [{ ...route!, path: '/mcp', mcp, protect }] }],
  })
  const resource = 'http://site.test/mcp'
  const metadata = await edge.ask(request('GET /.well-known/oauth-protected-resource/mcp'))
  assert.deepEqual(JSON.parse(metadata.text).scopes_supported, ['files.read', 'files.write'])
  const ask = async (name: string, scopes: readonly string[]) => {
    const { value } = await keepFor(store, [resource], { account, scopes })
    const fields = ['Content-Type: application/json', `Authorization: Bearer ${value}`]
    return edge.ask(post('/mcp', JSON.stringify(call(name)), ...fields))
  }
  const known = 'resource_metadata="http://site.test/.well-known/oauth-protected-resource/mcp"'
  const refused = await ask('write', ['files.read'])
  const challenge = `Bearer ${known}, scope="files.read files.write", error="insufficient_scope"`
  assert.deepEqual([refused.status, refused.field('www-authenticate')], [403, challenge])
  assert.equal((await ask('write', ['files.read', 'files.write'])).status, 200)
  assert.equal((await ask('read', ['files.read'])).status, 200)
  for (const sent of origin.requests) assert.equal(sent.field('authorization'), null)
})

test('rules know the roles that a person has in the account of the zone, until they lose them', async t => {
  const origin = await startResponder(t, ok('{}'))
  const ai = await startAi(t, {})
  const { edge, store, account } = ai
  const rules = [{ ...anything, condition: '!("Administrator" in claims.roles)', action: 'deny' } as const]
  const mcp: McpConfig = { bodyLimit: 2 ** 20, origins: [], rules, otherwise: 'allow' }
  const [route] = zoneTo([origin.url]).routes
  const gateOf = (account: string | null) => ({
    ...({ kind: 'token', accepts: { scopes: ['files.read'], server: null, account } } as const),
    ...{ fields: [{ name: 'X-Roles', claim: 'roles' }], endsOpen: false },
  })
  const apiTokens = { permission: 'AI Gateway Run', account } as const
  const routes = [
    { ...route!, path: '/mcp', mcp, protect: [gateOf(account)] },
    { ...route!, path: '/none', mcp, protect: [gateOf(null)] },
    { ...route!, path: '/api', mcp, protect: [{ ...gateOf(null), accepts: apiTokens }] },
  ]
  edge.reload({ ...edge.config, zones: [{ ...zoneTo([]), routes }] })
  const resource = ['http://site.test/mcp', 'http://site.test/none']
  const keep = (wish: Wish) => keepFor(store, resource, { scopes: ['files.read'], ...wish })
  const statusOf = async (value: string, path = '/mcp') => {
    const fields = ['Content-Type: application/json', `Authorization: Bearer ${value}`]
    return (await edge.ask(post(path, JSON.stringify(call('read')), ...fields))).status
  }
  const { value, member } = await keep({ account, roles: roleIds('Administrator', 'AI Gateway Admin') })
  assert.equal(await statusOf(value), 200)
  assert.equal(origin.requests.at(-1)!.field('x-roles'), 'Administrator,AI Gateway Admin')
  assert.equal(await statusOf(value, '/none'), 403, 'no account, no roles')
  const change = async (roles: readonly string[]) => {
    const { record, version } = (await store.members.get(account, member.id))!
    assert.ok(await store.members.replace({ ...record, roles }, version))
  }
  await change(roleIds('AI Gateway Admin'))
  assert.equal(await statusOf(value), 403)
  await change(roleIds('Administrator'))
  assert.equal(await statusOf(value), 200)
  await store.accounts.update(account, { enforceTwoFactor: true })
  assert.equal(await statusOf(value), 403, 'without the second factor')
  await store.accounts.update(account, { enforceTwoFactor: false })
  const elsewhere = await keep({ roles: roleIds('Administrator') })
  await store.accounts.insert({ id: elsewhere.grant.account, name: 'Another account', createdAt: 0 })
  assert.equal(await statusOf(elsewhere.value), 403, 'a role in another account')
  await store.members.insert({ ...member, id: 'c'.repeat(32), user: elsewhere.user.id, roles: [] })
  assert.equal(await statusOf(elsewhere.value), 403, 'a membership without the role')
  assert.equal(await statusOf(await ai.mint({ id: 'a'.repeat(32) }), '/api'), 403, 'an API token')
  assert.equal(edge.accesses.at(-1)!.cause, 'MCP rule 1')
})

test('a client finds the issuer of a gate by the challenge and the metadata that it names', async t => {
  const { edge, ask } = await start(t, [{ targets: tool('write'), scopes: ['files.write'] }], 'allow')
  const known = 'resource_metadata="http://site.test/.well-known/oauth-protected-resource/mcp"'
  const sent = JSON.stringify(call('write'))
  for (const [fields, challenge] of [
    [[], `Bearer ${known}`],
    [['Authorization: Bearer a.b.c'], `Bearer ${known}, error="invalid_token"`],
  ] as const) {
    const answer = await edge.ask(post('/mcp', sent, 'Content-Type: application/json', ...fields))
    assert.deepEqual([answer.status, answer.field('www-authenticate')], [401, challenge])
  }
  assert.match(
    (await ask(call('write'))).field('www-authenticate')!,
    /scope="files\.write", error="insufficient_scope"/,
  )
  const metadata = await edge.ask(request('GET /.well-known/oauth-protected-resource/mcp'))
  const { authorization_servers: issuers, scopes_supported: scopes, resource } = JSON.parse(metadata.text)
  assert.deepEqual([issuers, scopes, resource], [[issuer], ['files.write'], 'http://site.test/mcp'])
})

test('by the recipe, tools are forbidden to a role, take a scope, and are counted', async t => {
  const origin = await startResponder(t, ok('{}'))
  const { edge, store, account } = await startAi(t, {})
  const [recipe] = blocksOf(section(readPage('docs/mcp.md'), 'Who may use which tool'))
  const yaml = recipe!.text
    .replace('127.0.0.1:3001', `127.0.0.1:${origin.port}`)
    .replace('0123456789abcdef0123456789abcdef', account)
  const parsed = parse(yaml, surroundings)
  assert.ok('config' in parsed)
  edge.reload({ ...edge.config, zones: parsed.config.zones })
  const agentOf = async (role: string, scopes: readonly string[] = ['tools.use']) => {
    const wish = { account, scopes, roles: roleIds(role) }
    const { value } = await keepFor(store, ['http://mcp.example.com/mcp'], wish)
    const fields = ['Content-Type: application/json', `Authorization: Bearer ${value}`]
    return async (name: string) => {
      const sent = post('/mcp', JSON.stringify(call(name)), ...fields)
      return (await edge.ask(sent.replace('Host: site.test', 'Host: mcp.example.com'))).status
    }
  }
  const reader = await agentOf('Administrator Read Only')
  assert.deepEqual([await reader('delete_all'), await reader('search')], [403, 200])
  const administrator = await agentOf('Administrator')
  assert.deepEqual([await administrator('delete_all'), await administrator('write_file')], [200, 403])
  const writer = await agentOf('Administrator', ['tools.use', 'files.write'])
  assert.equal(await writer('write_file'), 200)
  for (let i = 1; i <= 10; i++) assert.equal(await writer('search'), 200)
  assert.deepEqual([await writer('search'), await reader('search')], [429, 200])
})
