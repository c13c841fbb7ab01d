// The operations of accounts and their members, for the document of the API.

import { roles as allRoles } from '../../permissions/roles.ts'
import { json, many, one, refusal, tagged } from '../schema/operation.ts'
import { pageQuery } from '../schema/query-schemas.ts'
import { about, id, oneOf, open, success, text, whole } from '../schema/schema.ts'
import { memberOrders } from './member-list.ts'
import { membershipOrders } from './memberships.ts'
import {
  changedAccount,
  changedMember,
  decidedMembership,
  invitationUrl,
  newMember,
  sessionId,
} from './schemas.ts'

const accounts = '/client/v4/accounts'
const account = `${accounts}/{account_id}`
const roles = `${account}/roles`

const members = `${account}/members`
const member = `${members}/{member_id}`

const reach =
  'A token cannot give roles that permit more than it does itself, nor change a member who has such.'

const lastSuper = refusal('last_super_administrator')
const beyondToken = refusal('beyond_token')

const invitee = { email: 'ada@example.com', roles: [roleOfName('AI Gateway Admin')] }

const sessions = '/client/v4/user/sessions'
const memberships = '/client/v4/memberships'
const membership = `${memberships}/{membership_id}`

const { cursor: _, ...countedPages } = pageQuery

export const peopleOperations = tagged('Members', {
  [`GET ${accounts}`]: {
    id: 'listAccounts',
    summary: 'List the accounts that the token of this request can access',
    query: {
      ...countedPages,
      direction: about('By creation; `asc` by default.', oneOf(['asc', 'desc'])),
      name: about('Part of the name, case-insensitive.', text),
    },
    response: many('Account'),
  },
  [`GET ${account}`]: { id: 'getAccount', summary: 'Show an account', response: one('Account') },
  [`PUT ${account}`]: {
    id: 'updateAccount',
    summary: 'Rename an account, or require a second factor of its members',
    description: 'The body replaces all settings.',
    body: {
      schema: changedAccount,
      examples: {
        'Requires a second factor': {
          id: '0123456789abcdef0123456789abcdef',
          name: 'Shop',
          type: 'standard',
          settings: { enforce_twofactor: true },
        },
      },
    },
    response: one('Account'),
  },
  [`POST ${members}`]: {
    id: 'createMember',
    summary: 'Invite a person',
    description: `The person is a member once the invitation is accepted. ${reach}`,
    body: { schema: newMember, examples: { 'Somebody for the AI gateways': invitee } },
    response: one('InvitedMember', ['etag']),
    refusals: [refusal('member_taken'), refusal('no_pages'), beyondToken],
  },
  [`GET ${members}`]: {
    id: 'listMembers',
    summary: 'List members',
    query: {
      ...pageQuery,
      order: about('By creation if left out. It cannot be combined with `cursor`.', oneOf(memberOrders)),
      direction: about('`asc` by default.', oneOf(['asc', 'desc'])),
      status: oneOf(['accepted', 'pending', 'rejected']),
      search: about(
        'Part of the address or of the name, case-insensitive; then they are in the order of their addresses if `order` is left out. It cannot be combined with `cursor`.',
        text,
      ),
    },
    response: many('Member'),
  },
  [`POST ${member}/invitation`]: {
    id: 'reinviteMember',
    summary: 'Create another link for a person who has not accepted',
    description: 'The old link ends.',
    response: json(success(open({ invitation_url: invitationUrl }))),
    refusals: [refusal('not_pending'), refusal('no_pages'), beyondToken],
  },
  [`DELETE ${member}/sessions`]: {
    id: 'signMemberOut',
    summary: 'Sign a member out everywhere',
    description:
      'The tokens of all apps that act for the person end too, in other accounts as well. What the person allowed is remembered.',
    response: json(success(open({ id, sessions: about('How many ended.', whole(0)) }))),
    refusals: [refusal('still_pending'), beyondToken],
  },
  [`GET ${member}`]: { id: 'getMember', summary: 'Show a member', response: one('Member', ['etag']) },
  [`PUT ${member}`]: {
    id: 'updateMember',
    summary: 'Replace the roles of a member',
    description: `What the roles open follows at once. ${reach}`,
    body: {
      schema: changedMember,
      examples: { 'May only look': { roles: [{ id: roleOfName('Administrator Read Only') }] } },
    },
    response: one('Member', ['etag']),
    refusals: [lastSuper, beyondToken],
  },
  [`DELETE ${member}`]: {
    id: 'deleteMember',
    summary: 'Remove a member',
    description: 'What the person allowed apps to do in the account ends at once. The person stays a user.',
    response: json(success(open({ id }))),
    refusals: [lastSuper, beyondToken],
  },
  'GET /client/v4/user': {
    id: 'getUser',
    tag: 'User',
    summary: 'Show the user for whom the token of this request acts',
    response: one('User'),
  },
  [`GET ${sessions}`]: {
    id: 'listSessions',
    tag: 'User',
    summary: 'List where the user is signed in',
    query: countedPages,
    response: many('Session'),
  },
  [`DELETE ${sessions}`]: {
    id: 'deleteSessions',
    tag: 'User',
    summary: 'Sign the user out everywhere',
    description:
      'The tokens of all apps that act for the user end too, that of this request included. What the user allowed is remembered.',
    response: json(success(open({ id, sessions: about('How many ended.', whole(0)) }))),
  },
  [`DELETE ${sessions}/{session_id}`]: {
    id: 'deleteSession',
    tag: 'User',
    summary: 'End a session of the user',
    response: json(success(open({ id: sessionId }))),
  },
  [`GET ${memberships}`]: {
    id: 'listMemberships',
    tag: 'User',
    summary: 'List the accounts of the user, and invitations to others',
    query: {
      ...countedPages,
      order: about('By creation if left out.', oneOf(membershipOrders)),
      direction: about('`asc` by default.', oneOf(['asc', 'desc'])),
      status: oneOf(['accepted', 'pending', 'rejected']),
      name: about('Part of the name of the account, case-insensitive.', text),
      'account.name': about('As `name`.', text),
    },
    response: many('Membership'),
  },
  [`GET ${membership}`]: {
    id: 'getMembership',
    tag: 'User',
    summary: 'Show a membership of the user',
    response: one('Membership'),
  },
  [`PUT ${membership}`]: {
    id: 'updateMembership',
    tag: 'User',
    summary: 'Accept or decline an invitation',
    description:
      'Invitations are there only for users whose address an OpenID provider has verified; others accept with the link.',
    body: { schema: decidedMembership, examples: { Declines: { status: 'rejected' } } },
    response: one('Membership'),
    refusals: [refusal('not_pending')],
  },
  [`DELETE ${membership}`]: {
    id: 'deleteMembership',
    tag: 'User',
    summary: 'Leave an account, or decline its invitation',
    response: json(success(open({ id }))),
    refusals: [lastSuper],
  },
  [`GET ${roles}`]: {
    id: 'listRoles',
    summary: 'List the roles that members can have',
    query: countedPages,
    response: many('Role'),
  },
  [`GET ${roles}/{role_id}`]: { id: 'getRole', summary: 'Show a role', response: one('Role') },
})

function roleOfName(name: string): string {
  return allRoles.find(role => role.name === name)!.id
}
