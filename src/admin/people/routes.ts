// The rows of the admin listener about accounts and their members: method, path, permission, handler.

import { listAttention } from '../overview/list-attention.ts'
import { getOverview } from '../overview/overview.ts'
import { jsonBody } from '../http/request-body.ts'
import { always } from '../api/lasting-access.ts'
import { account, user, type ApiRow, type UserRow } from '../api/api-types.ts'
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
  { method: 'GET', path: account, permission: null, handle: getAccount },
  { method: 'GET', path: `${account}/overview`, permission: null, handle: getOverview },
  { method: 'GET', path: `${account}/attention`, permission: null, handle: listAttention },
  {
    method: 'PUT',
    path: account,
    permission: 'Account Settings Write',
    body: jsonBody,
    lastingAccess: always('change the settings of an account'),
    handle: updateAccount,
  },
  {
    method: 'POST',
    path: members,
    permission: 'Members Write',
    body: jsonBody,
    headers: ['idempotency-key'],
    lastingAccess: always('invite a member'),
    handle: createMember,
  },
  { method: 'GET', path: members, permission: 'Members Read', query: memberParameters, handle: listMembers },
  {
    method: 'POST',
    path: `${member}/invitation`,
    permission: 'Members Write',
    lastingAccess: always('create an invitation link'),
    handle: reinviteMember,
  },
  {
    method: 'DELETE',
    path: `${member}/sessions`,
    permission: 'Members Write',
    lastingAccess: 'nothing',
    handle: signMemberOut,
  },
  { method: 'GET', path: member, permission: 'Members Read', handle: getMember },
  {
    method: 'PUT',
    path: member,
    permission: 'Members Write',
    body: jsonBody,
    headers: ['if-match'],
    lastingAccess: always('change the roles of a member'),
    handle: updateMember,
  },
  {
    method: 'DELETE',
    path: member,
    permission: 'Members Write',
    headers: ['if-match'],
    lastingAccess: 'nothing',
    handle: deleteMember,
  },
  { method: 'GET', path: roles, permission: 'Members Read', query: roleParameters, handle: listRoles },
  { method: 'GET', path: `${roles}/{role_id}`, permission: 'Members Read', handle: getRole },
]

/** The rows about the user for whom a token acts. */
export const userRows: readonly UserRow[] = [
  { method: 'GET', path: user, permission: null, scope: 'user.read', handle: getUser },
  {
    method: 'GET',
    path: memberships,
    permission: null,
    scope: 'memberships.read',
    query: membershipParameters,
    handle: listMemberships,
  },
  { method: 'GET', path: membership, permission: null, scope: 'memberships.read', handle: getMembership },
  {
    method: 'PUT',
    path: membership,
    permission: null,
    scope: 'memberships.write',
    body: jsonBody,
    // It accepts a membership for the user, by the invitation of another, and gives the app no access.
    lastingAccess: 'nothing',
    handle: updateMembership,
  },
  {
    method: 'DELETE',
    path: membership,
    permission: null,
    scope: 'memberships.write',
    lastingAccess: 'nothing',
    handle: deleteMembership,
  },
  {
    method: 'GET',
    path: `${user}/sessions`,
    permission: null,
    scope: 'user_access.read',
    query: sessionParameters,
    handle: listSessions,
  },
  {
    method: 'DELETE',
    path: `${user}/sessions`,
    permission: null,
    scope: 'user_access.write',
    lastingAccess: 'nothing',
    handle: deleteSessions,
  },
  {
    method: 'DELETE',
    path: `${user}/sessions/{session_id}`,
    permission: null,
    scope: 'user_access.write',
    lastingAccess: 'nothing',
    handle: deleteSession,
  },
]
