// The operations of OAuth grants and authorization events, for the document of the API.

import { json, many, one, tagged } from '../schema/operation.ts'
import { pageQuery } from '../schema/query-schemas.ts'
import { about, id, oneOf, open, success, whole } from '../schema/schema.ts'
import { maxEvents as maxProven, maxUnproven } from '../../store/records/authorization-event.ts'
import { maxEvents } from './authorization-events.ts'

const account = '/client/v4/accounts/{account_id}'
const client = `${account}/oauth_clients/{client_id}`
const ofClient = `${client}/grants`
const ofAccount = `${account}/oauth_grants`
const ofUser = '/client/v4/user/oauth_grants'

const ended = 'Its codes, access tokens and refresh tokens end at once.'

const { cursor: _, ...countedPages } = pageQuery

export const grantOperations = tagged('OAuth grants', {
  [`GET ${ofUser}`]: {
    id: 'listUserGrants',
    tag: 'User',
    summary: 'List the apps that may act for the user',
    query: pageQuery,
    response: many('UserGrant'),
  },
  [`DELETE ${ofUser}/{grant_id}`]: {
    id: 'deleteUserGrant',
    tag: 'User',
    summary: 'End what an app may do for the user',
    description: ended,
    response: json(success(open({ id }))),
  },
  [`GET ${ofClient}`]: {
    id: 'listClientGrants',
    summary: 'List who uses an OAuth client',
    query: pageQuery,
    response: many('ClientGrant'),
  },
  [`DELETE ${ofClient}`]: {
    id: 'deleteClientGrants',
    summary: 'End all grants of an OAuth client',
    description: 'Codes, access tokens and refresh tokens of the client end at once.',
    response: json(success(open({ client_id: id }))),
  },
  [`DELETE ${ofClient}/{grant_id}`]: {
    id: 'deleteClientGrant',
    summary: 'End a grant of an OAuth client',
    description: ended,
    response: json(success(open({ id }))),
  },
  [`GET ${client}/authorization_events`]: {
    id: 'listAuthorizationEvents',
    summary: 'List what happened when users connected an OAuth client',
    description: `The last ${maxProven} of the client, for 30 days, the newest first; failures with their exact reason. The last ${maxUnproven} that anyone could have caused who knows its id are kept beside them, and push out no others.`,
    query: {
      ...countedPages,
      per_page: about(`${maxEvents} by default.`, whole(1, maxEvents)),
      result: oneOf(['success', 'failure']),
    },
    response: many('AuthorizationEvent'),
  },
  [`GET ${ofAccount}`]: {
    id: 'listAccountGrants',
    summary: 'List what members allowed apps to do in the account',
    query: pageQuery,
    response: many('AccountGrant'),
  },
  [`GET ${ofAccount}/{grant_id}`]: {
    id: 'getAccountGrant',
    summary: 'Show what a member allowed an app to do in the account',
    response: one('AccountGrant'),
  },
  [`DELETE ${ofAccount}/{grant_id}`]: {
    id: 'deleteAccountGrant',
    summary: 'End what a member allowed an app to do in the account',
    description: ended,
    response: json(success(open({ id }))),
  },
})
