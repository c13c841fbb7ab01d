// Handlers of a user's memberships. Invitations are shown only to verified addresses.

import { isId } from '../../base/ids/id.ts'
import { mapInTurns } from '../../base/turns/map-in-turns.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import { roleOf } from '../../permissions/roles.ts'
import { membershipsOf } from '../../people/links/invitations.ts'
import { auditOf, memberResource } from '../../store/records/audit-entry.ts'
import type { Member } from '../../store/records/people.ts'
import type { Account } from '../../store/records/records.ts'
import type { Versioned } from '../../store/contract/store.ts'
import { type ApiResponse, failure, failures, success } from '../http/envelope.ts'
import { pageOfAll, revise } from '../records/record-handlers.ts'
import { Field } from '../http/field.ts'
import { Parameters } from '../http/query.ts'
import type { Api, UserCall } from '../api/api-types.ts'
import { viewAccount } from './accounts.ts'
import { removeMember, userOf } from './find-member.ts'
import { grantsOf } from './roles.ts'

export const membershipParameters = [
  'page',
  'per_page',
  'order',
  'direction',
  'status',
  'name',
  'account.name',
] as const

export const membershipOrders = ['id', 'account.name', 'status'] as const

interface Membership {
  readonly member: Member
  readonly account: Account
}

export async function listMemberships({ actor, query }: UserCall, { store }: Api): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const page = parameters.page()
  const descending = parameters.choice('direction', ['asc', 'desc']) === 'desc'
  const order = query.has('order') ? parameters.choice('order', membershipOrders) : null
  const status = query.has('status') ? parameters.choice('status', ['accepted', 'pending', 'rejected']) : null
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const names = [query.get('name'), query.get('account.name')].map(name => name?.toLowerCase() ?? '')
  const all = await mapInTurns(await membershipsOf(actor.user, store), member => withAccount(member, store))
  const matches = all
    .filter(one => one !== null)
    .filter(({ member }) => status === null || member.status === status)
    .filter(({ account }) => names.every(name => account.name.toLowerCase().includes(name)))
  if (order !== null) matches.sort((one, other) => compare(keys[order](one), keys[order](other)))
  return pageOfAll(descending ? matches.reverse() : matches, page, viewMembership)
}

export async function getMembership(call: UserCall, api: Api): Promise<ApiResponse> {
  const current = await findMembership(call, api)
  const membership = current && (await withAccount(current.record, api.store))
  return membership ? success(viewMembership(membership)) : noMembership
}

export async function updateMembership(call: UserCall, api: Api): Promise<ApiResponse> {
  const status = readStatus(call.body)
  if (typeof status !== 'string') return failures(status)
  const current = await findMembership(call, api)
  const membership = current && (await withAccount(current.record, api.store))
  if (!current || !membership) return noMembership
  return status === 'accepted' ? accept(call, membership, api) : decline(call, membership, api)
}

export async function deleteMembership(call: UserCall, api: Api): Promise<ApiResponse> {
  return removeMember(
    () => findMembership(call, api),
    () => null,
    call,
    api,
    noMembership,
  )
}

const noMembership = failure('no_such', 'Membership')

async function accept(call: UserCall, { member, account }: Membership, api: Api): Promise<ApiResponse> {
  const { store, log } = api
  let isUnchanged = false
  const user = await userOf(member, api)
  const change = (current: Member) => {
    isUnchanged = current.status === 'accepted'
    if (isUnchanged) return success(viewMembership({ member: current, account }))
    const audit = auditOf({ ...call, account: account.id }, 'accept', memberResource(current, user), [
      'status',
    ])
    return { record: { ...current, status: 'accepted' as const, modifiedAt: call.now }, audit }
  }
  const revised = (await revise(store.members, account.id, member.id, change, log)) ?? noMembership
  // The state may come from an earlier attempt of the same request, whose write was not confirmed.
  if (isUnchanged) await store.confirm()
  return 'record' in revised ? success(viewMembership({ member: revised.record, account })) : revised
}

async function decline(call: UserCall, { member, account }: Membership, api: Api): Promise<ApiResponse> {
  const response = await removeMember(
    () => findMembership(call, api),
    ({ status }) => (status === 'pending' ? null : failure('not_pending')),
    call,
    api,
    noMembership,
  )
  if (response.status !== 200) return response
  return success({ ...viewMembership({ member, account }), status: 'rejected' })
}

function readStatus(body: unknown): 'accepted' | 'rejected' | readonly Fault[] {
  const faults: Fault[] = []
  const status = new Field(body, faults).members(['status']).status.oneOf(['accepted', 'rejected'])
  return faults.length > 0 ? faults : status!
}

async function findMembership(
  { actor, params }: UserCall,
  { store }: Api,
): Promise<Versioned<Member> | null> {
  const id = params.membership_id!
  if (!isId(id)) return null
  const membership = (await membershipsOf(actor.user, store)).find(member => member.id === id)
  return membership ? store.members.get(membership.account, id) : null
}

async function withAccount(member: Member, { accounts }: Api['store']): Promise<Membership | null> {
  const account = await accounts.get(member.account)
  return account && { member, account }
}

function viewMembership({ member: { id, roles, status }, account }: Membership) {
  const held = roles.flatMap(id => roleOf(id) ?? [])
  return {
    id,
    account: viewAccount(account),
    roles: held.map(({ name }) => name),
    permissions: grantsOf(held.flatMap(({ permissions }) => permissions)),
    status,
  }
}

const keys: Readonly<Record<(typeof membershipOrders)[number], (one: Membership) => string>> = {
  id: ({ member }) => member.id,
  'account.name': ({ account }) => account.name,
  status: ({ member }) => member.status,
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
