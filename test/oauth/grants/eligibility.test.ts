import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admits, ineligibilityOf, isMember } from '../../../src/oauth/grants/eligibility.ts'
import { openStore } from '../../../src/store/open.ts'
import { everybody } from '../../../src/store/records/people.ts'
import { account, member, user } from '../../store/contract-specimens.ts'
import { clientWith } from '../clients/client-with.ts'

const document = {
  url: 'https://app.example/client.json',
  scope: null,
  keys: [],
  fetchedAt: 0,
  expiresAt: 1,
}

test('an app may act for a user who exists, as their account and that of a private client let it', async t => {
  const store = await openStore('sqlite::memory:', { commandTimeout: 500 })
  t.after(() => store.close())
  const [ours, owning, open] = [account(), account(), account({ allowsDocumentClients: true })]
  for (const one of [ours, owning, open]) await store.accounts.insert(one)
  const [ada, bob, eve] = [user(), user(), user()]
  for (const one of [ada, bob, eve]) await store.users.insert(one)
  const join = (who: typeof ada, where: typeof ours, status: 'accepted' | 'pending' = 'accepted') =>
    store.members.insert(member({ account: where.id, user: who.id, status }))
  for (const where of [ours, owning, open]) await join(ada, where)
  for (const where of [ours, open]) await join(bob, where)
  await join(bob, owning, 'pending')
  await join(eve, ours, 'pending')
  const hidden = clientWith({ account: owning.id })
  const known = { ...hidden, visibility: 'public' } as const
  const described = clientWith({ account: everybody, visibility: 'public', document })
  const notMember = 'the user is no member of the account'
  const notInsider = 'the client is private, and the user is no member of its account'
  const registeredOnly = 'the account allows only apps that are registered'
  const rows = [
    [hidden, ada.id, ours.id, null],
    [hidden, ada.id, owning.id, null],
    [hidden, ada.id, everybody, null],
    [hidden, bob.id, ours.id, notInsider],
    [hidden, bob.id, owning.id, notMember],
    [hidden, bob.id, everybody, notInsider],
    [hidden, eve.id, ours.id, notMember],
    [known, bob.id, ours.id, null],
    [known, eve.id, everybody, null],
    [known, eve.id, owning.id, notMember],
    [known, 'f'.repeat(32), ours.id, 'the user no longer exists'],
    [described, ada.id, ours.id, registeredOnly],
    [described, ada.id, open.id, null],
    [described, ada.id, everybody, null],
    [described, eve.id, open.id, notMember],
    [described, ada.id, 'f'.repeat(32), notMember],
  ] as const
  for (const [client, user, account, reason] of rows)
    assert.equal(await ineligibilityOf(store, { client, user, account }), reason)
  const nobody = () => Promise.resolve(null)
  const parties = { client: known, user: ada.id, account: ours.id }
  assert.equal(await ineligibilityOf(store, parties, nobody), 'the user no longer exists')
  assert.deepEqual(await Promise.all([ada, bob, eve].map(({ id }) => isMember(store, owning.id, id))), [
    true,
    false,
    false,
  ])
  assert.deepEqual(
    [ours, open].map(place => [hidden, described].map(client => admits(place, client))),
    [
      [true, false],
      [true, true],
    ],
  )
})
