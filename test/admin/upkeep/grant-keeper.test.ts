import assert from 'node:assert/strict'
import { test } from 'node:test'
import { everybody } from '../../../src/store/records/people.ts'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'
import { keepAccess } from '../oauth-grants/access.ts'
import { meet } from '../../help/meet.ts'

test('the next sweep removes grants that a crash left without a client, user or membership', async t => {
  const { kept, grants, clock } = await startApi(t)
  const now = clock.now()
  const [good, noClient, noUser, noMember, pending] = [
    await keepAccess(kept, { now }),
    await keepAccess(kept, { now }),
    await keepAccess(kept, { now }),
    await keepAccess(kept, { now }),
    await keepAccess(kept, { now }),
  ]
  await kept.oauthClients.remove(account, noClient.client.id)
  await kept.users.remove(everybody, noUser.user.id)
  await kept.members.remove(account, noMember.member.id)
  const { record, version } = (await kept.members.get(account, pending.member.id))!
  await kept.members.replace({ ...record, status: 'pending' }, version)
  await grants.sweep()
  const isLeft = async ({ grant, value: _ }: typeof good) =>
    (await kept.oauthGrants.get(account, grant.id)) !== null
  assert.deepEqual(await Promise.all([good, noClient, noUser, noMember, pending].map(isLeft)), [
    true,
    false,
    false,
    false,
    true,
  ])
  for (const { grant } of [noClient, noUser, noMember])
    assert.equal((await kept.credentials.list({ grant: grant.id }, 'access_token', 10)).length, 0)
  const entries = await kept.audit.list(account, {
    since: null,
    before: null,
    descending: false,
    offset: 0,
    limit: 100,
  })
  assert.deepEqual(
    entries.items.map(({ action, actor, resource }) => [action, actor, resource]).sort(),
    [noClient, noUser, noMember].map(({ grant }) => ['revoke', 'gatehouse', grant.id]).sort(),
  )
})

test('grants of a user without a membership stay', async t => {
  const { kept, grants } = await startApi(t)
  const { grant } = await keepAccess(kept)
  const outside = { ...grant, account: everybody, id: '3'.repeat(32) }
  await kept.oauthGrants.insert(outside)
  await grants.sweep()
  assert.notEqual(await kept.oauthGrants.get(everybody, outside.id), null)
})

test('simultaneous sweeps end each grant once', async t => {
  const { kept, grants } = await startApi(t)
  const parts = await keepAccess(kept)
  await kept.members.remove(account, parts.member.id)
  meet(t, kept.oauthClients, 'get', 3)
  await Promise.all([grants.sweep(), grants.sweep(), grants.sweep()])
  const { total } = await kept.audit.list(account, {
    since: null,
    before: null,
    descending: false,
    offset: 0,
    limit: 1,
  })
  assert.equal(total, 1)
})

test('an unreachable store is tried again, and stops nothing', async t => {
  let isAway = true
  const { kept, grants, lines } = await startApi(t, store => ({
    ...store,
    accounts: {
      ...store.accounts,
      list: async () => {
        if (isAway) throw new StoreUnreachable()
        return store.accounts.list()
      },
    } as typeof store.accounts,
  }))
  const parts = await keepAccess(kept)
  await kept.members.remove(account, parts.member.id)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  grants.start()
  await grants.idle
  isAway = false
  assert.notEqual(await kept.oauthGrants.get(account, parts.grant.id), null)
  t.mock.timers.tick(60_000)
  await grants.idle
  assert.equal(await kept.oauthGrants.get(account, parts.grant.id), null)
  assert.equal(
    lines.some(({ level }) => level === 'error' || level === 'fatal'),
    false,
  )
})
