// The set-up of an account by a one-time link, which only the machine itself makes.

import { newId } from '../../base/ids/id.ts'
import { roles, areSuper } from '../../permissions/roles.ts'
import { auditOf, inPerson, memberResource } from '../../store/records/audit-entry.ts'
import type { Member } from '../../store/records/people.ts'
import type { Account } from '../../store/records/records.ts'
import { emailFault, normalEmail } from '../records/email.ts'
import type { NewPassword } from './invitations.ts'
import { purposeOf } from './links.ts'
import { passwordFlaw, type PasswordFlaw } from '../passwords/password-rules.ts'
import { digestOfValue, isValue } from '../records/secret-value.ts'
import { busy, type TryLater, type SignedIn, type SignInParts } from '../sign-in/sign-in.ts'
import { auditSignIn } from '../records/self-audit.ts'
import { newUser, withNames } from '../records/users.ts'
import type { ClientInfo } from '../records/client-info.ts'

type SetUpResult =
  | SignedIn
  | TryLater
  | { readonly outcome: 'flawed'; readonly flaw: PasswordFlaw }
  /** In words that follow the name of the field. */
  | { readonly outcome: 'bad_email'; readonly fault: string }
  /** A user with this address exists: they are invited instead. */
  | { readonly outcome: 'email_taken' }
  | { readonly outcome: 'gone' }

export class SetUp {
  readonly #parts: SignInParts

  constructor(parts: SignInParts) {
    this.#parts = parts
  }

  async find(value: string): Promise<Account | null> {
    const { store } = this.#parts
    const credential = isValue(value) ? await store.credentials.get('invitation', digestOfValue(value)) : null
    const link = credential && purposeOf(credential)
    return link?.purpose === 'set_up' ? store.accounts.get(link.account) : null
  }

  async complete(
    value: string,
    { email: written, password, ...names }: NewPassword & { readonly email: string },
    client: ClientInfo,
    replaced: string | null = null,
  ): Promise<SetUpResult> {
    const { store, passwords, sessions } = this.#parts
    const account = await this.find(value)
    if (account === null) return { outcome: 'gone' }
    const email = normalEmail(written.trim())
    const fault = emailFault(email)
    if (fault !== null) return { outcome: 'bad_email', fault }
    const flaw = passwordFlaw(password, [email, names.firstName ?? '', names.lastName ?? '', account.name])
    if (flaw !== null) return { outcome: 'flawed', flaw }
    if (await store.users.findByEmail(email)) return { outcome: 'email_taken' }
    const digest = await passwords.hash(password)
    if (digest === null) return busy
    const now = this.#parts.clock.now()
    const consumed = await store.credentials.consume('invitation', digestOfValue(value), now)
    if (!consumed?.isFirst) return { outcome: 'gone' }
    const user = { ...withNames(newUser(email, now), names), password: digest, passwordChangedAt: now }
    if (!(await store.users.insert(user))) return { outcome: 'email_taken' }
    const member = superAdministrator(account.id, user.id, now)
    const { address, ray } = client
    const origin = { account: account.id, caller: inPerson(user), now, address, ray }
    const audit = auditOf(origin, 'create', memberResource(member, { email }), ['user', 'roles'])
    await store.members.insert(member, { audit })
    const proof = { method: 'invitation', secondFactor: false, at: now } as const
    const begun = await sessions.begin(user, proof, client, replaced)
    await auditSignIn(store, user, client, now, { proof: { method: 'set_up' } })
    return { outcome: 'signed_in', user, ...begun }
  }
}

function superAdministrator(account: string, user: string, now: number): Member {
  const [{ id: role }] = roles.filter(({ id }) => areSuper([id])) as [(typeof roles)[number]]
  const times = { createdAt: now, modifiedAt: now }
  return { account, id: newId(), user, status: 'accepted', roles: [role], isSuper: true, ...times }
}
