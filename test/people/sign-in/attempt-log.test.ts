import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import pino from 'pino'
import { AttemptLog } from '../../../src/people/sign-in/attempt-log.ts'
import { Invitations, reissueInvitation } from '../../../src/people/links/invitations.ts'
import { recover } from '../../../src/people/links/recovery.ts'
import { OwnAccount } from '../../../src/people/sign-in/own-account.ts'
import { SignIn } from '../../../src/people/sign-in/sign-in.ts'
import { auditOf, commandLine } from '../../../src/store/records/audit-entry.ts'
import { everybody } from '../../../src/store/records/people.ts'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'
import { auditQuery } from '../../store/contract-specimens.ts'
import { settleWithApp } from '../enrol.ts'
import { anyCharacter } from '../../help/any-text.ts'
import { onStores, visit } from '../on-stores.ts'
import { password } from '../settlement.ts'

const wrong = 'another horse battery'
const minute = 60_000

onStores('sign-ins, failures and sign-outs are told to each account of the user', async village => {
  const accounts = [await village.found(), await village.found()]
  const elsewhere = await village.found()
  const user = await village.settle()
  for (const account of accounts) await village.join(user, account)
  await village.join(user, elsewhere, { status: 'pending' })
  const signIn = new SignIn(village.parts)
  const { email } = user
  assert.equal((await signIn.withPassword({ email, password: wrong }, visit)).outcome, 'refused')
  await village.parts.attempts.close()
  const done = await signIn.withPassword({ email, password }, visit)
  assert.ok(done.outcome === 'signed_in')
  const { session } = done
  assert.equal((await signIn.confirm({ session, user }, wrong, visit)).outcome, 'refused')
  await village.parts.attempts.close()
  const proven = await signIn.confirm({ session, user }, password, visit)
  assert.ok(proven.outcome === 'signed_in')
  const own = new OwnAccount(village.parts)
  await own.signOut(proven.value, visit)
  await own.signOut(proven.value, visit)
  for (const account of accounts)
    assert.deepEqual(await village.signIns(account), [
      [null, 'sign_in', 'password', 'wrong', visit.address],
      [email, 'sign_in', 'password', null, visit.address],
      [null, 'confirm', 'password', 'wrong', visit.address],
      [email, 'confirm', 'password', null, visit.address],
      [email, 'sign_out', null, null, visit.address],
    ])
  assert.deepEqual(await village.signIns(elsewhere), [], 'who has not accepted is no member')
})

onStores('a second step is told, right or wrong, and so is a recovery code', async village => {
  const account = await village.found()
  const { user, code, recoveryCodes } = await settleWithApp(village)
  await village.join(user, account)
  const signIn = new SignIn(village.parts)
  const begin = async () => {
    const begun = await signIn.withPassword({ email: user.email, password }, visit)
    assert.ok(begun.outcome === 'needs_code')
    return begun.ticket
  }
  const ticket = await begin()
  assert.equal((await signIn.withCode({ ticket, code: 'wrong' }, visit)).outcome, 'refused')
  await village.parts.attempts.close()
  assert.equal((await signIn.withCode({ ticket, code: code() }, visit)).outcome, 'signed_in')
  const other = { ticket: await begin(), code: recoveryCodes[0]! }
  assert.equal((await signIn.withCode(other, visit)).outcome, 'signed_in')
  assert.deepEqual(await village.signIns(account), [
    [null, 'second_step', 'recovery_code', 'wrong', visit.address],
    [user.email, 'second_step', 'code', null, visit.address],
    [user.email, 'sign_in', 'password', null, visit.address],
    [user.email, 'second_step', 'recovery_code', null, visit.address],
    [user.email, 'sign_in', 'password', null, visit.address],
  ])
})

onStores('links that sign in are told as such: of an invitation, and for a lost password', async village => {
  const account = await village.found()
  const user = await village.settle({ password: null, passwordChangedAt: null })
  const member = await village.join(user, account, { status: 'pending' })
  const invitations = new Invitations(village.parts)
  const invited = await reissueInvitation(village.store, member, village.clock.now())
  assert.equal(
    (await invitations.acceptWithPassword(invited.value, { password }, visit)).outcome,
    'signed_in',
  )
  const origin = { account: account.id, caller: commandLine, now: 0, address: '', ray: '' }
  const audit = auditOf(origin, 'update', { resourceKind: 'user', resource: user.id })
  const link = await recover(village.store, member, audit, village.clock)
  const lost = await invitations.acceptWithPassword(link!.value, { password }, visit)
  assert.equal(lost.outcome, 'signed_in')
  assert.deepEqual(
    (await village.signIns(account)).map(entry => (entry as unknown[]).slice(1, 3)),
    [
      ['sign_in', 'invitation'],
      ['sign_in', 'recovery'],
    ],
  )
})

onStores(
  'who guesses for long fills nothing: five in ten minutes, and once that there were more',
  async village => {
    const account = await village.found()
    const user = await village.settle()
    await village.join(user, account)
    const signIn = new SignIn(village.parts)
    for (let round = 1; round <= 2; round++) {
      for (let i = 0; i < 40; i++) {
        const from = { ...visit, address: `198.51.100.${i}` }
        await signIn.withPassword({ email: user.email, password: wrong }, from)
      }
      const told = (await village.signIns(account)).map(entry => (entry as unknown[])[3])
      assert.equal(told.filter(failure => failure === 'wrong').length, 5 * round)
      assert.equal(told.filter(failure => failure === 'throttled').length, round)
      village.clock.advance(21 * minute)
    }
  },
)

onStores(
  'what a stranger typed is kept nowhere, be it a password in the field of the address',
  async village => {
    const account = await village.found()
    const user = await village.settle()
    await village.join(user, account)
    const signIn = new SignIn(village.parts)
    const typed = ['nobody@example.com', password, `${user.email}x`, 'x'.repeat(100_000), '']
    for (const email of typed)
      assert.equal((await signIn.withPassword({ email, password: wrong }, visit)).outcome, 'refused')
    await signIn.withPassword({ email: user.email, password: wrong }, visit)
    await village.parts.attempts.close()
    for (const place of [account.id, everybody]) {
      const { items } = await village.store.audit.list(place, auditQuery())
      const text = JSON.stringify(items)
      for (const secret of [...typed.slice(0, 3), wrong]) assert.ok(!text.includes(secret), secret)
      assert.equal(items.length, place === account.id ? 1 : 0)
    }
  },
)

test('notes never fail nor wait, and of a flood only so many are written', async () => {
  const asked: string[] = []
  const lines: unknown[] = []
  const store = {
    users: {
      findByEmail: async (email: string) => {
        asked.push(email)
        return null
      },
    },
  }
  const log = pino({ base: null }, { write: line => lines.push(JSON.parse(line)) })
  const attempts = new AttemptLog({ store, throttle: {}, log } as unknown as Parts)
  const failed = { action: 'sign_in', method: 'password', failure: 'wrong' } as const
  const told = async (emails: readonly string[]) => {
    asked.length = lines.length = 0
    for (const email of emails) assert.equal(attempts.note(email, visit, failed), undefined)
    assert.deepEqual(asked, [], 'nothing is asked of the store before the response')
    await attempts.close()
    return [[...asked], lines.length]
  }
  const many = Array.from({ length: 700 }, (_, i) => `${i}@example.com`)
  assert.deepEqual(await told(many), [many.slice(0, 500), 1])
  assert.deepEqual(await told(['x'.repeat(255), 'y'.repeat(254)]), [['y'.repeat(254)], 0])
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: anyCharacter, maxLength: 254 })), async emails => {
      const possible = emails.filter(({ length }) => length <= 254)
      assert.deepEqual(await told(emails), [possible.slice(0, 500), 0])
    }),
  )
})

test('while the store takes its time, a flood has no more than one further batch wait', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const taken = Promise.withResolvers<null>()
  const asked: string[] = []
  const lines: unknown[] = []
  const findByEmail = (email: string) => {
    asked.push(email)
    return taken.promise
  }
  const log = pino({ base: null }, { write: line => lines.push(JSON.parse(line)) })
  const parts = { store: { users: { findByEmail } }, throttle: {}, log } as unknown as Parts
  const attempts = new AttemptLog(parts)
  for (let i = 0; i < 4; i++) {
    for (let j = 0; j < 500; j++)
      attempts.note(`${i}-${j}@example.com`, visit, {
        action: 'sign_in',
        method: 'password',
        failure: 'wrong',
      })
    t.mock.timers.tick(250)
  }
  assert.equal(asked.length, 1)
  taken.resolve(null)
  await attempts.close()
  assert.deepEqual([asked.length, asked.at(-1), lines.length], [1_000, '1-499@example.com', 1])
  attempts.note('after@example.com', visit, { action: 'sign_in', method: 'password', failure: 'wrong' })
  t.mock.timers.tick(250)
  assert.equal(asked.at(-1), 'after@example.com')
})

test('a store that is unreachable loses failures with one warning, and fails nobody', async () => {
  const lines: { readonly msg: string }[] = []
  const store = { users: { findByEmail: () => Promise.reject(new StoreUnreachable()) } }
  const log = pino({ base: null }, { write: line => lines.push(JSON.parse(line)) })
  const attempts = new AttemptLog({ store, throttle: {}, log } as unknown as Parts)
  for (let i = 0; i < 3; i++) {
    attempts.note('ada@example.com', visit, { action: 'sign_in', method: 'password', failure: 'wrong' })
    await attempts.close()
  }
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['writing failed sign-ins failed'],
  )
  assert.ok(!JSON.stringify(lines).includes('ada@'))
})

type Parts = ConstructorParameters<typeof AttemptLog>[0]
