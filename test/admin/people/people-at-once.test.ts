// Many callers change members and end grants at the same moment, on each store.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startRedis } from '../../help/redis.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'
import { until } from '../../help/until.ts'
import { keepAccess } from '../oauth-grants/access.ts'
import { keepMember, role } from './people.ts'
import { meet } from '../../help/meet.ts'

const times = <T>(count: number, ask: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => ask(i)))

const statuses = (replies: readonly { readonly status: number }[]) =>
  replies.map(({ status }) => status).sort()

const stores: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  SQLite: async () => 'sqlite::memory:',
  Redis: async t => (await startRedis(t)).url,
}

for (const [name, urlOf] of Object.entries(stores)) {
  const start = async (t: TestContext) => startApi(t, store => store, await urlOf(t))

  test(`${name}: of 20 simultaneous invitations of one address one is created`, async t => {
    const { ask, kept } = await start(t)
    const body = { email: 'ada@example.com', roles: [role.reader] }
    meet(t, kept.users, 'findByEmail', 20)
    const replies = await times(20, () => ask('POST', '/members', { body }))
    assert.deepEqual(statuses(replies), [200, ...Array(19).fill(409)])
    const { record } = (await kept.users.findByEmail(body.email))!
    assert.equal((await kept.credentials.list({ user: record.id }, 'invitation', 30)).length, 1)
  })

  test(`${name}: when all super administrators leave or step down at the same time, one remains`, async t => {
    const { ask, kept } = await start(t)
    const people = await times(6, () => keepMember(kept, [role.super]))
    meet(t, kept.members, 'get', 6)
    const replies = await Promise.all(
      people.map(({ member }, i) => {
        const path = `/members/${member.id}`
        return i % 2 === 0
          ? ask('DELETE', path)
          : ask('PUT', path, { body: { roles: [{ id: role.administrator }] } })
      }),
    )
    assert.deepEqual(statuses(replies), [200, 200, 200, 200, 200, 409])
    const { items } = await kept.members.list(account, { offset: 0, limit: 10 })
    assert.equal(items.filter(({ isSuper }) => isSuper).length, 1)
  })

  test(`${name}: of 20 simultaneous deletions of a grant one is audited, and nothing of the grant is left`, async t => {
    const { ask, kept, clock } = await start(t)
    const { grant, value, credential } = await keepAccess(kept, { now: clock.now() })
    meet(t, kept.oauthGrants, 'get', 20)
    const replies = await times(20, () => ask('DELETE', `/oauth_grants/${grant.id}`))
    assert.deepEqual(statuses(replies), [200, ...Array(19).fill(404)])
    assert.equal((await ask('GET', '/client/v4/user', { token: value })).status, 401)
    assert.equal(await kept.credentials.get('access_token', credential.digest), null)
    assert.equal((await ask('GET', '/audit_logs')).json.result_info.total_count, 1)
  })

  test(`${name}: ended memberships, lowered roles and deleted clients soon take away access`, async t => {
    const { ask, kept, clock, grants } = await start(t)
    await keepMember(kept, [role.super])
    const keep = () => keepAccess(kept, { now: clock.now(), scopes: ['user.read', 'ai_gateway.read'] })
    const reads = async (token: string) => (await ask('GET', '/ai-gateway/gateways', { token })).status
    const [left, lowered, unregistered] = [await keep(), await keep(), await keep()]
    for (const { value } of [left, lowered, unregistered]) assert.equal(await reads(value), 200)
    await ask('DELETE', `/members/${left.member.id}`)
    await ask('PUT', `/members/${lowered.member.id}`, { body: { roles: [{ id: role.clients }] } })
    await ask('DELETE', `/oauth_clients/${unregistered.client.id}`)
    for (const [{ value }, status] of [
      [left, 401],
      [lowered, 403],
      [unregistered, 401],
    ] as const)
      await until(async () => (await reads(value)) === status)
    await grants.idle
    await grants.sweep()
    const { items } = await kept.oauthGrants.list(account, { offset: 0, limit: 10 })
    assert.deepEqual(
      items.map(({ id }) => id),
      [lowered.grant.id],
    )
  })
}
