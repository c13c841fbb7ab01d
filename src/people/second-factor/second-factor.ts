// The second factor: an authenticator app or passkeys, and recovery codes. Each code is valid once.

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

export function hasApp({ totp }: User): boolean {
  return totp !== null && totp.confirmedAt !== null
}

/** A passkey for whichever host: without it, a password alone opens nothing. */
export function hasSecondFactor(user: User): boolean {
  return hasApp(user) || (user.passkeys?.keys.length ?? 0) > 0
}

/** When the factor was set that sessions must have known (ms since the epoch); null without one. */
export function factorSetAt(user: User): number | null {
  return hasSecondFactor(user) ? (user.factorSetAt ?? user.totp?.confirmedAt ?? null) : null
}

export function recoveryCodesOf({ recoveryCodes, totp }: User): readonly string[] {
  return recoveryCodes ?? totp?.recoveryCodes ?? []
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
  return !hasApp(user) || secretOf(user, keys) !== null
}

export function isAppCode(code: string): boolean {
  return isCode(digitsOf(code))
}

/** Begins an enrolment, in place of an unconfirmed one; null for users with an app. */
export function beginEnrolment(
  user: User,
  keys: SecretKeys,
): { readonly user: User; readonly enrolment: Enrolment } | null {
  if (hasApp(user)) return null
  const secret = randomBytes(secretLength)
  const sealed = keys.seal(secret.toString('base64url'), contextOf(user))
  const totp = { sealed, lastStep: 0, recoveryCodes: [], confirmedAt: null }
  return { user: { ...user, totp }, enrolment: enrolmentOf(user, secret) }
}

export function pendingEnrolment(user: User, keys: SecretKeys): Enrolment | null {
  const secret = hasApp(user) ? null : secretOf(user, keys)
  return secret && enrolmentOf(user, secret)
}

/** Completes an enrolment and returns the recovery codes, stored nowhere; null for a wrong code. */
export function confirmEnrolment(
  user: User,
  code: string,
  keys: SecretKeys,
  now: number,
): { readonly user: User; readonly recoveryCodes: readonly string[] } | null {
  const after = hasApp(user) ? null : withUsedCode(user, code, keys, now)
  if (after === null) return null
  return withNewRecoveryCodes({ ...after, totp: { ...after.totp!, confirmedAt: now }, factorSetAt: now })
}

/** Returns ten new recovery codes, stored nowhere; null for users without a second factor. */
export function withNewRecoveryCodes(
  user: User,
): { readonly user: User; readonly recoveryCodes: readonly string[] } | null {
  if (!hasSecondFactor(user)) return null
  const recoveryCodes = Array.from({ length: recoveryCodeCount }, newRecoveryCode)
  return { user: withCodes(user, recoveryCodes.map(digestOf)), recoveryCodes }
}

/** Removes the app; the recovery codes stay only if there is another second factor. */
export function withoutApp(user: User): User {
  const without = { ...user, totp: null }
  if (!hasSecondFactor(without)) return withoutFactors(user)
  return { ...without, recoveryCodes: recoveryCodesOf(user), factorSetAt: factorSetAt(user)! }
}

export function withoutFactors({ passkeys, recoveryCodes, factorSetAt, ...user }: User): User {
  return { ...user, totp: null }
}

/** Uses up a code of the app or a recovery code; null if it is wrong, or was used before. */
export function withUsedFactor(user: User, code: string, keys: SecretKeys, now: number): User | null {
  if (!hasSecondFactor(user)) return null
  const after = hasApp(user) ? withUsedCode(user, code, keys, now) : null
  return after ?? withUsedRecoveryCode(user, code)
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
  const codes = recoveryCodesOf(user)
  const digest = digestOf(code)
  return codes.includes(digest)
    ? withCodes(
        user,
        codes.filter(left => left !== digest),
      )
    : null
}

/** Codes of older records, in `totp`, move. */
function withCodes(user: User, recoveryCodes: readonly string[]): User {
  return { ...user, recoveryCodes, totp: user.totp && { ...user.totp, recoveryCodes: [] } }
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
