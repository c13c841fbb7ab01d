// The rows of the admin listener about accounts and their members: method, path, permission, handler.

import { listAttention } from '../overview/list-attention.ts'
import { getOverview } from '../overview/overview.ts'
import { jsonBody } from '../http/request-body.ts'
import { always } from '../api/lasting-access.ts'
import { account, type ApiRow, row, user, type UserRow } from '../api/api-types.ts'
import { getAccount, updateAccount } from './accounts.ts'
import { listMembers, memberParameters } from './member-list.ts'
import {
  createMember,
  deleteMember,
  getMember,
  reinviteMember,
  signMemberOut,
  updateMember,
} from './members.ts'
import {
  deleteMembership,
  getMembership,
  listMemberships,
  membershipParameters,
  updateMembership,
} from './memberships.ts'
import { getRole, listRoles, roleParameters } from './roles.ts'
import { deleteSession, deleteSessions, listSessions, sessionParameters } from './sessions.ts'
import { getUser } from './user.ts'

const members = `${account}/members`
const member = `${account}/members/{member_id}`
const roles = `${account}/roles`
const memberships = '/client/v4/memberships'
const membership = `${memberships}/{membership_id}`

export const accountRows: readonly ApiRow[] = [
  row('GET', account, null, getAccount),
  row('GET', `${account}/overview`, null, getOverview),
  row('GET', `${account}/attention`, null, listAttention),
  row('PUT', account, 'Account Settings Write', updateAccount, {
    body: jsonBody,
    lastingAccess: always('change the settings of an account'),
  }),
  row('POST', members, 'Members Write', createMember, {
    body: jsonBody,
    headers: ['idempotency-key'],
    lastingAccess: always('invite a member'),
  }),
  row('GET', members, 'Members Read', listMembers, { query: memberParameters }),
  row('POST', `${member}/invitation`, 'Members Write', reinviteMember, {
    lastingAccess: always('create an invitation link'),
  }),
  row('DELETE', `${member}/sessions`, 'Members Write', signMemberOut),
  row('GET', member, 'Members Read', getMember),
  row('PUT', member, 'Members Write', updateMember, {
    body: jsonBody,
    headers: ['if-match'],
    lastingAccess: always('change the roles of a member'),
  }),
  row('DELETE', member, 'Members Write', deleteMember, { headers: ['if-match'] }),
  row('GET', roles, 'Members Read', listRoles, { query: roleParameters }),
  row('GET', `${roles}/{role_id}`, 'Members Read', getRole),
]

export const userRows: readonly UserRow[] = [
  row('GET', user, null, getUser, { scope: 'user.read' }),
  row('GET', memberships, null, listMemberships, { scope: 'memberships.read', query: membershipParameters }),
  row('GET', membership, null, getMembership, { scope: 'memberships.read' }),
  row('PUT', membership, null, updateMembership, {
    // It accepts a membership for the user, by the invitation of another, and gives the app no access.
    scope: 'memberships.write',
    body: jsonBody,
    lastingAccess: 'nothing',
  }),
  row('DELETE', membership, null, deleteMembership, { scope: 'memberships.write' }),
  row('GET', `${user}/sessions`, null, listSessions, { scope: 'user_access.read', query: sessionParameters }),
  row('DELETE', `${user}/sessions`, null, deleteSessions, { scope: 'user_access.write' }),
  row('DELETE', `${user}/sessions/{session_id}`, null, deleteSession, { scope: 'user_access.write' }),
]
