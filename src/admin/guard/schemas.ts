// Schemas of the guard of a gateway, in requests and in responses.

import {
  about,
  closed,
  flag,
  listOf,
  oneOf,
  open,
  orNull,
  type Schema,
  text,
  whole,
} from '../schema/schema.ts'
import { maxUrlLength } from '../http/webhook-url.ts'
import { actions, checks, idPattern, maxPolicies, profiles, secretPattern, webhookTimeout } from './body.ts'

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

const webhookMembers = {
  url: about('https, at a public address; without a user, a password or a fragment.', {
    ...text,
    maxLength: maxUrlLength,
    pattern: '^https://[!-~]+$',
  }),
  check: about('What the webhook is asked about.', listOf(oneOf(checks), 1, checks.length)),
}
const timeout = about(
  `Ms for a verdict, ${webhookTimeout.usual} by default; a call without one is refused.`,
  whole(webhookTimeout.least, webhookTimeout.most),
)
const secret = about(
  'Signs the questions as Standard Webhooks does. It is never shown; left out, the one before stays.',
  { ...text, pattern: secretPattern.source },
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
      webhook: about(
        'Asked about what the policies let pass; null for none.',
        orNull(closed(webhookMembers, { timeout, secret })),
      ),
    },
  ),
)

export const shownGuard: Schema = open({
  enabled: flag,
  policies: listOf(open({ id, enabled: flag, action, check, profiles: profile })),
  webhook: orNull(open({ ...webhookMembers, timeout })),
})
