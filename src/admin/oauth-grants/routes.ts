// The rows of the admin listener about grants of apps: method, path, permission, handler.

import { pageParameters } from '../http/query.ts'
import { account, type ApiRow, row, user, type UserRow } from '../api/api-types.ts'
import { deleteAccountGrant, getAccountGrant, listAccountGrants } from './account-grants.ts'
import { deleteClientGrant, deleteClientGrants, listClientGrants } from './client-grants.ts'
import { eventParameters, listAuthorizationEvents } from './authorization-events.ts'
import { deleteUserGrant, listUserGrants } from './user-grants.ts'

const client = `${account}/oauth_clients/{client_id}`
const clientGrants = `${client}/grants`
const accountGrants = `${account}/oauth_grants`

export const grantRows: readonly ApiRow[] = [
  row('GET', clientGrants, 'OAuth Clients Read', listClientGrants, { query: pageParameters }),
  row('DELETE', clientGrants, 'OAuth Clients Write', deleteClientGrants),
  row('DELETE', `${clientGrants}/{grant_id}`, 'OAuth Clients Write', deleteClientGrant),
  row('GET', `${client}/authorization_events`, 'OAuth Clients Read', listAuthorizationEvents, {
    query: eventParameters,
  }),
  row('GET', accountGrants, 'Members Read', listAccountGrants, { query: pageParameters }),
  row('GET', `${accountGrants}/{grant_id}`, 'Members Read', getAccountGrant),
  row('DELETE', `${accountGrants}/{grant_id}`, 'Members Write', deleteAccountGrant),
]

export const userGrantRows: readonly UserRow[] = [
  row('GET', `${user}/oauth_grants`, null, listUserGrants, {
    scope: 'user_access.read',
    query: pageParameters,
  }),
  row('DELETE', `${user}/oauth_grants/{grant_id}`, null, deleteUserGrant, { scope: 'user_access.write' }),
]
