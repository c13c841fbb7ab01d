import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { account, tokenWith } from '../../tokens/token-with.ts'
import { allowing, startApi } from '../api.ts'
import { keepMember, role } from '../people/people.ts'
import { keepAccess } from './access.ts'

const other = '2'.repeat(32)
const grantsPath = '/client/v4/user/oauth_grants'

async function start(t: TestContext) {
  const api = await startApi(t)
  await api.kept.accounts.insert({ id: other, name: 'other', createdAt: 1 })
  const { token, value: stranger } = tokenWith({
    account: other,
    policies: [allowing(['OAuth Clients Write', 'Members Write', 'Audit Logs Read'], [other])],
  })
  await api.kept.tokens.insert(token)
  /** Whether an access token opens anything. */
  const isGood = async (token: string) => (await api.ask('GET', '/client/v4/user', { token })).status === 200
  const auditOf = async (of: string, token?: string) => {
    const path = `/client/v4/accounts/${of}/audit_logs`
    const { result } = (await api.ask('GET', path, token === undefined ? {} : { token })).json
    return result.map(({ action, resource, actor }: Record<string, Record<string, string>>) =>
      [action!.type, resource!.type, resource!.id, actor!.id].join(' '),
    )
  }
  const keep = (wish: Parameters<typeof keepAccess>[1] = {}) =>
    keepAccess(api.kept, { now: api.clock.now(), ...wish })
  return { ...api, stranger, isGood, auditOf, keep }
}

test('a user sees the apps that may act for them, and ends one', async t => {
  const { ask, keep, isGood, auditOf } = await start(t)
  const { value, grant, client, user } = await keep()
  await keep()
  const { json } = await ask('GET', grantsPath, { token: value })
  assert.equal(json.result_info.total_count, 1)
  const [shown] = json.result
  assert.deepEqual(
    [shown.id, shown.client.client_id, shown.client.client_name, shown.account.name, shown.scopes],
    [grant.id, client.id, client.name, 'first', grant.scopes],
  )
  assert.equal(await isGood(value), true)
  const ended = await ask('DELETE', `${grantsPath}/${grant.id}`, { token: value })
  assert.deepEqual([ended.status, ended.json.result], [200, { id: grant.id }])
  assert.equal(await isGood(value), false)
  assert.equal((await auditOf(account))[0], `revoke oauth_grant ${grant.id} ${user.id}`)
})

test('an end of what is for another account is told there, as a deed of the user', async t => {
  const { ask, keep, kept, auditOf, stranger } = await start(t)
  const { value, grant, user } = await keep()
  const elsewhere = { ...grant, account: other, id: '7'.repeat(32) }
  await kept.oauthGrants.insert(elsewhere)
  assert.equal((await ask('DELETE', `${grantsPath}/${elsewhere.id}`, { token: value })).status, 200)
  assert.equal((await auditOf(other, stranger))[0], `revoke oauth_grant ${elsewhere.id} ${user.id}`)
  assert.deepEqual(await auditOf(account), [])
})

test('grants of another user are not found', async t => {
  const { ask, keep } = await start(t)
  const [one, two] = [await keep(), await keep()]
  assert.equal((await ask('DELETE', `${grantsPath}/${two.grant.id}`, { token: one.value })).status, 404)
  assert.equal((await ask('DELETE', `${grantsPath}/x`, { token: one.value })).status, 404)
})

test('rows about the user ask for a token that acts for one, with the scope', async t => {
  const { ask, keep } = await start(t)
  const [reader, nobody] = [
    await keep({ scopes: ['user_access.read'] }),
    await keep({ scopes: ['user.read'] }),
  ]
  assert.equal((await ask('GET', grantsPath, { token: reader.value })).status, 200)
  for (const [method, path, token] of [
    ['GET', grantsPath, undefined],
    ['GET', grantsPath, nobody.value],
    ['DELETE', `${grantsPath}/${reader.grant.id}`, reader.value],
    ['GET', '/client/v4/user', reader.value],
  ] as const) {
    const refused = await ask(method, path, token === undefined ? {} : { token })
    assert.equal(refused.status, 403, `${method} ${path}`)
    const challenge = refused.headers.get('www-authenticate')
    if (token === undefined) assert.equal(challenge, null)
    else
      assert.match(
        challenge!,
        /error="insufficient_scope", scope="user(_access)?\.\w+"|scope="user\S+".*error="insufficient_scope"/,
      )
    assert.match(
      refused.json.errors[0].message,
      /^Forbidden: this requires an OAuth token of a user with the scope user/,
    )
  }
})

test('the owner of a client sees who uses it, by ids alone, and ends one grant', async t => {
  const { ask, kept, keep, isGood, stranger, auditOf } = await start(t)
  const { value, grant, client, user } = await keep({ clientAccount: other })
  const path = `/client/v4/accounts/${other}/oauth_clients/${client.id}/grants`
  const { json } = await ask('GET', path, { token: stranger })
  assert.deepEqual(json.result[0].user, { id: user.id })
  assert.deepEqual(json.result[0].account, { id: account })
  assert.equal(JSON.stringify(json).includes(user.email), false)

  const { grant: foreign } = await keep()
  assert.equal((await ask('DELETE', `${path}/${foreign.id}`, { token: stranger })).status, 404)
  assert.equal((await ask('DELETE', `${path}/${grant.id}`, { token: stranger })).status, 200)
  assert.equal(await isGood(value), false)
  assert.equal((await kept.credentials.list({ grant: grant.id }, 'access_token', 10)).length, 0)
  // The account that was consented to learns that it ended, and not by whom of another account.
  assert.equal((await auditOf(account))[0], `revoke oauth_grant ${grant.id} gatehouse`)
  assert.match((await auditOf(other, stranger))[0], new RegExp(`^revoke oauth_grant ${grant.id} `))
})

test('the owner of a client ends all of its grants', async t => {
  const { ask, keep, kept, isGood, grants } = await start(t)
  const { client, value } = await keep()
  const path = `/oauth_clients/${client.id}/grants`
  for (let i = 0; i < 120; i++) {
    const id = i.toString(16).padStart(32, '0')
    const grant = {
      client: client.id,
      clientAccount: account,
      user: id,
      scopes: ['user.read'],
      declined: [],
      resource: [],
    }
    await kept.oauthGrants.insert({ account, id, ...grant, createdAt: i, updatedAt: i })
  }
  assert.equal((await ask('GET', `${path}?per_page=100`)).json.result_info.total_count, 121)
  assert.deepEqual((await ask('DELETE', path)).json.result, { client_id: client.id })
  assert.equal(await isGood(value), false)
  await grants.idle
  assert.equal((await ask('GET', path)).json.result_info.total_count, 0)
  assert.equal((await ask('GET', `/oauth_clients/${client.id}`)).status, 200)
})

test('administrators of an account see and end what was granted for it, and nothing else', async t => {
  const { ask, keep, kept, isGood, stranger, keepToken } = await start(t)
  const { value, grant, user, client } = await keep({ clientAccount: other })
  const { result } = (await ask('GET', '/oauth_grants')).json
  assert.deepEqual(
    [result.length, result[0].id, result[0].user, result[0].client.client_id],
    [1, grant.id, { id: user.id, email: user.email, email_verified: false }, client.id],
  )
  assert.deepEqual((await ask('GET', `/oauth_grants/${grant.id}`)).json.result, result[0])
  const { record, version } = (await kept.users.get(user.account, user.id))!
  await kept.users.replace({ ...record, emailVerifiedAt: 1 }, version)
  const verified = (await ask('GET', `/oauth_grants/${grant.id}`)).json.result.user
  assert.deepEqual(verified, { id: user.id, email: user.email, email_verified: true })
  const path = `/client/v4/accounts/${other}/oauth_grants/${grant.id}`
  assert.equal((await ask('DELETE', path, { token: stranger })).status, 404)
  const { value: reader } = await keepToken(['Members Read'])
  assert.equal((await ask('DELETE', `/oauth_grants/${grant.id}`, { token: reader })).status, 403)
  assert.equal((await ask('DELETE', `/oauth_grants/${grant.id}`)).status, 200)
  assert.equal((await ask('DELETE', `/oauth_grants/${grant.id}`)).status, 404)
  assert.equal(await isGood(value), false)
})

test('a client that is deleted takes its grants, credentials and events with it', async t => {
  const { ask, keep, kept, isGood, grants } = await start(t)
  const { client, value, grant } = await keep()
  const event = {
    client: client.id,
    clientAccount: account,
    at: 1,
    step: 'token',
    result: 'success',
  } as const
  const rest = {
    error: null,
    reason: null,
    user: null,
    account: null,
    address: '',
    ray: '',
    isUnproven: false,
  }
  await kept.authorizationEvents.append({ id: '1'.repeat(32), ...event, ...rest })
  await ask('DELETE', `/oauth_clients/${client.id}`)
  assert.equal(await isGood(value), false)
  await grants.idle
  assert.equal(await kept.oauthGrants.get(account, grant.id), null)
  assert.equal((await kept.credentials.list({ client: client.id }, 'access_token', 10)).length, 0)
  assert.equal((await kept.authorizationEvents.list(account, client.id)).length, 0)
})

test('a scope that a client drops leaves its grants, and does not come back with it', async t => {
  const { ask, keep, kept, grants, auditOf } = await start(t)
  const scopes = ['user.read', 'ai_gateway.read']
  const { client, value, grant } = await keep({ scopes, clientAccount: other, account })
  const only = await keep({ scopes: ['ai_gateway.read'] })
  const patch = async (id: string, scopes: readonly string[]) => {
    const reply = await ask('PATCH', `/oauth_clients/${id}`, { body: { scopes } })
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    await grants.idle
  }
  const reads = async (token: string) => (await ask('GET', '/ai-gateway/gateways', { token })).status
  assert.equal(await reads(value), 200)
  const { record, version } = (await kept.oauthClients.get(other, client.id))!
  await kept.oauthClients.replace({ ...record, scopes: ['user.read'] }, version)
  assert.equal(await reads(value), 403)
  await grants.sweep()
  assert.deepEqual((await kept.oauthGrants.get(account, grant.id))?.record.scopes, ['user.read'])
  assert.equal((await auditOf(account))[0], `update oauth_grant ${grant.id} gatehouse`)

  assert.equal(await reads(only.value), 200)
  await patch(only.client.id, ['origins.read'])
  assert.equal(await kept.oauthGrants.get(account, only.grant.id), null)
  await patch(only.client.id, ['origins.read', 'ai_gateway.read'])
  assert.equal(await reads(only.value), 401)
})

test('a member who is removed takes along what they allowed in the account, and nothing elsewhere', async t => {
  const { ask, keep, kept, isGood } = await start(t)
  await keepMember(kept, [role.super])
  const { value, grant, member, user } = await keep({ clientAccount: other })
  const elsewhere = { ...grant, account: other, id: '3'.repeat(32) }
  await kept.oauthGrants.insert(elsewhere)
  assert.equal((await ask('DELETE', `/members/${member.id}`)).status, 200)
  assert.equal(await isGood(value), false)
  assert.equal(await kept.oauthGrants.get(account, grant.id), null)
  assert.notEqual(await kept.oauthGrants.get(other, elsewhere.id), null)

  // The same person, invited and accepted again, allows nothing by that.
  const again = await ask('POST', '/members', { body: { email: user.email, roles: [role.super] } })
  const { record, version } = (await kept.members.get(account, again.json.result.id))!
  await kept.members.replace({ ...record, status: 'accepted' }, version)
  assert.equal(await isGood(value), false)
})

test('leaving the account of a private client ends its grants in every account, and not those of public clients', async t => {
  const { ask, keep, kept, grants } = await start(t)
  await keepMember(kept, [role.super])
  const secret = await keep({ account: other, clientAccount: account })
  const open = { ...secret.client, id: '5'.repeat(32), visibility: 'public' as const }
  await kept.oauthClients.insert(open)
  const shared = { ...secret.grant, client: open.id, id: '6'.repeat(32) }
  await kept.oauthGrants.insert(shared)
  const left = async () =>
    (await kept.oauthGrants.list(other, { offset: 0, limit: 9 })).items.map(({ id }) => id)
  await grants.sweep()
  assert.equal((await left()).length, 2)
  assert.equal((await ask('DELETE', `/members/${secret.insider.id}`)).status, 200)
  assert.deepEqual(await left(), [shared.id])

  // As after a crash between the two.
  await kept.oauthGrants.insert(secret.grant)
  await grants.sweep()
  assert.deepEqual(await left(), [shared.id])
})

test('a role that is lowered lowers what apps may do for the person', async t => {
  const { ask, keep, kept } = await start(t)
  await keepMember(kept, [role.super])
  const { value, member } = await keep({ scopes: ['oauth_clients.write', 'ai_gateway.read'] })
  const may = async (path: string) => (await ask('GET', path, { token: value })).status
  assert.deepEqual([await may('/oauth_clients'), await may('/ai-gateway/gateways')], [200, 200])
  const body = { roles: [{ id: role.gateways }] }
  assert.equal((await ask('PUT', `/members/${member.id}`, { body })).status, 200)
  assert.deepEqual([await may('/oauth_clients'), await may('/ai-gateway/gateways')], [403, 200])
})

test('events of a client are shown to its owner, the newest first', async t => {
  const { ask, keep, kept, keepToken, clock } = await start(t)
  const at = clock.now()
  const { client } = await keep()
  const happened = { client: client.id, clientAccount: account, user: null, account: null }
  const nobody = { ...happened, error: null, reason: null, address: '', ray: '', isUnproven: false }
  await kept.authorizationEvents.append({
    ...nobody,
    id: '1'.repeat(32),
    at,
    step: 'consent',
    result: 'success',
  })
  await kept.authorizationEvents.append({
    ...nobody,
    id: '2'.repeat(32),
    at: at + 2,
    step: 'token',
    result: 'failure',
    error: 'invalid_grant',
    reason: 'PKCE verifier does not match',
    address: '192.0.2.1',
    ray: '0'.repeat(16),
  })
  const path = `/oauth_clients/${client.id}/authorization_events`
  const { json } = await ask('GET', path)
  assert.deepEqual(
    json.result.map(({ id }: { id: string }) => id[0]),
    ['2', '1'],
  )
  assert.deepEqual(json.result[0], {
    id: '2'.repeat(32),
    when: new Date(at + 2).toISOString(),
    step: 'token',
    result: 'failure',
    error: 'invalid_grant',
    reason: 'PKCE verifier does not match',
    ip: '192.0.2.1',
    ray: '0'.repeat(16),
  })
  const failures = await ask('GET', `${path}?result=failure&per_page=1`)
  assert.deepEqual(failures.json.result_info, { page: 1, per_page: 1, count: 1, total_count: 1 })
  assert.equal((await ask('GET', `/oauth_clients/${'0'.repeat(32)}/authorization_events`)).status, 404)
  const { value: token } = await keepToken(['Members Write'])
  assert.equal((await ask('GET', path, { token })).status, 403)
})
