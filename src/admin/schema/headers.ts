// The header fields and parameters that operations share, as components of the document.

import { errorPageTypes } from '../../config/model/custom-errors-config.ts'
import { entries } from '../../errors/docs/entry.ts'
import { exactly, id, oneOf, type Schema, text, whole } from './schema.ts'

export type HeaderName = keyof typeof headers

export const headers = {
  'svc-ray': header('The ray id of this response, to find it in the logs.', {
    ...text,
    pattern: '^[0-9a-f]{16}$',
  }),
  etag: header('Identifies this version: send it back in If-Match.', { ...text, pattern: '^"[0-9a-f]+"$' }),
  'idempotency-replayed': header('Present when the response repeats an earlier one.', exactly('true'), false),
  'svc-body-encoding': header(
    'Present when the body is not text; it is then in base64.',
    exactly('base64'),
    false,
  ),
  'retry-after': header('Seconds to wait.', whole(1)),
  'www-authenticate': header(
    'How to authenticate (RFC 6750), and where the metadata of this API are (RFC 9728).',
    { ...text, pattern: '^Bearer( |$)' },
  ),
}

export const parameters = {
  account_id: segment('account_id', 'The account.', id),
  client_id: segment('client_id', 'The OAuth client.', id),
  member_id: segment('member_id', 'The member.', id),
  membership_id: segment('membership_id', 'The membership.', id),
  grant_id: segment('grant_id', 'The OAuth grant.', id),
  session_id: segment('session_id', 'The session.', { ...text, pattern: '^[0-9a-f]{64}$' }),
  role_id: segment('role_id', 'The role.', id),
  token_id: segment('token_id', 'The token.', id),
  gateway_id: segment('gateway_id', 'The AI gateway.', { ...text, pattern: '^[a-z0-9_-]{1,64}$' }),
  route_id: segment('route_id', 'The dynamic route.', id),
  version_id: segment('version_id', 'The version of the dynamic route.', id),
  alert_id: segment('alert_id', 'The budget alert of the AI gateway.', id),
  policy_id: segment('policy_id', 'The policy of the AI gateway.', id),
  log_id: segment('log_id', 'The log entry: the ray id of its call.', { ...text, pattern: '^[0-9a-f]{16}$' }),
  budget_id: segment('budget_id', 'A budget, or a rule of `spend_limits` for all its budgets.', {
    ...text,
    pattern: '^[A-Za-z0-9._-]{1,64}$',
  }),
  provider_id: segment('provider_id', 'The AI provider.', { ...text, pattern: '^[a-z0-9.-]{1,128}$' }),
  config_id: segment('config_id', 'The key of a provider.', id),
  slug: segment('slug', 'The custom provider.', { ...text, pattern: '^[a-z0-9-]{1,57}$' }),
  provider: segment('provider', 'The provider, as calls name it.', { ...text, pattern: '^[a-z0-9-]{1,64}$' }),
  zone: segment('zone', 'The name of the zone in the configuration.', {
    ...text,
    pattern: '^[A-Za-z0-9_.:*-]{1,253}$',
  }),
  rule_id: segment('rule_id', 'The rule.', id),
  page_type: segment('page_type', 'The type of errors that the page is for.', oneOf(errorPageTypes)),
  code: segment('code', 'The code of the error.', oneOf(entries.map(({ code }) => code))),
  guide: segment('guide', 'The name of the guide, as in the list.', { ...text, pattern: '^[a-z-]{1,64}$' }),
  operation: segment('operation', 'The `operationId`.', { ...text, pattern: '^[A-Za-z]{1,64}$' }),
  'if-match': field(
    'If-Match',
    'Etags, or `*`. Nothing is changed unless the resource has one of them.',
    text,
  ),
  'if-none-match': field(
    'If-None-Match',
    '`*` sets it only if there is none yet; etags, only if it has none of them.',
    text,
  ),
  'idempotency-key': field(
    'Idempotency-Key',
    'The same key within 24 hours gets the same response; nothing is done twice.',
    { ...text, pattern: '^[\\x20-\\x7e]{1,255}$' },
  ),
}

function header(description: string, schema: Schema, required = true) {
  return { description, required, schema }
}

function segment(name: string, description: string, schema: Schema) {
  return { name, in: 'path', required: true, description, schema }
}

function field(name: string, description: string, schema: Schema) {
  return { name, in: 'header', required: false, description, schema }
}
