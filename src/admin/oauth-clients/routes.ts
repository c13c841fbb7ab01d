// The rows of the admin listener that are about OAuth clients: method, path, permission, handler.

import { jsonBody } from '../http/request-body.ts'
import { always } from '../api/lasting-access.ts'
import { account, type ApiRow } from '../api/api-types.ts'
import {
  clientParameters,
  createClient,
  deleteClient,
  getClient,
  listClients,
  updateClient,
} from './clients.ts'
import { deleteRotatedSecret, rotateSecret } from './secrets.ts'

const clients = `${account}/oauth_clients`
const client = `${account}/oauth_clients/{client_id}`
const secret = `${account}/oauth_clients/{client_id}/rotate_secret`

export const clientRows: readonly ApiRow[] = [
  {
    method: 'POST',
    path: clients,
    permission: 'OAuth Clients Write',
    body: jsonBody,
    headers: ['idempotency-key'],
    lastingAccess: always('create an OAuth client, whose secret and redirect URIs stay'),
    handle: createClient,
  },
  {
    method: 'GET',
    path: clients,
    permission: 'OAuth Clients Read',
    query: clientParameters,
    handle: listClients,
  },
  { method: 'GET', path: client, permission: 'OAuth Clients Read', handle: getClient },
  {
    method: 'PATCH',
    path: client,
    permission: 'OAuth Clients Write',
    body: jsonBody,
    headers: ['if-match'],
    lastingAccess: always('change an OAuth client, whose URIs, scopes and visibility stay'),
    handle: updateClient,
  },
  {
    method: 'DELETE',
    path: client,
    permission: 'OAuth Clients Write',
    headers: ['if-match'],
    lastingAccess: 'nothing',
    handle: deleteClient,
  },
  {
    method: 'POST',
    path: secret,
    permission: 'OAuth Clients Write',
    headers: ['if-match', 'idempotency-key'],
    lastingAccess: always('create a client secret'),
    handle: rotateSecret,
  },
  {
    method: 'DELETE',
    path: secret,
    permission: 'OAuth Clients Write',
    headers: ['if-match'],
    lastingAccess: 'nothing',
    handle: deleteRotatedSecret,
  },
]
