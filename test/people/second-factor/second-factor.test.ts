import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import {
  beginEnrolment,
  confirmEnrolment,
  factorSetAt,
  hasSecondFactor,
  isAppCode,
  isFactorReadable,
  lacksSecondFactor,
  pendingEnrolment,
  recoveryCodesOf,
  withNewRecoveryCodes,
  withoutApp,
  withoutFactors,
  withUsedFactor,
} from '../../../src/people/second-factor/second-factor.ts'
import { passkey } from '../../store/contract-specimens.ts'
import { codeAt, secretOfUri } from '../authenticator.ts'
import { userWith } from '../user-with.ts'

const keys = new SecretKeys(randomBytes(32))
const now = Date.UTC(2026, 0, 1)
const later = now + 30_000

/** Enrols a user, whose app reads `uri`. */
function enrolled() {
  const { user: begun, enrolment } = beginEnrolment(userWith(), keys)!
  return { uri: enrolment.uri, ...confirmEnrolment(begun, codeAt(enrolment.uri, now), keys, now)! }
}

test('an enrolment protects nothing until a code of the app confirms it', () => {
  const { user: begun, enrolment } = beginEnrolment(userWith(), keys)!
  const code = codeAt(enrolment.uri, now)
  assert.equal(hasSecondFactor(begun), false)
  assert.deepEqual(pendingEnrolment(begun, keys), enrolment)
  assert.equal(pendingEnrolment(userWith(), keys), null)
  assert.equal(confirmEnrolment(begun, codeAt(enrolment.uri, now + 300_000), keys, now), null)
  assert.equal(withUsedFactor(begun, code, keys, now), null)
  const { user } = confirmEnrolment(begun, code, keys, now)!
  assert.equal(hasSecondFactor(user), true)
  assert.equal(user.totp!.confirmedAt, now)
})

test('a second factor that is there is not replaced by another enrolment', () => {
  const { user, uri } = enrolled()
  assert.deepEqual([beginEnrolment(user, keys), pendingEnrolment(user, keys)], [null, null])
  assert.equal(confirmEnrolment(user, codeAt(uri, later), keys, later), null)
})

test('each code is good once, that of the confirmation included', () => {
  const { user, uri } = enrolled()
  assert.equal(withUsedFactor(user, codeAt(uri, now), keys, now), null)
  const used = withUsedFactor(user, codeAt(uri, later), keys, later)!
  assert.equal(withUsedFactor(used, codeAt(uri, later), keys, later), null)
  assert.equal(withUsedFactor(used, codeAt(uri, now), keys, later), null)
  const code = codeAt(uri, later + 30_000)
  assert.ok(withUsedFactor(used, ` ${code.slice(0, 3)} ${code.slice(3)}`, keys, later), 'as apps show it')
})

test('ten recovery codes are each good once, however they are typed', () => {
  const { user, recoveryCodes } = enrolled()
  assert.equal(new Set(recoveryCodes).size, 10)
  assert.match(recoveryCodes[0]!, /^([a-z2-7]{4}-){3}[a-z2-7]{4}$/)
  let left = user
  for (const [i, code] of recoveryCodes.entries()) {
    const typed = i % 2 ? code : ` ${code.toUpperCase().replaceAll('-', ' ')}`
    const after = withUsedFactor(left, typed, keys, now)!
    assert.equal(recoveryCodesOf(after).length, 9 - i)
    assert.equal(withUsedFactor(after, code, keys, now), null)
    left = after
  }
  for (const code of ['', '-', 'aaaa-aaaa-aaaa-aaaa'])
    assert.equal(withUsedFactor(user, code, keys, now), null)
})

test('recovery codes of older records, which have them beside the app, are each good once too', () => {
  const { user, recoveryCodes } = enrolled()
  const { recoveryCodes: digests = [], factorSetAt: _, ...others } = user
  const older = { ...others, totp: { ...user.totp!, recoveryCodes: digests } }
  assert.equal(recoveryCodesOf(older).length, 10)
  const after = withUsedFactor(older, recoveryCodes[3]!, keys, now)!
  assert.equal(recoveryCodesOf(after).length, 9)
  assert.deepEqual(after.totp!.recoveryCodes, [], 'they have moved')
  assert.equal(withUsedFactor(after, recoveryCodes[3]!, keys, now), null)
  assert.ok(withUsedFactor(after, recoveryCodes[4]!, keys, now))
})

test('a stored second factor contains neither the secret nor a recovery code, and cannot be opened for another user or with another key', () => {
  const { user, uri, recoveryCodes } = enrolled()
  const kept = JSON.stringify(user)
  const secret = secretOfUri(uri)
  const values = [new URL(uri).searchParams.get('secret')!, secret.toString('base64url'), ...recoveryCodes]
  for (const value of values) assert.ok(!kept.includes(value))
  const code = codeAt(uri, later)
  assert.equal(withUsedFactor(userWith({ totp: user.totp }), code, keys, later), null)
  assert.equal(withUsedFactor(user, code, new SecretKeys(randomBytes(32)), later), null)
})

const passkeys = { keys: [passkey()], challengedAt: 1 }

test('a passkey is a second factor, and an app that is not confirmed adds nothing to it', () => {
  const { user: begun, enrolment } = beginEnrolment(userWith({ passkeys, factorSetAt: 7 }), keys)!
  assert.equal(hasSecondFactor(begun), true)
  assert.equal(withUsedFactor(begun, codeAt(enrolment.uri, now), keys, now), null)
  const { user, recoveryCodes } = withNewRecoveryCodes(begun)!
  assert.ok(withUsedFactor(user, recoveryCodes[0]!, keys, now))
  assert.equal(withNewRecoveryCodes(userWith({ passkeys }))!.user.totp, null)
  assert.equal(hasSecondFactor(userWith({ passkeys: { keys: [], challengedAt: 1 } })), false)
})

test('who has no second factor has no codes of one, and is shut out where one is required', () => {
  const { user, uri, recoveryCodes } = enrolled()
  const without = withoutFactors(user)
  assert.deepEqual([without.totp, recoveryCodesOf(without), factorSetAt(without)], [null, [], null])
  assert.equal(withNewRecoveryCodes(without), null)
  const left = { ...without, recoveryCodes: user.recoveryCodes! }
  for (const code of [recoveryCodes[0]!, codeAt(uri, later)])
    assert.equal(withUsedFactor(left, code, keys, later), null)
  for (const [enforceTwoFactor, ...isShut] of [
    [true, true, false],
    [false, false, false],
  ] as const)
    assert.deepEqual(
      [left, user].map(one => lacksSecondFactor(one, { enforceTwoFactor })),
      isShut,
    )
  assert.equal(lacksSecondFactor(left, {}), false)
})

test('the time at which a factor was set is that of the record, or of the app in older ones', () => {
  const { user } = enrolled()
  assert.equal(factorSetAt(user), now)
  const { factorSetAt: _, ...older } = user
  assert.equal(factorSetAt({ ...older, totp: { ...user.totp!, confirmedAt: 5 } }), 5)
  assert.equal(factorSetAt({ ...user, factorSetAt: 7 }), 7)
  assert.equal(factorSetAt(userWith({ passkeys })), null)
  assert.equal(factorSetAt(userWith({ factorSetAt: 7 })), null)
})

test('recovery codes and the time of the factor stay with a passkey once the app is removed, and with nothing else', () => {
  const { user, recoveryCodes } = enrolled()
  assert.deepEqual(withoutApp(user), withoutFactors(user))
  const both = { ...user, passkeys }
  const { totp, factorSetAt: setAt, ...left } = withoutApp(both)
  assert.deepEqual([totp, setAt, recoveryCodesOf({ ...left, totp })], [null, now, user.recoveryCodes])
  assert.ok(withUsedFactor(withoutApp(both), recoveryCodes[1]!, keys, now))
  const renewed = withNewRecoveryCodes(both)!
  assert.equal(withUsedFactor(renewed.user, recoveryCodes[1]!, keys, now), null)
  assert.equal(renewed.recoveryCodes.length, 10)
  assert.deepEqual(renewed.user.totp!.recoveryCodes, [])
})

test('a code of an app is told from a recovery code, and whether it can be checked', () => {
  for (const code of ['123456', ' 123 456', '123-456']) assert.equal(isAppCode(code), true, code)
  for (const code of ['', '12345', '1234567', 'aaaa-aaaa-aaaa-aaaa'])
    assert.equal(isAppCode(code), false, code)
  const { user } = enrolled()
  const lost = new SecretKeys(randomBytes(32))
  assert.deepEqual([isFactorReadable(user, keys), isFactorReadable(user, lost)], [true, false])
  const { user: begun } = beginEnrolment(userWith({ passkeys }), keys)!
  assert.equal(isFactorReadable(begun, lost), true, 'a passkey needs no key')
  assert.equal(pendingEnrolment(begun, lost), null)
})

test('an enrolment is replaced by another one until it is confirmed', () => {
  const { user: begun, enrolment } = beginEnrolment(userWith(), keys)!
  const again = beginEnrolment(begun, keys)!
  assert.notEqual(again.enrolment.secret, enrolment.secret)
  assert.equal(again.enrolment.secret.length, 32)
  assert.equal(confirmEnrolment(again.user, codeAt(enrolment.uri, now), keys, now), null)
  const { user } = confirmEnrolment(again.user, codeAt(again.enrolment.uri, now), keys, now)!
  assert.deepEqual([user.totp!.confirmedAt, user.factorSetAt], [now, now])
  assert.equal(confirmEnrolment(userWith(), '123456', keys, now), null)
})
