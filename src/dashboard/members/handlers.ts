// Handlers of members: the list, one of them, and what is done with them.

import { redirectTo } from '../../pages/parts/layout.ts'
import { apiPath } from '../page/api-client.ts'
import type { Ask, Handler } from '../page/page-request.ts'
import { done } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { nextStep, stepLink } from '../parts/next-step.ts'
import { paths } from '../page/paths.ts'
import type { Account, Member, Role } from './member.ts'
import { invitationView, linkView, listView, memberView, removalView, signOutView } from './views.ts'

type Invited = Member & { readonly invitation_url: string }

export const showMembers: Handler = async ask => {
  const [listed, account] = await Promise.all([
    ask.api.get<Member[]>(membersOf(ask), { page: ask.query.get('page') }),
    ask.api.get<Account>(apiPath('accounts', ask.account.id)),
  ])
  if (!listed.ok) return listed
  if (!account.ok) return account
  return listView({
    account: account.result,
    members: listed.result,
    info: listed.info!,
    query: ask.query,
    mayWrite: ask.may('Members Write'),
    mayRule: ask.may('Account Settings Write'),
    first: nextStep(ask, 'Members Write', stepLink(paths.newMember(ask.account.id), 'Invite a person')),
  })
}

export const showInvitation: Handler = ask => invitation(ask, new Draft())

export const inviteMember: Handler = async ask => {
  const draft = Draft.of(ask.form)
  const body = { email: draft.value('email').trim(), roles: draft.ticked('roles') }
  const invited = await ask.api.post<Invited>(membersOf(ask), body, { idempotencyKey: draft.key })
  if (!invited.ok) return invitation(ask, refusedIn(draft, draft.refused(invited, rolesField)))
  return linkView({ account: ask.account.id, member: invited.result, link: invited.result.invitation_url })
}

export const showMember: Handler = ask => member(ask, null)

export const changeRoles: Handler = async ask => {
  const draft = Draft.of(ask.form)
  const roles = draft.ticked('roles').map(id => ({ id }))
  const changed = await ask.api.put<Member>(memberOf(ask), { roles }, { ifMatch: draft.etag })
  if (changed.ok) return redirectTo(done(pathOf(ask), 'roles-changed'))
  if (changed.status === 404) return changed
  return member(ask, refusedIn(draft, draft.refused(changed, rolesField)))
}

/** Shows another link for a person who has not accepted; the one before it ends. */
export const newLink: Handler = async ask => {
  const found = await ask.api.get<Member>(memberOf(ask))
  if (!found.ok) return found
  const made = await ask.api.post<{ readonly invitation_url: string }>(`${memberOf(ask)}/invitation`)
  if (!made.ok) return made
  return linkView({ account: ask.account.id, member: found.result, link: made.result.invitation_url })
}

export const confirmSignOut: Handler = async ask => {
  const found = await ask.api.get<Member>(memberOf(ask))
  if (!found.ok) return found
  return signOutView({ account: ask.account.id, member: found.result, frame: ask.frameFor(ask.path) })
}

export const signOut: Handler = async ask => {
  const ended = await ask.api.delete(`${memberOf(ask)}/sessions`)
  return ended.ok ? redirectTo(done(pathOf(ask), 'member-signed-out')) : ended
}

export const confirmRemoval: Handler = async ask => {
  const found = await ask.api.get<Member>(memberOf(ask))
  if (!found.ok) return found
  return removalView({ account: ask.account.id, member: found.result, frame: ask.frameFor(ask.path) })
}

export const removeMember: Handler = async ask => {
  const removed = await ask.api.delete(memberOf(ask))
  return removed.ok ? redirectTo(done(paths.members(ask.account.id), 'member-removed')) : removed
}

/** Items of the list of roles are named by their place, the boxes by the role: all faults stand at the group. */
const rolesField = { '/roles': 'roles' } as const

async function invitation(ask: Ask, draft: Draft) {
  const roles = await ask.api.get<Role[]>(apiPath('accounts', ask.account.id, 'roles'))
  if (!roles.ok) return roles
  return invitationView({
    account: ask.account.id,
    roles: roles.result,
    frame: ask.frameFor(paths.newMember(ask.account.id)),
    draft,
  })
}

/** Shows a member, with their roles to change, or as they were sent where that was refused. */
async function member(ask: Ask, sent: Draft | null) {
  const [found, roles] = await Promise.all([
    ask.api.get<Member>(memberOf(ask)),
    ask.api.get<Role[]>(apiPath('accounts', ask.account.id, 'roles')),
  ])
  if (!found.ok) return found
  if (!roles.ok) return roles
  const ticked = Object.fromEntries(found.result.roles.map(({ id }) => [`roles.${id}`, 'on']))
  const { id } = found.result
  return memberView({
    account: ask.account.id,
    member: found.result,
    roles: roles.result,
    // What was sent is sent again against what the page shows now.
    draft: (sent ?? new Draft(ticked)).with({ [etagField]: found.etag ?? '' }),
    mayWrite: ask.may('Members Write'),
    rolesFrame: ask.frameFor(paths.memberRoles(ask.account.id, id)),
    linkFrame: ask.frameFor(paths.memberLink(ask.account.id, id)),
  })
}

function refusedIn(sent: Draft, refused: Draft): Draft {
  return sent.ticked('roles').length === 0 ? refused.withFault('roles', 'Choose at least one.') : refused
}

function membersOf({ account }: Ask): string {
  return apiPath('accounts', account.id, 'members')
}

function memberOf({ account, params }: Ask): string {
  return apiPath('accounts', account.id, 'members', params.member!)
}

function pathOf({ account, params }: Ask): string {
  return paths.member(account.id, params.member!)
}
