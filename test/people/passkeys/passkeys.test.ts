import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Passkey } from '../../../src/store/records/people.ts'
import { challengeTime, newChallenge } from '../../../src/people/passkeys/challenges.ts'
import {
  isSamePassword,
  passkeysAt,
  withGuard,
  withoutLeftPasskeys,
  withoutPasskey,
  withPasskey,
  withUsedPasskey,
} from '../../../src/people/passkeys/passkeys.ts'
import { guarded } from '../../../src/people/passwords/argon2.ts'
import { hasSecondFactor } from '../../../src/people/second-factor/second-factor.ts'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import { passkey } from '../../store/contract-specimens.ts'
import { userWith } from '../user-with.ts'

test('passkeys that a removed password has left do not come back with a new one', () => {
  const key = { id: 'a', host: 'id.example' } as Passkey
  const passkeys = { keys: [key], challengedAt: 1 }
  const left = userWith({ password: null, passkeys })
  const again = { ...withoutLeftPasskeys(left), password: 'digest' }
  assert.deepEqual(passkeysAt(again, 'id.example'), [])
  const kept = userWith({ password: 'digest', passkeys })
  assert.deepEqual(passkeysAt(withoutLeftPasskeys(kept), 'id.example'), [key])
})

const digest = '$argon2id$digest'
const holder = (...keys: readonly Passkey[]) =>
  userWith({ password: guarded(digest), passkeys: { keys, challengedAt: 10 }, factorSetAt: 5 })

test('a passkey signs at its own host, beside a password alone', () => {
  const [here, there] = [passkey({ host: 'id.example' }), passkey({ host: 'other.example' })]
  assert.deepEqual(passkeysAt(holder(here, there), 'id.example'), [here])
  assert.deepEqual(passkeysAt({ ...holder(here), password: null }, 'id.example'), [])
  assert.deepEqual(passkeysAt(userWith({ password: digest }), 'id.example'), [])
})

test('a passkey is added once, by a new challenge, up to twenty; the first one brings recovery codes', () => {
  const key = passkey({ createdAt: 7 })
  const { user, recoveryCodes } = withPasskey(userWith({ password: digest }), key, 1)!
  assert.deepEqual([user.passkeys, user.factorSetAt], [{ keys: [key], challengedAt: 1 }, 7])
  assert.deepEqual([user.password, recoveryCodes?.length], [guarded(digest), 10])
  const more = withPasskey(user, passkey(), 2)!
  assert.deepEqual([more.recoveryCodes, more.user.recoveryCodes], [null, user.recoveryCodes])
  assert.equal(more.user.passkeys?.keys.length, 2)
  for (const [other, challengedAt] of [
    [key, 2],
    [passkey(), 1],
    [passkey(), 0],
  ] as const)
    assert.equal(withPasskey(user, other, challengedAt), null)
  const many = (count: number) => holder(...Array.from({ length: count }, () => passkey()))
  assert.ok(withPasskey(many(19), passkey(), 11))
  assert.equal(withPasskey(many(20), passkey(), 11), null)
})

test('a passkey signs each challenge once, in order, with a counter that goes on', () => {
  const key = passkey({ counter: 4 })
  const none = passkey({ counter: 0 })
  const user = holder(key, none)
  const use = (id: string, counter: number, challengedAt: number) =>
    withUsedPasskey(user, { id, counter, challengedAt }, 99)
  const used = use(key.id, 5, 11)
  assert.ok(used.use === 'used')
  assert.deepEqual(used.user.passkeys, {
    keys: [{ ...key, counter: 5, usedAt: 99 }, none],
    challengedAt: 11,
  })
  for (const [id, counter, challengedAt, why] of [
    ['other', 5, 11, 'gone'],
    [key.id, 5, 10, 'replayed'],
    [key.id, 5, 9, 'replayed'],
    [key.id, 4, 11, 'old_counter'],
    [key.id, 3, 11, 'old_counter'],
    [key.id, 0, 11, 'old_counter'],
    [none.id, 0, 11, 'used'],
    [none.id, 1, 11, 'used'],
  ] as const)
    assert.equal(use(id, counter, challengedAt).use, why, `${counter} ${challengedAt}`)
  assert.equal(withUsedPasskey(userWith(), { id: key.id, counter: 5, challengedAt: 1 }, 99).use, 'gone')
})

test('the last passkey takes the second factor with it, unless there is an app, and never its challenge', () => {
  const [one, two] = [passkey(), passkey()]
  const left = withoutPasskey(holder(one, two), one.id)!
  assert.deepEqual([left.passkeys, left.factorSetAt], [{ keys: [two], challengedAt: 10 }, 5])
  assert.equal(left.password, guarded(digest))
  const last = withoutPasskey(left, two.id)!
  assert.deepEqual([last.passkeys, last.password], [{ keys: [], challengedAt: 10 }, digest])
  assert.deepEqual([hasSecondFactor(last), 'factorSetAt' in last], [false, false])
  assert.equal(withPasskey(last, passkey(), 10), null, 'an old challenge')
  const totp = { sealed: 'x', lastStep: 0, recoveryCodes: [], confirmedAt: 3 }
  const beside = withoutPasskey({ ...holder(one), totp }, one.id)!
  assert.deepEqual([beside.totp, beside.factorSetAt], [totp, 5])
  for (const user of [holder(one), userWith()]) assert.equal(withoutPasskey(user, two.id), null)
})

test('a password is guarded beside passkeys alone, and the same guarded or not', () => {
  const plain = userWith({ password: digest })
  const held = holder(passkey())
  assert.deepEqual(
    [plain, { ...held, password: digest }, holder(), { ...held, password: null }].map(
      user => withGuard(user).password,
    ),
    [digest, guarded(digest), digest, null],
  )
  const without = userWith({ password: null })
  for (const [one, other, isSame] of [
    [plain, held, true],
    [plain, { ...held, password: guarded('other') }, false],
    [without, without, true],
    [without, plain, false],
    [plain, without, false],
  ] as const)
    assert.equal(isSamePassword(one, other), isSame)
})

test('a challenge is for its purpose, browser and key, and for ten minutes', () => {
  const keys = new SecretKeys(Buffer.alloc(32, 'key'))
  const use = { purpose: 'sign in', browser: 'a' }
  const made = newChallenge(use, keys, 7)
  const time = (challenge: string, more: Partial<typeof use>, now: number, by = keys) =>
    challengeTime(challenge, { ...use, ...more }, by, now)
  assert.deepEqual([time(made, {}, 7), time(made, {}, 600_006), time(made, {}, 600_007)], [7, 7, null])
  for (const more of [{ purpose: 'confirm' }, { browser: 'b' }]) assert.equal(time(made, more, 8), null)
  assert.equal(time(made, {}, 8, new SecretKeys(Buffer.alloc(32, 'other'))), null)
  for (const text of ['', 'x', `${made}A`]) assert.equal(time(text, {}, 8), null)
})
