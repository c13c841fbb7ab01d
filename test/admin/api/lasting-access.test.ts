import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openapiDocument } from '../../../src/admin/openapi/openapi.ts'
import { apiRows, plainRows, routes, userRows } from '../../../src/admin/routes.ts'
import { zoneRows } from '../../../src/admin/zones/routes.ts'
import { PersonTokens } from '../../../src/people/sign-in/person-token.ts'
import { Sessions } from '../../../src/people/sessions/sessions.ts'
import { oauthScopes } from '../../../src/permissions/scopes.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'
import { keepAccess } from '../oauth-grants/access.ts'
import { keepMember, role } from '../people/people.ts'
import { zoneWith } from '../zones/zones.ts'

const writes = [...apiRows, ...zoneRows, ...plainRows, ...userRows].filter(row => row.method !== 'GET')
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
const namesWhere = (lastingAccess: string) =>
  writes
    .filter(
      row =>
        (typeof row.lastingAccess === 'object' ? row.lastingAccess.when : row.lastingAccess) ===
        lastingAccess,
    )
    .map(nameOf)
const inAccount = '/client/v4/accounts/{account_id}'
const inZone = '/client/v4/zones/{zone}'
const fault = /^Forbidden: an app cannot .+, since that would outlast what its user allowed; a person can /

/** An app with every scope, for a super administrator. */
async function start(t: TestContext) {
  const api = await startApi(t)
  api.given.configs = [zoneWith()]
  const scopes = oauthScopes.map(({ id }) => id)
  const { value: app, user, client } = await keepAccess(api.kept, { now: api.clock.now(), scopes })
  await keepMember(api.kept, [role.super])
  const askAsApp = (method: string, path: string, body?: unknown) =>
    api.ask(method, path, { token: app, ...(body !== undefined && { body }) })
  /** Asks as the person does on the pages of the dashboard. */
  const askAsPerson = async (method: string, path: string, body?: object) => {
    const proof = { method: 'password', secondFactor: false, at: api.clock.now() } as const
    const visit = { address: '192.0.2.7', userAgent: null, ray: '0' }
    const { session } = await new Sessions(api.kept, api.clock).begin(user, proof, visit)
    const { token } = await new PersonTokens(api.kept, api.clock).of({ user, session })
    const sender = { ...visit, peer: '127.0.0.1', isDirect: true, isVouched: false, base: null }
    const target = `/client/v4/accounts/${account}${path}`
    const { status, body: json } = await api.server.askAs(token, {
      sender,
      method: method as 'POST',
      target,
      ...(body !== undefined && { body }),
    })
    return { status, json: JSON.parse(json) }
  }
  return { ...api, app, client, user, askAsApp, askAsPerson }
}

const clientBody = {
  client_name: 'Shop',
  grant_types: ['authorization_code'],
  response_types: ['code'],
  token_endpoint_auth_method: 'client_secret_basic',
  redirect_uris: ['https://shop.example/callback'],
  scopes: ['ai_gateway.read'],
}

test('each operation that sets something states whether what it leaves outlasts the grant of an app', () => {
  for (const row of writes.filter(({ method }) => method !== 'DELETE')) {
    const { lastingAccess } = row
    assert.ok(lastingAccess === 'nothing' || (lastingAccess?.cannot ?? '') !== '', nameOf(row))
  }
  assert.deepEqual(namesWhere('always').toSorted(), [
    `PATCH ${inAccount}/ai-gateway/custom-providers/{slug}`,
    `PATCH ${inAccount}/oauth_clients/{client_id}`,
    `POST ${inAccount}/ai-gateway/custom-providers`,
    `POST ${inAccount}/ai-gateway/gateways/{gateway_id}/budget_alerts`,
    `POST ${inAccount}/ai-gateway/gateways/{gateway_id}/budget_alerts/{alert_id}/rotate_secret`,
    `POST ${inAccount}/ai-gateway/gateways/{gateway_id}/provider_configs`,
    `POST ${inAccount}/members`,
    `POST ${inAccount}/members/{member_id}/invitation`,
    `POST ${inAccount}/oauth_clients`,
    `POST ${inAccount}/oauth_clients/{client_id}/rotate_secret`,
    `POST ${inAccount}/tokens`,
    'POST /client/v4/user/tokens',
    `PUT ${inAccount}`,
    `PUT ${inAccount}/ai-gateway/gateways/{gateway_id}/budget_alerts/{alert_id}`,
    `PUT ${inAccount}/members/{member_id}`,
    `PUT ${inAccount}/tokens/{token_id}`,
    `PUT ${inAccount}/tokens/{token_id}/value`,
  ])
  assert.deepEqual(namesWhere('found').toSorted(), [
    `POST ${inAccount}/ai-gateway/gateways`,
    `PUT ${inAccount}/ai-gateway/gateways/{gateway_id}`,
  ])
  // Beside these and what deletes: what changes nothing, what is said about a call, what is left of a budget, where calls go, what is only for visitors of a zone, and what is the user's own.
  const left = namesWhere('nothing').filter(name => !name.startsWith('DELETE '))
  assert.deepEqual(
    left.toSorted(),
    [
      'PUT /client/v4/memberships/{membership_id}',
      `PATCH ${inAccount}/ai-gateway/gateways/{gateway_id}/logs/{log_id}`,
      `PATCH ${inAccount}/ai-gateway/gateways/{gateway_id}/routes/{route_id}`,
      `POST ${inAccount}/ai-gateway/gateways/{gateway_id}/budget_alerts/{alert_id}/test`,
      `POST ${inAccount}/ai-gateway/gateways/{gateway_id}/budgets/{budget_id}/reset`,
      `POST ${inAccount}/ai-gateway/gateways/{gateway_id}/policies`,
      `POST ${inAccount}/ai-gateway/gateways/{gateway_id}/policies/commit`,
      `POST ${inAccount}/ai-gateway/gateways/{gateway_id}/policies/rollback`,
      `POST ${inAccount}/ai-gateway/gateways/{gateway_id}/policies/simulate`,
      `POST ${inAccount}/ai-gateway/gateways/{gateway_id}/routes`,
      `POST ${inAccount}/ai-gateway/gateways/{gateway_id}/routes/{route_id}/deployments`,
      `POST ${inAccount}/ai-gateway/gateways/{gateway_id}/routes/{route_id}/versions`,
      `POST ${inAccount}/ai-gateway/providers/{provider_id}/test`,
      `POST ${inAccount}/tokens/{token_id}/budgets/{budget_id}/reset`,
      `POST ${inZone}/access_rules`,
      `POST ${inZone}/error_preview`,
      `POST ${inZone}/error_rules`,
      `POST ${inZone}/explain`,
      `PUT ${inAccount}/ai-gateway/gateways/{gateway_id}/policies/{policy_id}`,
      `PUT ${inZone}/access_rules/order`,
      `PUT ${inZone}/access_rules/{rule_id}`,
      `PUT ${inZone}/error_pages/{page_type}`,
      `PUT ${inZone}/error_rules/order`,
      `PUT ${inZone}/error_rules/{rule_id}`,
    ].toSorted(),
  )
})

test('the OpenAPI document says of each what apps cannot do, and how they are refused', () => {
  const { paths } = openapiDocument([...apiRows, ...zoneRows, ...plainRows, ...userRows])
  // What only the pages can ask is no part of it.
  for (const row of writes.filter(row => nameOf(row) !== 'POST /client/v4/user/tokens')) {
    const shown = paths[row.path]![row.method.toLowerCase()] as {
      description: string
      responses: Record<string, unknown>
    }
    const isTold = shown.description.includes('An app, by an access token of OAuth, cannot ')
    assert.equal(isTold, typeof row.lastingAccess === 'object', nameOf(row))
    if (isTold) assert.ok(JSON.stringify(shown.responses['403']).includes('outlast'), nameOf(row))
  }
})

test('beside the operations of the API, nothing but what operators ask of the process is no read', async t => {
  const { askAsApp } = await start(t)
  const known = new Set(writes.map(nameOf))
  const others = routes
    .filter(({ method }) => method !== 'GET')
    .map(nameOf)
    .filter(name => !known.has(name))
  assert.deepEqual(others, ['POST /reload', 'POST /upgrade', 'POST /handover'])
  const { app, origin } = await start(t)
  for (const name of others) {
    const [method, path] = name.split(' ') as [string, string]
    const headers = { authorization: `Bearer ${app}` }
    const { status } = await fetch(origin + path, { method, headers })
    assert.ok(status === 404 || status === 409, `${name} ${status}`)
  }
  assert.equal((await askAsApp('GET', '/tokens')).status, 200)
})

test('an app with every scope is refused each operation that outlasts its grant, before anything of it is read, and an API token none', async t => {
  const { ask, askAsApp, refused } = await start(t)
  let count = 0
  // The one that ends the app's own token comes last.
  const isEnd = (row: (typeof writes)[number]) => nameOf(row) === 'DELETE /client/v4/user/sessions'
  for (const row of writes.toSorted((one, two) => Number(isEnd(one)) - Number(isEnd(two)))) {
    const path = row.path
      .replace('{account_id}', account)
      .replace('{zone}', 'main')
      .replace(/\{\w+\}/g, 'f'.repeat(32))
    const isRefused = typeof row.lastingAccess === 'object' && row.lastingAccess.when === 'always'
    const byApp = await askAsApp(row.method, path, '{')
    const [told = ''] = byApp.json.errors.map(({ message }: { message: string }) => message)
    assert.equal(fault.test(told), isRefused, `${nameOf(row)}: ${told}`)
    assert.equal(byApp.status === 403, isRefused, nameOf(row))
    assert.equal(byApp.headers.get('www-authenticate'), null, nameOf(row))
    if (isRefused) count++
    const byToken = await ask(row.method, path, { body: '{' })
    for (const { message } of byToken.json.errors) assert.doesNotMatch(message, fault, nameOf(row))
  }
  assert.equal(refused.beyond_token.value, count)
})

test('an app that lacks the scope is told that none would do', async t => {
  const { ask, kept, clock } = await start(t)
  const { value: token } = await keepAccess(kept, { now: clock.now(), scopes: ['user.read'] })
  const { status, json, headers } = await ask('POST', '/members', { token, body: {} })
  assert.equal(status, 403)
  assert.match(json.errors[0].message, fault)
  assert.equal(headers.get('www-authenticate'), null)
})

test('an app gets no foothold that is left when it is disconnected, and the person and an API token may do the same', async t => {
  const { ask, askAsApp, askAsPerson, kept, client } = await start(t)
  const made = (await ask('POST', '/oauth_clients', { body: clientBody })).json.result
  const { member } = await keepMember(kept, [role.reader])
  const { member: invited } = await keepMember(kept, [role.reader], { status: 'pending' })
  const before = async () => ({
    members: await kept.members.list(account, { offset: 0, limit: 100 }),
    clients: await kept.oauthClients.list(account, { offset: 0, limit: 100 }),
    account: await kept.accounts.get(account),
    invitations: await kept.credentials.list({ user: invited.user }, 'invitation', 10),
  })
  const seen = await before()
  const other = `/oauth_clients/${made.client_id}`
  const evil = 'https://evil.example/callback'
  const tries = [
    ['POST', '/members', { email: 'evil@evil.example', roles: [role.super] }],
    ['POST', `/members/${invited.id}/invitation`, undefined],
    ['PUT', `/members/${member.id}`, { roles: [{ id: role.super }] }],
    ['POST', '/oauth_clients', { ...clientBody, redirect_uris: [evil] }],
    ['POST', '/oauth_clients', { ...clientBody, token_endpoint_auth_method: 'none' }],
    ['POST', `${other}/rotate_secret`, undefined],
    ['POST', `/oauth_clients/${client.id}/rotate_secret`, undefined],
    ['PATCH', other, { redirect_uris: [...clientBody.redirect_uris, evil] }],
    ['PATCH', other, { post_logout_redirect_uris: [evil] }],
    ['PATCH', other, { allowed_cors_origins: ['https://evil.example'] }],
    ['PATCH', other, { client_uri: 'https://evil.example/' }],
    ['PATCH', other, { visibility: 'public' }],
    ['PATCH', other, { token_endpoint_auth_method: 'none' }],
    ['PATCH', other, { scopes: oauthScopes.map(({ id }) => id) }],
    ['PATCH', other, { client_name: 'Gatehouse' }],
    ['PUT', '', { id: account, name: 'Mine', type: 'standard', settings: { enforce_twofactor: false } }],
  ] as const
  for (const [method, path, body] of tries) {
    const { status, json } = await askAsApp(method, path, body)
    assert.equal(status, 403, `${method} ${path} ${JSON.stringify(json)}`)
    assert.match(json.errors[0].message, fault)
  }
  assert.deepEqual(await before(), seen)
  for (const [method, path, body] of [tries[0], tries[1], tries[5], tries[7]]) {
    const shown = `${method} ${path}`
    const asked =
      body === undefined ? {} : { body: { ...body, ...(path === '/members' && { email: 'a@b.example' }) } }
    assert.equal((await ask(method, path, asked)).status, 200, shown)
  }
  assert.equal(
    (await askAsPerson('POST', '/members', { email: 'c@d.example', roles: [role.reader] })).status,
    200,
  )
  const patched = await askAsPerson('PATCH', other, { redirect_uris: clientBody.redirect_uris })
  assert.equal(patched.status, 200)
})

test('an app gets no secret by the key of a request that somebody who may has made', async t => {
  const { ask, app, client } = await start(t)
  const headers = { 'idempotency-key': 'a-key-that-was-seen' }
  const path = `/oauth_clients/${client.id}/rotate_secret`
  const made = await ask('POST', path, { headers })
  assert.deepEqual([made.status, typeof made.json.result.client_secret], [200, 'string'])
  const { status, json } = await ask('POST', path, { token: app, headers })
  assert.deepEqual([status, json.result], [403, null])
})

test('writes with the access token of an app can end members, clients, grants and tokens', async t => {
  const { ask, askAsApp, kept } = await start(t)
  const { client_id } = (await ask('POST', '/oauth_clients', { body: clientBody })).json.result
  await ask('POST', `/oauth_clients/${client_id}/rotate_secret`)
  const { member } = await keepMember(kept, [role.reader])
  for (const path of [
    `/oauth_clients/${client_id}/rotate_secret`,
    `/oauth_clients/${client_id}/grants`,
    `/oauth_clients/${client_id}`,
    `/members/${member.id}/sessions`,
    `/members/${member.id}`,
  ])
    assert.equal((await askAsApp('DELETE', path)).status, 200, path)
})

test('an app may make and change gateways, but opens none to calls without a token', async t => {
  const { ask, askAsApp, askAsPerson, kept } = await start(t)
  const gateways = '/ai-gateway/gateways'
  const opened = async (method: string, path: string, body: object) => {
    const { status, json } = await askAsApp(method, path, body)
    assert.equal(status, 403, JSON.stringify(json))
    assert.match(
      json.errors[0].message,
      /^Forbidden: an app cannot turn off the authentication of a gateway, /,
    )
  }
  await opened('POST', gateways, { id: 'open', authentication: false })
  assert.equal((await askAsApp('POST', gateways, { id: 'shut' })).status, 200)
  await opened('PUT', `${gateways}/shut`, { authentication: false })
  const isShut = async () => (await kept.gateways.get(account, 'shut'))?.record.authentication
  assert.equal(await isShut(), true)
  assert.equal((await askAsApp('PUT', `${gateways}/shut`, { collect_logs: false })).status, 200)
  assert.equal((await askAsPerson('PUT', `${gateways}/shut`, { authentication: false })).status, 200)
  // It was opened by somebody who may.
  assert.equal((await askAsApp('PUT', `${gateways}/shut`, { authentication: false })).status, 200)
  assert.equal((await askAsApp('PUT', `${gateways}/shut`, { authentication: true })).status, 200)
  assert.equal(await isShut(), true)
  assert.equal((await ask('POST', gateways, { body: { id: 'open', authentication: false } })).status, 200)
})
