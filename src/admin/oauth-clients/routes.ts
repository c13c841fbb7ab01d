// The rows of the admin listener that are about OAuth clients: method, path, permission, handler.

import { jsonBody } from '../request/input.ts'
import { account, type ApiRow } from '../row.ts'
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
    handle: updateClient,
  },
  {
    method: 'DELETE',
    path: client,
    permission: 'OAuth Clients Write',
    headers: ['if-match'],
    handle: deleteClient,
  },
  {
    method: 'POST',
    path: secret,
    permission: 'OAuth Clients Write',
    headers: ['if-match', 'idempotency-key'],
    handle: rotateSecret,
  },
  {
    method: 'DELETE',
    path: secret,
    permission: 'OAuth Clients Write',
    headers: ['if-match'],
    handle: deleteRotatedSecret,
  },
]
