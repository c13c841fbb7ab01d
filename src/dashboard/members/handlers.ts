// Handlers of members: the list, a single member, and its actions.

import { apiPath } from '../page/api-client.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { nextStep, stepLink } from '../parts/next-step.ts'
import { paths } from '../page/paths.ts'
import type { Account, Member, Role } from './member.ts'
import { invitationView, linkView, listView, memberView, removalView, signOutView } from './views.ts'

type Invited = Member & { readonly invitation_url: string }

export const showMembers: Handler = async request => {
  const [response, account] = await Promise.all([
    request.api.get<Member[]>(membersOf(request), { page: request.query.get('page') }),
    request.api.get<Account>(apiPath('accounts', request.account.id)),
  ])
  return listView({
    account: account.result,
    members: response.result,
    info: response.info!,
    query: request.query,
    mayWrite: request.may('Members Write'),
    mayRule: request.may('Account Settings Write'),
    first: nextStep(
      request,
      'Members Write',
      stepLink(paths.newMember(request.account.id), 'Invite a person'),
    ),
  })
}

export const showInvitation: Handler = request => invitation(request, new Draft())

export const inviteMember: Handler = async request => {
  const draft = Draft.of(request.form)
  const body = { email: draft.value('email').trim(), roles: draft.ticked('roles') }
  const invited = await request.api.post<Invited>(membersOf(request), body, { idempotencyKey: draft.key })
  if (!invited.ok) return invitation(request, refusedIn(draft, draft.refused(invited, rolesField)))
  return linkView({
    account: request.account.id,
    member: invited.result,
    link: invited.result.invitation_url,
  })
}

export const showMember: Handler = request => member(request, null)

export const changeRoles: Handler = async request => {
  const draft = Draft.of(request.form)
  const roles = draft.ticked('roles').map(id => ({ id }))
  const changed = await request.api.put<Member>(memberOf(request), { roles }, { ifMatch: draft.etag })
  if (changed.ok) return redirectWith(pathOf(request), 'roles-changed')
  if (changed.status === 404) return changed
  return member(request, refusedIn(draft, draft.refused(changed, rolesField)))
}

/** Shows another link for a person who has not accepted; the one before it ends. */
export const newLink: Handler = async request => {
  const response = await request.api.get<Member>(memberOf(request))
  const outcome = await request.api.post<{ readonly invitation_url: string }>(
    `${memberOf(request)}/invitation`,
  )
  if (!outcome.ok) return outcome
  return linkView({
    account: request.account.id,
    member: response.result,
    link: outcome.result.invitation_url,
  })
}

export const confirmSignOut = confirming(signOutView)

export const signOut: Handler = async request => {
  const ended = await request.api.delete(`${memberOf(request)}/sessions`)
  return ended.ok ? redirectWith(pathOf(request), 'member-signed-out') : ended
}

export const confirmRemoval = confirming(removalView)

export const removeMember: Handler = async request => {
  const removed = await request.api.delete(memberOf(request))
  return removed.ok ? redirectWith(paths.members(request.account.id), 'member-removed') : removed
}

/**
 * Items of the list of roles are named by their index, the boxes by the role: all faults are shown at the
 * group.
 */
const rolesField = { '/roles': 'roles' } as const

async function invitation(request: PageRequest, draft: Draft) {
  const roles = await request.api.get<Role[]>(apiPath('accounts', request.account.id, 'roles'))
  return invitationView({
    account: request.account.id,
    roles: roles.result,
    frame: request.frameFor(paths.newMember(request.account.id)),
    draft,
  })
}

/** Shows a member, with their roles to change, or as they were sent if that was refused. */
async function member(request: PageRequest, sent: Draft | null) {
  const [response, roles] = await Promise.all([
    request.api.get<Member>(memberOf(request)),
    request.api.get<Role[]>(apiPath('accounts', request.account.id, 'roles')),
  ])
  const ticked = Object.fromEntries(response.result.roles.map(({ id }) => [`roles.${id}`, 'on']))
  const { id } = response.result
  return memberView({
    account: request.account.id,
    member: response.result,
    roles: roles.result,
    // The input is sent again against the state that the page shows now.
    draft: (sent ?? new Draft(ticked)).with({ [etagField]: response.etag ?? '' }),
    mayWrite: request.may('Members Write'),
    rolesFrame: request.frameFor(paths.memberRoles(request.account.id, id)),
    linkFrame: request.frameFor(paths.memberLink(request.account.id, id)),
  })
}

function refusedIn(sent: Draft, refused: Draft): Draft {
  return sent.ticked('roles').length === 0 ? refused.withFault('roles', 'Choose at least one.') : refused
}

function membersOf({ account }: PageRequest): string {
  return apiPath('accounts', account.id, 'members')
}

function memberOf({ account, params }: PageRequest): string {
  return apiPath('accounts', account.id, 'members', params.member!)
}

function pathOf({ account, params }: PageRequest): string {
  return paths.member(account.id, params.member!)
}

function confirming(view: typeof removalView): Handler {
  return async request => {
    const response = await request.api.get<Member>(memberOf(request))
    return view({
      account: request.account.id,
      member: response.result,
      frame: request.frameFor(request.path),
    })
  }
}
