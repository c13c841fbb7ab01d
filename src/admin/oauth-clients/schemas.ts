// Schemas of OAuth clients and scopes, in requests and in responses.

import { checkOutcomes } from '../../metrics/counters/counts.ts'
import { challengePrefix } from '../../domains/challenge.ts'
import type { DnsOutcome, VerificationStatus } from '../../store/records/oauth-client.ts'
import { authMethods, maxUris } from './body.ts'
import { grantTypes } from './grant-types.ts'
import {
  about,
  closed,
  exactly,
  flag,
  id,
  listOf,
  type Members,
  named,
  oneOf,
  open,
  orNull,
  printable,
  type Schema,
  setOf,
  text,
  time,
} from '../schema/schema.ts'

const refreshing = 'offline_access'
/** One of this gateway, or one that the operator defines. */
export const scopeId: Schema = { ...text, maxLength: 200, pattern: '^[a-z][a-z0-9_]*(?:\\.[a-z0-9_]+)*$' }
const declinable: Schema = { ...scopeId, not: oneOf(['openid', refreshing]) }

/** Hosts that http may lead to, as the beginning of an address. */
const loopback = 'http://(?:127\\.0\\.0\\.1|\\[::1\\]|localhost)'
/** Printable ASCII without hash, asterisk and backslash, and percent signs before two digits alone. */
const rest = '(?:[!"$&-)+-\\[\\]-~]|%[0-9A-Fa-f]{2})*'

const redirectUri: Schema = {
  ...text,
  maxLength: 512,
  pattern: `^(?:https://|${loopback}(?:$|[:/?])|[a-z][a-z0-9+-]*\\.[a-z0-9+.-]*:)${rest}$`,
}
const origin: Schema = {
  ...text,
  maxLength: 512,
  pattern: `^(?:https://|${loopback}(?:$|:))[^/?#@\\\\\\s]*$`,
}
const pageUri: Schema = { ...text, maxLength: 2048, pattern: `^https://${rest}$` }

const responseTypes = listOf(exactly('code'), 1, 1)

const required: Members = {
  client_name: printable(
    100,
    ', in Unicode normalization form C (NFC), visible characters and inner spaces only',
  ),
  grant_types: {
    ...setOf(oneOf(grantTypes), 1, grantTypes.length),
    description: 'Only the Authorization Code flow is supported.',
    contains: exactly('authorization_code'),
  },
  redirect_uris: about('App schemes are only for the method `none`.', setOf(redirectUri, 1, maxUris)),
  response_types: responseTypes,
  scopes: {
    ...setOf(scopeId, 1),
    description: `By the ids of \`/client/v4/oauth/scopes\`. \`${refreshing}\` comes and goes with the grant type \`refresh_token\`.`,
    contains: { not: exactly(refreshing) },
  },
  token_endpoint_auth_method: about(
    '`none` is for apps in browsers and on devices: they have no secret and use PKCE.',
    oneOf(authMethods),
  ),
}

const optional: Members = {
  optional_scopes: about('Scopes that a user may decline; also listed in `scopes`.', setOf(declinable, 0)),
  post_logout_redirect_uris: setOf(redirectUri, 0, maxUris),
  allowed_cors_origins: setOf(origin, 0, maxUris),
  logo_uri: pageUri,
  policy_uri: pageUri,
  tos_uri: pageUri,
  client_uri: about('Its host must be verified by DNS before the client can become public.', pageUri),
}

const clearable: Members = Object.fromEntries(
  Object.entries(optional).map(([name, schema]) => [name, orNull(schema)]),
)

const visibility = oneOf(['private', 'public'])

export const newClient = closed(required, clearable)

export const changedClient = closed(
  {},
  { ...required, ...clearable, visibility: about('Publishing is irreversible.', visibility) },
)

const lastAnswer = open(
  {
    at: time,
    outcome: oneOf(checkOutcomes satisfies readonly DnsOutcome[]),
    records: about('The TXT records found, truncated if long.', listOf(text)),
  },
  { hint: about('What may be wrong.', text) },
)

export const verification = open(
  {
    status: oneOf(['pending', 'in_progress', 'verified', 'failed'] satisfies VerificationStatus[]),
    text: about('The value that a TXT record of the host must have.', {
      ...text,
      pattern: `^${challengePrefix}[0-9a-f]{32}$`,
    }),
    host: text,
    deadline: time,
  },
  {
    last_answer: about('The result of the last DNS check.', lastAnswer),
    next_check: about('When DNS is checked next.', time),
    verified_at: time,
  },
)

export const secret: Schema = {
  ...text,
  description: 'The value of the secret. It is shown only once.',
  pattern: '^svcs_[A-Za-z0-9_-]{43}$',
}

const shownSecret = open(
  {
    created_at: time,
    tail: about('The last 4 characters of its value.', { ...text, pattern: '^[A-Za-z0-9_-]{4}$' }),
  },
  {
    last_used_at: about('To the hour, and not before it was created; absent until a use is recorded.', time),
    status: about('The server key that protects it is lost, so it is rejected.', exactly('key_lost')),
  },
)

const shown: Members = {
  client_id: id,
  client_name: text,
  grant_types: listOf(oneOf(grantTypes), 1),
  response_types: responseTypes,
  token_endpoint_auth_method: oneOf(authMethods),
  redirect_uris: listOf(text, 1),
  post_logout_redirect_uris: listOf(text),
  allowed_cors_origins: listOf(text),
  scopes: listOf(scopeId, 1),
  optional_scopes: listOf(scopeId),
  visibility,
  has_rotated_secret: about('Whether there are two secrets; both work.', flag),
  client_secrets: about('Newest first.', listOf(shownSecret, 0, 2)),
  created_at: time,
  updated_at: time,
}

const shownWhereSet: Members = {
  secret_status: about(
    'Whether all or some secrets are rejected because the server key that protects them is lost: rotate.',
    oneOf(['key_lost', 'partly_key_lost']),
  ),
  logo_uri: text,
  policy_uri: text,
  tos_uri: text,
  client_uri: text,
  client_uri_verification: named('ClientUriVerification'),
  promoted_at: about('When it was published.', time),
}

export const oauthClient = open(shown, shownWhereSet)

export const oauthClientWithSecret = open(shown, { ...shownWhereSet, client_secret: secret })

export const oauthScope = open({
  id: scopeId,
  name: text,
  category: text,
  description: text,
  scopes: about('The kinds of resources that it covers.', listOf(text)),
  is_identity: about('Whether it concerns the user alone, and gives no access to an account.', flag),
})
