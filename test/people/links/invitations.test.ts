import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Invitations, membershipsOf, reissueInvitation } from '../../../src/people/links/invitations.ts'
import { newUser, userOfEmail, withNames } from '../../../src/people/records/users.ts'
import { everybody, isEmailVerified, type Member, type User } from '../../../src/store/records/people.ts'
import { onStores, type Village, visit } from '../on-stores.ts'
import { password } from '../settlement.ts'

const day = 86_400_000

/** Invites a person; `link` is what they are handed. */
async function invite(village: Village, email = 'grace@example.com') {
  const account = await village.found()
  const user = await userOfEmail(village.store.users, email, village.clock.now())
  const member = await village.join(user, account, { status: 'pending' })
  const link = await reissueInvitation(village.store, member, village.clock.now())
  return { account, user, member, value: link.value }
}

onStores('who is new sets a password, is a member and signed in, once', async village => {
  const { account, user, member, value } = await invite(village)
  const invitations = new Invitations(village.parts)
  assert.deepEqual(await invitations.find(value), { account, member, user, recovers: false, isKnown: false })
  const words = { password, firstName: ' Grace ', lastName: '' }
  const done = await invitations.acceptWithPassword(value, words, visit)
  assert.ok(done.outcome === 'signed_in')
  assert.deepEqual(
    [done.user.firstName, done.user.lastName, done.session.method],
    ['Grace', null, 'invitation'],
  )
  assert.ok(await village.parts.sessions.find(done.value))
  assert.equal((await village.passwords.verify(password, done.user.password))!.matches, true)
  const kept = (await village.store.members.get(account.id, member.id))!.record
  assert.deepEqual([kept.status, kept.roles], ['accepted', member.roles])
  assert.deepEqual(await village.told(account), [[user.id, 'accept', 'member', member.id, ['status']]])
  assert.equal(await invitations.find(value), null)
  assert.deepEqual(await invitations.acceptWithPassword(value, words, visit), { outcome: 'gone' })
})

onStores('of twenty at once, over two processes, one accepts', async village => {
  const { value, account } = await invite(village)
  const ways = [new Invitations(village.parts), new Invitations(await village.elsewhere())]
  const all = Array.from({ length: 20 }, (_, i) =>
    ways[i % 2]!.acceptWithPassword(value, { password: `${password} ${i}` }, visit),
  )
  const outcomes = (await Promise.all(all)).map(({ outcome }) => outcome)
  assert.equal(outcomes.filter(outcome => outcome === 'signed_in').length, 1)
  assert.equal((await village.told(account)).length, 1)
})

onStores('who is known accepts by signing in, and nobody else does for them', async village => {
  const known = await village.settle()
  const other = await village.settle()
  const { account, member, value } = await invite(village, known.email)
  const invitations = new Invitations(village.parts)
  assert.equal((await invitations.find(value))!.isKnown, true)
  const taken = await invitations.acceptWithPassword(value, { password: 'what somebody else wants' }, visit)
  assert.deepEqual(taken, { outcome: 'known' })
  assert.deepEqual(await invitations.acceptAs(other, value, visit), { outcome: 'other_user' })
  assert.deepEqual(await invitations.acceptAs(known, value, visit), { outcome: 'accepted', account })
  assert.deepEqual(await invitations.acceptAs(known, value, visit), { outcome: 'gone' })
  assert.equal((await village.store.members.get(account.id, member.id))!.record.status, 'accepted')
  assert.deepEqual((await village.store.users.get(everybody, known.id))!.record, known)
})

const identity = { issuer: 'https://id.example', subject: 'grace' }

onStores(
  'of an invitation to an address knows who has proved the address, and nobody else',
  async village => {
    const invitations = new Invitations(village.parts)
    const records: readonly (readonly [isProved: boolean, Partial<User>])[] = [
      [true, { emailVerifiedAt: village.clock.now(), identity }],
      [false, { emailVerifiedAt: null }],
      // The provider vouches for another address by now.
      [false, { emailVerifiedAt: null, identity: { ...identity, subject: 'moved' } }],
      // Of before it was kept: an identity came of a verified address alone.
      [true, { identity: { ...identity, subject: 'old' } }],
      [false, {}],
    ]
    for (const [isProved, record] of records) {
      const user = await village.settle(record)
      const [first, second, third] = await Promise.all([1, 2, 3].map(() => invite(village, user.email)))
      const own = await village.join(user, await village.found())
      const ids = (members: readonly Member[]) => members.map(({ id }) => id).toSorted()
      const invited = [first!, second!, third!].map(({ member }) => member)
      assert.deepEqual(
        [
          ids((await invitations.pendingOf(user)).map(({ member }) => member)),
          ids(await membershipsOf(user.id, village.store)),
        ],
        [ids(isProved ? invited : []), ids(isProved ? [own, ...invited] : [own])],
        JSON.stringify(record),
      )
      const { account, member } = first!
      const accepted = await invitations.acceptPending(user, member.id, visit)
      assert.deepEqual(accepted, isProved ? { outcome: 'accepted', account } : { outcome: 'gone' })
      assert.equal(await invitations.decline(user, second!.member.id, visit), isProved)
      const kept = await Promise.all(
        [first!, second!].map(one => village.store.members.get(one.account.id, one.member.id)),
      )
      assert.deepEqual(
        kept.map(one => one?.record.status),
        isProved ? ['accepted', undefined] : ['pending', 'pending'],
      )
      // The link shows whose it is, whoever they are.
      assert.deepEqual(await invitations.acceptAs(user, third!.value, visit), {
        outcome: 'accepted',
        account: third!.account,
      })
    }
  },
)

onStores(
  'who set a password with one link knows nothing of other invitations to the address',
  async village => {
    const { user, value } = await invite(village)
    const other = await invite(village)
    const invitations = new Invitations(village.parts)
    const done = await invitations.acceptWithPassword(value, { password }, visit)
    assert.ok(done.outcome === 'signed_in')
    assert.equal(isEmailVerified(done.user), false)
    assert.deepEqual(await invitations.pendingOf(done.user), [])
    assert.deepEqual(await invitations.acceptPending(user, other.member.id, visit), { outcome: 'gone' })
    assert.equal(await invitations.decline(user, other.member.id, visit), false)
  },
)

onStores('of twenty acceptances of a user who is known, one counts', async village => {
  const known = await village.settle()
  const { account, value } = await invite(village, known.email)
  const ways = [new Invitations(village.parts), new Invitations(await village.elsewhere())]
  const all = Array.from({ length: 20 }, (_, i) => ways[i % 2]!.acceptAs(known, value, visit))
  const outcomes = (await Promise.all(all)).map(({ outcome }) => outcome)
  assert.equal(outcomes.filter(outcome => outcome === 'accepted').length, 1)
  assert.equal((await village.told(account)).length, 1)
})

onStores('a link ends after seven days, with its member, and with the next link', async village => {
  const invitations = new Invitations(village.parts)
  const late = await invite(village, 'late@example.com')
  village.clock.advance(7 * day + 1_000)
  assert.equal(await invitations.find(late.value), null)

  const removed = await invite(village, 'removed@example.com')
  await village.store.members.remove(removed.account.id, removed.member.id)
  assert.equal(await invitations.find(removed.value), null)
  assert.deepEqual(await invitations.acceptWithPassword(removed.value, { password }, visit), {
    outcome: 'gone',
  })

  const first = await invite(village, 'twice@example.com')
  const elsewhere = await invite(village, 'twice@example.com')
  const second = await reissueInvitation(village.store, first.member, village.clock.now())
  assert.equal(await invitations.find(first.value), null)
  assert.ok(await invitations.find(second.value))
  assert.ok(await invitations.find(elsewhere.value), 'that of another account stays')
})

onStores('a password that is easily guessed is refused, and the link stays', async village => {
  const { account, value } = await invite(village, 'grace.hopper@example.com')
  const invitations = new Invitations(village.parts)
  for (const [word, flaw] of [
    ['short', 'too_short'],
    ['grace.hopper', 'own_words'],
    [`${account.name} 1`, 'own_words'],
    ['Rear Admiral', 'own_words'],
  ] as const) {
    const names = { firstName: 'Rear Admiral' }
    const refused = await invitations.acceptWithPassword(value, { password: word, ...names }, visit)
    assert.deepEqual(refused, { outcome: 'flawed', flaw })
  }
  assert.ok(await invitations.find(value))
})

onStores('the store has nothing by which the link could be made', async village => {
  const { value, user } = await invite(village)
  const kept = await village.store.credentials.list({ user: user.id }, 'invitation', 10)
  assert.equal(kept.length, 1)
  assert.ok(!JSON.stringify(kept).includes(value))
  for (const none of ['', 'x', kept[0]!.digest, 'A'.repeat(43)])
    assert.equal(await new Invitations(village.parts).find(none), null)
})

onStores('an address is one user, however many invite it at once', async village => {
  const { users } = village.store
  const all = Array.from({ length: 20 }, () => userOfEmail(users, 'one@example.com', 1))
  assert.equal(new Set((await Promise.all(all)).map(({ id }) => id)).size, 1)
  assert.equal(newUser('a@example.com', 1).password, null)
})

test('names have no characters that cannot be seen, and an end', () => {
  const { firstName, lastName } = withNames(newUser('a@example.com', 1), {
    firstName: ' Ada\u202e\n\t  King\u0000 ',
    lastName: '🗝'.repeat(100),
  })
  assert.deepEqual([firstName, lastName], ['Ada King', '🗝'.repeat(64)])
})
