// What OAuth clients and scopes look like, in requests and in answers. operations-clients.ts and schemas-named.ts use it.

import { oauthScopes } from '../clients/scopes.ts'
import { challengePrefix } from '../domains/challenge.ts'
import {
  about,
  closed,
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
} from './schemas.ts'

const methods = ['client_secret_basic', 'client_secret_post', 'none'] as const
const scopeIds = oauthScopes.map(({ id }) => id)
const neverOptional = ['openid', 'offline_access']

/** Hosts that http may lead to, as the beginning of an address. */
const loopback = 'http://(?:127\\.0\\.0\\.1|\\[::1\\]|localhost)'
/** Printable ASCII without hash, asterisk and backslash. */
const rest = '[!"$-)+-\\[\\]-~]*'

const redirectUri: Schema = {
  ...text,
  format: 'uri',
  maxLength: 512,
  pattern: `^(?:https://|${loopback}(?=[:/?]|$)|[a-z][a-z0-9+-]*\\.[a-z0-9+.-]*:)${rest}$`,
}
const origin: Schema = {
  ...text,
  format: 'uri',
  maxLength: 512,
  pattern: `^(?:https://|${loopback}(?=:|$))[^/?#@\\\\\\s]*$`,
}
const pageUri: Schema = { ...text, format: 'uri', maxLength: 2048, pattern: `^https://${rest}$` }

const grantTypes: Schema = {
  ...setOf(oneOf(['authorization_code', 'refresh_token']), 1, 2),
  contains: { const: 'authorization_code' },
}

const required: Members = {
  client_name: printable(100),
  grant_types: about('Only the Authorization Code flow is supported.', grantTypes),
  redirect_uris: about('A scheme of your own is for the method `none` alone.', setOf(redirectUri, 1, 20)),
  response_types: { const: ['code'] },
  scopes: about(
    'By the ids of oauth/scopes. `offline_access` comes and goes with the grant type `refresh_token`.',
    setOf(oneOf(scopeIds), 1, scopeIds.length),
  ),
  token_endpoint_auth_method: about(
    '`none` for what runs in browsers and on the devices of users: it has no secret, and proves itself by PKCE.',
    oneOf(methods),
  ),
}

const optional: Members = {
  allowed_cors_origins: setOf(origin, 0, 20),
  optional_scopes: about(
    'Those of the scopes that a user may decline.',
    setOf(oneOf(scopeIds.filter(id => !neverOptional.includes(id)))),
  ),
  post_logout_redirect_uris: setOf(redirectUri, 0, 20),
  client_uri: about('Who owns its host is verified by DNS before the client can be public.', pageUri),
  logo_uri: pageUri,
  policy_uri: pageUri,
  tos_uri: pageUri,
}

/** What of a client may be left out, or cleared with null. */
const clearable: Members = Object.fromEntries(
  Object.entries(optional).map(([name, schema]) => [name, orNull(schema)]),
)

const visibility = oneOf(['private', 'public'])

/** The body of a new client. */
export const newClient = closed(required, clearable)

/** The body of a change: what it does not name stays. */
export const changedClient = closed(
  {},
  {
    ...required,
    ...clearable,
    visibility: about('A client that is public stays so.', visibility),
  },
)

const lastAnswer = open(
  {
    at: time,
    outcome: oneOf([
      'found',
      'no_match',
      'no_records',
      'no_such_name',
      'server_failure',
      'refused',
      'timeout',
      'error',
    ]),
    records: about('The TXT records that were there, cut where they are long.', listOf(text)),
  },
  { hint: about('What may be wrong.', text) },
)

/** How far the proof is that the owner of a client owns the host of client_uri. */
export const verification = open({
  status: oneOf(['pending', 'in_progress', 'verified', 'failed']),
  text: about('What the TXT record of the host must be.', {
    ...text,
    pattern: `^${challengePrefix}[0-9a-f]{32}$`,
  }),
  host: text,
  last_answer: about('What DNS said last; null before it was asked.', orNull(lastAnswer)),
  next_check: about('When it is asked again; null when that is over.', orNull(time)),
  deadline: time,
  verified_at: orNull(time),
})

export const secret: Schema = {
  ...text,
  description: 'The value of the secret. It is shown this once.',
  pattern: '^svcs_[A-Za-z0-9_-]{43}$',
}

const shownSecret = open({
  created_at: time,
  tail: about('The last 4 characters of its value.', { ...text, pattern: '^[A-Za-z0-9_-]{4}$' }),
  last_used_at: about('To the hour; null when it was never used.', orNull(time)),
})

const shown: Members = {
  client_id: id,
  client_name: text,
  grant_types: listOf(oneOf(['authorization_code', 'refresh_token'])),
  redirect_uris: listOf(text),
  response_types: listOf({ const: 'code' }),
  scopes: listOf(oneOf(scopeIds)),
  token_endpoint_auth_method: oneOf(methods),
  visibility,
  has_rotated_secret: about('Whether there are two secrets, of which both are good.', flag),
  client_secrets: about('The newest first.', listOf(shownSecret, 0, 2)),
  created_at: time,
  updated_at: time,
}

const shownWhereSet: Members = {
  allowed_cors_origins: listOf(text),
  optional_scopes: listOf(oneOf(scopeIds)),
  post_logout_redirect_uris: listOf(text),
  client_uri: text,
  logo_uri: text,
  policy_uri: text,
  tos_uri: text,
  client_uri_verification: named('ClientUriVerification'),
  promoted_at: time,
}

export const oauthClient = open(shown, shownWhereSet)

/** A client in an answer that may show a secret, which it does where one was made. */
export const oauthClientWithSecret = open(shown, { ...shownWhereSet, client_secret: secret })

export const oauthScope = open({
  id: oneOf(scopeIds),
  name: text,
  category: text,
  description: text,
  scopes: listOf(text),
})
