import assert from 'node:assert/strict'
import { passkeysAt } from '../../../src/people/passkeys/passkeys.ts'
import { relyingPartyAt } from '../../../src/people/passkeys/relying-party.ts'
import { changeUser } from '../../../src/people/records/users.ts'
import { Invitations } from '../../../src/people/links/invitations.ts'
import { recover } from '../../../src/people/links/recovery.ts'
import { hasSecondFactor, lacksSecondFactor } from '../../../src/people/second-factor/second-factor.ts'
import { OwnAccount } from '../../../src/people/sign-in/own-account.ts'
import { OwnPasskeys } from '../../../src/people/sign-in/own-passkeys.ts'
import { PasskeySignIn } from '../../../src/people/sign-in/passkey-sign-in.ts'
import { SignIn } from '../../../src/people/sign-in/sign-in.ts'
import { auditOf, inPerson, userResource } from '../../../src/store/records/audit-entry.ts'
import { everybody, type User } from '../../../src/store/records/people.ts'
import { settleWithApp } from '../enrol.ts'
import { onStores, type Village, visit } from '../on-stores.ts'
import { password } from '../settlement.ts'
import { SoftAuthenticator } from '../soft-authenticator.ts'

const origin = 'https://id.example.com'
const party = relyingPartyAt(origin)
assert.ok(typeof party === 'object')
const at = party
const browser = 'b'.repeat(43)
const minute = 60_000

/** A village with people who have passkeys. */
function passkeysIn(village: Village) {
  const signIn = new SignIn(village.parts)
  const passkeys = new PasskeySignIn(village.parts, signIn)
  const own = new OwnPasskeys(village.parts)
  const present = async (user: User) => {
    const proof = { method: 'password', secondFactor: false, at: village.clock.now() } as const
    const now = (await village.store.users.get(everybody, user.id))!.record
    const { value, session } = await village.parts.sessions.begin(now, proof, visit)
    return { value, actor: { session, user: now } }
  }
  const shown = (response: string) => ({ response, at, browser })
  const add = async (user: User, key = new SoftAuthenticator(origin, user.id), name = 'Laptop') => {
    village.clock.advance(1)
    const { actor, value } = await present(user)
    const begun = own.begin(actor, at, browser)
    assert.ok(begun.outcome === 'begun')
    const named = { ...shown(key.create(begun.challenge)), name, fallback: 'Passkey' }
    return { key, value, begun, result: await own.add(actor, named, visit) }
  }
  const signInWith = (key: SoftAuthenticator, ...lies: Parameters<SoftAuthenticator['get']>[1][]) => {
    village.clock.advance(1)
    return passkeys.signIn(shown(key.get(passkeys.challengeToSignIn(browser), lies[0])), visit)
  }
  return { signIn, passkeys, own, present, shown, add, signInWith }
}

onStores('a passkey signs in alone, counts as two factors, and is told in the audit log', async village => {
  const { add, signInWith } = passkeysIn(village)
  const account = await village.found({ enforceTwoFactor: true })
  const user = await village.settle()
  await village.join(user, account)
  assert.ok(lacksSecondFactor(user, account))
  const { key, result } = await add(user)
  assert.ok(result.outcome === 'added')
  assert.equal(result.recoveryCodes?.length, 10)
  const signedIn = await signInWith(key)
  assert.ok(signedIn.outcome === 'signed_in')
  const { method, secondFactor } = signedIn.session
  assert.deepEqual([method, secondFactor], ['passkey', true])
  assert.ok(await village.parts.sessions.find(signedIn.value))
  const { record } = (await village.store.users.get(everybody, user.id))!
  assert.ok(!lacksSecondFactor(record, account))
  const [passkey] = record.passkeys!.keys
  const { name, host, counter, createdAt, usedAt } = passkey!
  assert.deepEqual([name, host, counter], ['Laptop', 'id.example.com', 1])
  assert.ok(usedAt! > createdAt)
  assert.deepEqual(await village.told(account), [[user.id, 'update', 'user', user.id, ['passkeys']]])
  assert.deepEqual(await village.signIns(account), [[user.email, 'sign_in', 'passkey', null, visit.address]])
})

onStores(
  'the first passkey ends other sessions, and a password needs a second step from then on',
  async village => {
    const { signIn, passkeys, add, present, shown } = passkeysIn(village)
    const user = await village.settle()
    const before = await present(user)
    const { key, value, result } = await add(user)
    assert.ok(result.outcome === 'added' && result.begun !== null)
    const { sessions } = village.parts
    assert.deepEqual([await sessions.find(before.value), await sessions.find(value)], [null, null])
    assert.ok(await sessions.find(result.begun.value))
    const byPassword = async () => {
      village.clock.advance(1)
      const asked = await signIn.withPassword({ email: user.email, password }, visit)
      assert.ok(asked.outcome === 'needs_code')
      return asked.ticket
    }
    const ticket = await byPassword()
    const steps = await passkeys.stepsOf(ticket, at.host)
    assert.deepEqual([steps?.hasApp, steps?.passkeys.map(({ id }) => id)], [false, [key.id]])
    assert.deepEqual(await passkeys.stepsOf(ticket, 'other.example'), { hasApp: false, passkeys: [] })
    const response = key.get(passkeys.challengeToStep(ticket, browser), { user: null })
    const done = await passkeys.withTicket(ticket, shown(response), visit)
    assert.ok(done.outcome === 'signed_in')
    assert.deepEqual([done.session.method, done.session.secondFactor], ['password', true])
    assert.equal((await passkeys.withTicket(ticket, shown(response), visit)).outcome, 'expired')
    const another = await byPassword()
    const elsewhere = await byPassword()
    const stray = key.get(passkeys.challengeToStep(another, browser))
    assert.equal((await passkeys.withTicket(elsewhere, shown(stray), visit)).outcome, 'expired')
    const [code] = result.recoveryCodes!
    const recovered = await signIn.withCode({ ticket: elsewhere, code: code! }, visit)
    assert.equal(recovered.outcome, 'signed_in', 'when all passkeys are lost')
    assert.equal((await signIn.withCode({ ticket: another, code: code! }, visit)).outcome, 'refused')
  },
)

onStores('what a passkey did not sign here, now and for this browser is refused', async village => {
  const { passkeys, add, shown, signInWith } = passkeysIn(village)
  const account = await village.found()
  const [user, other] = [await village.settle(), await village.settle()]
  await village.join(user, account)
  const { key } = await add(user)
  const { key: theirs } = await add(other)
  const stranger = new SoftAuthenticator(origin, user.id)
  const outcomeOf = async (...args: Parameters<typeof signInWith>) => (await signInWith(...args)).outcome
  for (const lies of [
    { origin: 'https://evil.example' },
    { origin: 'https://id.example.com:8443' },
    { host: 'evil.example' },
    { flags: 0x01 },
    { flags: 0x04 },
    { type: 'webauthn.create' },
    { crossOrigin: true },
    { user: other.id },
    { user: null },
    { user: 'ff'.repeat(16) },
    { id: theirs.id },
    { id: stranger.id },
  ])
    assert.equal(await outcomeOf(key, lies), 'refused', JSON.stringify(lies))
  assert.equal(await outcomeOf(stranger, { id: key.id }), 'refused')
  const challenge = passkeys.challengeToSignIn(browser)
  const strange = { ...shown(key.get(challenge)), browser: 'c'.repeat(43) }
  assert.equal((await passkeys.signIn(strange, visit)).outcome, 'expired')
  const forOther = shown(key.get(passkeys.challengeToConfirm(browser)))
  assert.equal((await passkeys.signIn(forOther, visit)).outcome, 'expired')
  const made = shown(key.get(Buffer.from('a challenge of my own').toString('base64url')))
  assert.equal((await passkeys.signIn(made, visit)).outcome, 'expired')
  village.clock.advance(1)
  const late = shown(key.get(passkeys.challengeToSignIn(browser)))
  village.clock.advance(10 * minute)
  assert.equal((await passkeys.signIn(late, visit)).outcome, 'expired')
  assert.equal(await outcomeOf(key), 'signed_in')
  const told = (await village.signIns(account)) as string[][]
  assert.ok(told.some(([, , method, failure]) => method === 'passkey' && failure === 'wrong'))
})

onStores('a challenge is good for one sign-in, however many come with it at once', async village => {
  const { passkeys, add, shown } = passkeysIn(village)
  const user = await village.settle()
  const { key } = await add(user)
  village.clock.advance(1)
  const challenge = passkeys.challengeToSignIn(browser)
  const outcomes = await Promise.all(
    Array.from({ length: 4 }, async (_, i) => {
      const response = shown(key.get(challenge, { counter: 10 + i }))
      return (await passkeys.signIn(response, visit)).outcome
    }),
  )
  assert.deepEqual(outcomes.sort(), ['expired', 'expired', 'expired', 'signed_in'])
})

onStores(
  'a counter that goes back is refused and told; authenticators without one always say 0',
  async village => {
    const { add, signInWith } = passkeysIn(village)
    const account = await village.found()
    const user = await village.settle()
    await village.join(user, account)
    const { key } = await add(user)
    assert.equal((await signInWith(key, { counter: 0 })).outcome, 'signed_in')
    assert.equal((await signInWith(key, { counter: 0 })).outcome, 'signed_in')
    assert.equal((await signInWith(key, { counter: 7 })).outcome, 'signed_in')
    for (const counter of [7, 6, 0]) assert.equal((await signInWith(key, { counter })).outcome, 'old_counter')
    assert.equal((await signInWith(key, { counter: 8 })).outcome, 'signed_in')
    const failed = ((await village.signIns(account)) as string[][]).filter(
      ([, , , failure]) => failure !== null,
    )
    assert.deepEqual(failed, Array(3).fill([null, 'sign_in', 'passkey', 'old_counter', visit.address]))
  },
)

onStores('guesses are limited by address alone, so that nobody can lock others out', async village => {
  const { add, signInWith } = passkeysIn(village)
  const user = await village.settle()
  const { key } = await add(user)
  for (let i = 0; i < 20; i++) assert.equal((await signInWith(key, { flags: 0x01 })).outcome, 'refused')
  assert.equal((await signInWith(key)).outcome, 'throttled')
  const { passkeys, shown } = passkeysIn(village)
  village.clock.advance(1)
  const response = shown(key.get(passkeys.challengeToSignIn(browser)))
  const elsewhere = await passkeys.signIn(response, { ...visit, address: '192.0.2.99' })
  assert.equal(elsewhere.outcome, 'signed_in')
})

onStores(
  'a passkey is added in a fresh session, once, for this browser, by a person with a password',
  async village => {
    const { own, present, shown, add } = passkeysIn(village)
    const user = await village.settle()
    const { actor } = await present(user)
    const key = new SoftAuthenticator(origin, user.id)
    const named = (response: string) => ({
      ...shown(response),
      name: '  My \u202Ekey ',
      fallback: 'Passkey',
    })
    const begun = own.begin(actor, at, browser)
    assert.ok(begun.outcome === 'begun')
    for (const lies of [
      { origin: 'https://evil.example' },
      { host: 'evil.example' },
      { flags: 0x41 },
      { flags: 0x44 },
      { type: 'webauthn.get' },
      { crossOrigin: true },
      { fmt: 'packed' },
      { fmt: 'fido-u2f' },
    ]) {
      const result = await own.add(actor, named(key.create(begun.challenge, lies)), visit)
      assert.equal(result.outcome, 'refused', JSON.stringify(lies))
    }
    const strange = { ...named(key.create(begun.challenge)), browser: 'c'.repeat(43) }
    assert.equal((await own.add(actor, strange, visit)).outcome, 'expired')
    const response = named(key.create(begun.challenge))
    assert.equal((await own.add(actor, response, visit)).outcome, 'added')
    assert.equal((await own.add(actor, response, visit)).outcome, 'taken')
    const { record } = (await village.store.users.get(everybody, user.id))!
    assert.equal(record.passkeys!.keys[0]!.name, 'My key')
    const again = await add(user, key)
    const excluded = again.begun.excluded.map(({ id }) => id)
    assert.deepEqual([excluded, again.result.outcome], [[key.id], 'taken'])
    const { actor: late } = await present(user)
    village.clock.advance(31 * minute)
    assert.deepEqual(own.begin(late, at, browser), { outcome: 'stale' })
    assert.equal((await own.add(late, response, visit)).outcome, 'stale')
    assert.equal((await own.remove(late, key.id, visit)).outcome, 'stale')
    const provided = await village.settle({ password: null, identity: { issuer: origin, subject: 'svc' } })
    const { actor: without } = await present(provided)
    assert.deepEqual(own.begin(without, at, browser), { outcome: 'no_password' })
    assert.equal((await own.add(without, response, visit)).outcome, 'refused')
  },
)

onStores('a person has 20 passkeys at most', async village => {
  const { own, present, add } = passkeysIn(village)
  const user = await village.settle()
  for (let i = 0; i < 20; i++) assert.equal((await add(user)).result.outcome, 'added')
  const { actor } = await present(user)
  assert.deepEqual(own.begin(actor, at, browser), { outcome: 'too_many' })
})

onStores('beside a passkey, no process of before passkeys takes the password', async village => {
  const { add, own, signIn, signInWith, present } = passkeysIn(village)
  const user = await village.settle()
  const stored = async () => (await village.store.users.get(everybody, user.id))!.record
  // All that such a process takes for a digest.
  const isTaken = async () => (await stored()).password!.startsWith('$argon2id$')
  assert.equal(await isTaken(), true)
  const { key, result } = await add(user)
  assert.equal(result.outcome, 'added')
  assert.equal(await isTaken(), false)
  const withPassword = () => signIn.withPassword({ email: user.email, password }, visit)
  assert.equal((await withPassword()).outcome, 'needs_code')

  const { actor } = await present(user)
  const renewed = { current: password, password: 'another horse battery' }
  const changed = await new OwnAccount(village.parts).changePassword(actor, renewed, visit)
  assert.equal(changed.outcome, 'changed')
  assert.equal(await isTaken(), false)
  assert.equal((await withPassword()).outcome, 'refused')

  // Such a process sets one all the same.
  const other = await village.settle()
  await changeUser(village.store, user.id, before => ({ ...before, password: other.password }))
  assert.equal((await signInWith(key)).outcome, 'signed_in')
  assert.equal(await isTaken(), false)
  assert.equal((await withPassword()).outcome, 'needs_code')

  const { actor: last } = await present(user)
  const { id } = (await stored()).passkeys!.keys[0]!
  assert.equal((await own.remove(last, id, visit)).outcome, 'removed')
  assert.equal(await isTaken(), true)
  assert.equal((await withPassword()).outcome, 'signed_in')
})

onStores(
  'a removed passkey opens nothing; the password, and an app that is there, are left',
  async village => {
    const { signIn, own, present, add, signInWith } = passkeysIn(village)
    const account = new OwnAccount(village.parts)
    const { user, code, recoveryCodes } = await settleWithApp(village)
    const { key, result } = await add(user)
    assert.ok(result.outcome === 'added')
    assert.deepEqual([result.recoveryCodes, result.begun], [null, null], 'the codes of the app stay')
    const { actor, value } = await present(user)
    assert.equal((await account.removeTotp(actor, visit)).outcome, 'removed')
    assert.ok(await village.parts.sessions.find(value), 'the session knew a second factor')
    const ticketOf = async () => {
      const asked = await signIn.withPassword({ email: user.email, password }, visit)
      assert.ok(asked.outcome === 'needs_code')
      return asked.ticket
    }
    const ticket = await ticketOf()
    assert.equal(
      (await signIn.withCode({ ticket, code: code() }, visit)).outcome,
      'refused',
      'the app is off',
    )
    assert.equal((await signIn.withCode({ ticket, code: recoveryCodes[0]! }, visit)).outcome, 'signed_in')
    assert.equal((await own.remove(actor, key.id, visit)).outcome, 'removed')
    assert.equal((await own.remove(actor, key.id, visit)).outcome, 'gone')
    assert.equal((await signInWith(key)).outcome, 'refused')
    const { record } = (await village.store.users.get(everybody, user.id))!
    assert.ok(!hasSecondFactor(record))
    assert.deepEqual([record.recoveryCodes, record.factorSetAt], [undefined, undefined])
    assert.equal((await signIn.withPassword({ email: user.email, password }, visit)).outcome, 'signed_in')
  },
)

onStores('a code of an app that is not confirmed yet is no second step beside a passkey', async village => {
  const { signIn, present, add } = passkeysIn(village)
  const user = await village.settle()
  await add(user)
  const { actor } = await present(user)
  const begun = await new OwnAccount(village.parts).beginTotp(actor)
  assert.ok(begun.outcome === 'begun')
  const asked = await signIn.withPassword({ email: user.email, password }, visit)
  assert.ok(asked.outcome === 'needs_code')
  const { codeAt } = await import('../authenticator.ts')
  const code = codeAt(begun.enrolment.uri, village.clock.now())
  assert.equal((await signIn.withCode({ ticket: asked.ticket, code }, visit)).outcome, 'refused')
})

onStores('a passkey confirms who it is, for its own user alone', async village => {
  const { passkeys, present, add, shown } = passkeysIn(village)
  const account = await village.found()
  const [user, other] = [await village.settle(), await village.settle()]
  await village.join(user, account)
  const { key } = await add(user)
  const { key: theirs } = await add(other)
  const { actor } = await present(user)
  village.clock.advance(31 * minute)
  const confirm = (by: SoftAuthenticator) => {
    village.clock.advance(1)
    return passkeys.confirm(actor, shown(by.get(passkeys.challengeToConfirm(browser))), visit)
  }
  assert.equal((await confirm(theirs)).outcome, 'refused')
  const confirmed = await confirm(key)
  assert.ok(confirmed.outcome === 'signed_in')
  assert.ok(confirmed.session.authenticatedAt! > actor.session.authenticatedAt! + 30 * minute)
  assert.deepEqual(
    new Set(await village.signIns(account)),
    new Set([
      [user.email, 'confirm', 'passkey', null, visit.address],
      [null, 'confirm', 'passkey', 'wrong', visit.address],
    ]),
  )
})

onStores('the link for a lost password removes all passkeys', async village => {
  const { add, signInWith } = passkeysIn(village)
  const account = await village.found()
  const user = await village.settle()
  const member = await village.join(user, account)
  const { key } = await add(user)
  const { address, ray } = visit
  const asker = { account: account.id, caller: inPerson(user), now: village.clock.now(), address, ray }
  const audit = auditOf(asker, 'update', userResource(user), ['password', 'totp', 'passkeys'])
  const before = (await village.store.users.get(everybody, user.id))!.record.passkeys!
  const link = await recover(village.store, member, audit, village.clock)
  assert.ok(link)
  assert.equal((await signInWith(key)).outcome, 'refused')
  const { record } = (await village.store.users.get(everybody, user.id))!
  assert.deepEqual([passkeysAt(record, at.host), record.recoveryCodes], [[], undefined])

  // An older version leaves them.
  await changeUser(village.store, user.id, now => ({ ...now, passkeys: before }))
  const words = { password: 'another horse battery' }
  const accepted = await new Invitations(village.parts).acceptWithPassword(link.value, words, visit)
  assert.equal(accepted.outcome, 'signed_in')
  assert.equal((await signInWith(key)).outcome, 'refused')
})
