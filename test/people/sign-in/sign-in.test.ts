import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPhc } from '../../../src/people/passwords/argon2.ts'
import { Passwords } from '../../../src/people/passwords/passwords.ts'
import { SignIn } from '../../../src/people/sign-in/sign-in.ts'
import { openStore } from '../../../src/store/open.ts'
import { everybody } from '../../../src/store/records/people.ts'
import { cheap } from '../cheap.ts'
import { costOf, shareAbove, sum } from '../cost.ts'
import { settleWithApp } from '../enrol.ts'
import { onStores, Village, visit } from '../on-stores.ts'
import { password } from '../settlement.ts'
import { ContractClock } from '../../store/contract-clock.ts'

const wrong = 'another horse battery'
const minute = 60_000

onStores('the right password begins a session, whatever the case of the address', async village => {
  const { parts } = village
  const user = await village.settle({ email: 'ada@example.com' })
  const signIn = new SignIn(parts)
  const first = await signIn.withPassword({ email: ' Ada@Example.com ', password }, visit)
  assert.ok(first.outcome === 'signed_in')
  assert.deepEqual([first.user, first.session.method], [user, 'password'])
  assert.deepEqual((await parts.sessions.find(first.value))!.session, first.session)
  const again = await signIn.withPassword({ email: user.email, password }, visit, first.value)
  assert.ok(again.outcome === 'signed_in')
  assert.equal(await parts.sessions.find(first.value), null)
})

onStores(
  'a wrong password, an unknown address and a user without a password get the same refusal',
  async village => {
    const user = await village.settle()
    const invited = await village.settle({ password: null })
    const signIn = new SignIn(village.parts)
    for (const email of [user.email, invited.email, 'nobody@example.com', '', 'x'.repeat(10_000)])
      assert.deepEqual(await signIn.withPassword({ email, password: wrong }, visit), { outcome: 'refused' })
  },
)

onStores('after five wrong passwords the right one has to wait, of a user or of nobody', async village => {
  const user = await village.settle()
  const signIn = new SignIn(village.parts)
  const waits: number[] = []
  for (const email of [user.email, 'nobody@example.com']) {
    const tries = Array.from({ length: 8 }, () => signIn.withPassword({ email, password: wrong }, visit))
    const outcomes = (await Promise.all(tries)).map(({ outcome }) => outcome)
    assert.equal(outcomes.filter(outcome => outcome === 'refused').length, 5)
    assert.equal(outcomes.filter(outcome => outcome === 'throttled').length, 3)
    const later = await signIn.withPassword({ email, password }, visit)
    assert.ok(later.outcome === 'throttled')
    waits.push(later.retryAfter)
  }
  // Attempts are counted in buckets of ten seconds, and the second user's may fall into the next one.
  assert.ok(Math.abs(waits[0]! - waits[1]!) <= 11, `${waits} s`)
  village.clock.advance(11 * minute)
  assert.equal((await signIn.withPassword({ email: user.email, password }, visit)).outcome, 'signed_in')
})

onStores('a digest of an older cost is made again by the right password', async village => {
  const user = await village.settle()
  const raised = { ...village.parts, passwords: new Passwords({ cost: { ...cheap, passes: 2 } }) }
  const signIn = new SignIn(raised)
  const { outcome } = await signIn.withPassword({ email: user.email, password }, visit)
  assert.equal(outcome, 'signed_in')
  const kept = (await village.store.users.get(everybody, user.id))!.record
  assert.equal(readPhc(kept.password!)!.passes, 2)
  assert.deepEqual([kept.modifiedAt, kept.passwordChangedAt], [user.modifiedAt, user.passwordChangedAt])
  assert.equal((await signIn.withPassword({ email: user.email, password }, visit)).outcome, 'signed_in')
})

onStores('when too many passwords wait, that is told, and counts as no attempt', async village => {
  const user = await village.settle()
  const passwords = new Passwords({ cost: cheap, atOnce: 1, maxQueued: 0 })
  const signIn = new SignIn({ ...village.parts, passwords })
  for (let i = 0; i < 10; i++) {
    const running = passwords.hash(password)
    const turnedAway = await signIn.withPassword({ email: user.email, password }, visit)
    if (turnedAway.outcome === 'busy') assert.equal(turnedAway.retryAfter, 2)
    await running
  }
  assert.equal((await signIn.withPassword({ email: user.email, password }, visit)).outcome, 'signed_in')
})

onStores('who has a second factor shows a code with the ticket, each once', async village => {
  const { user, code } = await settleWithApp(village)
  const signIn = new SignIn(village.parts)
  const asked = await signIn.withPassword({ email: user.email, password }, visit)
  assert.ok(asked.outcome === 'needs_code')
  assert.deepEqual(await village.parts.sessions.list(user.id), [])
  const { ticket } = asked
  assert.deepEqual(await signIn.withCode({ ticket, code: '000000' }, visit), { outcome: 'refused' })
  const shown = code()
  const done = await signIn.withCode({ ticket, code: shown }, visit)
  assert.ok(done.outcome === 'signed_in')
  assert.deepEqual([done.session.secondFactor, done.session.method], [true, 'password'])
  assert.deepEqual(await signIn.withCode({ ticket, code: code() }, visit), { outcome: 'expired' })
  const next = await signIn.withPassword({ email: user.email, password }, visit)
  assert.ok(next.outcome === 'needs_code')
  assert.deepEqual(await signIn.withCode({ ticket: next.ticket, code: shown }, visit), { outcome: 'refused' })
})

onStores('of twenty uses of one code at once, over two processes, one signs in', async village => {
  const { user, code } = await settleWithApp(village)
  const ways = [new SignIn(village.parts), new SignIn(await village.elsewhere())]
  // Each with a ticket of its own, so that it is the code that is used up.
  const tickets: string[] = []
  for (let i = 0; i < 4; i++) {
    const asked = await ways[0]!.withPassword({ email: user.email, password }, visit)
    assert.ok(asked.outcome === 'needs_code')
    tickets.push(asked.ticket)
  }
  const shown = code()
  const all = Array.from({ length: 20 }, (_, i) =>
    ways[i % 2]!.withCode({ ticket: tickets[i % 4]!, code: shown }, { ...visit, address: `192.0.2.${i}` }),
  )
  const outcomes = (await Promise.all(all)).map(({ outcome }) => outcome)
  assert.equal(outcomes.filter(outcome => outcome === 'signed_in').length, 1, String(outcomes))
})

onStores('a recovery code signs in once', async village => {
  const { user, recoveryCodes } = await settleWithApp(village)
  const signIn = new SignIn(village.parts)
  const outcomes: string[] = []
  for (let i = 0; i < 2; i++) {
    const asked = await signIn.withPassword({ email: user.email, password }, visit)
    assert.ok(asked.outcome === 'needs_code')
    outcomes.push((await signIn.withCode({ ticket: asked.ticket, code: recoveryCodes[0]! }, visit)).outcome)
  }
  assert.deepEqual(outcomes, ['signed_in', 'refused'])
})

onStores('one ticket signs in once, whatever is shown with it at once', async village => {
  const { user, recoveryCodes } = await settleWithApp(village)
  const signIn = new SignIn(village.parts)
  const asked = await signIn.withPassword({ email: user.email, password }, visit)
  assert.ok(asked.outcome === 'needs_code')
  const all = recoveryCodes.slice(0, 4).map(code => signIn.withCode({ ticket: asked.ticket, code }, visit))
  const outcomes = (await Promise.all(all)).map(({ outcome }) => outcome)
  assert.deepEqual(outcomes.toSorted(), ['expired', 'expired', 'expired', 'signed_in'])
})

onStores('codes are guessed no more often than passwords', async village => {
  const { user, code } = await settleWithApp(village)
  const signIn = new SignIn(village.parts)
  const asked = await signIn.withPassword({ email: user.email, password }, visit)
  assert.ok(asked.outcome === 'needs_code')
  const { ticket } = asked
  const outcomes: string[] = []
  for (let i = 0; i < 7; i++)
    outcomes.push((await signIn.withCode({ ticket, code: `00000${i}` }, visit)).outcome)
  assert.deepEqual(outcomes.slice(5), ['throttled', 'throttled'])
  assert.equal((await signIn.withCode({ ticket, code: code() }, visit)).outcome, 'throttled')
})

onStores('a ticket is good for ten minutes, and not after a change of the password', async village => {
  const { user, code } = await settleWithApp(village)
  const signIn = new SignIn(village.parts)
  const ask = async () => {
    const asked = await signIn.withPassword({ email: user.email, password }, visit)
    assert.ok(asked.outcome === 'needs_code')
    return asked.ticket
  }
  const old = await ask()
  village.clock.advance(10 * minute + 1_000)
  assert.deepEqual(await signIn.withCode({ ticket: old, code: code() }, visit), { outcome: 'expired' })
  const ticket = await ask()
  const kept = (await village.store.users.get(everybody, user.id))!
  village.clock.advance(1_000)
  await village.store.users.replace({ ...kept.record, passwordChangedAt: village.clock.now() }, kept.version)
  assert.deepEqual(await signIn.withCode({ ticket, code: code() }, visit), { outcome: 'expired' })
  for (const none of ['', 'x', 'A'.repeat(43)])
    assert.deepEqual(await signIn.withCode({ ticket: none, code: code() }, visit), { outcome: 'expired' })
})

onStores('a password that is changed while it is compared opens nothing', async village => {
  const user = await village.settle()
  const { passwords } = village
  const changing = Object.assign(Object.create(passwords) as Passwords, {
    verify: async (...shown: Parameters<Passwords['verify']>) => {
      const verdict = await passwords.verify(...shown)
      village.clock.advance(5)
      const kept = (await village.store.users.get(everybody, user.id))!
      await village.store.users.replace(
        { ...kept.record, passwordChangedAt: village.clock.now() },
        kept.version,
      )
      return verdict
    },
  })
  const signIn = new SignIn({ ...village.parts, passwords: changing })
  const late = await signIn.withPassword({ email: user.email, password }, visit)
  assert.ok(late.outcome === 'signed_in')
  assert.equal(await village.parts.sessions.find(late.value), null)
})

onStores('the password once more makes a session fresh; who has none is told so', async village => {
  const user = await village.settle()
  const { sessions } = village.parts
  const signIn = new SignIn(village.parts)
  const done = await signIn.withPassword({ email: user.email, password }, visit)
  assert.ok(done.outcome === 'signed_in')
  village.clock.advance(40 * minute)
  const found = (await sessions.find(done.value))!
  assert.deepEqual(await signIn.confirm(found, wrong, visit), { outcome: 'refused' })
  const confirmed = await signIn.confirm(found, password, visit)
  assert.ok(confirmed.outcome === 'signed_in')
  assert.ok(confirmed.session.authenticatedAt! >= done.session.authenticatedAt! + 40 * minute)
  assert.equal(await sessions.find(done.value), null)
  assert.ok(await sessions.find(confirmed.value))
  assert.deepEqual(await signIn.confirm(found, password, visit), { outcome: 'expired' })
  const without = { ...found, user: { ...user, password: null } }
  assert.deepEqual(await signIn.confirm(without, password, visit), { outcome: 'no_password' })
  for (let i = 0; i < 4; i++) await signIn.confirm(found, wrong, visit)
  assert.equal((await signIn.confirm(found, password, visit)).outcome, 'throttled')
})

test('a refusal takes as long for a user as for nobody, at the cost of real passwords', async t => {
  const clock = new ContractClock()
  const store = await openStore('sqlite::memory:', { commandTimeout: 5_000, clock })
  t.after(() => store.close())
  const village = new Village(store, () => assert.fail('there is no other process'), clock)
  const passwords = new Passwords()
  const signIn = new SignIn({ ...village.parts, passwords })
  const user = await village.settle({ password: await passwords.hash(password) })
  const wall = { user: [] as number[], nobody: [] as number[] }
  const processor = { user: [] as number[], nobody: [] as number[] }
  for (let round = 0; round < 24; round++) {
    // Beyond the windows, so that every attempt is compared; each first in turn, so that what else the machine does hits both.
    clock.advance(3 * minute)
    const both = [
      ['user', user.email],
      ['nobody', `${round}@example.com`],
    ] as const
    for (const [who, email] of round % 2 ? both : both.toReversed()) {
      const refuse = async () =>
        assert.equal((await signIn.withPassword({ email, password: wrong }, visit)).outcome, 'refused')
      const cost = await costOf(refuse)
      wall[who].push(cost.wall)
      processor[who].push(cost.processor)
    }
  }
  // By chance the share leaves these bounds once in 30,000 times.
  const share = shareAbove(wall.user, wall.nobody)
  assert.ok(share > 0.15 && share < 0.85, `${share} of the refusals of a user take longer`)
  const ratio = sum(processor.user) / sum(processor.nobody)
  assert.ok(ratio > 0.75 && ratio < 1.33, `a user costs ${ratio} times what nobody does`)
})
