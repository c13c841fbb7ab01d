// The rows of the admin listener about grants of apps: method, path, permission, handler.

import { pageParameters } from '../http/query.ts'
import { account, user, type ApiRow, type UserRow } from '../api/api-types.ts'
import { deleteAccountGrant, getAccountGrant, listAccountGrants } from './account-grants.ts'
import { deleteClientGrant, deleteClientGrants, listClientGrants } from './client-grants.ts'
import { eventParameters, listAuthorizationEvents } from './authorization-events.ts'
import { deleteUserGrant, listUserGrants } from './user-grants.ts'

const client = `${account}/oauth_clients/{client_id}`
const clientGrants = `${client}/grants`
const accountGrants = `${account}/oauth_grants`

export const grantRows: readonly ApiRow[] = [
  {
    method: 'GET',
    path: clientGrants,
    permission: 'OAuth Clients Read',
    query: pageParameters,
    handle: listClientGrants,
  },
  {
    method: 'DELETE',
    path: clientGrants,
    permission: 'OAuth Clients Write',
    lastingAccess: 'nothing',
    handle: deleteClientGrants,
  },
  {
    method: 'DELETE',
    path: `${clientGrants}/{grant_id}`,
    permission: 'OAuth Clients Write',
    lastingAccess: 'nothing',
    handle: deleteClientGrant,
  },
  {
    method: 'GET',
    path: `${client}/authorization_events`,
    permission: 'OAuth Clients Read',
    query: eventParameters,
    handle: listAuthorizationEvents,
  },
  {
    method: 'GET',
    path: accountGrants,
    permission: 'Members Read',
    query: pageParameters,
    handle: listAccountGrants,
  },
  { method: 'GET', path: `${accountGrants}/{grant_id}`, permission: 'Members Read', handle: getAccountGrant },
  {
    method: 'DELETE',
    path: `${accountGrants}/{grant_id}`,
    permission: 'Members Write',
    lastingAccess: 'nothing',
    handle: deleteAccountGrant,
  },
]

/** The rows about the user for whom a token acts. */
export const userGrantRows: readonly UserRow[] = [
  {
    method: 'GET',
    path: `${user}/oauth_grants`,
    permission: null,
    scope: 'user_access.read',
    query: pageParameters,
    handle: listUserGrants,
  },
  {
    method: 'DELETE',
    path: `${user}/oauth_grants/{grant_id}`,
    permission: null,
    scope: 'user_access.write',
    lastingAccess: 'nothing',
    handle: deleteUserGrant,
  },
]
