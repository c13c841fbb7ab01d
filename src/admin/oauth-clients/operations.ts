// The operations of OAuth clients and of the audit log, for the document of the API.

import { apiFaults } from '../../errors/api-faults.ts'
import { json, type Operation, refusal, refusals } from '../openapi/operation.ts'
import { about, id, named, oneOf, open, page, success, text, whole } from '../openapi/schemas.ts'
import { mostOfSinglePage } from '../request/query.ts'
import { changedClient, newClient, secret } from './schemas.ts'
import { moment, pageQuery } from '../openapi/query-schemas.ts'

const tag = 'OAuth clients'
const account = '/client/v4/accounts/{account_id}'
const clients = `${account}/oauth_clients`
const client = `${clients}/{client_id}`

const server = {
  client_name: 'Invoices',
  grant_types: ['authorization_code', 'refresh_token'],
  redirect_uris: ['https://invoices.example.com/callback'],
  response_types: ['code'],
  scopes: ['user.read', 'ai_gateway.read', 'offline_access'],
  token_endpoint_auth_method: 'client_secret_basic',
  optional_scopes: ['user.read'],
  client_uri: 'https://invoices.example.com/',
  logo_uri: 'https://invoices.example.com/logo.png',
}

const app = {
  client_name: 'Invoices for the desktop',
  grant_types: ['authorization_code'],
  redirect_uris: ['http://127.0.0.1/callback', 'com.example.invoices:/callback'],
  response_types: ['code'],
  scopes: ['ai_gateway.read'],
  token_endpoint_auth_method: 'none',
}

const ownedMember = refusal('owned')

const settled = refusals(
  ['not_ready_for_public', 'host_verified', 'public_for_ever', 'uri_for_ever'],
  `Something is missing before the client can be public (${apiFaults.not_ready_for_public.code}), or what is asked for is settled for good (${apiFaults.host_verified.code}).`,
)

export const clientOperations: Readonly<Record<string, Operation>> = {
  [`POST ${clients}`]: {
    id: 'createOAuthClient',
    tag,
    summary: 'Make an OAuth client',
    description: 'It is private. Its secret, where it has one, is shown this once.',
    body: { schema: newClient, examples: { 'A server with a secret': server, 'An app without one': app } },
    answer: json(success(named('OAuthClientWithSecret')), ['etag']),
    refusals: [ownedMember],
  },
  [`GET ${clients}`]: {
    id: 'listOAuthClients',
    tag,
    summary: 'List OAuth clients',
    query: {
      ...pageQuery,
      per_page: about('1,000 unless given.', whole(1, mostOfSinglePage)),
      client_name: about('A part of the name, in letters of either case.', text),
      visibility: oneOf(['private', 'public']),
    },
    answer: json(page(named('OAuthClient'))),
  },
  [`GET ${client}`]: {
    id: 'getOAuthClient',
    tag,
    summary: 'Show an OAuth client, without its secrets',
    answer: json(success(named('OAuthClient')), ['etag']),
  },
  [`PATCH ${client}`]: {
    id: 'updateOAuthClient',
    tag,
    summary: 'Change an OAuth client, or make it public',
    description: `What the body does not name stays; null clears what may be left out; lists are replaced whole. \`client_uri\`, sent again, has DNS asked now, and begins a verification
anew that has failed. A change of \`token_endpoint_auth_method\` from \`none\` makes a secret, which is shown this once; one to \`none\` removes all secrets.`,
    body: {
      schema: changedClient,
      examples: {
        'Another name, no logo': { client_name: 'Bills', logo_uri: null },
        'Asks DNS again': { client_uri: 'https://invoices.example.com/' },
      },
    },
    answer: json(success(named('OAuthClientWithSecret')), ['etag']),
    refusals: [ownedMember, settled],
  },
  [`DELETE ${client}`]: {
    id: 'deleteOAuthClient',
    tag,
    summary: 'Delete an OAuth client',
    answer: json(success(open({ id }))),
  },
  [`POST ${client}/rotate_secret`]: {
    id: 'rotateOAuthClientSecret',
    tag,
    summary: 'Make a second secret',
    description: 'Both are good until the older one is deleted. The new one is shown this once.',
    answer: json(success(open({ client_secret: secret }))),
    refusals: [refusal('no_secrets'), refusal('two_secrets')],
  },
  [`DELETE ${client}/rotate_secret`]: {
    id: 'deleteRotatedOAuthClientSecret',
    tag,
    summary: 'Delete the older of two secrets',
    answer: json(success(open({ id }))),
    refusals: [refusal('one_secret')],
  },
  [`GET ${account}/audit_logs`]: {
    id: 'listAuditLogs',
    tag: 'Audit logs',
    summary: 'List who changed what',
    query: {
      ...pageQuery,
      since: about('From this day or time on.', moment),
      before: about('Up to this day or time, and not at it.', moment),
      direction: about('By time; `desc` unless given.', oneOf(['desc', 'asc'])),
    },
    answer: json(page(named('AuditEntry'))),
  },
}
