import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Consents } from '../../../src/oauth/grants/consents.ts'
import { removeGrant } from '../../../src/oauth/grants/end-grant.ts'
import {
  findGrantOfClient,
  findGrantOfUser,
  grantsOfClient,
} from '../../../src/oauth/grants/iterate-grants.ts'
import { openStore } from '../../../src/store/open.ts'
import { auditOf, keeper } from '../../../src/store/records/audit-entry.ts'
import type { OAuthClient } from '../../../src/store/records/oauth-client.ts'
import { everybody } from '../../../src/store/records/people.ts'
import type { Api } from '../../../src/store/records/records.ts'
import { ManualClock } from '../../help/clock.ts'
import { account, auditQuery, credential, member, oauthGrant, user } from '../../store/contract-specimens.ts'
import { clientWith } from '../clients/client-with.ts'

const ai = 'https://ai.example'
const management = 'https://id.example'
const [orders, reports] = ['https://site.example/orders', 'https://site.example/reports']
const apiOf = (resource: string): Api | null =>
  resource === ai ? 'ai' : resource === management ? 'management' : null
const redirectUri = 'https://app.example/cb'
const elsewhere = 'https://other.example/cb'

/** Has a user of two accounts, and a public client that lets people decline one of its scopes. */
async function start(t: TestContext) {
  const store = await openStore('sqlite::memory:', { commandTimeout: 500 })
  t.after(() => store.close())
  const [home, work] = [account(), account()]
  for (const one of [home, work]) await store.accounts.insert(one)
  const ada = user()
  await store.users.insert(ada)
  for (const { id } of [home, work]) await store.members.insert(member({ account: id, user: ada.id }))
  const clock = new ManualClock()
  const consents = new Consents(store, apiOf, clock)
  const client = clientWith({
    visibility: 'public',
    scopes: ['user.read', 'ai_gateway.run', 'zones.read'],
    optionalScopes: ['ai_gateway.run'],
  })
  const decision = { client, user: ada.id, account: home.id, resource: [], redirectUri, declined: [] }
  const allow = (allowed: readonly string[], more: Partial<Parameters<Consents['store']>[0]> = {}) =>
    consents.store({ ...decision, allowed, ...more })
  const covering = async (
    scopes: readonly string[],
    more: { readonly resource?: readonly string[]; readonly redirectUri?: string } = {},
    by: OAuthClient = client,
  ) => {
    const covers = await consents.covering(by, ada.id, { scopes, resource: [], redirectUri, ...more })
    return covers && [covers.grant.account, covers.isHostSeen]
  }
  return { store, home, work, ada, clock, client, allow, covering }
}

test('a consent covers what was decided and no more, by the one client', async t => {
  const { home, client, allow, covering } = await start(t)
  assert.equal(await covering([]), null)
  await allow(['user.read'])
  assert.equal(await covering(['user.read', 'ai_gateway.run']), null, 'nobody has decided on it')
  await allow(['user.read'], { declined: ['ai_gateway.run', 'zones.read'] })
  const covered = [home.id, true]
  for (const scopes of [[], ['user.read'], ['email', 'profile'], ['user.read', 'ai_gateway.run']])
    assert.deepEqual(await covering(scopes), covered, String(scopes))
  for (const scopes of [['zones.read'], ['user.read', 'zones.read'], ['openid']])
    assert.equal(await covering(scopes), null, String(scopes))
  assert.equal(await covering(['user.read', 'ai_gateway.run'], {}, { ...client, optionalScopes: [] }), null)
  assert.equal(await covering(['user.read'], {}, { ...client, id: 'f'.repeat(32) }), null)
  assert.deepEqual(await covering(['user.read'], { redirectUri: elsewhere }), [home.id, false])
})

test('a consent without resources is for the APIs here, and one for resources is for these', async t => {
  const { home, work, store, allow, covering, ada, client } = await start(t)
  const scopes = ['user.read']
  await allow(scopes)
  const covered = [home.id, true]
  assert.deepEqual(await covering(scopes, { resource: [ai, management] }), covered)
  assert.equal(await covering(scopes, { resource: [ai, orders] }), null)
  const { id } = await allow(scopes, { resource: [reports, orders, reports], account: work.id })
  const grant = (await store.oauthGrants.get(work.id, id))!.record
  assert.deepEqual(grant.resource, [orders, reports])
  assert.deepEqual(await covering(scopes, { resource: [reports] }), [work.id, true])
  assert.equal(await covering(scopes, { resource: [reports, ai] }), null)
  assert.deepEqual(await covering(scopes), covered, 'without a resource, it is not for all of ours')
  const party = { user: ada.id, client: client.id, account: work.id, resource: [orders, reports] }
  assert.equal((await store.oauthGrants.find(party))?.record.id, id)
})

test('of consents in several accounts, the person chooses; of several in one, that whose host they have seen counts', async t => {
  const { home, work, allow, covering, clock } = await start(t)
  const scopes = ['user.read']
  await allow(scopes, { resource: [ai], redirectUri: elsewhere })
  clock.advance(1)
  await allow(scopes, { resource: [ai, management] })
  clock.advance(1)
  await allow(scopes, { resource: [ai, orders], redirectUri: elsewhere })
  assert.deepEqual(await covering(scopes, { resource: [ai] }), [home.id, true])
  await allow(scopes, { account: work.id, resource: [ai] })
  assert.equal(await covering(scopes, { resource: [ai] }), null)
})

test('an account whose record is gone asks for no second factor', async t => {
  const { store, ada, allow, covering } = await start(t)
  const gone = member({ user: ada.id })
  await store.members.insert(gone)
  await allow(['user.read'], { account: gone.account })
  assert.deepEqual(await covering(['user.read']), [gone.account, true])
})

test('a consent covers nothing where the app may not act: without membership, user or second factor', async t => {
  const { store, home, ada, client, allow, covering } = await start(t)
  const scopes = ['user.read']
  await allow(scopes)
  await store.accounts.update(home.id, { enforceTwoFactor: true })
  assert.equal(await covering(scopes), null)
  await store.accounts.update(home.id, { enforceTwoFactor: false })
  assert.deepEqual(await covering(scopes), [home.id, true])
  const { record } = (await store.members.find(home.id, ada.id))!
  await store.members.remove(home.id, record.id)
  assert.equal(await covering(scopes), null)
  await allow(scopes, { account: everybody })
  assert.deepEqual(await covering(scopes), [everybody, true])
  assert.equal(await covering(scopes, {}, { ...client, visibility: 'private' }), null)
  await store.users.remove(everybody, ada.id)
  assert.equal(await covering(scopes), null)
})

test('consents from before hosts were stored cover nothing', async t => {
  const { store, home, ada, client, covering } = await start(t)
  const { redirectHosts: _, ...older } = oauthGrant({
    ...{ account: home.id, user: ada.id, client: client.id, clientAccount: client.account },
    ...{ scopes: ['user.read'], resource: [] },
  })
  await store.oauthGrants.insert(older)
  assert.equal(await covering(['user.read']), null)
})

test('another decision adds to what was allowed, and takes what is declined now', async t => {
  const { store, home, ada, client, clock, allow } = await start(t)
  const first = await allow(['user.read', 'ai_gateway.run'])
  assert.deepEqual(first, {
    ...{ account: home.id, id: first.id, user: ada.id, client: client.id, clientAccount: client.account },
    ...{
      scopes: ['user.read', 'ai_gateway.run'],
      declined: [],
      resource: [],
      redirectHosts: ['app.example'],
    },
    ...{ createdAt: clock.now(), updatedAt: clock.now() },
  })
  clock.advance(1)
  const changes = { declined: ['ai_gateway.run', 'openid'], redirectUri: elsewhere }
  const second = await allow(['zones.read'], changes)
  assert.deepEqual(second, {
    ...first,
    scopes: ['user.read', 'zones.read'],
    declined: ['ai_gateway.run', 'openid'],
    redirectHosts: ['app.example', 'other.example'],
    updatedAt: clock.now(),
  })
  const third = await allow(['ai_gateway.run', 'zones.read'])
  assert.deepEqual(third.scopes, ['user.read', 'zones.read', 'ai_gateway.run'])
  assert.deepEqual(third.declined, ['openid'])
  assert.deepEqual((await store.oauthGrants.get(home.id, first.id))?.record, third)
})

test('decisions at the same time are all stored, unless others keep writing', async t => {
  const { store, home, allow } = await start(t)
  const scopes = ['openid', 'email', 'user.read', 'zones.read']
  const grants = await Promise.all(scopes.map(scope => allow([scope])))
  assert.equal(new Set(grants.map(({ id }) => id)).size, 1)
  const stored = (await store.oauthGrants.get(home.id, grants[0]!.id))!.record
  assert.deepEqual([...stored.scopes].sort(), scopes.toSorted())
  const { mock } = t.mock.method(store.oauthGrants, 'replace', async () => false)
  await assert.rejects(allow(['openid']), /others keep writing it/)
  assert.equal(mock.callCount(), 20)
})

test('grants are found by their id beyond the first page, each by its own user and client', async t => {
  const { store, ada } = await start(t)
  const grants = Array.from({ length: 101 }, (_, i) =>
    oauthGrant({ user: ada.id, client: 'c'.repeat(32), createdAt: i }),
  )
  for (const grant of grants) await store.oauthGrants.insert(grant)
  const other = oauthGrant()
  await store.oauthGrants.insert(other)
  for (const grant of [grants[0]!, grants[50]!, grants[100]!]) {
    assert.deepEqual(await findGrantOfUser(ada.id, grant.id, store), grant)
    assert.deepEqual(await findGrantOfClient('c'.repeat(32), grant.id, store), grant)
  }
  const queries = t.mock.method(store.oauthGrants, 'ofUser').mock
  assert.equal(await findGrantOfUser(ada.id, 'x', store), null)
  assert.equal(queries.callCount(), 0)
  assert.equal(await findGrantOfUser(ada.id, other.id, store), null)
  assert.equal(queries.callCount(), 3)
  const sizes: number[] = []
  for await (const page of grantsOfClient('c'.repeat(32), store)) sizes.push(page.length)
  assert.deepEqual(sizes, [50, 50, 1])
})

test('a grant ends with its codes and tokens once, and the audit log has it', async t => {
  const { store, home } = await start(t)
  const grant = oauthGrant({ account: home.id })
  const left = credential('refresh_token')
  const opened = (['authorization_code', 'access_token', 'refresh_token'] as const).map(kind =>
    credential(kind, { grant: grant.id }),
  )
  await store.oauthGrants.insert(grant)
  for (const one of [...opened, left]) await store.credentials.put(one)
  const resource = { resourceKind: 'oauth_grant', resource: grant.id } as const
  const where = { account: home.id, caller: keeper, now: 1, address: '', ray: '0'.repeat(16) }
  const removal = t.mock.method(store.credentials, 'removeOf')
  let isDone = false
  removal.mock.mockImplementationOnce(async (...args) => {
    await turn()
    isDone = true
    return store.credentials.removeOf(...args)
  })
  assert.equal(await removeGrant(grant, auditOf(where, 'revoke', resource), store), true)
  assert.equal(isDone, true, 'nobody is told before')
  assert.equal(await removeGrant(grant, auditOf(where, 'revoke', resource), store), false)
  for (const { kind, digest } of opened) assert.equal(await store.credentials.get(kind, digest), null)
  assert.ok(await store.credentials.get('refresh_token', left.digest))
  const { items } = await store.audit.list(home.id, auditQuery())
  assert.deepEqual(
    items.map(({ action, resource }) => [action, resource]),
    [['revoke', grant.id]],
  )
})
