// Schemas of rules with their numbers of decisions.

import { about, id, listOf, oneOf, open, orNull, text, time, whole } from '../../schema/schema.ts'
import { accessActions, conditionKinds } from './access-rule-body.ts'
import { ruleSources } from './rule-hits.ts'

const hits = {
  hits: about('How often it decided in the last 24 hours, counted from the full hour.', whole(0)),
  last_hit_at: orNull(time),
  hours: about(
    'By time, without those in which it did not.',
    listOf(open({ since: time, count: whole(1) }), 0, 25),
  ),
}

/** The condition of a rule, of the file as of the API: as in access rules, without their bounds. */
const condition = Object.fromEntries(
  conditionKinds.map(kind => [kind, { type: ['array', 'string'], items: { type: ['string', 'integer'] } }]),
)

const source = oneOf(ruleSources)
const number = about('Its number in the configuration file; null for a rule of the API.', orNull(whole(1)))

export const accessRuleHits = open(
  {
    decides: about('A rule, a ban, or the default of the zone.', oneOf(['rule', 'ban', 'default'])),
    id: about('That of a rule of the file is made from its content.', orNull(id)),
    source: orNull(source),
    number,
    action: oneOf(accessActions),
    description: orNull(text),
    ...hits,
  },
  condition,
)

export const errorRuleHits = open({
  id: about('That of a rule of the file is made from its content.', id),
  source,
  number,
  expression: text,
  content_type: text,
  status_code: orNull(whole(400, 999)),
  description: orNull(text),
  ...hits,
})
