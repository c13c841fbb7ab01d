// The second factor: codes of an authenticator app, and recovery codes. Each is valid once.

import { hash, randomBytes } from 'node:crypto'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { User } from '../../store/records/people.ts'
import type { Account } from '../../store/records/records.ts'
import { base32, isCode, matchingStep, otpauthUri } from './totp.ts'

const secretLength = 20
const recoveryCodeCount = 10
/** 80 bits: a digest of it needs no slow hash. */
const recoveryCodeLength = 10
const issuer = 'Gatehouse'

export interface Enrolment {
  readonly uri: string
  readonly secret: string
}

export function hasSecondFactor({ totp }: User): boolean {
  return totp !== null && totp.confirmedAt !== null
}

/** Without the factor that an account requires, its members may do nothing there. */
export function lacksSecondFactor(
  user: User,
  { enforceTwoFactor }: Pick<Account, 'enforceTwoFactor'>,
): boolean {
  return enforceTwoFactor === true && !hasSecondFactor(user)
}

/** False if the server key that encrypts the app's secret is lost. */
export function isFactorReadable(user: User, keys: SecretKeys): boolean {
  return !hasSecondFactor(user) || secretOf(user, keys) !== null
}

export function isAppCode(code: string): boolean {
  return isCode(digitsOf(code))
}

/** Begins an enrolment, in place of an unconfirmed one; null for users with a second factor. */
export function beginEnrolment(
  user: User,
  keys: SecretKeys,
): { readonly user: User; readonly enrolment: Enrolment } | null {
  if (hasSecondFactor(user)) return null
  const secret = randomBytes(secretLength)
  const sealed = keys.seal(secret.toString('base64url'), contextOf(user))
  const totp = { sealed, lastStep: 0, recoveryCodes: [], confirmedAt: null }
  return { user: { ...user, totp }, enrolment: enrolmentOf(user, secret) }
}

export function pendingEnrolment(user: User, keys: SecretKeys): Enrolment | null {
  const secret = hasSecondFactor(user) ? null : secretOf(user, keys)
  return secret && enrolmentOf(user, secret)
}

/** Completes an enrolment and returns the recovery codes, stored nowhere; null for a wrong code. */
export function confirmEnrolment(
  user: User,
  code: string,
  keys: SecretKeys,
  now: number,
): { readonly user: User; readonly recoveryCodes: readonly string[] } | null {
  const after = hasSecondFactor(user) ? null : withUsedCode(user, code, keys, now)
  if (after === null) return null
  return withNewRecoveryCodes({ ...after, totp: { ...after.totp!, confirmedAt: now } })
}

/** Returns ten new recovery codes, stored nowhere; null for users without a second factor. */
export function withNewRecoveryCodes(
  user: User,
): { readonly user: User; readonly recoveryCodes: readonly string[] } | null {
  if (!hasSecondFactor(user)) return null
  const recoveryCodes = Array.from({ length: recoveryCodeCount }, newRecoveryCode)
  const totp = { ...user.totp!, recoveryCodes: recoveryCodes.map(digestOf) }
  return { user: { ...user, totp }, recoveryCodes }
}

/** Uses up a code of the app or a recovery code; null if it is wrong, or was used before. */
export function withUsedFactor(user: User, code: string, keys: SecretKeys, now: number): User | null {
  if (!hasSecondFactor(user)) return null
  return withUsedCode(user, code, keys, now) ?? withUsedRecoveryCode(user, code)
}

function withUsedCode(user: User, code: string, keys: SecretKeys, now: number): User | null {
  const { totp } = user
  const digits = digitsOf(code)
  const secret = isCode(digits) ? secretOf(user, keys) : null
  if (totp === null || secret === null) return null
  const lastStep = matchingStep(secret, digits, now, totp.lastStep)
  return lastStep === null ? null : { ...user, totp: { ...totp, lastStep } }
}

function withUsedRecoveryCode(user: User, code: string): User | null {
  const totp = user.totp!
  const digest = digestOf(code)
  if (!totp.recoveryCodes.includes(digest)) return null
  return { ...user, totp: { ...totp, recoveryCodes: totp.recoveryCodes.filter(left => left !== digest) } }
}

function digitsOf(code: string): string {
  return code.replace(/[\s-]/g, '')
}

/** Null if there is none, or the key that encrypted it is not known any more. */
function secretOf(user: User, keys: SecretKeys): Buffer | null {
  const text = user.totp && keys.unseal(user.totp.sealed, contextOf(user))
  return text === null ? null : Buffer.from(text, 'base64url')
}

function contextOf({ id }: User): string {
  return `totp of ${id}`
}

function enrolmentOf({ email }: User, secret: Buffer): Enrolment {
  return { uri: otpauthUri(secret, issuer, email), secret: base32(secret) }
}

function newRecoveryCode(): string {
  return base32(randomBytes(recoveryCodeLength)).toLowerCase().match(/.{4}/g)!.join('-')
}

/** Digests a recovery code as it may be typed: in any case, with spaces or without hyphens. */
function digestOf(code: string): string {
  return hash('sha256', code.toLowerCase().replace(/[^a-z2-7]/g, ''))
}
