// Accounts, members, roles, the user and memberships by the published client of the interface, with nothing but its base URL and token set.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Cloudflare from 'cloudflare'
import { roles } from '../../src/permissions/roles.ts'
import { startApi } from '../admin/api.ts'
import { keepAccess } from '../admin/oauth-grants/access.ts'
import { keepMember, memberWith, role } from '../admin/people/people.ts'
import { everybody } from '../../src/store/records/people.ts'
import { account } from '../tokens/token-with.ts'

const here = { account_id: account }

async function start(t: TestContext) {
  const api = await startApi(t)
  const clientOf = (apiToken: string) =>
    new Cloudflare({ apiToken, baseURL: `${api.origin}/client/v4`, maxRetries: 0 })
  return { ...api, client: clientOf(api.owner.value), clientOf }
}

test('accounts: list, get, update', async t => {
  const { client } = await start(t)
  const names: string[] = []
  for await (const { name } of client.accounts.list()) names.push(name)
  assert.deepEqual(names, ['first'])
  const shown = await client.accounts.get(here)
  assert.deepEqual([shown.id, shown.type, shown.settings?.enforce_twofactor], [account, 'standard', false])
  const updated = await client.accounts.update({
    ...here,
    id: account,
    name: 'Shop',
    type: 'standard',
    settings: { enforce_twofactor: true },
  })
  assert.deepEqual([updated.name, updated.settings?.enforce_twofactor], ['Shop', true])
})

test('members: create, list, get, update, delete', async t => {
  const { client, kept } = await start(t)
  await keepMember(kept, [role.super], { ofUser: { email: 'root@example.com' } })
  const { members } = client.accounts
  const made = await members.create({ ...here, email: 'ada@example.com', roles: [role.gateways] })
  assert.deepEqual(
    [made.email, made.status, made.user?.email],
    ['ada@example.com', 'pending', 'ada@example.com'],
  )
  const id = made.id!
  assert.equal((await members.get(id, here)).id, id)

  const updated = await members.update(id, { ...here, roles: [{ id: role.reader }] })
  assert.deepEqual(
    updated.roles?.map(({ name }) => name),
    ['Administrator Read Only'],
  )
  const emails: (string | undefined)[] = []
  for await (const { email } of members.list({
    ...here,
    per_page: 1,
    order: 'user.email',
    direction: 'desc',
  }))
    emails.push(email)
  assert.deepEqual(emails, ['root@example.com', 'ada@example.com'])
  assert.deepEqual(await members.delete(id, here), { id })
  await assert.rejects(members.get(id, here), Cloudflare.NotFoundError)
})

test('members: refusals are those of the client', async t => {
  const { client, clientOf, kept, keepToken } = await start(t)
  const { member } = await keepMember(kept, [role.super])
  const { members } = client.accounts
  await assert.rejects(members.delete(member.id, here), Cloudflare.ConflictError)
  await assert.rejects(
    members.update(member.id, { ...here, roles: [{ id: role.reader }] }),
    Cloudflare.ConflictError,
  )
  const policies = [{ access: 'allow' as const, permission_groups: [], resource_groups: [] }]
  await assert.rejects(
    members.create({ ...here, email: 'ada@example.com', policies }),
    Cloudflare.BadRequestError,
  )
  const weak = clientOf((await keepToken(['Members Write'])).value).accounts.members
  await assert.rejects(
    weak.create({ ...here, email: 'ada@example.com', roles: [role.super] }),
    Cloudflare.PermissionDeniedError,
  )
})

test('roles: list, get', async t => {
  const { client } = await start(t)
  const names: string[] = []
  for await (const { name } of client.accounts.roles.list(here)) names.push(name)
  assert.deepEqual(
    names,
    roles.map(({ name }) => name),
  )
  const shown = await client.accounts.roles.get(role.clients, here)
  assert.deepEqual(shown.permissions, { oauth_clients: { read: true, write: true } })
})

test('user: get, for an app that acts for somebody, and no other token', async t => {
  const { client, clientOf, kept, clock } = await start(t)
  const { value, user } = await keepAccess(kept, { now: clock.now() })
  const shown = await clientOf(value).user.get()
  assert.deepEqual([shown.id, shown.email, shown.suspended], [user.id, user.email, false])
  await assert.rejects(client.user.get(), Cloudflare.PermissionDeniedError)
})

test('memberships: list, get, update, delete', async t => {
  const { clientOf, kept, clock } = await start(t)
  const { value, user, member } = await keepAccess(kept, { now: clock.now() })
  const { memberships } = clientOf(value)
  const elsewhere = { id: '3'.repeat(32), name: 'Elsewhere', createdAt: 1 }
  await kept.accounts.insert(elsewhere)
  const invited = memberWith(user, [role.reader], { account: elsewhere.id, status: 'pending' })
  await kept.members.insert(invited)
  const { version, record } = (await kept.users.get(everybody, user.id))!
  await kept.users.replace({ ...record, identity: { issuer: 'https://id.example', subject: '1' } }, version)

  const names: (string | undefined)[] = []
  for await (const { account } of memberships.list({ order: 'account.name', per_page: 1 }))
    names.push(account?.name)
  assert.deepEqual(names, ['Elsewhere', 'first'])
  const pending: (string | undefined)[] = []
  for await (const { id } of memberships.list({ status: 'pending', account: { name: 'else' } }))
    pending.push(id)
  assert.deepEqual(pending, [invited.id])
  const shown = await memberships.get(invited.id)
  assert.deepEqual([shown.status, shown.roles], ['pending', ['Administrator Read Only']])
  assert.equal((await memberships.update(invited.id, { status: 'accepted' })).status, 'accepted')
  assert.deepEqual(await memberships.delete(invited.id), { id: invited.id })
  await assert.rejects(memberships.get(invited.id), Cloudflare.NotFoundError)
  assert.equal((await memberships.get(member.id)).status, 'accepted')
})
