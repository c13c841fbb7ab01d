// The settings of model aliases: lists of models that a call tries in turn, and when it goes on to the next.

import { hour, second } from '../../base/units.ts'
import { accept, duration, durationOrOff, statusRange, whole } from '../shape/rules.ts'
import {
  formed,
  group,
  list,
  mapping,
  optional,
  placed,
  required,
  type Rule,
  scalar,
  shorthand,
  type Value,
} from '../shape/shape.ts'

/** Attempts that one call can ever make. */
const maxAttempts = 5

/** Accepts the name of an alias, which callers send in place of PROVIDER/MODEL. */
export function aliasName(providers: readonly string[]): Rule<string> {
  const pattern = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/
  return formed(
    text => {
      if (providers.includes(text) || text.startsWith('custom-'))
        return { flaw: 'must not be the name of a provider, nor begin with custom-' }
      if (text === 'dynamic') return { flaw: 'is reserved for the form dynamic/NAME' }
      const flaw =
        'must be 1 to 64 lower-case letters, digits, dots, hyphens and underscores, with a letter or digit at both ends'
      return accept(pattern.test(text) ? text : undefined, flaw)
    },
    { pattern: pattern.source },
  )
}

/** Accepts PROVIDER/MODEL, or the name of another alias. */
const modelOrAlias: Rule<string> = formed(
  text =>
    accept(
      /^[!-~]{1,256}$/.test(text) && !text.startsWith('/') && !text.endsWith('/') ? text : undefined,
      'must be PROVIDER/MODEL, such as openai/gpt-4o-mini, or the name of another alias',
    ),
  { pattern: '^[!-.0-~](?:[!-~]{0,254}[!-.0-~])?$' },
)

const step = shorthand(
  'model',
  mapping({
    model: required(placed(scalar(modelOrAlias))),
    timeout: optional(placed(scalar(duration(100, hour))), null), // null: ai.timeouts.response
    retries: optional(placed(scalar(whole(0, maxAttempts - 1))), null), // null: none
    weight: optional(placed(scalar(whole(1, 100))), null), // null: takes its place in the order alone
  }),
)

/** Reads the models of one alias. */
export const models = placed(list(placed(step), { min: 1, max: 20 }))

const usualStatuses = [408, 409, 425, 429].map(status => ({ least: status, most: status }))

export const failover = group({
  statuses: optional(list(scalar(statusRange(400, 599, '500-599'))), [
    ...usualStatuses,
    { least: 500, most: 599 },
  ]),
  max_attempts: optional(scalar(whole(1, maxAttempts)), 3),
  deadline: optional(scalar(durationOrOff(second, hour)), 0),
  retry_within: optional(scalar(durationOrOff(100, hour)), 0),
})

export type ModelsSettings = Value<typeof models>
export type FailoverSettings = Value<typeof failover.shape>
