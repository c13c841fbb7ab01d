import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import {
  beginEnrolment,
  confirmEnrolment,
  hasSecondFactor,
  pendingEnrolment,
  recoveryCodesOf,
  withUsedFactor,
} from '../../../src/people/second-factor/second-factor.ts'
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
