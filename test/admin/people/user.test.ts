import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Sessions } from '../../../src/people/sessions/sessions.ts'
import { everybody } from '../../../src/store/records/people.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'
import { keepAccess } from '../oauth-grants/access.ts'
import { keepMember, memberWith, role } from './people.ts'

const other = '2'.repeat(32)
const memberships = '/client/v4/memberships'
const sessionsPath = '/client/v4/user/sessions'

async function start(t: TestContext) {
  const api = await startApi(t)
  await api.kept.accounts.insert({ id: other, name: 'Second', createdAt: 1 })
  const person = await keepAccess(api.kept, { now: api.clock.now() })
  const { value: token } = person
  const me = (method: string, path: string, body?: unknown) =>
    api.ask(method, path, { token, ...(body !== undefined && { body }) })
  /** Keeps an invitation of the person to the other account. */
  const invite = async (roles: readonly string[] = [role.reader]) => {
    const member = memberWith(person.user, roles, { account: other, status: 'pending', createdAt: 1 })
    await api.kept.members.insert(member)
    return member
  }
  /** Says that an OpenID provider vouches for the person. */
  const prove = async () => {
    const { record, version } = (await api.kept.users.get(everybody, person.user.id))!
    await api.kept.users.replace(
      { ...record, identity: { issuer: 'https://id.example', subject: '1' } },
      version,
    )
  }
  return { ...api, ...person, me, invite, prove }
}

test('a user is shown to the apps that act for them', async t => {
  const { me, user, kept, prove } = await start(t)
  const { json } = await me('GET', '/client/v4/user')
  assert.deepEqual(json.result, {
    id: user.id,
    email: user.email,
    email_verified: false,
    first_name: null,
    last_name: null,
    two_factor_authentication_enabled: false,
    two_factor_authentication_locked: false,
    suspended: false,
  })
  await prove()
  const { email, email_verified } = (await me('GET', '/client/v4/user')).json.result
  assert.deepEqual([email, email_verified], [user.email, true])
  await kept.accounts.update(account, { enforceTwoFactor: true })
  assert.equal((await me('GET', '/client/v4/user')).json.result.two_factor_authentication_locked, true)
})

test('memberships are those of the user alone, in all accounts', async t => {
  const { me, invite, member, kept, prove } = await start(t)
  const { id } = await invite()
  await prove()
  const { member: stranger } = await keepMember(kept, [role.super])
  const list = async (query: string) => {
    const { json } = await me('GET', `${memberships}${query}`)
    return json.result.map(({ id }: { id: string }) => id)
  }
  assert.deepEqual((await list('')).sort(), [member.id, id].sort())
  assert.deepEqual(await list('?status=pending'), [id])
  assert.deepEqual(await list('?account.name=sec'), [id])
  assert.deepEqual(await list('?name=first'), [member.id])
  assert.deepEqual(await list('?order=account.name'), [id, member.id])
  assert.deepEqual(await list('?order=status&direction=desc&per_page=1'), [id])
  assert.equal((await me('GET', `${memberships}/${stranger.id}`)).status, 404)
  assert.equal((await me('DELETE', `${memberships}/${stranger.id}`)).status, 404)
  const { result } = (await me('GET', `${memberships}/${id}`)).json
  assert.deepEqual(
    [result.account.name, result.roles, result.status],
    ['Second', ['Administrator Read Only'], 'pending'],
  )
})

test('an address alone shows, accepts and declines nothing: who it is must be proven', async t => {
  const { me, invite, prove, kept, member } = await start(t)
  const { id } = await invite()
  const path = `${memberships}/${id}`
  for (const [method, body] of [
    ['GET', undefined],
    ['PUT', { status: 'accepted' }],
    ['PUT', { status: 'rejected' }],
    ['DELETE', undefined],
  ] as const) {
    const refused = await me(method, path, body)
    const unknown = await me(method, `${memberships}/${'0'.repeat(32)}`, body)
    assert.deepEqual([refused.status, refused.json.errors], [404, unknown.json.errors])
  }
  for (const query of ['', '?status=pending', '?account.name=sec', '?order=status']) {
    const { json } = await me('GET', `${memberships}${query}`)
    assert.ok(!JSON.stringify(json).includes(id) && !JSON.stringify(json).includes('Second'), query)
  }
  assert.equal((await me('GET', memberships)).json.result[0].id, member.id)
  assert.equal((await kept.members.get(other, id))?.record.status, 'pending')
  await prove()
  assert.equal(
    (await me('PUT', `${memberships}/${id}`, { status: 'accepted' })).json.result.status,
    'accepted',
  )
  assert.equal((await kept.members.get(other, id))?.record.status, 'accepted')
  assert.equal((await me('PUT', `${memberships}/${id}`, { status: 'accepted' })).status, 200)
  const entries = await kept.audit.list(other, {
    since: null,
    before: null,
    descending: true,
    offset: 0,
    limit: 9,
  })
  assert.deepEqual(
    entries.items.map(({ action, resource }) => [action, resource]),
    [['accept', id]],
  )
})

test('an invitation is declined, and an account left', async t => {
  const { me, invite, kept, prove } = await start(t)
  const { id } = await invite()
  await prove()
  assert.equal(
    (await me('PUT', `${memberships}/${id}`, { status: 'rejected' })).json.result.status,
    'rejected',
  )
  assert.equal(await kept.members.get(other, id), null)
  const again = await invite()
  await me('PUT', `${memberships}/${again.id}`, { status: 'accepted' })
  const late = await me('PUT', `${memberships}/${again.id}`, { status: 'rejected' })
  assert.deepEqual([late.status, late.json.errors[0].code], [409, 10418])
  assert.deepEqual((await me('DELETE', `${memberships}/${again.id}`)).json.result, { id: again.id })
  assert.equal(await kept.members.get(other, again.id), null)
})

test('leaving an account ends all grants of apps there, including the one that made the call', async t => {
  const { me, member, kept, grant } = await start(t)
  await keepMember(kept, [role.super])
  assert.equal((await me('DELETE', `${memberships}/${member.id}`)).status, 200)
  assert.equal((await me('GET', '/client/v4/user')).status, 401)
  assert.equal(await kept.oauthGrants.get(account, grant.id), null)
})

test('the last super administrator cannot leave', async t => {
  const { me, member, kept } = await start(t)
  const { record, version } = (await kept.members.get(account, member.id))!
  await kept.members.replace({ ...record, isSuper: true }, version)
  const refused = await me('DELETE', `${memberships}/${member.id}`)
  assert.deepEqual([refused.status, refused.json.errors[0].code], [409, 10415])
})

test('faults of a decision are told by name', async t => {
  const { me, invite, prove } = await start(t)
  const { id } = await invite()
  await prove()
  const { status, json } = await me('PUT', `${memberships}/${id}`, { status: 'pending', x: 1 })
  assert.equal(status, 400)
  assert.deepEqual(json.errors.map(({ source }: { source: { pointer: string } }) => source.pointer).sort(), [
    '/status',
    '/x',
  ])
})

test('sessions are listed and ended, one or all, with the tokens of apps', async t => {
  const { me, user, kept, clock, credential, grant } = await start(t)
  const sessions = new Sessions(kept, clock)
  const begin = async (address: string) => {
    const visit = { address, userAgent: 'a browser', ray: '' }
    return sessions.begin(user, { method: 'password', secondFactor: false, at: clock.now() }, visit)
  }
  const { user: stranger } = await keepMember(kept, [role.reader])
  const foreign = await sessions.begin(
    stranger,
    { method: 'password', secondFactor: false, at: clock.now() },
    { address: '192.0.2.9', userAgent: null, ray: '' },
  )
  const one = await begin('192.0.2.1')
  clock.advance(1_000)
  const two = await begin('192.0.2.2')
  const { result } = (await me('GET', sessionsPath)).json
  assert.deepEqual(
    result.map(({ id, ip }: { id: string; ip: string }) => [id, ip]),
    [
      [two.session.id, '192.0.2.2'],
      [one.session.id, '192.0.2.1'],
    ],
  )
  assert.equal(JSON.stringify(result).includes(one.value), false)
  assert.equal((await me('DELETE', `${sessionsPath}/${foreign.session.id}`)).status, 404)
  assert.equal((await me('DELETE', `${sessionsPath}/${one.session.id}`)).status, 200)
  assert.equal(await sessions.find(one.value), null)
  assert.notEqual(await sessions.find(two.value), null)

  assert.deepEqual((await me('DELETE', sessionsPath)).json.result, { id: user.id, sessions: 1 })
  assert.equal(await sessions.find(two.value), null)
  assert.notEqual(await sessions.find(foreign.value), null)
  assert.equal(await kept.credentials.get('access_token', credential.digest), null)
  assert.equal((await me('GET', sessionsPath)).status, 401)
  const entries = await kept.audit.list(account, {
    since: null,
    before: null,
    descending: false,
    offset: 0,
    limit: 9,
  })
  assert.deepEqual(
    entries.items.map(({ action, actor, app, resource }) => [action, actor, app?.email, resource]),
    [
      ['revoke', grant.id, user.email, one.session.id],
      ['sign_out', grant.id, user.email, user.id],
    ],
  )
})
