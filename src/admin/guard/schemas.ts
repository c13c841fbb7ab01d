// Schemas of the guard of a gateway, in requests and in responses.

import { about, closed, flag, listOf, oneOf, open, orNull, type Schema, text } from '../schema/schema.ts'
import { actions, checks, idPattern, maxPolicies, profiles } from './body.ts'

const id: Schema = { ...text, pattern: idPattern.source }
const action = about(
  'What happens to what is found: `FLAG` notes it, `REDACT` puts a mark in its place, `BLOCK` refuses the call.',
  oneOf(actions),
)
const check = about('Where it is looked for; in both by default.', listOf(oneOf(checks), 1, checks.length))
const profile = about(
  'The patterns that are looked for; `*` stands for all, which is the default.',
  listOf(oneOf(profiles), 1, profiles.length),
)

/** The guard in the body of a gateway; null for none. */
export const guard: Schema = orNull(
  closed(
    {},
    {
      enabled: about('Whether the guard looks at calls; true by default.', flag),
      policies: listOf(
        closed(
          { action },
          {
            id: about('Made from its place if it is left out.', id),
            enabled: about('True by default.', flag),
            check,
            profiles: profile,
          },
        ),
        0,
        maxPolicies,
      ),
    },
  ),
)

export const shownGuard: Schema = open({
  enabled: flag,
  policies: listOf(open({ id, enabled: flag, action, check, profiles: profile })),
})
