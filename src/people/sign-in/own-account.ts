// Changes of people to their own sign-in. Risky ones require a fresh proof of identity.

import { roleOf } from '../../permissions/roles.ts'
import type { Member, User } from '../../store/records/people.ts'
import type { Account } from '../../store/records/records.ts'
import { withGuard, withoutLeftPasskeys } from '../passkeys/passkeys.ts'
import { passwordFlaw, type PasswordFlaw } from '../passwords/password-rules.ts'
import {
  beginEnrolment,
  confirmEnrolment,
  type Enrolment,
  hasApp,
  lacksSecondFactor,
  pendingEnrolment,
  withNewRecoveryCodes,
  withoutApp,
} from '../second-factor/second-factor.ts'
import { isStale, type NewSession, type Session } from '../sessions/sessions.ts'
import { busy, type TryLater, type SignInParts } from './sign-in.ts'
import { signOut } from '../sessions/sign-out.ts'
import { changeAudited, SelfAudit } from '../records/self-audit.ts'
import { changeUser } from '../records/users.ts'
import type { ClientInfo } from '../records/client-info.ts'

export interface Actor {
  readonly session: Session
  readonly user: User
}

/** The user must prove again who they are: `SignIn.confirm`, or a new sign-in at the provider. */
type Stale = { readonly outcome: 'stale' }

type PasswordResult =
  | TryLater
  | Stale
  /** Every other session of the user has ended, and this one has a new value. */
  | ({ readonly outcome: 'changed' } & NewSession)
  | { readonly outcome: 'flawed'; readonly flaw: PasswordFlaw }
  | { readonly outcome: 'refused' }

type EnrolmentResult =
  | Stale
  | { readonly outcome: 'begun'; readonly enrolment: Enrolment }
  | { readonly outcome: 'enrolled' }

type CodesResult =
  | Stale
  | { readonly outcome: 'confirmed'; readonly recoveryCodes: readonly string[] }
  | { readonly outcome: 'refused' }

type ConfirmResult =
  | Stale
  /** Every other session of the user has ended, and this one has a new value. */
  | ({ readonly outcome: 'confirmed'; readonly recoveryCodes: readonly string[] } & NewSession)
  | { readonly outcome: 'refused' }

interface AccountStatus {
  readonly isMember: boolean
  readonly mustTwoStep: boolean
  readonly running: readonly Pick<Account, 'id' | 'name'>[]
}

function mayRun({ roles }: Member): boolean {
  return roles.some(id => roleOf(id)?.permissions.includes('AI Gateway Run'))
}

const maxHidden = 100

export class OwnAccount {
  readonly #parts: SignInParts

  constructor(parts: SignInParts) {
    this.#parts = parts
  }

  /** Requires the current password, or a recent sign-in at a provider from users without one. */
  async changePassword(
    { session, user }: Actor,
    { current, password }: { readonly current: string; readonly password: string },
    client: ClientInfo,
  ): Promise<PasswordResult> {
    const { store, passwords, sessions } = this.#parts
    const now = this.#parts.clock.now()
    const flaw = passwordFlaw(password, await this.#wordsOf(user))
    if (flaw !== null) return { outcome: 'flawed', flaw }
    const refusal =
      user.password === null ? staleness(session, now) : await this.#refusalOf(user, current, client)
    if (refusal) return refusal
    const digest = await passwords.hash(password)
    if (digest === null) return busy
    const change = (before: User) =>
      before.password === user.password
        ? withGuard({
            ...{ ...withoutLeftPasskeys(before), password: digest },
            ...{ passwordChangedAt: now, modifiedAt: now },
          })
        : null
    const deed = { action: 'change_password', client, now } as const
    const changed = await changeAudited(store, user, deed, change, () => sessions.endAll(user.id))
    if (changed === null) return { outcome: 'refused' }
    const { method, secondFactor } = session
    const at = user.password === null ? session.authenticatedAt : now
    const begun = await sessions.begin(changed, { method, secondFactor, at }, client)
    return { outcome: 'changed', ...begun }
  }

  async hideFirstSteps({ user }: Actor, account: string): Promise<void> {
    await changeUser(this.#parts.store, user.id, before => {
      const others = (before.hiddenFirstSteps ?? []).filter(id => id !== account)
      return { ...before, hiddenFirstSteps: [...others, account].slice(-maxHidden) }
    })
  }

  async beginTotp({ session, user }: Actor): Promise<EnrolmentResult> {
    const stale = staleness(session, this.#parts.clock.now())
    if (stale) return stale
    const { store, keys } = this.#parts
    const begun = await changeUser(store, user.id, before => beginEnrolment(before, keys)?.user ?? null)
    const enrolment = begun && pendingEnrolment(begun, keys)
    return enrolment ? { outcome: 'begun', enrolment } : { outcome: 'enrolled' }
  }

  pendingTotp({ session, user }: Actor): Enrolment | Stale | null {
    const pending = pendingEnrolment(user, this.#parts.keys)
    return pending && (staleness(session, this.#parts.clock.now()) ?? pending)
  }

  async confirmTotp({ session, user }: Actor, code: string, client: ClientInfo): Promise<ConfirmResult> {
    const { store, keys, sessions } = this.#parts
    const now = this.#parts.clock.now()
    const stale = staleness(session, now)
    if (stale) return stale
    let recoveryCodes: readonly string[] = []
    const confirm = (before: User) => {
      const confirmed = confirmEnrolment(before, code, keys, now)
      recoveryCodes = confirmed?.recoveryCodes ?? []
      return confirmed && { ...confirmed.user, modifiedAt: now }
    }
    const deed = { action: 'update', changed: ['totp'], client, now } as const
    const changed = await changeAudited(store, user, deed, confirm, () => sessions.endAll(user.id))
    if (changed === null) return { outcome: 'refused' }
    const { method, authenticatedAt: at } = session
    const begun = await sessions.begin(changed, { method, secondFactor: true, at }, client)
    return { outcome: 'confirmed', recoveryCodes, ...begun }
  }

  async renewRecoveryCodes({ session, user }: Actor, client: ClientInfo): Promise<CodesResult> {
    const now = this.#parts.clock.now()
    const stale = staleness(session, now)
    if (stale) return stale
    let recoveryCodes: readonly string[] = []
    const renew = (before: User) => {
      const renewed = withNewRecoveryCodes(before)
      recoveryCodes = renewed?.recoveryCodes ?? []
      return renewed && { ...renewed.user, modifiedAt: now }
    }
    const deed = { action: 'update', changed: ['recovery_codes'], client, now } as const
    const changed = await changeAudited(this.#parts.store, user, deed, renew)
    return changed === null ? { outcome: 'refused' } : { outcome: 'confirmed', recoveryCodes }
  }

  async removeTotp(
    { session, user }: Actor,
    client: ClientInfo,
  ): Promise<Stale | { readonly outcome: 'removed' }> {
    const now = this.#parts.clock.now()
    const stale = staleness(session, now)
    if (stale) return stale
    const deed = { action: 'update', changed: ['totp'], client, now } as const
    await changeAudited(this.#parts.store, user, deed, before =>
      hasApp(before) ? { ...withoutApp(before), modifiedAt: now } : null,
    )
    return { outcome: 'removed' }
  }

  async statusOf(user: User): Promise<AccountStatus> {
    const { store } = this.#parts
    const members = await store.members.ofUser(user.id)
    const accepted = members.filter(({ status }) => status === 'accepted').slice(0, maxAccounts)
    const places = await Promise.all(
      accepted.map(async member => ({ member, account: await store.accounts.get(member.account) })),
    )
    const isShut = (account: Account | null) => account !== null && lacksSecondFactor(user, account)
    const running = places.flatMap(({ member, account }) =>
      account !== null && !isShut(account) && mayRun(member) ? account : [],
    )
    const mustTwoStep = places.some(({ account }) => isShut(account))
    return { isMember: accepted.length > 0, mustTwoStep, running }
  }

  /** Ends another session of the user by its id; false if there is none with it. */
  async endSession({ user }: Pick<Actor, 'user'>, id: string, client: ClientInfo): Promise<boolean> {
    const { store, sessions, clock } = this.#parts
    if (!(await sessions.endOne(user.id, id))) return false
    const resource = { resourceKind: 'session', resource: id } as const
    await (await SelfAudit.of(store, user, client, clock.now(), { action: 'revoke', resource })).write()
    return true
  }

  async signOut(value: string, client: ClientInfo): Promise<void> {
    await signOut(value, client, this.#parts)
  }

  async endAllSessions({ user }: Pick<Actor, 'user'>, client: ClientInfo): Promise<number> {
    const { store, sessions, clock } = this.#parts
    const count = await sessions.endEverything(user.id)
    const deed = { action: 'sign_out', changed: ['sessions'] } as const
    await (await SelfAudit.of(store, user, client, clock.now(), deed)).write()
    return count
  }

  /** Null if the current password is right. */
  async #refusalOf(
    user: User,
    current: string,
    client: ClientInfo,
  ): Promise<TryLater | { readonly outcome: 'refused' } | null> {
    const { passwords, throttle, attempts } = this.#parts
    const attempt = await throttle.attempt(user.email, client.address)
    const tell = attempts.telling(user.email, client, { action: 'confirm', method: 'password' })
    if ('retryAfter' in attempt) return tell.throttled(attempt)
    const verdict = await passwords.verify(current, user.password)
    if (verdict?.matches === false) return tell.wrong()
    await attempt.forgive()
    return verdict ? null : busy
  }

  async #wordsOf({ id, email, firstName, lastName }: User): Promise<readonly string[]> {
    const { store } = this.#parts
    // A refused password may reveal only the names of these.
    const members = (await store.members.ofUser(id)).filter(({ status }) => status === 'accepted')
    const accounts = await Promise.all(
      members.slice(0, maxAccounts).map(({ account }) => store.accounts.get(account)),
    )
    const names = [firstName, lastName, ...accounts.map(account => account?.name)]
    return [email, ...names.flatMap(name => name ?? [])]
  }
}

const maxAccounts = 20

function staleness(session: Session, now: number): Stale | null {
  return isStale(session, now) ? { outcome: 'stale' } : null
}
