import assert from 'node:assert/strict'
import { test } from 'node:test'
import { membershipsOf } from '../../../src/people/sessions/memberships.ts'
import { openStore } from '../../../src/store/open.ts'
import { account, member, user } from '../../store/contract-specimens.ts'

test('memberships count that were accepted, in accounts that there are and that let the person and the caller through', async t => {
  const store = await openStore('sqlite::memory:', { commandTimeout: 500 })
  t.after(() => store.close())
  const ada = user()
  const [open, invited, strict] = [account(), account(), account({ enforceTwoFactor: true })]
  for (const one of [open, invited, strict]) await store.accounts.insert(one)
  const join = (account: string, status: 'accepted' | 'pending' = 'accepted') =>
    store.members.insert(member({ account, user: ada.id, status, roles: ['r'] }))
  await join(open.id)
  await join(invited.id, 'pending')
  await join(strict.id)
  await join('f'.repeat(32))
  const of = (counts?: Parameters<typeof membershipsOf>[2]) => membershipsOf(store, ada, counts)
  assert.deepEqual(await of(), [{ account: open.id, roles: ['r'] }])
  assert.deepEqual(await of(({ id }) => id !== open.id), [])
})
