// Schemas of things that need attention.

import { about, listOf, oneOf, open, orNull, text, time, whole } from '../schema/schema.ts'
import { findingKinds, severities } from '../attention/findings.ts'

export const attention = open({
  at: about('When it was found; null while the first search goes on.', orNull(time)),
  counts: about(
    'How many there are of each kind.',
    open({}, Object.fromEntries(findingKinds.map(kind => [kind, whole(1)]))),
  ),
  items: about(
    'The most severe first, up to 20 of a kind.',
    listOf(
      open({
        kind: oneOf(findingKinds),
        severity: oneOf(severities),
        message: text,
        resource: about('What it is about; null for the account or the gateway as a whole.', {
          type: ['object', 'null'],
          required: ['type', 'id', 'name'],
          properties: {
            type: oneOf(['oauth_client', 'gateway', 'token', 'member', 'zone', 'provider']),
            id: text,
            name: text,
          },
        }),
      }),
    ),
  ),
})
