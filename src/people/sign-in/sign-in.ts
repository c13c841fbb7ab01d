// Signing in. A wrong guess gets the same words in the same time, whether or not the user exists.

import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { Clock } from '../../base/clock.ts'
import type { Credential } from '../../store/records/credential.ts'
import type { ProofMethod } from '../../store/records/records.ts'
import { everybody, type User } from '../../store/records/people.ts'
import type { Store } from '../../store/contract/store.ts'
import { normalEmail } from '../records/email.ts'
import type { AttemptLog } from './attempt-log.ts'
import type { Passwords } from '../passwords/passwords.ts'
import {
  hasSecondFactor,
  isAppCode,
  isFactorReadable,
  withUsedFactor,
} from '../second-factor/second-factor.ts'
import { digestOfValue, isValue, newValue } from '../records/secret-value.ts'
import type { NewSession, Session, Sessions, SignInMethod } from '../sessions/sessions.ts'
import type { Throttle } from './throttle.ts'
import { auditSignIn } from '../records/self-audit.ts'
import { changeUser } from '../records/users.ts'
import type { ClientInfo } from '../records/client-info.ts'

/** An attempt that cannot be made now; `retryAfter` is in seconds. */
export type TryLater =
  | { readonly outcome: 'throttled'; readonly retryAfter: number }
  | { readonly outcome: 'busy'; readonly retryAfter: number }

export interface SignedIn extends NewSession {
  readonly outcome: 'signed_in'
  readonly user: User
}

export interface NeedsCode {
  readonly outcome: 'needs_code'
  readonly ticket: string
}

type SignInResult = SignedIn | NeedsCode | TryLater | { readonly outcome: 'refused' }

/** `expired`: the ticket is old or used. `unreadable`: the key to check app codes is lost. */
type CodeResult = SignedIn | TryLater | { readonly outcome: 'refused' | 'expired' | 'unreadable' }

/** `expired`: the session ended in between. */
type ConfirmResult = SignedIn | TryLater | { readonly outcome: 'refused' | 'no_password' | 'expired' }

export interface SignInParts {
  readonly store: Store
  readonly keys: SecretKeys
  readonly passwords: Passwords
  readonly sessions: Sessions
  readonly throttle: Throttle
  readonly attempts: AttemptLog
  readonly clock: Clock
}

/** Too many passwords are being compared: in two seconds they are done. */
export const busy = { outcome: 'busy', retryAfter: 2 } as const

const ticketLife = 600_000

export class SignIn {
  readonly #parts: SignInParts

  constructor(parts: SignInParts) {
    this.#parts = parts
  }

  /** `replaced` is the value of the browser's previous session, which ends with success. */
  async withPassword(
    { email: written, password }: { readonly email: string; readonly password: string },
    client: ClientInfo,
    replaced: string | null = null,
  ): Promise<SignInResult> {
    const { store, passwords, throttle, attempts } = this.#parts
    const email = normalEmail(written.trim())
    const at = this.#parts.clock.now()
    const attempt = await throttle.attempt(email, client.address)
    const tell = attempts.telling(email, client, { action: 'sign_in', method: 'password' })
    if ('retryAfter' in attempt) return tell.throttled(attempt)
    const stored = await store.users.findByEmail(email)
    const verdict = await passwords.verify(password, stored?.record.password ?? null)
    if (verdict === null) {
      await attempt.forgive()
      return busy
    }
    if (!verdict.matches || stored === null) return tell.wrong()
    await attempt.forgive()
    const user = verdict.isOutdated ? await this.#rehash(stored.record, password) : stored.record
    return this.proceed(user, { method: 'password', at }, client, replaced)
  }

  /** Continues with a user who has proved who they are: to a session, or to the code of a second factor. */
  async proceed(
    user: User,
    proof: FirstProof,
    client: ClientInfo,
    replaced: string | null = null,
  ): Promise<SignedIn | NeedsCode> {
    const { store, sessions } = this.#parts
    if (!hasSecondFactor(user)) {
      const begun = await sessions.begin(user, { ...proof, secondFactor: false }, client, replaced)
      await this.#tell(user, client, proof.method)
      return { outcome: 'signed_in', user, ...begun }
    }
    const { value, digest } = newValue()
    await store.credentials.put(ticketOf(user, digest, proof, this.#parts.clock.now()))
    return { outcome: 'needs_code', ticket: value }
  }

  async withCode(
    { ticket, code }: { readonly ticket: string; readonly code: string },
    client: ClientInfo,
    replaced: string | null = null,
  ): Promise<CodeResult> {
    const { store, keys, sessions, throttle, attempts } = this.#parts
    const credential = isValue(ticket) ? await store.credentials.get('sign_in', digestOfValue(ticket)) : null
    const holder = credential && credential.consumedAt === null && isTicket(credential) ? credential : null
    const owner = holder && (await store.users.get(everybody, holder.user!))
    if (!holder || !owner || isOutlived(holder, owner.record)) return { outcome: 'expired' }
    if (isAppCode(code) && !isFactorReadable(owner.record, keys)) return { outcome: 'unreadable' }
    const attempt = await throttle.attempt(owner.record.email, client.address)
    const way = isAppCode(code) ? 'code' : 'recovery_code'
    const tell = attempts.telling(owner.record.email, client, { action: 'second_step', method: way })
    if ('retryAfter' in attempt) return tell.throttled(attempt)
    const at = this.#parts.clock.now()
    const user = await changeUser(store, owner.record.id, before => withUsedFactor(before, code, keys, at))
    if (user === null) return tell.wrong()
    const consumed = await store.credentials.consume('sign_in', holder.digest, at)
    if (!consumed?.isFirst || isOutlived(holder, user)) return { outcome: 'expired' }
    await attempt.forgive()
    const proof = { ...firstProofOf(holder), secondFactor: true }
    const begun = await sessions.begin(user, proof, client, replaced)
    await this.#tell(user, client, way, 'second_step')
    await this.#tell(user, client, proof.method)
    return { outcome: 'signed_in', user, ...begun }
  }

  /** Proves the user again before a risky action; those without a password return to the provider. */
  async confirm(
    { session, user }: { readonly session: Session; readonly user: User },
    password: string,
    client: ClientInfo,
  ): Promise<ConfirmResult> {
    const { passwords, sessions, throttle, attempts } = this.#parts
    if (user.password === null) return { outcome: 'no_password' }
    const at = this.#parts.clock.now()
    const attempt = await throttle.attempt(user.email, client.address)
    const tell = attempts.telling(user.email, client, { action: 'confirm', method: 'password' })
    if ('retryAfter' in attempt) return tell.throttled(attempt)
    const verdict = await passwords.verify(password, user.password)
    if (verdict?.matches === false) return tell.wrong()
    await attempt.forgive()
    if (verdict === null) return busy
    const renewed = await sessions.renew(session, at)
    if (renewed === null) return { outcome: 'expired' }
    await this.#tell(user, client, 'password', 'confirm')
    return { outcome: 'signed_in', user, ...renewed }
  }

  async #tell(
    user: User,
    client: ClientInfo,
    method: ProofMethod,
    action: 'sign_in' | 'second_step' | 'confirm' = 'sign_in',
  ): Promise<void> {
    await auditSignIn(this.#parts.store, user, client, this.#parts.clock.now(), { action, proof: { method } })
  }

  /** Digests a correct password again at the current cost; the user signs in even if that fails. */
  async #rehash(user: User, value: string): Promise<User> {
    const { store, passwords } = this.#parts
    const password = await passwords.hash(value)
    if (password === null) return user
    const isSame = (now: User) => now.password === user.password
    return (await changeUser(store, user.id, now => (isSame(now) ? { ...now, password } : null))) ?? user
  }
}

/** The proof before a code is asked for. The session dates from it, however late the code arrives. */
interface FirstProof {
  readonly method: SignInMethod
  /** Null if the OpenID provider did not say. */
  readonly at: number | null
}

function ticketOf(
  { id, passwordChangedAt }: User,
  digest: string,
  { method, at }: FirstProof,
  now: number,
): Credential {
  const of = { kind: 'sign_in', digest, user: id, client: null, grant: null } as const
  return {
    ...of,
    data: { step: 'code', method, at, passwordSetAt: passwordChangedAt },
    createdAt: now,
    expiresAt: now + ticketLife,
    consumedAt: null,
  }
}

function isTicket({ data, user }: Credential): boolean {
  return user !== null && (data as { readonly step?: unknown }).step === 'code'
}

function firstProofOf({ data }: Credential): FirstProof {
  // Tickets of older versions do not say when.
  const { method, at = null } = data as { readonly method: SignInMethod; readonly at?: number | null }
  return { method, at }
}

function isOutlived({ data }: Credential, { passwordChangedAt }: User): boolean {
  return (data as { readonly passwordSetAt: number | null }).passwordSetAt !== passwordChangedAt
}
