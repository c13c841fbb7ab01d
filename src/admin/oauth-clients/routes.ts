// The rows of the admin listener that are about OAuth clients: method, path, permission, handler.

import { jsonBody } from '../http/request-body.ts'
import { always } from '../api/lasting-access.ts'
import { account, type ApiRow, row } from '../api/api-types.ts'
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
  row('POST', clients, 'OAuth Clients Write', createClient, {
    body: jsonBody,
    headers: ['idempotency-key'],
    lastingAccess: always('create an OAuth client, whose secret and redirect URIs stay'),
  }),
  row('GET', clients, 'OAuth Clients Read', listClients, { query: clientParameters }),
  row('GET', client, 'OAuth Clients Read', getClient),
  row('PATCH', client, 'OAuth Clients Write', updateClient, {
    body: jsonBody,
    headers: ['if-match'],
    lastingAccess: always('change an OAuth client, whose URIs, scopes and visibility stay'),
  }),
  row('DELETE', client, 'OAuth Clients Write', deleteClient, { headers: ['if-match'] }),
  row('POST', secret, 'OAuth Clients Write', rotateSecret, {
    headers: ['if-match', 'idempotency-key'],
    lastingAccess: always('create a client secret'),
  }),
  row('DELETE', secret, 'OAuth Clients Write', deleteRotatedSecret, { headers: ['if-match'] }),
]
