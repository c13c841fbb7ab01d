// The common parts of the schemas of zone rules, in requests and in responses.

import { maxRules } from './rule-members.ts'
import {
  about,
  closed,
  id,
  type Members,
  orNull,
  printable,
  type Schema,
  setOf,
  text,
  whole,
} from '../../schema/schema.ts'

export function expression(variables: string): Schema {
  const words = `In CEL, over ${variables}, of at most 4 KiB. A header that was not sent is a missing key: \`"x" in request.headers && …\` guards.`
  return about(words, { ...text, minLength: 1 })
}

export const ruleDescription: Members = {
  description: about('What the rule is for.', orNull(printable(500))),
}

export const placed: Members = {
  position: {
    ...closed({}, { before: id, after: id, index: whole(1, maxRules) }),
    description: 'Its position, by exactly one of these; at the end by default.',
    minProperties: 1,
    maxProperties: 1,
  },
}

export const sameId: Members = { id: about('The id in the path.', id) }

export const order = closed({ ids: about('The ids of all rules.', setOf(id, 0, maxRules)) })
