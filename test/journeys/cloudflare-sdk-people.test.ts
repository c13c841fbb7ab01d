// Accounts, members and roles by the published client of the interface, with nothing but its base URL and token set.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Cloudflare from 'cloudflare'
import { roles } from '../../src/permissions/roles.ts'
import { startApi } from '../admin/api.ts'
import { keepMember, role } from '../admin/people/people.ts'
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
