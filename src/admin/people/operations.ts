// The operations of accounts and their members, for the document of the API.

import { roles as allRoles } from '../../permissions/roles.ts'
import { json, type Operation, refusal } from '../openapi/operation.ts'
import { pageQuery } from '../openapi/query-schemas.ts'
import { about, id, named, oneOf, open, page, success, text } from '../openapi/schemas.ts'
import { memberOrders } from './member-list.ts'
import { changedAccount, changedMember, newMember } from './schemas.ts'

const tag = 'Members'
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

const { cursor: _, ...countedPages } = pageQuery

export const peopleOperations: Readonly<Record<string, Operation>> = {
  [`GET ${accounts}`]: {
    id: 'listAccounts',
    tag,
    summary: 'List the accounts that the token of this request can access',
    query: {
      ...countedPages,
      direction: about('By creation; `asc` by default.', oneOf(['asc', 'desc'])),
      name: about('Part of the name, case-insensitive.', text),
    },
    answer: json(page(named('Account'))),
  },
  [`GET ${account}`]: {
    id: 'getAccount',
    tag,
    summary: 'Show an account',
    answer: json(success(named('Account'))),
  },
  [`PUT ${account}`]: {
    id: 'updateAccount',
    tag,
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
    answer: json(success(named('Account'))),
  },
  [`POST ${members}`]: {
    id: 'createMember',
    tag,
    summary: 'Invite a person',
    description: `The person is a member once the invitation is accepted. ${reach}`,
    body: { schema: newMember, examples: { 'Somebody for the AI gateways': invitee } },
    answer: json(success(named('InvitedMember')), ['etag']),
    refusals: [refusal('member_taken'), beyondToken],
  },
  [`GET ${members}`]: {
    id: 'listMembers',
    tag,
    summary: 'List members',
    query: {
      ...pageQuery,
      order: about('By creation if left out. It cannot be combined with `cursor`.', oneOf(memberOrders)),
      direction: about('`asc` by default.', oneOf(['asc', 'desc'])),
      status: oneOf(['accepted', 'pending', 'rejected']),
    },
    answer: json(page(named('Member'))),
  },
  [`GET ${member}`]: {
    id: 'getMember',
    tag,
    summary: 'Show a member',
    answer: json(success(named('Member')), ['etag']),
  },
  [`PUT ${member}`]: {
    id: 'updateMember',
    tag,
    summary: 'Replace the roles of a member',
    description: `What the roles open follows at once. ${reach}`,
    body: {
      schema: changedMember,
      examples: { 'May only look': { roles: [{ id: roleOfName('Administrator Read Only') }] } },
    },
    answer: json(success(named('Member')), ['etag']),
    refusals: [lastSuper, beyondToken],
  },
  [`DELETE ${member}`]: {
    id: 'deleteMember',
    tag,
    summary: 'Remove a member',
    description: 'What the person allowed apps to do in the account ends at once. The person stays a user.',
    answer: json(success(open({ id }))),
    refusals: [lastSuper, beyondToken],
  },
  [`GET ${roles}`]: {
    id: 'listRoles',
    tag,
    summary: 'List the roles that members can have',
    query: countedPages,
    answer: json(page(named('Role'))),
  },
  [`GET ${roles}/{role_id}`]: {
    id: 'getRole',
    tag,
    summary: 'Show a role',
    answer: json(success(named('Role'))),
  },
}

function roleOfName(name: string): string {
  return allRoles.find(role => role.name === name)!.id
}
