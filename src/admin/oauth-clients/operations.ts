// The operations of OAuth clients, for the document of the API.

import { apiFaults } from '../../errors/catalogue/api-faults.ts'
import { json, many, one, refusal, refusals, tagged } from '../schema/operation.ts'
import { about, id, oneOf, open, success, text, whole } from '../schema/schema.ts'
import { maxSinglePage } from '../http/query.ts'
import { changedClient, newClient, secret } from './schemas.ts'
import { pageQuery } from '../schema/query-schemas.ts'

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
  `Something is missing before the client can become public (${apiFaults.not_ready_for_public.code}), or what is asked for is settled for good (${apiFaults.host_verified.code}).`,
)

export const clientOperations = tagged('OAuth clients', {
  [`POST ${clients}`]: {
    id: 'createOAuthClient',
    summary: 'Create an OAuth client',
    description: 'It is private at first. Its secret, if it has one, is shown only once.',
    body: {
      schema: newClient,
      examples: { 'A server, with a secret': server, 'An app, without a secret': app },
    },
    response: one('OAuthClientWithSecret', ['etag']),
    refusals: [ownedMember],
  },
  [`GET ${clients}`]: {
    id: 'listOAuthClients',
    summary: 'List OAuth clients',
    query: {
      ...pageQuery,
      per_page: about('1,000 by default.', whole(1, maxSinglePage)),
      client_name: about('Part of the name, case-insensitive.', text),
      visibility: oneOf(['private', 'public']),
    },
    response: many('OAuthClient'),
  },
  [`GET ${client}`]: {
    id: 'getOAuthClient',
    summary: 'Show an OAuth client, without its secrets',
    response: one('OAuthClient', ['etag']),
  },
  [`PATCH ${client}`]: {
    id: 'updateOAuthClient',
    summary: 'Change an OAuth client, or publish it',
    description: `Members left out of the body stay as they are; null clears optional ones; lists are replaced as a whole. Sending \`client_uri\` again checks DNS now, and restarts a verification
that has failed. Changing \`token_endpoint_auth_method\` from \`none\` creates a secret, which is shown only once; changing it to \`none\` removes all secrets.`,
    body: {
      schema: changedClient,
      examples: {
        'New name, no logo': { client_name: 'Bills', logo_uri: null },
        'Checks DNS again': { client_uri: 'https://invoices.example.com/' },
      },
    },
    response: one('OAuthClientWithSecret', ['etag']),
    refusals: [ownedMember, settled],
  },
  [`DELETE ${client}`]: {
    id: 'deleteOAuthClient',
    summary: 'Delete an OAuth client',
    response: json(success(open({ id }))),
  },
  [`POST ${client}/rotate_secret`]: {
    id: 'rotateOAuthClientSecret',
    summary: 'Create a second secret',
    description: 'Both work until the older one is deleted. The new one is shown only once.',
    response: json(success(open({ client_secret: secret }))),
    refusals: [refusal('no_secrets'), refusal('two_secrets')],
  },
  [`DELETE ${client}/rotate_secret`]: {
    id: 'deleteRotatedOAuthClientSecret',
    summary: 'Delete the older of two secrets',
    response: json(success(open({ id }))),
    refusals: [refusal('one_secret')],
  },
  'GET /client/v4/oauth/scopes': {
    id: 'listOAuthScopes',
    summary: 'List the scopes that OAuth clients can request',
    response: many('OAuthScope'),
  },
})
