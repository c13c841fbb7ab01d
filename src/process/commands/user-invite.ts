// `gatehouse user invite`: a one-time link straight from the store, to join or to regain access.

import { resolve } from 'node:path'
import { newId } from '../../base/ids/id.ts'
import type { Config } from '../../config/model/config.ts'
import type { Member, User } from '../../store/records/people.ts'
import { memberResource, userResource } from '../../store/records/audit-entry.ts'
import type { Store } from '../../store/contract/store.ts'
import { areSuper, roles } from '../../permissions/roles.ts'
import { emailFault, normalEmail } from '../../people/records/email.ts'
import { reissueInvitation } from '../../people/links/invitations.ts'
import { newSetUp } from '../../people/links/links.ts'
import { recover } from '../../people/links/recovery.ts'
import { canSignIn, userOfEmail } from '../../people/records/users.ts'
import { invitationPath, setUpPath } from '../../pages/parts/paths.ts'
import { gatewaysHere } from '../ports/presence.ts'
import { pagesUrl } from '../ports/pages-url.ts'
import { configPath, type Input } from './input.ts'
import { rolesNamed } from './member/role-names.ts'
import { auditHere, withAccount } from './store/configured-store.ts'
import { complain, refuse, tell, printResult } from '../terminal/output.ts'

/** Writes only the link to stdout. */
export async function userInvite(input: Input): Promise<number> {
  const [written] = input.args
  const email = written === undefined ? null : normalEmail(written)
  const fault = email === null ? null : emailFault(email)
  if (fault !== null) return complain(`EMAIL ${fault}`)
  const given = rolesNamed(input.role ?? [], roles)
  if (typeof given === 'string') return complain(given)
  if (email === null && given.length > 0)
    return complain('--role needs an EMAIL: without one, the link makes a super administrator')
  return withAccount(input, async (store, account, config) => {
    const origin = await pagesHere(config, resolve(configPath(input)))
    if (origin === null)
      return refuse(
        'people have no pages to sign in on: set oauth.issuer, or admin to an address of loopback',
      )
    const link =
      email === null
        ? await setUp(store, account, origin)
        : await inviteByEmail(store, account, email, given, origin)
    if (typeof link === 'number') return link
    return printResult(input, { account, email, url: link }, `${link}\n`)
  })
}

async function pagesHere(config: Config, file: string): Promise<string | null> {
  const gateways = await gatewaysHere()
  const own = gateways.find(gateway => gateway.file === file)
  if (own?.pages !== undefined) return own.pages
  return pagesUrl(config, own ?? gateways[0] ?? config.admin)
}

async function setUp(store: Store, account: string, origin: string): Promise<string> {
  const link = newSetUp(account, Date.now())
  await store.audit.append(
    auditHere(account, 'create', { resourceKind: 'account', resource: account }, ['set_up_link']),
  )
  await store.credentials.put(link.credential)
  tell('Open this link within 15 minutes to become a super administrator. It works once:')
  return `${origin}${setUpPath(link.value)}`
}

async function inviteByEmail(
  store: Store,
  account: string,
  email: string,
  given: readonly string[],
  origin: string,
): Promise<string | number> {
  const now = Date.now()
  const user = await store.users.findByEmail(email)
  const member = user && (await store.members.find(account, user.record.id))?.record
  if (!member) {
    if (given.length === 0)
      return complain(`a new member needs --role: ${roles.map(({ name }) => name).join(', ')}`)
    const user = await userOfEmail(store.users, email, now)
    const invited = newMember(account, user.id, given, now)
    const audit = auditHere(account, 'invite', memberResource(invited, { email }), ['email', 'roles'])
    if (!(await store.members.insert(invited, { audit })))
      return refuse('the member has just been added by somebody else')
    return handInvitation(store, invited, user, origin)
  }
  if (given.length > 0)
    return complain(`${email} is a member already: change roles with gatehouse member update`)
  if (member.status === 'pending' && !(await isSquatted(store, user!.record)))
    return handInvitation(store, member, user!.record, origin)
  const changed = ['password', 'totp', 'passkeys']
  const audit = auditHere(account, 'update', userResource({ id: member.user, email }), changed)
  const link = await recover(store, member, audit)
  if (link === null) return refuse('the user is gone')
  if (user!.record.identity !== null) {
    tell(`${email} signs in at the OpenID provider. The password and the second factor were removed.`)
    return 0
  }
  return hand(
    origin,
    link.value,
    `${email} sets a new password; the old one and the second factor were removed`,
  )
}

/** Signing up alone proves no address, and another request for a link must not let them sign in. */
async function isSquatted(store: Store, { id, password, identity }: User): Promise<boolean> {
  if (password === null || identity !== null) return false
  return (await store.members.ofUser(id)).every(({ status }) => status === 'pending')
}

/** The link also restores a user whose password was removed. */
async function handInvitation(store: Store, member: Member, user: User, origin: string): Promise<string> {
  const { value } = await reissueInvitation(store, member, Date.now(), !canSignIn(user))
  return hand(origin, value, `${user.email} becomes a member`)
}

function hand(origin: string, value: string, what: string): string {
  tell(`With this link, ${what}. Hand it over; it works once, within 7 days:`)
  return `${origin}${invitationPath(value)}`
}

function newMember(account: string, user: string, roles: readonly string[], now: number): Member {
  const times = { createdAt: now, modifiedAt: now }
  return { account, id: newId(), user, status: 'pending', roles, isSuper: areSuper(roles), ...times }
}
