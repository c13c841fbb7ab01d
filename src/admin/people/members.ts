// Handlers of the members of an account.

import { newId } from '../../base/ids/id.ts'
import { reissueInvitation } from '../../people/links/invitations.ts'
import { invitationPath } from '../../pages/parts/paths.ts'
import { newInvitation } from '../../people/links/links.ts'
import { Sessions } from '../../people/sessions/sessions.ts'
import { SelfAudit } from '../../people/records/self-audit.ts'
import { userOfEmail } from '../../people/records/users.ts'
import { areSuper, roleOf } from '../../permissions/roles.ts'
import { auditOf, keeper, memberResource } from '../../store/records/audit-entry.ts'
import type { Member, User } from '../../store/records/people.ts'
import { type ApiResponse, failure, failures, success } from '../http/envelope.ts'
import { endGrantsOf } from '../upkeep/grant-ending.ts'
import { membersSet, tellAudit, updateOf } from '../records/audit.ts'
import { add, revise } from '../records/record-handlers.ts'
import { once } from '../api/idempotency.ts'
import { etagOf, unmet } from '../http/precondition.ts'
import type { Api, Call } from '../api/api-types.ts'
import { readInvitee, readRoles } from './member-body.ts'
import { givingBeyond, touchingBeyond } from './member-reach.ts'
import { revisionOf, viewMember } from './member-view.ts'
import { findMember, keepingOneSuper, noMember, removeMember, userOf } from './find-member.ts'

/** An unknown person becomes a user who can do nothing before accepting. */
export async function createMember(call: Call, api: Api): Promise<ApiResponse> {
  return once(call, api, ['POST', 'members'], async keep => {
    const { account, caller, body, now } = call
    const { store, log, pages } = api
    if (pages === null) return failure('no_pages')
    const read = readInvitee(body)
    if (!('email' in read)) return failures(read)
    const refusal = givingBeyond(read.roles, caller, account)
    if (refusal) return refusal
    const user = await userOfEmail(store.users, read.email, now)
    if (await store.members.find(account, user.id)) return failure('member_taken')
    const member = newMember(account, user, read.roles, now)
    const link = newInvitation(member, now)
    const view = { ...viewMember(member, user), invitation_url: pages + invitationPath(link.value) }
    const response = success(view, etagOf(revisionOf(member)))
    const audit = auditOf(call, 'invite', memberResource(member, user), membersSet(body))
    // Remains of an earlier membership, left by a crash, would become active with this one.
    await endGrantsOf({ account, user: user.id }, call, api)
    await store.credentials.put(link.credential)
    if (await add(store.members, member, { audit, ...keep(response) }, log)) return response
    await store.credentials.remove('invitation', link.credential.digest)
    return null
  })
}

/** Makes another link for a person who has not accepted; the old one ends. */
export async function reinviteMember(call: Call, api: Api): Promise<ApiResponse> {
  const { account, caller, now } = call
  const { pages } = api
  if (pages === null) return failure('no_pages')
  const current = await findMember(call, api)
  if (current === null) return noMember
  const { status, roles } = current.record
  const refusal = touchingBeyond(roles, caller, account)
  if (refusal) return refusal
  if (status !== 'pending') return failure('not_pending')
  const resource = memberResource(current.record, await userOf(current.record, api))
  const audit = auditOf(call, 'invite', resource, ['invitation_url'])
  const link = await reissueInvitation(api.store, current.record, now)
  await api.store.audit.append(audit)
  tellAudit(api.log, audit)
  return success({ invitation_url: pages + invitationPath(link.value) })
}

export async function getMember(call: Call, api: Api): Promise<ApiResponse> {
  const current = await findMember(call, api)
  return current ? respondWith(current.record, await userOf(current.record, api)) : noMember
}

/** Replaces the roles of a member. The access of the person and their apps is looked up at each use. */
export async function updateMember(call: Call, api: Api): Promise<ApiResponse> {
  const { account, caller, body, now, ifMatch } = call
  const member = await findMember(call, api)
  if (member === null) return noMember
  const user = await userOf(member.record, api)
  let isUnchanged = false
  const change = (current: Member) => {
    const roles = readRoles(body, current, user)
    if ('faults' in roles) return failures(roles.faults)
    const refusal =
      unmet(ifMatch, revisionOf(current)) ??
      givingBeyond(roles, caller, account) ??
      touchingBeyond(current.roles, caller, account)
    if (refusal) return refusal
    isUnchanged = areSame(roles, current.roles)
    if (isUnchanged) return respondWith(current, user)
    const groupRoles = (current.groupRoles ?? []).filter(role => roles.includes(role))
    const given = { roles, ...(current.groupRoles && { groupRoles }), isSuper: areSuper(roles) }
    const record = { ...current, ...given, modifiedAt: now }
    return { record, audit: updateOf(call, memberResource(current, user), rolesIn(current), rolesIn(record)) }
  }
  return keepingOneSuper(async () => {
    const revised = (await revise(api.store.members, account, member.record.id, change, api.log)) ?? noMember
    // The state may come from an earlier attempt of the same request, whose write was not confirmed.
    if (isUnchanged) await api.store.confirm()
    return 'record' in revised ? respondWith(revised.record, user) : revised
  })
}

/** Removes a member, and the person's grants to apps in the account; the user stays. */
export async function deleteMember(call: Call, api: Api): Promise<ApiResponse> {
  return removeMember(
    () => findMember(call, api),
    current =>
      unmet(call.ifMatch, revisionOf(current)) ?? touchingBeyond(current.roles, call.caller, call.account),
    call,
    api,
  )
}

/** Ends the tokens of their apps too, in other accounts as well; consents are remembered. */
export async function signMemberOut(call: Call, api: Api): Promise<ApiResponse> {
  const { account, caller } = call
  const { store, clock, log } = api
  const current = await findMember(call, api)
  if (current === null) return noMember
  const { id, status, roles } = current.record
  if (status !== 'accepted') return failure('still_pending')
  const refusal = touchingBeyond(roles, caller, account)
  if (refusal) return refusal
  const user = await userOf(current.record, api)
  const sessions = await new Sessions(store, clock).endEverything(user.id)
  const audit = auditOf(call, 'sign_out', memberResource(current.record, user))
  await store.audit.append(audit)
  tellAudit(log, audit)
  // Other accounts of the person learn that it happened, but not who did it.
  const deed = { action: 'sign_out', changed: ['sessions'], caller: keeper, except: account } as const
  await (await SelfAudit.of(store, user, { address: '', ray: call.ray }, call.now, deed)).write()
  return success({ id, sessions })
}

function respondWith(member: Member, user: User): ApiResponse {
  return success(viewMember(member, user), etagOf(revisionOf(member)))
}

function newMember(account: string, { id: user }: User, roles: readonly string[], now: number): Member {
  return {
    account,
    id: newId(),
    user,
    status: 'pending',
    roles,
    isSuper: areSuper(roles),
    createdAt: now,
    modifiedAt: now,
  }
}

function rolesIn({ roles }: Member) {
  return { roles: roles.map(id => roleOf(id)?.name ?? id) }
}

function areSame(roles: readonly string[], others: readonly string[]): boolean {
  return roles.length === others.length && roles.every(role => others.includes(role))
}
