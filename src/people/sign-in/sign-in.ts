// Signing in. A wrong guess gets the same words in the same time, whether or not the user exists.

import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { Clock } from '../../base/clock.ts'
import type { ProofMethod } from '../../store/records/records.ts'
import type { User } from '../../store/records/people.ts'
import type { Store } from '../../store/contract/store.ts'
import { withGuard } from '../passkeys/passkeys.ts'
import { normalEmail } from '../records/email.ts'
import type { AttemptLog, ProofAction } from './attempt-log.ts'
import type { Passwords } from '../passwords/passwords.ts'
import {
  hasSecondFactor,
  isAppCode,
  isFactorReadable,
  withUsedFactor,
} from '../second-factor/second-factor.ts'
import type { NewSession, Session, Sessions } from '../sessions/sessions.ts'
import type { Throttle } from './throttle.ts'
import { findTicket, type FirstProof, issueTicket, type Ticket, useTicket } from './ticket.ts'
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
    const ticket = await issueTicket(store, user, proof, this.#parts.clock.now())
    return { outcome: 'needs_code', ticket }
  }

  async withCode(
    { ticket: value, code }: { readonly ticket: string; readonly code: string },
    client: ClientInfo,
    replaced: string | null = null,
  ): Promise<CodeResult> {
    const { store, keys, throttle, attempts } = this.#parts
    const ticket = await findTicket(store, value)
    if (ticket === null) return { outcome: 'expired' }
    const { id, email } = ticket.user
    if (isAppCode(code) && !isFactorReadable(ticket.user, keys)) return { outcome: 'unreadable' }
    const attempt = await throttle.attempt(email, client.address)
    const way = isAppCode(code) ? 'code' : 'recovery_code'
    const tell = attempts.telling(email, client, { action: 'second_step', method: way })
    if ('retryAfter' in attempt) return tell.throttled(attempt)
    const at = this.#parts.clock.now()
    const user = await changeUser(store, id, before => withUsedFactor(before, code, keys, at))
    if (user === null) return tell.wrong()
    const result = await this.finish(ticket, user, way, client, replaced)
    if (result.outcome === 'signed_in') await attempt.forgive()
    return result
  }

  /** Begins the session of a ticket, after the second step of its user. */
  async finish(
    ticket: Ticket,
    user: User,
    way: ProofMethod,
    client: ClientInfo,
    replaced: string | null,
  ): Promise<SignedIn | { readonly outcome: 'expired' }> {
    const { store, sessions, clock } = this.#parts
    if (!(await useTicket(store, ticket, user, clock.now()))) return { outcome: 'expired' }
    const proof = { ...ticket.proof, secondFactor: true }
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
    action: ProofAction = 'sign_in',
  ): Promise<void> {
    await auditSignIn(this.#parts.store, user, client, this.#parts.clock.now(), { action, proof: { method } })
  }

  /** Digests a correct password again at the current cost; the user signs in even if that fails. */
  async #rehash(user: User, value: string): Promise<User> {
    const { store, passwords } = this.#parts
    const password = await passwords.hash(value)
    if (password === null) return user
    const isSame = (now: User) => now.password === user.password
    return (
      (await changeUser(store, user.id, now => (isSame(now) ? withGuard({ ...now, password }) : null))) ??
      user
    )
  }
}
