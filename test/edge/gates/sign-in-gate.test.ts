// Which people a gate lets in, and what its origins learn of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SignInGateConfig } from '../../../src/config/model/protect-config.ts'
import type { Admission, GateFault } from '../../../src/edge/gates/gate.ts'
import { SignInGate } from '../../../src/edge/gates/sign-in-gate.ts'
import type { KnownSiteSessions } from '../../../src/people/sessions/known-site-sessions.ts'
import type { SiteSession } from '../../../src/people/sessions/site-sessions.ts'
import { roles } from '../../../src/permissions/roles.ts'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'
import { anyone } from '../../help/site-sessions.ts'
import { linesAfter } from './lines-after.ts'

const value = 'a'.repeat(54)
const host = 'site.test'
const [superAdministrator, administrator] = roles
const memberships = [
  { account: 'one', roles: [superAdministrator!.id] },
  { account: 'two', roles: [administrator!.id] },
]
const ann = {
  ...{ id: 'u', email: 'ann@shop.example', emailVerifiedAt: 1, identity: null },
  ...{ firstName: 'Ann', lastName: 'Lee' },
}

const sessionWith = (user: object = {}, more: object = {}) =>
  ({
    ...{
      digest: 'd',
      host,
      endsAt: 1,
      parent: { secondFactor: true },
      memberships,
      user: { ...ann, ...user },
    },
    ...more,
  }) as unknown as SiteSession

type Found = SiteSession | null | Promise<SiteSession | null>

const sessionsWith = (found: () => Found, isCurrent = true) =>
  ({ find: found, review: found, isCurrent: () => isCurrent }) as unknown as KnownSiteSessions

const gateWith = (config: Partial<SignInGateConfig>, found: () => Found) =>
  new SignInGate({ ...anyone, ...config }, ['x-sub'], sessionsWith(found))

function outcomeOf(config: Partial<SignInGateConfig>, session: SiteSession): string {
  const outcome = gateWith(config, () => session).check(value, host) as Admission | GateFault
  return 'cause' in outcome ? outcome.cause.code : 'in'
}

const [inside, outside] = ['in', 'GH_SESSION_INSUFFICIENT']

test('all that is set must be true of a person, in one account', () => {
  const { name } = superAdministrator!
  for (const [config, user, outcome] of [
    [{}, {}, inside],
    [{ accounts: ['one'] }, {}, inside],
    [{ accounts: ['three', 'two'] }, {}, inside],
    [{ accounts: ['three'] }, {}, outside],
    [{ accounts: ['one'], roles: [administrator!.name, name] }, {}, inside],
    [{ accounts: ['two'], roles: [name] }, {}, outside],
    [{ domains: ['shop.example'] }, {}, inside],
    [{ domains: ['other.example', 'shop.example'] }, {}, inside],
    [{ domains: ['other.example'] }, {}, outside],
    [{ domains: ['shop.example'] }, { emailVerifiedAt: null }, outside],
    [{ domains: ['b.example'] }, { email: '"x@a.example"@b.example' }, inside],
    [{ domains: ['a.example'] }, { email: '"x@a.example"@b.example' }, outside],
    [{ condition: 'claims.sub == "u"' }, {}, inside],
    [{ condition: 'claims.sub == "v"' }, {}, outside],
    [{ condition: 'claims.nothing == "v"' }, {}, outside],
  ] as const)
    assert.equal(outcomeOf(config, sessionWith(user)), outcome, JSON.stringify([config, user]))
})

test('an origin learns of a person what counts here', () => {
  const config = { fields: [{ name: 'X-Sub', claim: 'sub' }] }
  const claimsOf = (user: object, accounts: readonly string[] = []) => {
    const { subject, claims, changes } = gateWith({ ...config, accounts }, () => sessionWith(user)).check(
      value,
      host,
    ) as Admission
    assert.equal(subject, 'user:u')
    assert.deepEqual(linesAfter(changes, ['x_sub', 'mallory', 'Authorization', 'Basic x']), [
      'Authorization: Basic x',
      'X-Sub: u',
    ])
    return claims
  }
  const usual = { sub: 'u', email: 'ann@shop.example', email_verified: true, second_factor: true }
  const names = roles.slice(0, 2).map(({ name }) => name)
  assert.deepEqual(claimsOf({}), { ...usual, name: 'Ann Lee', accounts: ['one', 'two'], roles: names })
  assert.deepEqual(claimsOf({ firstName: null }, ['two']), {
    ...usual,
    name: 'Lee',
    accounts: ['two'],
    roles: [names[1]],
  })
  assert.deepEqual(claimsOf({ firstName: null, lastName: null, emailVerifiedAt: null }, ['one']), {
    ...{ ...usual, email_verified: false },
    ...{ accounts: ['one'], roles: [names[0]] },
  })
})

test('a session counts at its own host, while it is one, and is judged once', async () => {
  const session = sessionWith()
  for (const found of [session, Promise.resolve(session)]) {
    const gate = gateWith({}, () => found)
    const first = (await gate.check(value, host)) as Admission
    assert.equal(first.isCurrent(), true)
    assert.equal(await gate.check(value, host), first)
    const elsewhere = (await gate.check(value, 'other.test')) as GateFault
    assert.deepEqual(
      [elsewhere.kind, elsewhere.cause.code, elsewhere.leadsToSignIn],
      ['invalid', 'GH_SESSION_ENDED', true],
    )
  }
  const none = gateWith({}, () => null).check(value, host) as GateFault
  assert.equal(none.cause.code, 'GH_SESSION_ENDED')
  const ended = new SignInGate(
    anyone,
    [],
    sessionsWith(() => session, false),
  )
  assert.equal((ended.check(value, host) as Admission).isCurrent(), false)
})

test('what is no value of a session is not looked up, and without a store nobody is let in', async () => {
  const unasked = () => assert.fail('looked up')
  for (const text of [null, '', value.slice(1), `${value}a`, `${value.slice(1)}=`]) {
    const { kind, cause, leadsToSignIn } = gateWith({}, unasked as never).check(text, host) as GateFault
    assert.deepEqual([kind, cause.code, leadsToSignIn], ['missing', 'GH_SESSION_MISSING', true])
  }
  const unchecked = [
    new SignInGate(anyone, [], null).check(value, host),
    await gateWith({}, () => Promise.reject(new StoreUnreachable())).check(value, host),
  ] as GateFault[]
  for (const { kind, cause, wait, leadsToSignIn } of unchecked)
    assert.deepEqual(
      [kind, cause.code, wait, leadsToSignIn],
      ['unavailable', 'GH_SESSION_UNCHECKED', 5, undefined],
    )
  const bug = gateWith({}, () => Promise.reject(new TypeError('a bug')))
  await assert.rejects(async () => bug.check(value, host), /a bug/)
})

test('what is open ends with its session where the gate says so, by the gates of that time', async () => {
  const session = sessionWith()
  const { watch: none } = gateWith({}, () => session).check(value, host) as Admission
  assert.equal(none, undefined)
  for (const isLate of [false, true]) {
    let found: SiteSession | null = session
    const sessions = () => (isLate ? Promise.resolve(found) : found)
    const gate = gateWith({ endsOpen: true, condition: 'claims.sub == "u"' }, sessions)
    const { watch } = (await gate.check(value, host)) as Admission
    assert.equal(watch!.kind, 'sign_in')
    const [laxer, stricter] = [gateWith({}, sessions), gateWith({ accounts: ['three'] }, sessions)]
    const codeWith = async (...gates: object[]) =>
      (await watch!.check(null as never, gates))?.cause.code ?? null
    assert.deepEqual(
      [
        await codeWith(gate, stricter),
        await codeWith({}, laxer),
        await codeWith(stricter),
        await codeWith({}),
      ],
      [null, null, 'GH_SESSION_INSUFFICIENT', 'GH_GATE_CHANGED'],
    )
    found = sessionWith({ id: 'v' })
    assert.equal(await codeWith(gate, laxer), 'GH_SESSION_INSUFFICIENT', 'its own gate decides')
    found = null
    assert.equal(await codeWith(gate), 'GH_SESSION_ENDED')
  }
  let isAway = false
  const sessions = () => (isAway ? Promise.reject(new StoreUnreachable()) : session)
  const gate = gateWith({ endsOpen: true }, sessions)
  const { watch } = gate.check(value, host) as Admission
  isAway = true
  assert.equal((await watch!.check(null as never, [gate]))!.kind, 'unavailable')
})
