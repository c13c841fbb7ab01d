// Accepting an invitation: a new person sets a password, an existing user signs in.

import { auditOf, inPerson, memberResource, userResource } from '../../store/records/audit-entry.ts'
import type { Credential } from '../../store/records/credential.ts'
import { everybody, isEmailVerified, type Member, type User } from '../../store/records/people.ts'
import type { Account } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import { newInvitation, type NewLink, purposeOf } from './links.ts'
import { passwordFlaw, type PasswordFlaw } from '../passwords/password-rules.ts'
import { digestOfValue, isValue } from '../records/secret-value.ts'
import { busy, type TryLater, type SignedIn, type SignInParts } from '../sign-in/sign-in.ts'
import { auditSignIn } from '../records/self-audit.ts'
import { withoutLeftPasskeys } from '../passkeys/passkeys.ts'
import { canSignIn, changeUser, type Names, withNames } from '../records/users.ts'
import type { ClientInfo } from '../records/client-info.ts'

interface Invitation {
  readonly account: Account
  readonly member: Member
  readonly user: User
  readonly recovers: boolean
  /** Whether the user accepts by signing in; else a password is set. */
  readonly isKnown: boolean
}

export interface NewPassword extends Names {
  readonly password: string
}

/** `gone`: the link was used, has expired, or was for a member who has been removed. */
type Gone = { readonly outcome: 'gone' }

interface Pending {
  readonly account: Account
  readonly member: Member
}

type AcceptResult =
  | (SignedIn & Pick<Invitation, 'account'>)
  | TryLater
  | Gone
  | { readonly outcome: 'flawed'; readonly flaw: PasswordFlaw }
  /** The user exists, and must sign in first. */
  | { readonly outcome: 'known' }

type JoinResult =
  | Gone
  | { readonly outcome: 'accepted'; readonly account: Account }
  /** The invitation is for another user than the one signed in. */
  | { readonly outcome: 'other_user' }

type PendingResult = Exclude<JoinResult, { readonly outcome: 'other_user' }>

/** Invitations only for a verified address: somebody else may have signed up with it. */
export async function membershipsOf(
  user: string,
  { users, members }: Pick<Store, 'users' | 'members'>,
): Promise<readonly Member[]> {
  const all = await members.ofUser(user)
  const accepted = all.filter(({ status }) => status === 'accepted')
  if (accepted.length === all.length) return all
  const holder = await users.get(everybody, user)
  return holder !== null && isEmailVerified(holder.record) ? all : accepted
}

export async function reissueInvitation(
  store: Store,
  member: Member,
  now: number,
  recovers = false,
): Promise<NewLink> {
  for (const old of await store.credentials.list({ user: member.user }, 'invitation', maxLinks))
    if (isFor(old, member)) await store.credentials.remove('invitation', old.digest)
  const link = newInvitation(member, now, recovers)
  await store.credentials.put(link.credential)
  return link
}

const maxLinks = 1_000
const maxPending = 100

export class Invitations {
  readonly #parts: SignInParts

  constructor(parts: SignInParts) {
    this.#parts = parts
  }

  async find(value: string): Promise<Invitation | null> {
    const { store } = this.#parts
    const credential = isValue(value) ? await store.credentials.get('invitation', digestOfValue(value)) : null
    const link = credential && purposeOf(credential)
    if (link?.purpose !== 'invitation') return null
    const [account, member, user] = await Promise.all([
      store.accounts.get(link.account),
      store.members.get(link.account, link.member),
      store.users.get(everybody, credential!.user!),
    ])
    if (!account || !member || !user) return null
    const isKnown = !mayBegin(user.record, link.recovers)
    if (member.record.status === 'accepted' && isKnown) return null
    return { account, member: member.record, user: user.record, recovers: link.recovers, isKnown }
  }

  async acceptWithPassword(
    value: string,
    { password, ...names }: NewPassword,
    client: ClientInfo,
    replaced: string | null = null,
  ): Promise<AcceptResult> {
    const { store, passwords, sessions } = this.#parts
    const invitation = await this.find(value)
    if (invitation === null) return { outcome: 'gone' }
    const { account, user, recovers, isKnown } = invitation
    if (isKnown) return { outcome: 'known' }
    const flaw = passwordFlaw(password, [
      user.email,
      names.firstName ?? '',
      names.lastName ?? '',
      account.name,
    ])
    if (flaw !== null) return { outcome: 'flawed', flaw }
    const digest = await passwords.hash(password)
    if (digest === null) return busy
    const now = this.#parts.clock.now()
    if (!(await this.#consume(value, now))) return { outcome: 'gone' }
    const set = (before: User) =>
      mayBegin(before, recovers)
        ? {
            ...{ ...withNames(withoutLeftPasskeys(before), names), password: digest },
            ...{ passwordChangedAt: now, modifiedAt: now },
          }
        : null
    const changed = await changeUser(store, user.id, set)
    if (changed === null) return { outcome: 'gone' }
    if (!(await this.#accept(invitation, now, client))) return { outcome: 'gone' }
    const proof = { method: 'invitation', secondFactor: false, at: now } as const
    const begun = await sessions.begin(changed, proof, client, replaced)
    const method = recovers ? 'recovery' : 'invitation'
    await auditSignIn(store, changed, client, now, { proof: { method } })
    return { outcome: 'signed_in', user: changed, account, ...begun }
  }

  async acceptAs({ id }: User, value: string, client: ClientInfo): Promise<JoinResult> {
    const invitation = await this.find(value)
    if (invitation === null) return { outcome: 'gone' }
    if (invitation.user.id !== id) return { outcome: 'other_user' }
    const now = this.#parts.clock.now()
    if (!(await this.#consume(value, now))) return { outcome: 'gone' }
    if (!(await this.#accept(invitation, now, client))) return { outcome: 'gone' }
    return { outcome: 'accepted', account: invitation.account }
  }

  async pendingOf({ id }: User): Promise<readonly Pending[]> {
    const { store } = this.#parts
    const pending = (await membershipsOf(id, store)).filter(({ status }) => status === 'pending')
    const memberships = await Promise.all(
      pending.slice(0, maxPending).map(async member => {
        const account = await store.accounts.get(member.account)
        return account && { account, member }
      }),
    )
    return memberships.filter(one => one !== null)
  }

  /** Accepts without the link, by the id of the membership. */
  async acceptPending(user: User, id: string, client: ClientInfo): Promise<PendingResult> {
    const pending = await this.#findPending(user, id)
    if (pending === null) return { outcome: 'gone' }
    if (!(await this.#accept({ ...pending, user }, this.#parts.clock.now(), client)))
      return { outcome: 'gone' }
    return { outcome: 'accepted', account: pending.account }
  }

  /** Declines, which removes the membership; false if there is no such invitation. */
  async decline(user: User, id: string, { address, ray }: ClientInfo): Promise<boolean> {
    const { members } = this.#parts.store
    for (;;) {
      const pending = await this.#findPending(user, id)
      if (pending === null) return false
      const account = pending.account.id
      const origin = { account, caller: inPerson(user), now: this.#parts.clock.now(), address, ray }
      const audit = auditOf(origin, 'delete', memberResource({ id }, user))
      const stored = await members.get(account, id)
      if (stored?.record.status !== 'pending') return false
      if (await members.remove(account, id, { audit }, stored.version)) return true
    }
  }

  async #findPending({ id: user }: User, id: string): Promise<Pending | null> {
    const { store } = this.#parts
    const member = (await membershipsOf(user, store)).find(one => one.id === id && one.status === 'pending')
    const account = member && (await store.accounts.get(member.account))
    return account ? { account, member: member! } : null
  }

  async #consume(value: string, now: number): Promise<boolean> {
    const consumed = await this.#parts.store.credentials.consume('invitation', digestOfValue(value), now)
    return consumed?.isFirst === true
  }

  /** False if the member was removed in between. */
  async #accept(
    { account, member, user }: Pick<Invitation, 'account' | 'member' | 'user'>,
    now: number,
    { address, ray }: ClientInfo,
  ): Promise<boolean> {
    const { store } = this.#parts
    const { members } = store
    const origin = { account: account.id, caller: inPerson(user), now, address, ray }
    const audit = auditOf(origin, 'accept', memberResource(member, user), ['status'])
    for (;;) {
      const stored = await members.get(account.id, member.id)
      if (stored === null) return false
      if (stored.record.status === 'accepted') {
        await store.audit.append(auditOf(origin, 'change_password', userResource(user)))
        return true
      }
      const accepted: Member = { ...stored.record, status: 'accepted', modifiedAt: now }
      if (await members.replace(accepted, stored.version, { audit })) return true
    }
  }
}

/** For a new user, or one whose password was removed for this very link. */
function mayBegin(user: User, recovers: boolean): boolean {
  return !canSignIn(user) && (recovers || user.passwordChangedAt === null)
}

function isFor(credential: Credential, { account, id }: Member): boolean {
  const link = purposeOf(credential)
  return link?.purpose === 'invitation' && link.account === account && link.member === id
}
