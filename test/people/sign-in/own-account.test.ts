import assert from 'node:assert/strict'
import { OwnAccount } from '../../../src/people/sign-in/own-account.ts'
import { SignIn } from '../../../src/people/sign-in/sign-in.ts'
import { lacksSecondFactor } from '../../../src/people/second-factor/second-factor.ts'
import { everybody, type User } from '../../../src/store/records/people.ts'
import { codeAt } from '../authenticator.ts'
import { settleWithApp } from '../enrol.ts'
import { onStores, type Village, visit } from '../on-stores.ts'
import { password } from '../settlement.ts'

const next = 'a much better password'
const minute = 60_000

async function signIn(village: Village, user: User) {
  const { clock, parts } = village
  const proof = { method: 'password', secondFactor: false, at: clock.now() } as const
  const { value, session } = await parts.sessions.begin(user, proof, visit)
  return { value, actor: { session, user } }
}

onStores(
  'a change of the password ends the other sessions and tickets, and is told in each account',
  async village => {
    const [one, two, pending] = [await village.found(), await village.found(), await village.found()]
    const { user } = await settleWithApp(village)
    for (const account of [one, two]) await village.join(user, account)
    await village.join(user, pending, { status: 'pending' })
    const elsewhere = await signIn(village, user)
    const asked = await new SignIn(village.parts).withPassword({ email: user.email, password }, visit)
    assert.ok(asked.outcome === 'needs_code')
    const { value, actor } = await signIn(village, user)
    village.clock.advance(minute)
    const own = new OwnAccount(village.parts)
    const changed = await own.changePassword(actor, { current: password, password: next }, visit)
    assert.ok(changed.outcome === 'changed')
    const { sessions } = village.parts
    assert.deepEqual([await sessions.find(value), await sessions.find(elsewhere.value)], [null, null])
    assert.ok(await sessions.find(changed.value))
    assert.equal((await sessions.list(user.id)).length, 1)
    assert.deepEqual(await village.store.credentials.list({ user: user.id }, 'sign_in', 10), [])
    const entry = [user.id, 'change_password', 'user', user.id, []]
    assert.deepEqual(await village.told(one), [entry])
    assert.deepEqual(await village.told(two), [entry])
    assert.deepEqual(await village.told(pending), [])
    const again = (word: string) =>
      new SignIn(village.parts).withPassword({ email: user.email, password: word }, visit)
    assert.deepEqual(
      [(await again(password)).outcome, (await again(next)).outcome],
      ['refused', 'needs_code'],
    )
  },
)

onStores('a password is changed with the current one, to one that is no easy guess', async village => {
  const account = await village.found({ name: 'Hyperion Works' })
  const user = await village.settle()
  await village.join(user, account)
  const { actor } = await signIn(village, user)
  const own = new OwnAccount(village.parts)
  const change = (current: string, word: string) =>
    own.changePassword(actor, { current, password: word }, visit)
  assert.deepEqual(await change('not the password', next), { outcome: 'refused' })
  const inviting = await village.found({ name: 'Secret Undertaking' })
  await village.join(user, inviting, { status: 'pending' })
  const named = await change('not the password', 'Secret Undertaking')
  assert.deepEqual(named, { outcome: 'refused' }, 'no password tells who invites the address')
  for (const [word, flaw] of [
    ['short', 'too_short'],
    ['hyperion works', 'own_words'],
    [user.email, 'own_words'],
    ['password1234', 'common'],
  ] as const)
    assert.deepEqual(await change(password, word), { outcome: 'flawed', flaw })
  for (let i = 0; i < 3; i++) await change('not the password', next)
  assert.equal((await change(password, next)).outcome, 'throttled')
  assert.equal((await village.store.users.get(everybody, user.id))!.record.password, user.password)
})

onStores('who signs in at a provider sets a password only in a fresh session', async village => {
  const user = await village.settle({
    password: null,
    identity: { issuer: 'https://id.example', subject: 's' },
  })
  const { value, actor } = await signIn(village, user)
  const own = new OwnAccount(village.parts)
  village.clock.advance(31 * minute)
  assert.deepEqual(await own.changePassword(actor, { current: '', password: next }, visit), {
    outcome: 'stale',
  })
  const found = (await village.parts.sessions.find(value))!
  const unknown = { session: { ...found.session, authenticatedAt: null }, user }
  assert.equal((await own.changePassword(unknown, { current: '', password: next }, visit)).outcome, 'stale')
  const renewed = (await village.parts.sessions.renew(found.session, village.clock.now()))!
  village.clock.advance(29 * minute)
  const fresh = { session: renewed.session, user }
  const changed = await own.changePassword(fresh, { current: '', password: next }, visit)
  assert.ok(changed.outcome === 'changed')
  assert.equal(
    changed.session.authenticatedAt,
    fresh.session.authenticatedAt,
    'a new password proves nothing',
  )
})

onStores('of two changes at once one wins', async village => {
  const user = await village.settle()
  const { actor } = await signIn(village, user)
  const all = [village.parts, await village.elsewhere()].map((parts, i) =>
    new OwnAccount(parts).changePassword(actor, { current: password, password: `${next} ${i}` }, visit),
  )
  const outcomes = (await Promise.all(all)).map(({ outcome }) => outcome)
  assert.deepEqual(outcomes.toSorted(), ['changed', 'refused'])
})

onStores(
  'a second factor is enrolled, renewed and removed in a fresh session, and that is told',
  async village => {
    const account = await village.found({ enforceTwoFactor: true })
    const user = await village.settle()
    await village.join(user, account)
    const thief = await signIn(village, user)
    const { value, actor } = await signIn(village, user)
    const own = new OwnAccount(village.parts)
    let current = value
    const actorNow = async () => (await village.parts.sessions.find(current))!

    assert.equal(own.pendingTotp(actor), null)
    const begun = await own.beginTotp(actor)
    assert.ok(begun.outcome === 'begun')
    assert.equal(lacksSecondFactor((await actorNow()).user, account), true)
    assert.deepEqual(own.pendingTotp(await actorNow()), begun.enrolment)
    assert.deepEqual(await own.confirmTotp(await actorNow(), 'wrong', visit), { outcome: 'refused' })
    const confirmed = await own.confirmTotp(actor, codeAt(begun.enrolment.uri, village.clock.now()), visit)
    assert.ok(confirmed.outcome === 'confirmed')
    assert.equal(confirmed.recoveryCodes.length, 10)
    const { sessions } = village.parts
    assert.deepEqual([await sessions.find(thief.value), await sessions.find(value)], [null, null])
    current = confirmed.value
    const { session } = await actorNow()
    assert.deepEqual([session.secondFactor, session.authenticatedAt], [true, actor.session.authenticatedAt])
    assert.equal((await sessions.list(user.id)).length, 1)
    assert.equal(lacksSecondFactor((await actorNow()).user, account), false)
    assert.deepEqual(await own.beginTotp(actor), { outcome: 'enrolled' })

    const renewed = await own.renewRecoveryCodes(actor, visit)
    assert.ok(renewed.outcome === 'confirmed')
    assert.equal(new Set([...confirmed.recoveryCodes, ...renewed.recoveryCodes]).size, 20)
    assert.deepEqual(await own.removeTotp(actor, visit), { outcome: 'removed' })
    assert.equal((await actorNow()).user.totp, null)
    assert.deepEqual(await own.renewRecoveryCodes(actor, visit), { outcome: 'refused' })
    assert.deepEqual(await own.removeTotp(actor, visit), { outcome: 'removed' })
    assert.deepEqual(
      await village.told(account),
      [['totp'], ['recovery_codes'], ['totp']].map(changed => [user.id, 'update', 'user', user.id, changed]),
    )

    village.clock.advance(31 * minute)
    for (const late of [
      own.beginTotp(actor),
      own.renewRecoveryCodes(actor, visit),
      own.removeTotp(actor, visit),
    ])
      assert.deepEqual(await late, { outcome: 'stale' })
  },
)

onStores('who has found an old session sees and confirms no enrolment that was begun', async village => {
  const user = await village.settle()
  const old = await signIn(village, user)
  village.clock.advance(31 * minute)
  const own = new OwnAccount(village.parts)
  const begun = await own.beginTotp((await signIn(village, user)).actor)
  assert.ok(begun.outcome === 'begun')
  const actor = (await village.parts.sessions.find(old.value))!
  assert.deepEqual(own.pendingTotp(actor), { outcome: 'stale' })
  const code = codeAt(begun.enrolment.uri, village.clock.now())
  assert.deepEqual(await own.confirmTotp(actor, code, visit), { outcome: 'stale' })
  assert.equal((await village.store.users.get(everybody, user.id))!.record.totp!.confirmedAt, null)
})

onStores('sessions that a user ends are told', async village => {
  const account = await village.found()
  const user = await village.settle()
  await village.join(user, account)
  const [first, second] = [await signIn(village, user), await signIn(village, user)]
  const own = new OwnAccount(village.parts)
  const { id } = second.actor.session
  assert.equal(await own.endSession(first.actor, id, visit), true)
  assert.equal(await own.endSession(first.actor, id, visit), false)
  assert.equal(await own.endAllSessions(first.actor, visit), 1)
  assert.equal(await village.parts.sessions.find(first.value), null)
  assert.deepEqual(await village.told(account), [
    [user.id, 'revoke', 'session', id, []],
    [user.id, 'sign_out', 'user', user.id, ['sessions']],
  ])
})
