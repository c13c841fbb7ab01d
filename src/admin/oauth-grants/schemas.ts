// Schemas of OAuth grants and authorization events.

import { scopeId } from '../oauth-clients/schemas.ts'
import type { AuthorizationStep } from '../../store/records/authorization-event.ts'
import { about, emailVerified, id, listOf, type Members, oneOf, open, text, time } from '../schema/schema.ts'

const shown: Members = {
  id,
  scopes: listOf(scopeId),
  resource: about(
    'The APIs that it is for (RFC 8707), at which alone the scopes are good; all if empty.',
    listOf(text),
  ),
  created_at: time,
  updated_at: time,
}

const client = about(
  'The app. One that was deleted has only its id.',
  open(
    {
      client_id: about('32 hexadecimal digits, or the URL of the document by which the app is known.', text),
    },
    {
      client_name: text,
      logo_uri: text,
      client_uri: text,
      visibility: oneOf(['private', 'public']),
      verified_host: about('The host of `client_uri`, where its owner proved that it is theirs.', text),
    },
  ),
)

export const userGrant = open(
  { ...shown, client },
  { account: about('The account in which the app acts.', open({ id, name: text })) },
)

export const accountGrant = open({
  ...shown,
  client,
  user: open({ id }, { email: text, email_verified: emailVerified }),
})

export const clientGrant = open({ ...shown, user: open({ id }), account: open({ id }) })

const steps = [
  'authorization',
  'consent',
  'token',
  'refresh',
  'revocation',
  'introspection',
  'userinfo',
  'logout',
] satisfies AuthorizationStep[]

export const authorizationEvent = open(
  { id, when: time, step: oneOf(steps), result: oneOf(['success', 'failure']) },
  {
    error: about('The error code of OAuth in the response.', text),
    reason: about('What exactly was wrong.', text),
    user: open({ id }),
    account: about('The account of the consent.', open({ id })),
    ip: text,
    ray: about('The ray id of the request.', text),
  },
)
