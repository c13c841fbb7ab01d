// Deletions that the store made and could not confirm, on a Redis whose replica hangs: a failover can still bring back what they removed.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { replicates, startRedis } from '../../help/redis.ts'
import { account, tokenWith } from '../../tokens/token-with.ts'
import { gatewayOf, startApi } from '../api.ts'
import { apiFaults } from '../../../src/errors/catalogue/api-faults.ts'
import { apiRows, plainRows, userRows } from '../../../src/admin/routes.ts'
import { zoneRows } from '../../../src/admin/zones/routes.ts'
import { Sessions } from '../../../src/people/sessions/sessions.ts'
import { everybody, type User } from '../../../src/store/records/people.ts'
import { keepAccess } from '../oauth-grants/access.ts'
import { keepMember, memberWith, role } from '../people/people.ts'
import { bodyOfClient } from '../oauth-clients/client-bodies.ts'
import { entryWith, keepEntries } from '../ai-logs/log-entries.ts'

const zone = '/client/v4/zones/main'
const elements = [
  { id: 'start', type: 'start', outputs: { next: { elementId: 'model' } } },
  {
    id: 'model',
    type: 'model',
    properties: { provider: 'openai', model: 'gpt-4o', timeout: 20_000, retries: 0 },
    outputs: { success: { elementId: 'end' }, fallback: { elementId: 'end' } },
  },
  { id: 'end', type: 'end', outputs: {} },
]
/** Ms: half of it is how long a proof may take. */
const commandTimeout = 2_000

async function start(t: TestContext) {
  const primary = await startRedis(t)
  const replica = await startRedis(t, { args: ['--replicaof', `127.0.0.1 ${primary.port}`] })
  await replicates(primary)
  return { ...(await startApi(t, undefined, primary.url, commandTimeout)), primary, replica }
}

/** A DELETE, who asks for it, and what its repetition gets once the deletion is confirmed. */
interface Deletion {
  readonly path: string
  readonly token?: string
  readonly end: 200 | 401 | 404
}

test('unconfirmed deletions are 503 until they are confirmed', async t => {
  const { ask, kept, keepToken, clock, lines, primary, replica } = await start(t)
  const created = async (path: string, body: object) => {
    const { status, json } = await ask('POST', path, { body })
    assert.equal(status, 200, path)
    return json.result.id ?? json.result.client_id
  }
  const { token } = await keepToken(['AI Gateway Run'])
  const client = await created('/oauth_clients', bodyOfClient())
  const rotated = await created('/oauth_clients', bodyOfClient())
  assert.equal((await ask('POST', `/oauth_clients/${rotated}/rotate_secret`)).status, 200)
  const body = { action: 'deny', path: ['/admin'] }
  const rule = await created(`${zone}/access_rules`, body)
  const error = { expression: 'true', content: 'x', content_type: 'text/plain' }
  const errorRule = await created(`${zone}/error_rules`, error)
  const route = await created('/ai-gateway/gateways/default/routes', { name: 'fast', elements })
  const policies = '/ai-gateway/gateways/default/policies'
  const rightful = { name: 'all', actor: '*', resource: '*', action: { type: 'no-limit' } }
  const policy = await created(policies, rightful)
  await kept.gateways.insert(gatewayOf('drafting'))
  await created('/ai-gateway/gateways/drafting/policies', rightful)
  const alerts = '/ai-gateway/gateways/default/budget_alerts'
  const webhook = { url: 'https://hooks.example/budgets', thresholds: [80] }
  const alert = await created(alerts, webhook)
  const lab = { name: 'Lab', slug: 'lab', base_url: 'https://llm.example/v1' }
  const provider = await created('/ai-gateway/custom-providers', lab)
  const configs = '/ai-gateway/gateways/default/provider_configs'
  const key = {
    provider_slug: 'custom-lab',
    alias: 'main',
    default_config: true,
    secret: 'sk-lab-0123456789',
  }
  const config = await created(configs, key)
  const page = `${zone}/error_pages/waf_block`
  const headers = { 'content-type': 'text/html; charset=utf-8' }
  assert.equal((await ask('PUT', page, { body: '<p>', headers })).status, 200)
  await kept.gateways.insert(gatewayOf('going'))
  const access = () => keepAccess(kept, { now: clock.now() })
  const [inAccount, ofClient, ofOne] = [await access(), await access(), await access()]
  const [leaving, withOne, withAll, granting, owning] = [
    await access(),
    await access(),
    await access(),
    await access(),
    await access(),
  ]
  const [removed, signedOut] = [await keepMember(kept, []), await keepMember(kept, [])]
  const elsewhere = memberWith(leaving.user, [], { account: '2'.repeat(32) })
  await kept.accounts.insert({ id: elsewhere.account, name: 'Second', createdAt: 1 })
  await kept.members.insert(elsewhere)
  const sessions = new Sessions(kept, clock)
  const signIn = async (user: User) => {
    const proof = { method: 'password', secondFactor: false, at: clock.now() } as const
    return (await sessions.begin(user, proof, { address: '192.0.2.7', userAgent: null, ray: '0' })).session.id
  }
  for (const { user } of [signedOut, withAll]) await signIn(user)
  const session = await signIn(withOne.user)
  const person = { user: owning.user.id, email: owning.user.email, member: owning.member.id }
  const { token: own } = tokenWith({ account, person })
  await kept.tokens.insert(own)
  const grants = `/oauth_clients/${ofOne.client.id}/grants`
  const deletions: readonly Deletion[] = [
    { path: `/tokens/${token.id}`, end: 404 },
    { path: `/oauth_clients/${client}`, end: 404 },
    { path: `/oauth_clients/${rotated}/rotate_secret`, end: 404 },
    { path: `${zone}/access_rules/${rule}`, end: 404 },
    { path: `${zone}/error_rules/${errorRule}`, end: 404 },
    { path: page, end: 404 },
    { path: '/ai-gateway/gateways/going', end: 404 },
    { path: `/ai-gateway/gateways/default/routes/${route}`, end: 404 },
    { path: `${policies}/${policy}`, end: 404 },
    { path: `${alerts}/${alert}`, end: 404 },
    { path: '/ai-gateway/gateways/drafting/policies/draft', end: 404 },
    { path: `/ai-gateway/custom-providers/${provider}`, end: 404 },
    { path: `${configs}/${config}`, end: 404 },
    { path: `/members/${removed.member.id}`, end: 404 },
    { path: `/members/${signedOut.member.id}/sessions`, end: 200 },
    { path: `/oauth_clients/${ofClient.client.id}/grants`, end: 200 },
    { path: `${grants}/${ofOne.grant.id}`, end: 404 },
    { path: `/oauth_grants/${inAccount.grant.id}`, end: 404 },
    { path: `/client/v4/memberships/${elsewhere.id}`, token: leaving.value, end: 404 },
    { path: `/client/v4/user/sessions/${session}`, token: withOne.value, end: 404 },
    { path: `/client/v4/user/tokens/${own.id}`, token: owning.value, end: 404 },
    // These end the token that asks, too.
    { path: '/client/v4/user/sessions', token: withAll.value, end: 401 },
    { path: `/client/v4/user/oauth_grants/${granting.grant.id}`, token: granting.value, end: 401 },
    { path: '/ai-gateway/gateways/default/logs?limit=10', end: 200 },
    { path: '/ai-gateway/gateways/default/stored_responses', end: 200 },
  ]
  const rows = [...apiRows, ...zoneRows, ...plainRows, ...userRows].filter(
    ({ method }) => method === 'DELETE',
  )
  const shapes = rows.map(({ path }) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`))
  const isAsked = (shape: RegExp) => deletions.some(({ path }) => shape.test(fullPath(path)))
  assert.ok(shapes.every(isAsked), 'every DELETE is among them')
  const deleteAll = () =>
    Promise.all(
      deletions.map(async ({ path, token }) => {
        const { status } = await ask('DELETE', path, token === undefined ? {} : { token })
        return `${path} ${status}`
      }),
    )
  await keepEntries(kept, [entryWith(1)])
  const told = lines.length
  replica.stop()
  const unproved = deletions.map(({ path }) => `${path} 503`)
  assert.deepEqual(await deleteAll(), unproved)
  assert.equal(await primary.ask('HEXISTS', '{gatehouse}:gateways', `${account}/going`), 0, 'it was removed')
  assert.deepEqual([...new Set(lines.slice(told).map(({ msg }) => msg))], ['audit: write not confirmed'])
  assert.equal(await kept.logs.count(account, 'default'), 1, 'nothing is removed that is not told of')
  assert.deepEqual(await deleteAll(), unproved)
  replica.cont()
  assert.deepEqual(
    await deleteAll(),
    deletions.map(({ path, end }) => `${path} ${end}`),
  )
})

test('a request that conflicts with an unconfirmed write is 503 until that is confirmed, and only then 409 or 412', async t => {
  const { ask, replica } = await start(t)
  const { client_id: id } = (await ask('POST', '/oauth_clients', { body: bodyOfClient() })).json.result
  const other = (await ask('POST', '/oauth_clients', { body: bodyOfClient() })).json.result.client_id
  const etag = (await ask('GET', `/oauth_clients/${other}`)).headers.get('etag')!
  const rename = async () => {
    const asked = { body: { client_name: 'Renamed' }, headers: { 'if-match': etag } }
    return (await ask('PATCH', `/oauth_clients/${other}`, asked)).status
  }
  const rotate = async () => (await ask('POST', `/oauth_clients/${id}/rotate_secret`)).status
  replica.stop()
  assert.deepEqual([await rotate(), await rotate()], [503, 503])
  assert.deepEqual([await rename(), await rename()], [503, 503])
  replica.cont()
  assert.deepEqual([await rotate(), await rename()], [409, 412])
})

test('an unconfirmed creation is said to be one, and made once for the same Idempotency-Key', async t => {
  const { ask, replica } = await start(t)
  const create = () =>
    ask('POST', '/oauth_clients', { body: bodyOfClient(), headers: { 'idempotency-key': 'once' } })
  const count = async () => (await ask('GET', '/oauth_clients')).json.result.length
  replica.stop()
  for (let i = 0; i < 2; i++) {
    const { status, headers, json } = await create()
    assert.deepEqual(
      [status, json.errors],
      [503, [{ code: 10503, message: apiFaults.store_unconfirmed.sentence }]],
    )
    assert.ok(Number(headers.get('retry-after')) > 0)
  }
  assert.equal(await count(), 1, 'it was made')
  replica.cont()
  assert.equal((await create()).status, 200)
  assert.equal(await count(), 1)
})

test('a change that an unconfirmed write has made already is 503 until that is confirmed', async t => {
  const { ask, kept, clock, replica } = await start(t)
  const client = (await ask('POST', '/oauth_clients', { body: bodyOfClient() })).json.result.client_id
  const { member } = await keepMember(kept, [])
  const { user, value: token } = await keepAccess(kept, { now: clock.now() })
  const { version } = (await kept.users.get(everybody, user.id))!
  const identity = { issuer: 'https://id.example', subject: '1' }
  assert.equal(await kept.users.replace({ ...user, identity }, version), true)
  const invitation = memberWith(user, [role.reader], { account: '2'.repeat(32), status: 'pending' })
  await kept.accounts.insert({ id: invitation.account, name: 'Second', createdAt: 1 })
  await kept.members.insert(invitation)
  const changeAll = async () => {
    const replies = await Promise.all([
      ask('PATCH', `/oauth_clients/${client}`, { body: { client_name: 'Renamed' } }),
      ask('PUT', `/members/${member.id}`, { body: { roles: [{ id: role.reader }] } }),
      ask('PUT', `/client/v4/memberships/${invitation.id}`, { token, body: { status: 'accepted' } }),
    ])
    return replies.map(({ status }) => status)
  }
  replica.stop()
  assert.deepEqual(await changeAll(), [503, 503, 503])
  assert.equal((await kept.members.get(invitation.account, invitation.id))!.record.status, 'accepted')
  assert.deepEqual(await changeAll(), [503, 503, 503])
  replica.cont()
  assert.deepEqual(await changeAll(), [200, 200, 200])
})

function fullPath(path: string): string {
  const [plain] = path.split('?')
  return plain!.startsWith('/client/') ? plain! : `/client/v4/accounts/${account}${plain}`
}
